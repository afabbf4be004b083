"""Reviews that people wrote into an exported sheet: each row is checked, and closes its ticket or does not.

Columns: `id` and `revision` as exported, and to fill in `decision` (`answer` or `dismiss`; empty: nobody
decided), `answer`, `publish` (yes or no), `gate`, `topic`, `faithful` (yes or no) and `comment`. Headings and
words may be Japanese or Chinese, as in the console; what is filled in stands in the exported column or in one
beside it.
A ticket that changed since the export is left alone. Each ticket is closed as the console closes it, in a
transaction of its own, once a rehearsal has found nothing against it; a trial ends with the rehearsal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast, get_args

from cache.errors import CacheError, DuplicatePhrasing, InvalidEntry, MissingColumns, UnreadableTable
from cache.transfer import Refusal, Remark
from cache.transfer.heads import by_alias
from cache.transfer.tables import Row, RowProblem, read_table
from gateway.errors import Conflict, SekishoError
from gateway.review.closing import REFUSALS, Closing, Review
from gateway.review.closing.promotion import Publication, entry_id_of
from gateway.review.entries.approval import Approvals
from gateway.review.gate_examples import ExampleLabel
from gateway.review.tickets import WAITING, Ticket, Tickets

__all__ = ["FILLED_IN", "HOW_TO_DECIDE", "Decided", "DecidedReport", "DecidedReviews"]

FILLED_IN = ("decision", "publish", "gate", "topic", "faithful", "comment")  # beside `answer`
HOW_TO_DECIDE = (
    "`decision` holds answer or dismiss (対応: 回答, 回答不要; 处理: 回复, 无需回答); "
    "a row without one leaves its ticket waiting"
)

_ADDED = "回答"  # beside the export's own column `answer`, which nobody has to fill in
_HEADINGS = by_alias(
    {
        "decision": "決定 判断 対応 决定 處理 处理",
        _ADDED: "答案",
        "publish": "公開 发布 發布",
        "gate": "ゲート 关口 關口",
        "topic": "話題 主题 主題",
        "faithful": "根拠あり 有依据 有依據",
        "comment": "コメント 備考 备注 備註",
    }
)
_WORDS = by_alias(
    {
        "answer": "回答 回答する 回复 回覆",
        "dismiss": "回答不要 回答不要にする 対応不要 无需回答 無需回答",
        "yes": "はい ○ 〇 是",
        "no": "いいえ × 否",
        "must": "対象 服务范围内 服務範圍內",
        "may": "対象外 不在服务范围 不在服務範圍",
        "must_not": "禁止",
    }
)
_SAID = ("answer", "publish", "gate", "topic", "faithful")  # a comment alone decides nothing
_COLUMNS = {"phrasings": "publish"}  # what a review has beside the columns, and the one that says so
_YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Decided:
    """A row that somebody filled in."""

    line: int
    ticket: str
    review: Review


@dataclass(frozen=True, slots=True)
class _Undecided:
    """A row in which nobody decided; `filled` is the column that says something all the same."""

    line: int
    ticket: str
    filled: str


@dataclass(frozen=True, slots=True)
class _Fit:
    """A row that nothing is known against yet, and its ticket."""

    row: Decided
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class DecidedReport:
    """What became of the rows, or would."""

    closed: int
    published: int
    undecided: int
    refused: tuple[Refusal, ...]
    remarks: tuple[Remark, ...] = ()  # undecided rows that are filled in all the same


def _read_decided(path: Path) -> Iterator[Decided | _Undecided | Refusal]:
    """The rows of a sheet.

    Raises:
        UnreadableTable: if the file as a whole can't be read.
    """
    rows = read_table(path, required=("id", "revision", "decision"), headings=_HEADINGS, beside=FILLED_IN)
    try:
        for row in rows:
            yield _read(row)
    except MissingColumns as lacking:
        if "decision" not in lacking.missing:
            raise
        raise UnreadableTable(f"{lacking}. {HOW_TO_DECIDE}") from lacking


def _read(row: Row | RowProblem) -> Decided | _Undecided | Refusal:
    if isinstance(row, RowProblem):
        return Refusal(row.line, row.field, row.expected, row.why)
    try:
        return _decided(row.line, row.values)
    except REFUSALS as wrong:
        return _refusal(row.line, wrong, of="row")


class DecidedReviews:
    """Closes tickets as a sheet says."""

    def __init__(self, tickets: Tickets, closing: Closing, approvals: Approvals) -> None:
        self._tickets = tickets
        self._closing = closing
        self._approvals = approvals

    async def take(self, path: Path, *, tenant: str, by: str, keep: bool) -> DecidedReport:
        """Close what can be closed; with `keep` false nothing changes, and the report is what it would be.

        All rows are looked at before the first ticket is closed, so what they are to become is compared with
        what is served, not with each other.

        Raises:
            UnreadableTable, StoreUnavailable, IndexUnavailable, EncoderError: what was closed stays closed.
        """
        fit: list[_Fit] = []
        refused: list[Refusal] = []
        remarks: list[Remark] = []
        lines: dict[str, int] = {}
        rows = list(_read_decided(path))  # all of the file is read before anything changes
        for row in rows:
            match await self._looked_at(row, lines, tenant=tenant, by=by):
                case _Fit() as found:
                    fit.append(found)
                case Refusal() as found:
                    refused.append(found)
                case Remark() as found:
                    remarks.append(found)
        undecided = len(rows) - len(fit) - len(refused)
        published = {entry_id_of(one.ticket): one.row.line for one in fit if one.row.review.publication}
        done = []
        for one, wrong in zip(fit, await self._closed(fit, tenant=tenant, by=by, keep=keep), strict=True):
            if wrong is None:
                done.append(one.row.review)
            else:
                refused.append(_refusal(one.row.line, wrong, published=published))
        return DecidedReport(
            closed=len(done),
            published=sum(review.publication is not None for review in done),
            undecided=undecided,
            refused=tuple(sorted(refused, key=lambda one: one.line)),
            remarks=tuple(remarks),
        )

    async def _looked_at(
        self, row: Decided | _Undecided | Refusal, lines: dict[str, int], *, tenant: str, by: str
    ) -> _Fit | Refusal | Remark | None:
        """A row with the ticket that it may close, or why it may not; None where there is nothing to say."""
        try:
            match row:
                case Refusal():
                    return row
                case _Undecided():
                    return await self._left(row, tenant=tenant)
                case Decided() if lines.setdefault(row.ticket, row.line) != row.line:
                    return Refusal(row.line, "id", f"expected another than in line {lines[row.ticket]}")
            ticket = await self._tickets.get(row.ticket, tenant=tenant)
            _refuse_if_changed(ticket, row.review.revision, by=by)
            check = self._approvals.begin(accept_collisions=False).check
            await self._closing.look(ticket, row.review, by=by, check=check)
        except REFUSALS as wrong:
            return _refusal(row.line, wrong)
        return _Fit(row, ticket)

    async def _left(self, row: _Undecided, *, tenant: str) -> Remark | None:
        """What to know of a row without a decision: that somebody has begun to answer a ticket that waits."""
        if not row.filled:
            return None
        ticket = await self._tickets.get(row.ticket, tenant=tenant)
        if ticket.state not in WAITING:  # what it holds was exported
            return None
        says = f"expected answer or dismiss, as “{row.filled}” is filled in; the ticket waits on"
        return Remark(row.line, "decision", says, row.filled)

    async def _closed(
        self, fit: Sequence[_Fit], *, tenant: str, by: str, keep: bool
    ) -> list[SekishoError | CacheError | None]:
        """What each row is refused for, if it is. What the rehearsal refuses is not touched."""
        reviews = [(one.ticket, one.row.review) for one in fit]
        refused = await self._closing.rehearse(reviews, tenant=tenant, by=by)
        for place, (ticket, review) in enumerate(reviews) if keep else ():
            if refused[place] is None:
                try:
                    await self._closing.close(ticket.id, review, tenant=tenant, by=by)
                except REFUSALS as wrong:  # somebody else was faster
                    refused[place] = wrong
        return refused


def _refusal(
    line: int,
    wrong: SekishoError | CacheError,
    *,
    of: str = "id",
    published: Mapping[str, int] = MappingProxyType({}),
) -> Refusal:
    """A refused row.

    Args:
        of: the field where the reason names none.
        published: the entries that rows become, and their lines.
    """
    match wrong:
        case DuplicatePhrasing():
            at = published.get(wrong.other)
            has = f"the active entry {wrong.other} has" if at is None else f"line {at} publishes"
            says = f"{has} “{wrong.phrasing}” with another answer, or for other people"
            return Refusal(line, "publish", says)
        case InvalidEntry():
            return Refusal(line, wrong.field, wrong.expected)
        case SekishoError():
            return Refusal(line, _COLUMNS.get(wrong.param or of, wrong.param or of), str(wrong))
    return Refusal(line, "answer", str(wrong))


def _refuse_if_changed(ticket: Ticket, revision: int | None, *, by: str) -> None:
    if ticket.revision != revision:
        raise Conflict(f"ticket {ticket.id} has changed since it was exported; it is {ticket.state}")
    if ticket.state not in WAITING or (ticket.claimed_by or by) != by:
        raise Conflict(f"ticket {ticket.id} is {ticket.state} by {ticket.claimed_by}")


def _decided(line: int, values: Mapping[str, Any]) -> Decided | _Undecided:
    texts = {name: "" if value is None else str(value).strip() for name, value in values.items()}
    texts["answer"] = answer = _answer(texts)
    decision = _word(texts, "decision")
    if not decision:
        return _Undecided(line, texts.get("id", ""), next((name for name in _SAID if texts.get(name)), ""))
    _refuse_unusable(texts, decision, answer)
    gate = _word(texts, "gate")
    review = Review(
        answer=answer if decision == "answer" else None,
        publication=Publication() if _yes(texts, "publish") else None,
        gate=cast("ExampleLabel", gate) if gate else None,
        topic=texts.get("topic", ""),
        faithful=_yes(texts, "faithful"),
        comment=texts.get("comment", ""),
        revision=int(texts["revision"]),
    )
    return Decided(line, texts["id"], review)


def _answer(texts: Mapping[str, str]) -> str:
    """The answer, from the exported column or the one that was added beside it."""
    written = dict.fromkeys(text for name in ("answer", _ADDED) if (text := texts.get(name, "")))
    if len(written) > 1:
        raise InvalidEntry(
            "answer", "expected one text, found one in “answer” and another in the added column"
        )
    return next(iter(written), "")


def _refuse_unusable(texts: Mapping[str, str], decision: str, answer: str) -> None:
    if decision not in ("answer", "dismiss"):
        raise InvalidEntry("decision", f"expected answer or dismiss, found “{decision[:40]}”")
    if decision == "answer" and not answer:
        raise InvalidEntry("answer", "expected a text, found nothing")
    if not texts.get("id"):
        raise InvalidEntry("id", "expected the ticket's number, found nothing")
    if not texts.get("revision", "").isdecimal():
        raise InvalidEntry("revision", "expected the number that was exported")
    gate, labels = _word(texts, "gate"), get_args(ExampleLabel)
    if gate and gate not in labels:
        raise InvalidEntry("gate", f"expected one of {', '.join(labels)}, found “{gate[:40]}”")
    if decision == "dismiss" and _yes(texts, "publish"):
        raise InvalidEntry("publish", "expected no, as the ticket is dismissed")


def _word(texts: Mapping[str, str], name: str) -> str:
    """What a cell says, in English, small letters."""
    said = unicodedata.normalize("NFKC", texts.get(name, "")).lower()
    return _WORDS.get(said, said)


def _yes(texts: Mapping[str, str], name: str) -> bool | None:
    said = _word(texts, name)
    if said and said not in _YES_OR_NO:
        raise InvalidEntry(name, f"expected yes or no, found “{said[:40]}”")
    return _YES_OR_NO.get(said)
