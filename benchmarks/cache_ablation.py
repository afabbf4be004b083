"""What each guard and each piece of evidence adds to the verified answers.

    python -m benchmarks.cache_ablation DATA [TRAPS]

DATA is the folder of development data, TRAPS that of our own trap pairs (tests/cache/traps by default;
its held_out rows count with the others). A guard or a judge taken away: how many traps are served then,
and how many paraphrases, each pair alone on its shelf at the default cut. A piece of evidence taken away:
what weights fitted on the other FAQ set without it serve right at 1 and 3 % wrong answers per request,
with the best cut for that traffic.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cache.entries import Entry
from cache.guards import default_guards
from cache.matching import Similar, candidates, objection
from cache.matching.evidence import Weights
from cache.matching.scoring import Scorer
from cache.reading.asking import readings, says_all
from cache.reading.spelling import spelt
from encoders import Encoder
from encoders.pairs import PairModel
from encoders.shipped import load_shipped, load_shipped_pairs
from training.command import rows
from training.faq_pairs import SETS
from training.fit_matching import RANGES, fit, scores
from training.matching_sets import Judged, faq, served

TRAPS = Path(__file__).resolve().parent.parent / "tests" / "cache" / "traps"
LANGUAGES = ("en", "ja", "zh")


@dataclass(frozen=True)
class Read:
    """A pair alone on its shelf: whether it reaches the cut, with and without pair model, and who objects."""

    language: str
    same: bool
    reaches: bool
    reaches_by_evidence: bool
    vetoes: frozenset[str]


async def read(encoder: Encoder, model: PairModel, language: str, folder: Path) -> list[Read]:
    """All pairs of a language."""
    weights = Weights.load()
    known = encoder.identity.languages
    scoring, bare = (Scorer.of(weights, language, known, pairs) for pairs in (model, None))
    cut, bare_cut = scoring.default_cut, bare.default_cut
    files = (folder / f"{language}.jsonl", folder / "held_out" / f"{language}.jsonl")
    pairs = [row for file in files for row in rows(file)]
    found = []
    for pair in pairs:
        question, phrasing = pair["question"], pair["cached_question"]
        text = next(
            (one for one in readings(question, language) if says_all(one, phrasing, language)),
            readings(question, language)[-1],
        )
        stored, asked = await encoder.encode([spelt(phrasing, language), text])
        similar = Similar((("only", phrasing, float(stored @ asked)),), floor=None)
        (first,) = candidates(text, similar, [_entry(phrasing, language)], scoring.weighing)
        (again,) = await scoring.first_reread(text, (first,))
        vetoes = {
            guard.name
            for guard in default_guards()
            if objection(question, phrasing, (phrasing,), language, [guard]) is not None
        }
        found.append(
            Read(
                language,
                pair["should_reuse"],
                again.score >= cut,
                first.score >= bare_cut,
                frozenset(vetoes),
            )
        )
    return found


def _entry(phrasing: str, language: str) -> Entry:
    now = datetime.now(UTC)
    return Entry(
        id="only",
        tenant="shop",
        kind="ground_truth",
        language=language,
        phrasings=(phrasing,),
        answer="",
        state="active",
        created_at=now,
        updated_at=now,
    )


def guards_table(found: Sequence[Read]) -> Table:
    """Traps and paraphrases that are served without a judge, by language."""
    table = Table("taken away", *(f"{one}: traps, paraphrases" for one in LANGUAGES), title="served")
    names = [guard.name for guard in default_guards()]
    everything = frozenset(names)
    for label, away in (
        ("nothing", frozenset[str]()),
        *((name, frozenset((name,))) for name in names),
        ("all guards", everything),
    ):
        table.add_row(label, *(_cell(found, language, away) for language in LANGUAGES))
    bare = [replace(one, reaches=one.reaches_by_evidence) for one in found]
    table.add_row("the pair model", *(_cell(bare, language, frozenset()) for language in LANGUAGES))
    return table


def _cell(found: Sequence[Read], language: str, away: frozenset[str]) -> str:
    own = [one for one in found if one.language == language]
    there = [one for one in own if one.reaches and not one.vetoes - away]
    traps = [sum(not one.same for one in part) for part in (there, own)]
    same = [sum(one.same for one in part) for part in (there, own)]
    return f"{traps[0]} of {traps[1]}, {same[0]} of {same[1]}"


def evidence_table(sets: Sequence[Judged]) -> Table:
    """What is served right by the evidence alone, without each piece of it."""
    table = Table(
        "taken away", *(f"{name}: 1 %, 3 %" for name in SETS), title="served right by evidence alone"
    )
    pieces = [name for name, (low, high) in RANGES["meaning"].items() if low < high]
    kept = dict(RANGES["meaning"])
    for piece in (None, *pieces):
        RANGES["meaning"] = kept | ({piece: (0.0, 0.0)} if piece else {})
        cells = []
        for one, other in zip(sets, reversed(sets), strict=True):
            at = served(one.right, one.answerable, scores(fit([other], "meaning"), one.evidence))
            cells.append(f"{at[1]}, {at[3]}")
        table.add_row(piece or "nothing", *cells)
    RANGES["meaning"] = kept
    return table


async def measure(data: Path, traps: Path) -> None:
    """Print both tables."""
    encoder, pairs, console = load_shipped(), load_shipped_pairs(), Console(width=110)
    found: list[Read] = []
    for language in LANGUAGES:
        found += await read(encoder, pairs, language, traps)
    console.print(guards_table(found))
    console.print(evidence_table([await faq(encoder, data, name) for name in SETS]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("traps", type=Path, nargs="?", default=TRAPS)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.data, arguments.traps))
