"""Words around and instead of names, English and Chinese, in the form in which names are compared."""

from __future__ import annotations

from typing import Literal

Gender = Literal["female", "male"]

NOBODY_WORD = "none"
"""What a narrator is told to write where nobody is acted on; it means nobody, whatever people are called."""


def _listed(text: str) -> frozenset[str]:
    """Returns the entries of a list whose lines and bars part them."""
    return frozenset(entry for part in text.replace("\n", "|").split("|") if (entry := part.strip()))


NOBODY = _listed("""
    none | null | nil | n/a | na | no | nobody | no one | no-one | noone | nothing | not applicable
    no target | no character | no characters | no other | no other character | nobody else | no one else
    nobody in particular | no one in particular | none of them | none of these
    none of the others | none of the other characters
    environment | the environment | scene | the scene | surroundings | the surroundings
    无 | 无人 | 没有 | 没有人 | 没人 | 谁也没有 | 无目标 | 无对象 | 没有目标 | 没有对象 | 不适用 | 空 | 任何人都没有
    没有任何人 | 没有其他人 | 无其他人 | 无特定对象 | 无特定目标 | 环境 | 场景 | 周围环境
""")
"""Ways to say that nobody is meant."""

SELF = _listed("""
    self | himself | herself | themself | themselves | itself | oneself | myself | me | i
    自己 | 自身 | 本人 | 他自己 | 她自己 | 我自己 | 我
""")
"""Ways to say that whoever acts is meant."""

OTHERS = _listed("""
    he | him | she | her | they | them | it | you | other | another | someone | somebody | this person
    the other | the other one | the other person | the other character | the target | the listener
    他 | 她 | 它 | 祂 | 其 | 他们 | 她们 | 它们 | 你 | 您 | 对方 | 某人 | 那人 | 此人 | 这个人 | 那个人
    另一人 | 另一个人 | 该角色
""")
"""Words that mean one person only where no more than one other is there."""

PRONOUNS: dict[str, Gender] = {
    **dict.fromkeys(("he", "him", "他"), "male"),
    **dict.fromkeys(("she", "her", "她"), "female"),
}
"""Those of them that tell a gender."""

EVERYBODY = _listed("""
    all | all of them | everyone | everybody | everyone else | everybody else | everyone present | both | both of them
    the others | others | all others | all characters | all the characters | each other | the group | the crowd
    所有人 | 大家 | 众人 | 每个人 | 全体 | 全部 | 其他人 | 其余人 | 在场所有人 | 在场的人 | 双方 | 彼此 | 两人 | 二人
""")
"""Ways to say that all the others are meant."""

ARTICLES = _listed("""
    the | a | an | this | that | old | young | little | dear | poor
    mainly | mostly | primarily | chiefly | especially | probably | only | just | directly | then | also
""")
"""Words that may stand before a name without being part of it."""

PARTICLES = _listed("of | the | and | von | van | de | del | della | di | da | le | la | el | al | bin | ibn")
"""Words inside names that tell nobody apart."""

TITLES: dict[str, Gender | None] = {
    **dict.fromkeys(
        _listed("""
            dr | doctor | prof | professor | captain | colonel | general | major | lieutenant | sergeant | constable
            inspector | detective | officer | judge | president | minister | mayor | chief | boss | nurse | ranger
            saint | master | comrade | mx | san | sama | jr | sr | esq
        """)
    ),
    **dict.fromkeys(
        _listed("""
            mr | mister | sir | lord | king | prince | duke | count | baron | emperor | father | brother | uncle
            monsieur | senor | signor | herr
        """),
        "male",
    ),
    **dict.fromkeys(
        _listed("""
            mrs | ms | miss | madam | madame | lady | dame | queen | princess | duchess | countess | baroness | empress
            mother | sister | aunt | mademoiselle | senora | signora | frau | mistress
        """),
        "female",
    ),
}
"""Titles of names that are written with blanks, and the gender that they tell."""

SUFFIXES: dict[str, Gender | None] = {
    **dict.fromkeys(
        _listed("""
            医生 | 大夫 | 教授 | 博士 | 老师 | 师傅 | 师父 | 律师 | 法官 | 警官 | 船长 | 队长 | 村长 | 市长 | 总
            经理 | 老板 | 同学 | 道长 | 大师 | 法师 | 长老 | 大人 | 将军 | 丞相 | 陛下 | 殿下 | 掌柜 | 大王 | 君 | 氏
            主任 | 所长 | 站长 | 工 | 导
        """)
    ),
    **dict.fromkeys(
        _listed("""
            先生 | 公子 | 少爷 | 老爷 | 大爷 | 二爷 | 大哥 | 哥哥 | 哥 | 兄弟 | 兄 | 弟弟 | 弟 | 贤弟 | 仁兄 | 叔叔 | 叔
            伯伯 | 伯 | 爷爷 | 爷 | 公公 | 皇帝
        """),
        "male",
    ),
    **dict.fromkeys(
        _listed("""
            女士 | 小姐 | 太太 | 夫人 | 姑娘 | 大姐 | 姐姐 | 姐 | 妹妹 | 妹 | 嫂子 | 嫂 | 婶婶 | 婶 | 阿姨 | 姨 | 奶奶
            婆婆 | 娘娘 | 大娘 | 大妈 | 师太 | 妃
        """),
        "female",
    ),
}
"""Titles that stand behind Chinese names, and the gender that they tell."""

PREFIXES = ("小", "老", "阿")
"""What stands before a part of a Chinese name among people who know each other."""

TWO_SIGN_SURNAMES = _listed("""
    诸葛 | 司马 | 欧阳 | 上官 | 夏侯 | 皇甫 | 尉迟 | 公孙 | 慕容 | 令狐 | 东方 | 独孤
    南宫 | 西门 | 司徒 | 端木 | 宇文 | 长孙 | 轩辕 | 百里 | 呼延 | 公冶 | 闻人 | 太史
""")
"""Chinese surnames of two signs."""

GENDERS: dict[str, Gender] = {
    **dict.fromkeys(("male", "m", "man", "boy", "男", "男性", "男人", "男孩"), "male"),
    **dict.fromkeys(("female", "f", "woman", "girl", "女", "女性", "女人", "女孩"), "female"),
}
"""What scenes call the two genders that titles tell."""
