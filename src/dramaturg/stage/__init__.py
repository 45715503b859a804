"""Perform.

In: a case or scene, a cast, and calls that go through the ledger. Out: a transcript, whoever will judge it.
"""

from dramaturg.stage.audience import Audience
from dramaturg.stage.transcript import Outcome, Player, Restart, Role, Scenario, Transcript, Turn

__all__ = ["Audience", "Outcome", "Player", "Restart", "Role", "Scenario", "Transcript", "Turn"]
