"""Names of people in a transcript, apart from labels such as Judge, the witness or Agent 2, which are nobody's own.

What shares a character stands in one split. A label shared by two scenes says nothing of them: by it, all scenes with
a judge would be one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dramaturg.stage.transcript import Role

_LABELS = frozenset(
    "accused actor advocate agent applicant assistant attorney boss bot caller captain chairman character chatbot "
    "chief claimant clerk client colleague complaint counsel court customer defence defendant defense desk "
    "detective director doctor employee engineer expert friend guard guest healer helpdesk host human innkeeper "
    "interviewer judge juror jury lawyer magistrate man manager merchant model moderator narrator neighbor "
    "neighbour nurse officer operator other owner passenger patient physician plaintiff player presiding "
    "prosecution prosecutor receptionist representative respondent role salesperson second seller service shop "
    "soldier speaker staff storyteller stranger student supervisor supplier support surgeon system teacher "
    "technician traveller trader unknown user victim visitor waiter waitress witness woman you first third "
    "accusa addetto agente amico assistente attore attrice avvocato capo cliente convenuto difensore difesa "
    "direttore dottore giudice impiegato imputato infermiera insegnante medico narratore operatore oste personaggio "
    "poliziotto presidente procuratore proprietario pubblico ministero responsabile signora signore straniero "
    "studente tecnico teste testimone utente vittima "
    "代理人 主持人 主管 公诉人 助手 医生 受害人 同事 员工 审判长 客人 客户 客服 导演 店员 店主 "
    "护士 旁白 朋友 机器人 检察官 法官 法庭 用户 玩家 经理 老师 职员 船长 被告 被告人 被告律师 "
    "角色 警官 警察 证人 辩护人 辩护律师 原告 原告律师 叙述者 律师 顾客 陌生人 陪审员".split()
)
"""Words for what somebody is, in the languages of what ships; small."""

_ARTICLES = frozenset("the a an il lo la i gli le un uno una".split())
_JOINED = frozenset("of for and to in di del della dello dell e ed".split())
_WORD = re.compile(r"[^\W\d_]+")
_GENITIVE = re.compile(r"['’]s\b")
_CHINESE_NUMBER = re.compile(r"^第[一二三四五六七八九十]+(?:位|名|个|号)?|[一二三四五六七八九十甲乙丙丁]$")


def names_of(roles: Iterable[Role]) -> tuple[str, ...]:
    """Returns the names that are somebody's own, sorted; a label is none.

    A label is made of words for offices, of the kinds of the roles, of articles and of numbers alone, or begins with an
    article: ``the old woman``.

    Args:
        roles: Of one transcript.
    """
    given = list(roles)
    labels = _LABELS | {word for role in given for word in _words(role.kind)}
    names = {" ".join(role.name.split()) for role in given}
    return tuple(sorted(name for name in names if not _is_label(name, labels)))


def _is_label(name: str, labels: frozenset[str]) -> bool:
    first, _, rest = name.partition(" ")
    if rest and (first in _ARTICLES or first == "The"):
        return True
    words = [word for word in _words(name) if len(word) > 1 or not word.isascii()]
    rest = [word for word in words if word not in _ARTICLES and word not in _JOINED]
    return not words or (bool(rest) and labels.issuperset(rest))


def _words(text: str) -> list[str]:
    return [_CHINESE_NUMBER.sub("", word) or word for word in _WORD.findall(_GENITIVE.sub("", text.casefold()))]
