"""Carry out an interview: put the items of a set to models, and keep every reply with what it answered."""
