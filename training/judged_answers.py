"""Answers that somebody judged, in the figures that the local judge weighs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray
from rich.progress import track

from classifiers.faithfulness.evidence import Contexts, Evidence
from classifiers.faithfulness.examination import laid_beside
from classifiers.faithfulness.local import Pair, contradicted, figures, to_read
from classifiers.faithfulness.statements import statements
from encoders.pairs import PairModel
from languages.identification import script_language
from training.command import rows
from training.written_statements import Written, written_statements

__all__ = ["LANGUAGES", "MEASURED", "Answer", "Floats", "judged_answers"]

Floats = NDArray[np.float64]

LANGUAGES: Final = ("en", "ja", "zh")
MEASURED: Final = ("ragtruth_nontest", "factcg", "begin_dev", "jhars_dev")
ANSWERS: Final = Path(__file__).with_name("answers")  # as chatbots write them; only measured
FOLDER: Final = Path(__file__).resolve().parent.parent / "tests/classifiers/faithfulness"
AT_ONCE: Final = 16  # pairs of a call


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in figures, one row a statement."""

    source: str
    group: str  # task and generator
    origin: str  # its contexts: answers from the same ones are held out together
    language: str
    faithful: bool
    values: Floats  # shape (statements, len(FIGURES))
    unsupported: tuple[bool | None, ...]  # None: the answer is unfaithful, but where is not annotated
    contradicted: bool

    @property
    def writing(self) -> str:
        """Whether it is made of words or, as Japanese and Chinese, of characters."""
        return "words" if self.language == "en" else "characters"


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer before its statements are read by the model."""

    source: str
    row: dict[str, Any]
    evidence: tuple[Evidence, ...]
    asked: tuple[Pair | float, ...]
    unsupported: tuple[bool | None, ...]

    def answer(self, readings: dict[Pair, float]) -> Answer:
        row = self.row
        read = [one if isinstance(one, float) else readings[one] for one in self.asked]
        return Answer(
            self.source,
            f"{row.get('task', '')} {row['group']}".strip(),
            str(row.get("source_id") or row["contexts"]),
            script_language(row["answer"]),
            row["faithful"],
            np.array([figures(*each) for each in zip(self.evidence, read, strict=True)]),
            self.unsupported,
            any(contradicted(one, log_odds) for one, log_odds in zip(self.evidence, read, strict=True)),
        )


def judged_answers(data: Path, reader: PairModel) -> list[Answer]:
    """Of the development data, our probes, the answers unread, and the statements that no model learnt."""
    found = [
        one
        for source, row in track([*_rows(data / "faithfulness")], "evidence")
        if (one := _read(source, row))
    ]
    pairs = {pair for one in found for pair in one.asked if not isinstance(pair, float)}
    readings = asyncio.run(_readings(reader, sorted(pairs, key=lambda pair: len("".join(pair)))))
    return [one.answer(readings) for one in found]


async def _readings(reader: PairModel, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for at in track(range(0, len(pairs), AT_ONCE), "readings"):
        some = pairs[at : at + AT_ONCE]
        found |= zip(some, map(float, await reader.scores(some)), strict=True)
    return found


def _rows(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with its source."""
    for source in MEASURED:
        yield from ((source, row) for row in rows(folder / f"{source}.jsonl"))
    for language in LANGUAGES:
        yield from _probes(language)
        yield from ((f"askers {language}", row) for row in rows(ANSWERS / f"askers.{language}.jsonl"))
        unread = rows(FOLDER / f"unread/{language}.jsonl")
        yield from ((f"unread {language}", {**row, "group": "ours"}) for row in unread)
        kept = (one for one in written_statements(language) if one.kept)
        yield from ((f"kept {language}", _as_row(one)) for one in kept)
    yield from (("answers ja", row) for row in _answers())


def _probes(language: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Our own: every other set of passages is fitted on, the rest is held out."""
    probes = rows(FOLDER / f"probes/{language}.jsonl")
    sets = sorted({_set_of(row) for row in probes})
    for number, name in enumerate(sets):
        source = f"probes {'held out' if number % 2 else 'fitted on'} {language}"
        yield from ((source, {**row, "group": "ours"}) for row in probes if _set_of(row) == name)


def _set_of(probe: dict[str, Any]) -> str:
    return str(probe["id"]).rsplit("-", 1)[0]


def _as_row(one: Written) -> dict[str, Any]:
    spans = [{"start": start, "end": end} for start, end in one.wrong]
    shared = {"contexts": list(one.passages), "question": one.question, "group": "ours"}
    return {**shared, "answer": one.text, "faithful": one.supported, "unsupported": spans}


def _answers() -> Iterator[dict[str, Any]]:
    """Japanese answers that we wrote, each wrong one with its wrong part."""
    for document in yaml.safe_load((ANSWERS / "ja.yaml").read_text("utf-8")):
        for case in document["cases"]:
            shared = {"contexts": document["contexts"], "question": case["question"], "group": "ours"}
            for answer in case["right"]:
                yield {**shared, "answer": answer, "faithful": True, "unsupported": []}
            for each in case["wrong"]:
                start = each["answer"].index(each["wrong"])
                span = {"start": start, "end": start + len(each["wrong"])}
                yield {**shared, "answer": each["answer"], "faithful": False, "unsupported": [span]}


def _read(source: str, row: dict[str, Any]) -> _Read | None:
    """An answer that claims something, beside its contexts."""
    if row["group"] == "CG2C_musique":  # false rows only
        return None
    found, known = statements(row["answer"]), Contexts(row["contexts"])
    if not found:
        return None
    examined = laid_beside(found, known, row.get("question") or "")
    return _Read(
        source,
        row,
        tuple(one.evidence for one in examined),
        tuple(to_read(one.statement, one.evidence, known) for one in examined),
        tuple(_label(row, each.start, each.end, len(found)) for each in found),
    )


def _label(row: dict[str, Any], start: int, end: int, count: int) -> bool | None:
    if row["faithful"]:
        return False
    if row["unsupported"]:
        return any(span["start"] < end and start < span["end"] for span in row["unsupported"])
    return True if count == 1 else None
