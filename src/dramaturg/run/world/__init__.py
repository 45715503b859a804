"""Studies of worlds: subjects × scenes × seeds, with one narrator for all."""
