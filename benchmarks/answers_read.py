"""What reading the answers of entries does to lookups: right and wrong hits, and their time.

    python -m benchmarks.answers_read [--learnt]

The entries of the helpdesks of `benchmarks/desks` (--learnt: of those that weights were fitted on) are
calibrated without and with `cache.answer_model` and looked up for each plain question, without gate and
documents.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.desks import TENANT, set_up
from cache.matching import Hit, Match
from encoders import encode_one
from gateway.figures.rates import Rate
from gateway.recording.logs import configure_logging
from gateway.settings import Settings
from gateway.stores import open_stores
from training.desk_questions import LEARNT, UNSEEN, Asked, Desk, desks


@dataclass(frozen=True)
class Lookup:
    """A question, what was found, and the CPU time of it, encoding included."""

    asked: Asked
    match: Match
    ms: float

    @property
    def hit(self) -> bool:
        """Whether an entry is served by meaning."""
        return isinstance(self.match, Hit) and self.match.tier == "vector"

    @property
    def right(self) -> bool:
        """Whether its answer holds what a right reply has to."""
        answer = self.match.entry.answer if isinstance(self.match, Hit) else ""
        return self.asked.answered_by(answer)


async def lookups(desk: Desk, settings: Settings, *, read: bool) -> list[Lookup]:
    """All questions of a helpdesk, after its shelf was calibrated."""
    cache = settings.cache.model_copy(update={"answer_model": read})
    found = []
    async with open_stores(settings.model_copy(update={"cache": cache})) as stores:
        await stores.shelf.calibrate(TENANT, desk.language)
        for one in desk.asked:
            began = process_time()
            question = await encode_one(stores.encoder, one.text)
            match = await stores.shelf.find(question, tenant=TENANT, language=desk.language)
            found.append(Lookup(one, match, (process_time() - began) * 1000))
    return found


async def main() -> None:
    """A table of all helpdesks together, without and with the answers read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--learnt", action="store_true", help="the helpdesks that weights were fitted on")
    folder = LEARNT if parser.parse_args().learnt else UNSEEN
    found: dict[bool, list[Lookup]] = {False: [], True: []}
    for desk in desks(folder):
        with tempfile.TemporaryDirectory() as home:
            settings = await set_up(desk, Path(home))
            configure_logging(settings.logging.model_copy(update={"level": "error"}))
            for read, of in found.items():
                of += await lookups(desk, settings, read=read)
    columns = ("answers", "n", "right", "wrong", "a lookup, ms: p50, p95", "a hit, ms: p50, p95")
    table = Table(*columns, caption="served by meaning; CPU time")
    for read, of in found.items():
        hits = [one for one in of if one.hit]
        right = sum(one.right for one in hits)
        rates = (str(Rate(count, len(of))) for count in (right, len(hits) - right))
        table.add_row("read" if read else "not read", str(len(of)), *rates, _times(of), _times(hits))
    Console().print(table)


def _times(found: list[Lookup]) -> str:
    return ", ".join(f"{np.percentile([one.ms for one in found], at):.1f}" for at in (50, 95))


if __name__ == "__main__":
    asyncio.run(main())
