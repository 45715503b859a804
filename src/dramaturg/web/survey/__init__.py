"""The survey room: what every campaign has in which people are asked, whatever they are asked.

In: a site (pages, words) and a store (a database). Out: signed cookies and personal links that tell people apart, plain
forms that need no script, an owner's door behind a password, a server. The rooms `annotation` and `rating` stand on it.
"""
