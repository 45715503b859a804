"""The rating room: people rate how roles are played, on the scales that judges use.

In: transcripts, a rubric, a database. Out: sheets of ratings, as rows that `dramaturg.run.person_ratings` reads, and
how far people agree with each other and with judges. Who rates sees no model's name, no judge's rating and nobody
else's sheet.
"""
