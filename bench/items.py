"""What an item analysis costs: time against a plain JSON parse of the same file, and peak memory.

    python bench/items.py [--json] [--transcripts N]

A study of two subjects is invented, 38 judgements for each transcript with reasoning of some 300 characters. Each side
runs in a process of its own; memory is that process's peak.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, at_most, show

INDICATORS = 38
SECONDS, MEGABYTES, RATIO = 20.0, 500.0, 4.0
REASONING = "The turns show it: the prosecutor points to the harbour log and draws one conclusion from its time. " * 3


def invent(folder: Path, transcripts: int) -> None:
    generator = random.Random(3)
    names = [f"{part}-{number}" for part in ("RA", "AD", "FC", "CR") for number in range(1, 11)][:INDICATORS]
    with (folder / "judgements.jsonl").open("w", encoding="utf-8") as out:
        for number in range(transcripts):
            for indicator in names:
                record = {
                    "format": "dramaturg-judgement/1",
                    "transcript": f"trial-{number:06d}",
                    "transcript_digest": "d" * 64,
                    "indicator": indicator,
                    "dimension": indicator[:2],
                    "answer": generator.choices(("yes", "no", "missing"), (70, 28, 2))[0],
                    "reasoning": REASONING,
                    "evidence": ["T3", "T9"],
                    "judge": "openai:judge",
                    "mode": "single",
                    "checklist": "court v1",
                    "checklist_digest": "c" * 64,
                    "calls": ["k" * 64],
                }
                out.write(json.dumps(record) + "\n")
    with (folder / "transcripts.jsonl").open("w", encoding="utf-8") as out:
        for number in range(transcripts):
            player = {"kind": "model", "model": f"subject-{number % 2}", "subject": True}
            turns = [{"id": f"T{turn}", "role": "judge", "speaker": "J", "text": REASONING} for turn in range(1, 25)]
            out.write(json.dumps({"id": f"trial-{number:06d}", "cast": {"judge": player}, "turns": turns}) + "\n")


def analysis(folder: Path) -> None:
    from dramaturg.judge.checklist.answer_table import read_answers
    from dramaturg.judge.checklist.items import analyse
    from dramaturg.run.subjects import subjects_of_run

    analyse(
        read_answers(folder / "judgements.jsonl"), checklists={}, subjects=subjects_of_run(folder, on_torn=sys.exit)
    )


def parse(folder: Path) -> None:
    with (folder / "judgements.jsonl").open(encoding="utf-8") as file:
        for line in file:
            json.loads(line)


def measured(side: str, folder: Path) -> tuple[float, float]:
    """Returns seconds and peak megabytes of one side in a process of its own."""
    command = [sys.executable, __file__, "--side", side, "--folder", str(folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    seconds, kilobytes = found.stdout.split()
    return float(seconds), float(kilobytes) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--transcripts", type=int, default=20_000)
    parser.add_argument("--side", choices=("analysis", "parse"))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.side:
        start = time.perf_counter()
        {"analysis": analysis, "parse": parse}[given.side](given.folder)
        seconds = time.perf_counter() - start
        print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        invent(folder, given.transcripts)
        seconds, megabytes = measured("analysis", folder)
        plain, _ = measured("parse", folder)
    detail = f"{given.transcripts} transcripts × {INDICATORS}"
    figures: list[Figure] = [
        at_most("item analysis, seconds", seconds, SECONDS, detail),
        at_most("item analysis, peak MB", megabytes, MEGABYTES, detail),
        at_most("item analysis / plain JSON parse", seconds / plain, RATIO, f"parse {plain:.1f} s"),
    ]
    show(figures, as_json=given.json)


if __name__ == "__main__":
    main()
