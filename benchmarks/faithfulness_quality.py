"""What the configured judge makes of our probes, of answers unread and of lists: recall and false blocks.

    python -m benchmarks.faithfulness_quality [--config C] [--raise-floors]

The probes were written by hand, without a look at the judge: true answers in other words than their
passages, false ones with one error. `--raise-floors` writes down what is reached, where that is better than
before; a test lets nothing fall below it. The answers unread are by writers who knew neither the judge nor
the probes, to askers who tell of themselves, and nobody has mended the judge by them: what to expect of such.
The lists are answers made of items, by such writers, too; what had held faithful ones back was looked at.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console
from rich.table import Table

from evaluation.cases import Answer, read_cases
from evaluation.faithfulness.judging import FaithfulnessResult, evaluate_faithfulness
from evaluation.statistics import Rate
from gateway.checking.opening import judge_apart
from gateway.configuration.loading import find_settings
from gateway.settings import Settings

__all__ = ["FLOORS", "LANGUAGES", "LISTS", "UNREAD", "better", "reached", "read_probes"]

PROBES = Path(__file__).parent.parent / "tests/classifiers/faithfulness/probes"
FLOORS = PROBES / "floors.json"
UNREAD = PROBES.parent / "unread"
LISTS = PROBES.parent / "lists"
LANGUAGES = ("en", "ja", "zh")
TARGET = "target: 90 % recall, at most 5 % false blocks, in each language"


def main() -> None:
    """Judge, print, and raise the floors if asked to."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--config", type=Path)
    arguments.add_argument("--raise-floors", action="store_true")
    chosen = arguments.parse_args()
    settings = find_settings(chosen.config)
    results = uvloop.run(_judged(settings, PROBES))
    console = Console(highlight=False)
    console.print(_table(results, "probes"))
    for folder, what in ((UNREAD, "answers unread"), (LISTS, "lists")):
        console.print(_table(uvloop.run(_judged(settings, folder)), what))
    if chosen.raise_floors:
        before = json.loads(FLOORS.read_text("utf-8")) if FLOORS.exists() else {}
        now = {lang: better(before.get(lang), reached(result)) for lang, result in results.items()}
        FLOORS.write_text(json.dumps(now, indent=1) + "\n", "utf-8")


async def _judged(settings: Settings, folder: Path) -> dict[str, FaithfulnessResult]:
    async with judge_apart(settings) as judge:
        return {lang: await evaluate_faithfulness(read_probes(lang, folder), judge) for lang in LANGUAGES}


def read_probes(lang: str, folder: Path = PROBES) -> list[Answer]:
    """All probes of a language."""
    return read_cases(folder / f"{lang}.jsonl", Answer)


def reached(result: FaithfulnessResult) -> dict[str, Any]:
    """What is held: how many false answers of each kind are stopped, and how many true ones at most."""
    caught = {kind: part.rates()["recall"].count for kind, part in _by_kind(result, faithful=False).items()}
    return {"false_blocks": result.rates()["false blocks"].count, "caught": caught}


def better(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any]:
    """What is reached now, if that is no worse on the whole; else what was reached before."""
    if before is None or _worth(now) >= _worth(before):
        return dict(now)
    return dict(before)


def _worth(floors: Mapping[str, Any]) -> int:
    """Both kinds of error count alike: there are about as many true probes as false ones."""
    return sum(floors["caught"].values()) - int(floors["false_blocks"])


def _by_kind(result: FaithfulnessResult, *, faithful: bool) -> dict[str, FaithfulnessResult]:
    return result.parts(lambda case: (case.kind,) if case.faithful is faithful else ())


def _table(results: Mapping[str, FaithfulnessResult], what: str) -> Table:
    table = Table("kind", *results, title=f"{sum(len(one.judged) for one in results.values())} {what}")
    for faithful, name in ((False, "recall"), (True, "false blocks")):
        whole = [one.rates()[name] for one in results.values()]
        table.add_row(name, *map(str, whole), style="bold")
        kinds = {lang: _by_kind(result, faithful=faithful) for lang, result in results.items()}
        for kind in sorted({kind for of_lang in kinds.values() for kind in of_lang}):
            rates = (of_lang[kind].rates()[name] if kind in of_lang else None for of_lang in kinds.values())
            table.add_row(f"  {kind}", *map(_share, rates))
    table.caption = TARGET
    return table


def _share(rate: Rate | None) -> str:
    return "–" if rate is None else f"{rate.count} of {rate.n}"


if __name__ == "__main__":
    main()
