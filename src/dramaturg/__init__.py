"""Dramaturg stages performances by language models that play a role, judges them, and measures the trust.

Content goes in, transcripts, judgements and reports come out. Import from the rooms: ``dramaturg.model``,
``dramaturg.ledger``, ``dramaturg.stage``, ``dramaturg.judge``, ``dramaturg.measure``, ``dramaturg.run``,
``dramaturg.report``.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
