"""The world on a page: people watch a story round by round, hold it, and take characters over.

In: a story of `dramaturg.run.games`. Out: pages of the server. What a page shows it reads from the live story alone.
"""
