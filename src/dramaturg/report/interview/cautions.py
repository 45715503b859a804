"""What limits trust in the scores of an interview, in plain words, most serious first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dramaturg.judge.matching.measures import KINDS
from dramaturg.judge.matching.question import Question
from dramaturg.report.data import Caution, RunFacts
from dramaturg.report.figures import counted, decimal, share, words
from dramaturg.report.interview.data import Matcher, SetFacts, Subject
from dramaturg.report.interview.words import BASELINES

MUCH = 0.05
"""Share of replies that are missing, cut off or in no readable form above which a reader must know it first."""

FEW_CHARACTERS = 10
"""Characters below which an interval over characters says little."""

ONE_SIDED = 0.9
"""Share of one and the same answer above which a subject hardly reads the question."""

UNBALANCED = 0.6
"""Share of one right answer in a category above which a constant answer scores well."""

Questions = Mapping[str, tuple[str, Question]]


def cautions(
    facts: RunFacts,
    items: SetFacts,
    matcher: Matcher,
    questions: Questions,
    subjects: Sequence[Subject],
) -> tuple[Caution, ...]:
    """Returns what limits trust: what the run knows of itself, then what its figures show."""
    found = [
        *facts.cautions,
        *_about_items(items, questions),
        *_about_matcher(matcher, subjects),
        *(caution for subject in subjects for caution in _about_subject(subject)),
        *_about_repeats(subjects),
        *(Caution("set_note", note, "note") for note in items.notes),
    ]
    if questions and not subjects:
        found.append(Caution("no_subject", "Nobody was asked: there are baselines alone."))
    return tuple(sorted(found, key=lambda caution: caution.severity != "serious"))


def _about_items(items: SetFacts, questions: Questions) -> Iterator[Caution]:
    if not questions:
        yield Caution("nothing_asked", "No item was planned that can be scored, so there is no score.")
        return
    answerable = [question for _, question in questions.values() if question.expected]
    silent = sum(not any(question.votes.values()) for question in answerable)
    if answerable and silent == len(answerable):
        yield Caution(
            "gold_unannotated",
            "The item set holds no votes of people: as far as it tells, its right answers are its authors' own. A "
            "score says how often a model answers as they do.",
        )
    elif silent:
        yield Caution(
            "gold_partly_annotated",
            f"{silent:,} of {len(answerable):,} right answers have no votes of people; as far as "
            "the set tells, they are its authors' own.",
            "note",
        )
    if items.problems:
        yield Caution(
            "items_unusable",
            f"{counted(len(items.problems), 'line', 'lines')} of the item set cannot be used. Nobody was asked them, "
            "and they belong to no score.",
            "serious" if len(items.problems) > MUCH * len(questions) else "note",
        )
    characters = len({character for character, _ in questions.values()})
    if characters < FEW_CHARACTERS:
        yield Caution(
            "few_characters",
            f"The items are about {counted(characters, 'character', 'characters')}. Other characters may well give "
            "other scores.",
        )
    kinds = {question.kind for _, question in questions.values()}
    if "in_character" in kinds and "knows" not in kinds:
        yield Caution(
            "no_positive_control",
            "Nothing is asked that a character must know. Whoever tells nothing to anybody wins the category in "
            "character.",
        )
    yield from _about_balance(questions)


def _about_balance(questions: Questions) -> Iterator[Caution]:
    for kind in KINDS:
        expected = [question.expected for _, question in questions.values() if question.kind == kind]
        answer, number = Counter(expected).most_common(1)[0] if expected else ("", 0)
        if answer and number > UNBALANCED * len(expected):
            yield Caution(
                "unbalanced",
                f"“{answer}” is right in {share(number, len(expected))} of the items of the category {words(kind)}; "
                "who always says it scores as much.",
                "note",
            )


def _about_matcher(matcher: Matcher, subjects: Sequence[Subject]) -> Iterator[Caution]:
    if matcher == "compat":
        yield Caution(
            "compat",
            "The published rule read the replies. It counts refusals, empty replies and talk of being a machine as "
            "right in character, and right answers in any other form than its own as wrong. It serves to compare with "
            "published figures, not to choose a model.",
        )
    judged = sum(subject.scores.judged for subject in subjects)
    used = sum(subject.scores.used for subject in subjects)
    if judged:
        yield Caution(
            "judge_read",
            f"A model judged {share(judged, used)} of the replies ({judged:,} of {used:,}): what rules left "
            "open. Its errors are part of the scores.",
            "serious" if judged > MUCH * used else "note",
        )


def _about_subject(subject: Subject) -> Iterator[Caution]:
    scores = subject.scores
    missing = scores.planned - scores.used
    if missing:
        yield Caution(
            "replies_missing",
            f"{subject.name}: {missing:,} of {scores.planned:,} replies are missing, {share(missing, scores.planned)}. "
            "Scores leave them out; the bounds show what they could have changed.",
            "serious" if missing > MUCH * scores.planned else "note",
        )
    statuses: Counter[str] = Counter()
    for counts in scores.statuses.values():
        statuses.update(counts)
    for status, what in (
        ("truncated", "were cut off before they answered; a higher limit of tokens may change the scores"),
        ("unparsed", "give no answer that can be found"),
        ("crash", "would have stopped the published runner"),
    ):
        if statuses[status] > MUCH * max(scores.used, 1):
            yield Caution(status, f"{subject.name}: {share(statuses[status], scores.used)} of the replies {what}.")
    yield from _about_constancy(subject)
    unbeaten = [
        BASELINES[baseline]
        for baseline, against in subject.against.items()
        if "macro" in against.differences and against.differences["macro"].standing != "better"
    ]
    if unbeaten:
        yield Caution(
            "baseline_unbeaten",
            f"{subject.name} is not shown to be better than {', '.join(unbeaten)} (macro, over the same items).",
        )


def _about_constancy(subject: Subject) -> Iterator[Caution]:
    for kind, found in subject.scores.labels.items():
        expected = sum(label.expected for label in found.labels)
        for label in found.labels:
            if label.answered > ONE_SIDED * expected > ONE_SIDED * label.expected:
                yield Caution(
                    "constant",
                    f"{subject.name} answers “{label.label}” to {share(label.answered, expected)} of the items of the "
                    f"category {words(kind)}; it is right in {share(label.expected, expected)} of them. Recall over "
                    f"all labels alike: {decimal(found.balanced_accuracy)}.",
                )


def _about_repeats(subjects: Sequence[Subject]) -> Iterator[Caution]:
    once = [subject.name for subject in subjects if subject.scores.repeats is None and subject.scores.used]
    if once:
        yield Caution(
            "one_run",
            f"Each item was asked once ({', '.join(once)}), so nothing is known of how much another run would differ.",
            "note",
        )
