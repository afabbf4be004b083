"""What becomes of plain questions at small helpdesks without a language model, from the gate to the reply.

    python -m benchmarks.desks [--learnt] [--list]

Helpdesks that were written for this (`benchmarks/desks`, as `training/desk_questions.py` reads them): eight
documents, 25 verified answers, 30 must examples, and 150 questions as users type them. *Right*: what reaches
the asker holds what a right reply has to. With --learnt those that weights were fitted on, with --list every
question.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Literal, get_args

import yaml
from rich.console import Console
from rich.progress import track
from rich.table import Table

from cache.transfer import import_entries
from gateway.assembly import assemble
from gateway.configuration.loading import load_settings
from gateway.demo import demo_settings, load
from gateway.domain import Conversation, Reply, Turn
from gateway.figures.rates import Rate
from gateway.recording.logs import configure_logging
from gateway.settings import Settings
from gateway.stores import open_stores
from training.desk_questions import LEARNT, UNSEEN, Asked, Desk, desks

Fate = Literal[
    "right, verified",
    "right, quoted",
    "wrong, verified",
    "wrong, quoted",
    "to a person",
    "refused",
    "small talk",
]
TENANT = "default"


def fate(asked: Asked, reply: Reply) -> Fate:
    """What became of a question."""
    outcomes = {one.name for one in reply.outcomes}
    if not outcomes:
        return "small talk"
    if not outcomes <= {"rag", "ground_truth", "confirmed_answer"}:
        return "refused" if "refused" in outcomes else "to a person"
    right = "right" if asked.answered_by(reply.text) else "wrong"
    return f"{right}, {'quoted' if 'rag' in outcomes else 'verified'}"  # type: ignore[return-value]


async def fates(desk: Desk) -> list[tuple[Asked, Fate, str]]:
    """What becomes of all questions of a helpdesk, and what is said."""
    with tempfile.TemporaryDirectory() as folder:
        settings = await set_up(desk, Path(folder))
        configure_logging(settings.logging.model_copy(update={"level": "error"}))
        found: list[tuple[Asked, Fate, str]] = []
        async with assemble(settings) as services:
            for number, one in enumerate(track(desk.asked, desk.name)):
                turns = (Turn("user", one.text),)
                asked = Conversation(turns=turns, tenant=TENANT, request_id=f"benchmark-{number}")
                reply = await services.pipeline.answer(asked)
                found.append((one, fate(one, reply), reply.text))
        return found


async def set_up(desk: Desk, folder: Path) -> Settings:
    """Settings for a helpdesk whose entries were imported, indexed and calibrated."""
    if not (desk.home / "description.txt").is_file():
        settings = demo_settings(folder)
        await load(settings)
        return settings
    policy = {
        "must": {
            "description": (desk.home / "description.txt").read_text("utf-8").strip(),
            "examples_file": str(desk.home / "must.txt"),
            "documents": str(desk.documents),
        },
        "may": {"description": "Anything else.", "examples_file": str(desk.home / "may.txt")},
    }
    file = folder / "sekisho.yaml"
    file.write_text(yaml.safe_dump({"policy": policy, "cache": {"target_error": 0.01}}, allow_unicode=True))
    settings = load_settings(file)
    async with open_stores(settings) as stores:
        await import_entries(stores.entries, TENANT, desk.home / "entries.jsonl", by="benchmark")
        await stores.index_pending()
        for tenant, language in await stores.entries.shelves():
            await stores.shelf.calibrate(tenant, language)
    return settings


async def main() -> None:
    """A table of all helpdesks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learnt", action="store_true", help="the helpdesks that weights were fitted on")
    parser.add_argument("--list", action="store_true", help="every question with its fate and its reply")
    chosen = parser.parse_args()
    console, table = Console(), Table("helpdesk", "asked for", "n", *get_args(Fate))
    totals = Counter[tuple[str, Fate]]()
    for desk in desks(LEARNT if chosen.learnt else UNSEEN):
        found = await fates(desk)
        counts = Counter[tuple[str, Fate]]((asked.kind, became) for asked, became, _ in found)
        totals += counts
        _rows(table, desk.name, counts)
        if chosen.list:
            for asked, became, text in found:
                line = f"{desk.name} | {asked.kind} | {became} | {asked.text} | {' / '.join(text.split())}"
                console.print(line, soft_wrap=True, markup=False, highlight=False)
    _rows(table, "all", totals)
    console.print(table)


def _rows(table: Table, name: str, counts: Counter[tuple[str, Fate]]) -> None:
    for kind in ("answered", "not_in_documents", "not_ours", "unclear"):
        n = sum(counts[kind, one] for one in get_args(Fate))
        shown = str if name != "all" else lambda count, n=n: str(Rate(count, n))
        table.add_row(name, kind, str(n), *(shown(counts[kind, one]) for one in get_args(Fate)))


if __name__ == "__main__":
    asyncio.run(main())
