"""Remember every answer.

In: logical requests of units. Out: committed replies, replayed when they are asked for again.
To resume, run again: there is no other checkpoint.
"""

from dramaturg.ledger.budget import Budget
from dramaturg.ledger.calls import Calls
from dramaturg.ledger.ledger import Ledger, Use
from dramaturg.ledger.verify import Verification, verify

__all__ = ["Budget", "Calls", "Ledger", "Use", "Verification", "verify"]
