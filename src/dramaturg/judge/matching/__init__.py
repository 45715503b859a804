"""Read replies to items whose answers are known.

In: a question and a reply. Out: a verdict with a status and flags; the published rule's verdict beside it.
`compat` is the published rule (RPEval) bit by bit; `robust` reads what the model meant.
"""

from dramaturg.judge.matching.compat import Crash, compat
from dramaturg.judge.matching.question import Question, Status, Verdict
from dramaturg.judge.matching.reply_text import ReplyEnd, ReplyText
from dramaturg.judge.matching.robust import robust

__all__ = ["Crash", "Question", "ReplyEnd", "ReplyText", "Status", "Verdict", "compat", "robust"]
