"""`sekisho evaluate questions` and `coverage`: what could be asked, and what is really asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from rich.progress import Progress
from rich.table import Table

from cache.matching import Hit
from encoders import Encoded
from evaluation.answers.cases import AnswerCase, read_answer_cases
from evaluation.answers.judging import Meter, open_judges
from evaluation.artificial.coverage import Coverage, coverage
from evaluation.artificial.generating import (
    ArtificialQuestion,
    ByModel,
    ByTemplates,
    Generator,
    questions_from,
)
from evaluation.command_line import Config, Json, console, errors, scratch, tell
from evaluation.served import carry_over_shelf
from evaluation.statistics import Rate
from gateway.configuration.loading import find_settings
from gateway.documents.reading import SourceDocument, read_documents
from gateway.errors import InvalidRequest
from gateway.settings import Settings
from gateway.stores import open_encoder, open_stores

__all__ = ["coverage_command", "questions_command"]

SHOWN = 12  # gaps


Out = Annotated[Path, typer.Option(help="Write the questions there, as cases (JSONL).")]
Propose = Annotated[
    Path | None,
    typer.Option(help="Write those that no entry answers there, as drafts for `sekisho import`."),
]


def questions_command(
    out: Out,
    propose: Propose = None,
    documents: Annotated[
        list[Path] | None, typer.Option(help="Files and folders. Default: policy.must.documents.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose entries --propose looks at.")] = "default",
    config: Config = None,
) -> None:
    """What could the documents be asked? By evaluation.llm, or by templates without a model."""
    settings = find_settings(config)
    made, how = uvloop.run(_generated(settings, _documents(settings, documents or ())))
    if not made:
        raise InvalidRequest("the documents answer nothing that could be asked")
    _write(out, [one.as_case() for one in made])
    counts = Counter(one.language for one in made)
    told = ", ".join(f"{n} {language}" for language, n in sorted(counts.items()))
    console.print(f"{len(made)} questions ({told}) {how}: {out}")
    if propose:
        with scratch(config) as apart:
            open_ = uvloop.run(_unanswered(settings, apart, made, tenant))
        _write(propose, [one.as_entry() for one in open_])
        console.print(f"{len(open_)} of them no entry answers; as drafts: {propose}")


def coverage_command(
    real: Annotated[Path, typer.Option(help="What was really asked: cases with `question`.")],
    artificial: Annotated[Path, typer.Option(help="What was made of the documents (`evaluate questions`).")],
    config: Config = None,
    json_file: Json = None,
) -> None:
    """How much of what is really asked do the artificial questions cover, and what do they miss?"""
    settings = find_settings(config)

    async def compared() -> Coverage:
        default = settings.understanding.default_language
        asked, made = (_texts(read_answer_cases(file, default)) for file in (real, artificial))
        async with open_encoder(settings) as encoder:
            return await coverage(asked, made, encoder)

    found = uvloop.run(compared())
    tell([_table(found), _gaps(found)], _as_json(found), json_file)


def _documents(settings: Settings, chosen: Sequence[Path]) -> list[SourceDocument]:
    roots = list(chosen) or [settings.path(root) for root in settings.policy.must.documents]
    if not roots:
        raise InvalidRequest("expected --documents, or policy.must.documents in the configuration")
    read = []
    for one in read_documents(roots):
        if isinstance(one, SourceDocument):
            read.append(one)
        else:
            errors.print(f"left out: {one}", style="yellow")
    return read


async def _generated(
    settings: Settings, documents: Sequence[SourceDocument]
) -> tuple[list[ArtificialQuestion], str]:
    async with _generator(settings) as generator:
        made = []
        with Progress(console=errors, transient=True) as progress:
            for document in progress.track(documents, description="asking"):
                made += [one async for one in questions_from([document], generator)]
    unique = {(one.language, one.question.casefold()): one for one in reversed(made)}
    kept = list(unique.values())[::-1]
    if isinstance(generator, ByModel):
        return (
            kept,
            f"by a model; {generator.dropped} dropped, since the passage did not support their answer",
        )
    return kept, "by templates"


@asynccontextmanager
async def _generator(settings: Settings) -> AsyncIterator[Generator]:
    async with open_judges(settings, Meter()) as judges:
        yield ByModel(judges.model, judges.faithfulness) if judges.model else ByTemplates()


async def _unanswered(
    served: Settings, apart: Settings, made: Sequence[ArtificialQuestion], tenant: str
) -> list[ArtificialQuestion]:
    await carry_over_shelf(served, apart, (), tenant=tenant)
    async with open_stores(apart) as stores:
        await stores.index_pending()
        vectors = await stores.encoder.encode([one.question for one in made])
        found = [
            await stores.shelf.find(Encoded(one.question, vector), tenant=tenant, language=one.language)
            for one, vector in zip(made, vectors, strict=True)
        ]
    return [one for one, match in zip(made, found, strict=True) if not isinstance(match, Hit)]


def _texts(cases: Any) -> list[tuple[str, str]]:
    return [(case.question, case.lang) for case in cases if isinstance(case, AnswerCase)]


def _write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    except OSError as exc:
        raise InvalidRequest(f"{file} can't be written: {exc.strerror}") from exc


def _table(found: Coverage) -> Table:
    table = Table(title="Real questions that an artificial one covers")
    for name in ("language", "real", "covered", "95 %", "median similarity"):
        table.add_column(name, justify="left" if name == "language" else "right")
    for language in (*found.languages, None):
        covered, n = found.of(language)
        rate = Rate(covered, n)
        similar = sorted(one.similarity for one in found.questions if language in (None, one.language))
        low, high = rate.ci95 or (0.0, 1.0)
        table.add_row(
            language or "all", str(n), f"{100 * covered / n:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %",
            f"{similar[len(similar) // 2]:.2f}",
        )  # fmt: skip
    return table


def _gaps(found: Coverage) -> Table:
    table = Table(title=f"Not covered: {len(found.gaps)} groups of questions, the largest first")
    table.add_column("questions", justify="right")
    table.add_column("the most typical")
    for gap in found.gaps[:SHOWN]:
        table.add_row(str(len(gap.questions)), " · ".join(gap.questions[:2]))
    return table


def _as_json(found: Coverage) -> dict[str, Any]:
    def share(language: str | None) -> dict[str, Any]:
        covered, n = found.of(language)
        return {"n": n, "covered": covered, "rate": covered / n if n else None}

    return {
        **share(None),
        "by_lang": {language: share(language) for language in found.languages},
        "gaps": [{"lang": gap.language, "questions": list(gap.questions)} for gap in found.gaps],
        "questions": [
            {
                "question": one.question, "lang": one.language, "nearest": one.nearest,
                "similarity": round(one.similarity, 4), "covered": one.covered,
            }
            for one in found.questions
        ],
    }  # fmt: skip
