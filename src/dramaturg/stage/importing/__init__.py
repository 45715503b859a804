"""Plain chat logs become transcripts.

In: a file in one of several common shapes, and who plays what. Out: transcripts that a judge reads like any other.
"""

from dramaturg.stage.importing.chat import Chat, ChatLog, Said
from dramaturg.stage.importing.formats import FORMATS, Format, read_log
from dramaturg.stage.importing.roles import Part, RoleMap, load_roles, parse_role
from dramaturg.stage.importing.transcripts import Imported, Settings, check_speakers, to_transcripts

__all__ = [
    "FORMATS",
    "Chat",
    "ChatLog",
    "Format",
    "Imported",
    "Part",
    "RoleMap",
    "Said",
    "Settings",
    "check_speakers",
    "load_roles",
    "parse_role",
    "read_log",
    "to_transcripts",
]
