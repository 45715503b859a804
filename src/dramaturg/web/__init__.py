"""The browser door: games that a person plays on a page.

In: the games of `dramaturg.run.games`. Out: a local web server. Whatever a model or a person wrote reaches a page as
text, never as markup; nothing is kept of a visitor beside the pages that are open.
"""
