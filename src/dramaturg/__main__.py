"""``python -m dramaturg`` is ``dramaturg``."""

from dramaturg.cli import main

if __name__ == "__main__":
    main()
