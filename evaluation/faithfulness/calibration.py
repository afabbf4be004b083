"""`sekisho calibrate faithfulness`: cuts that keep `faithfulness.max_false_block`, by people's verdicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import select

from classifiers.conformal import TooFew
from classifiers.faithfulness import Checked
from classifiers.faithfulness.promise import (
    CutPromise,
    critical_cut,
    keep_promise,
    language_of_answer,
)
from classifiers.faithfulness.shipped import fitted_on
from evaluation.cases import Answer
from evaluation.faithfulness.judging import Judged, evaluate_faithfulness
from evaluation.statistics import Rate
from gateway.settings import FaithfulnessSettings
from gateway.stages import Judge
from storage.schema import audits, draft_labels, tickets
from storage.sql import Database

__all__ = [
    "FaithfulnessCalibration", "LanguageCalibration", "answer_digest", "calibrate_faithfulness",
    "reviewed_answers",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCalibration:
    """What was found for a language, and what it changes."""

    found: CutPromise | TooFew
    faithful: tuple[Rate, Rate | None]  # kept back: at the judge's own cut, and at the new one
    unfaithful: tuple[Rate, Rate | None]  # stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessCalibration:
    """What was found, by language."""

    languages: Mapping[str, LanguageCalibration]
    left_out: Mapping[str, int]  # answers of sources that the judge was fitted on
    repeated: int  # answers that stand there more than once; once is counted
    disputed: int  # of these, answers that were called both faithful and not; the last says it
    unchecked: int  # without a score, so no cut decides them
    used: tuple[str, ...]  # digests of the answers that set cuts

    @property
    def promises(self) -> dict[str, CutPromise]:
        """The cuts that keep what was asked for; a looser one would let more through for nothing."""
        found = {lang: one.found for lang, one in self.languages.items() if isinstance(one.found, CutPromise)}
        return {lang: promise for lang, promise in found.items() if promise.kept}

    @property
    def kept(self) -> bool:
        """Whether a promise was made, and each one that was made is kept."""
        made = sum(isinstance(one.found, CutPromise) for one in self.languages.values())
        return 0 < made == len(self.promises)


async def reviewed_answers(db: Database, tenant: str, *, audited: float) -> list[Answer]:
    """RAG's answers of which reviewers said whether their contexts say the same, as one fair sample.

    Of what was delivered the share `audited` was drawn for people (`cache.audit_rate_rag`), of what was held
    back they may label all. So that share of it counts, too, drawn by ticket: counted whole, it would pass
    for most of the traffic, and the cut would sink. Delivered answers in tickets are left to the audit.
    """
    held_back = tickets.c.outcome.in_(("withheld", "escalated"))
    of_tickets = draft_labels.join(tickets, tickets.c.id == draft_labels.c.ticket_id)
    drafts = (
        select(draft_labels)
        .select_from(of_tickets)
        .where(draft_labels.c.tenant == tenant, held_back)
        .order_by(draft_labels.c.at)
    )
    known = audits.c.tenant == tenant, audits.c.faithful.is_not(None), audits.c.question != ""
    async with db.connect() as connection:
        rows = (await connection.execute(drafts)).mappings().all()
        delivered = (
            (await connection.execute(select(audits).where(*known).order_by(audits.c.at))).mappings().all()
        )
    return [
        Answer(
            id=row["id"],
            answer=row["answer"],
            contexts=[passage["text"] for passage in row["contexts"] or ()],
            faithful=row["faithful"],
            question=row["question"],
            lang=row["language"],
        )
        for row in delivered
    ] + [
        Answer(
            id=row["ticket_id"],
            answer=row["answer"],
            contexts=list(row["contexts"]),
            faithful=row["faithful"],
            question=row["question"],
            lang=row["language"],
        )
        for row in rows
        if _drawn(row["ticket_id"], audited)
    ]


def _drawn(ticket: str, share: float) -> bool:
    """Whether a ticket is among this share of all; the same ones every time."""
    return int.from_bytes(blake2b(ticket.encode(), digest_size=8).digest()) < share * 2**64


async def calibrate_faithfulness(
    cases: Sequence[Answer],
    judge: Judge,
    settings: FaithfulnessSettings,
    *,
    progress: Callable[[], None] = lambda: None,
) -> FaithfulnessCalibration:
    """Find the cut of each language on answers that the judge was not fitted on."""
    ours = fitted_on() if settings.judge == "local" else {}
    unseen = [case for case in cases if case.source not in ours]
    once = list({answer_digest(case): case for case in unseen}.values())
    labels = {(answer_digest(case), case.faithful) for case in unseen}
    result = await evaluate_faithfulness(once, judge, progress=progress)
    share = settings.mean if settings.block == "mean" else 1.0
    read = [found for one in result.judged if (found := _read(one, share))]
    by_language: dict[str, list[_Read]] = defaultdict(list)
    for one in read:
        by_language[language_of_answer(one.judged.case.answer, one.judged.case.contexts)].append(one)
    return FaithfulnessCalibration(
        languages={
            lang: _calibrated(of_language, settings.max_false_block)
            for lang, of_language in sorted(by_language.items())
        },
        left_out=Counter(case.source for case in cases if case.source in ours),
        repeated=len(unseen) - len(once),
        disputed=len(labels) - len(once),
        unchecked=len(once) - len(read),
        used=tuple(answer_digest(one.judged.case) for one in read if one.judged.case.faithful),
    )


def answer_digest(case: Answer) -> str:
    """Equal for the same answer from the same contexts."""
    parts = "\0".join([case.answer, *case.contexts])
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class _Read:
    judged: Judged
    critical: float
    stopped: bool  # at the judge's own cut


def _read(judged: Judged, share: float) -> _Read | None:
    if not isinstance(judged.verdict, Checked):
        return None
    critical = critical_cut(judged.verdict, share=share)
    return None if critical is None else _Read(judged, critical, judged.verdict.faithfulness < share)


def _calibrated(read: Sequence[_Read], error: float) -> LanguageCalibration:
    good = [one for one in read if one.judged.case.faithful]
    bad = [one for one in read if not one.judged.case.faithful]
    found = keep_promise([one.critical for one in good], error)
    cut = found.cut if isinstance(found, CutPromise) else None
    return LanguageCalibration(
        found=found,
        faithful=(_stopped(good), _below(good, cut)),
        unfaithful=(_stopped(bad), _below(bad, cut)),
    )


def _stopped(read: Sequence[_Read]) -> Rate:
    return Rate(sum(one.stopped for one in read), len(read))


def _below(read: Iterable[_Read], cut: float | None) -> Rate | None:
    if cut is None:
        return None
    scores = [one.critical for one in read]
    return Rate(sum(score < cut for score in scores), len(scores))
