"""The annotation room: people answer items, one page each.

In: an item set, an owner's honeypots, a database. Out: votes, as rows of `dramaturg.run.interview.vote_row`. Pages are
plain forms that the server writes; nothing is kept of a visitor between two requests but a cookie in the browser.
"""
