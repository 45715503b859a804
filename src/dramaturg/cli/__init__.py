"""The terminal door: every command of ``dramaturg``.

In: arguments. Out: text or JSON, and an exit code: 0 fine, 1 user error, 2 some units failed, 3 limit reached.
"""

from dramaturg.cli.main import main

__all__ = ["main"]
