"""Cases: checked, imported and exported, and written in numbers by models or templates.

In: a file, or what a case is to be about. Out: cases, what is doubtful about them, and how different they are.
"""

from dramaturg.stage.court.cases.authors import model_author, template_author
from dramaturg.stage.court.cases.checks import check_case, check_file
from dramaturg.stage.court.cases.corpus import Corpus, CorpusPlan, Entry, make_corpus
from dramaturg.stage.court.cases.diversity import diversity
from dramaturg.stage.court.cases.finding import CODES, Finding
from dramaturg.stage.court.cases.generating import Generated, generate_case
from dramaturg.stage.court.cases.llm_court import read_llm_court, to_llm_court
from dramaturg.stage.court.cases.words import LANGUAGES, known_language
from dramaturg.stage.court.cases.writing import case_yaml
from dramaturg.stage.diversity import Diversity
from dramaturg.stage.finding import has_errors

__all__ = [
    "CODES",
    "LANGUAGES",
    "Corpus",
    "CorpusPlan",
    "Diversity",
    "Entry",
    "Finding",
    "Generated",
    "case_yaml",
    "check_case",
    "check_file",
    "diversity",
    "generate_case",
    "has_errors",
    "known_language",
    "make_corpus",
    "model_author",
    "read_llm_court",
    "template_author",
    "to_llm_court",
]
