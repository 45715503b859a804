"""The world: characters act on each other in a scene that a narrator keeps up to date.

In: a scene, a cast, and calls. Out: a transcript whose turns are acts, speeches and narration.
"""
