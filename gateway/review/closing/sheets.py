"""Reviews that people wrote into an exported sheet: each row is checked, and closes its ticket or does not.

Columns: `id` and `revision` as exported, and `decision` (`answer` or `dismiss`; empty: nobody decided), with
`answer`, `publish` (yes or no), `gate`, `topic`, `faithful` (yes or no) and `comment`. Headings and words may
be Japanese or Chinese, as in the console. A ticket that changed since the export is left alone. Each ticket
is closed as the console closes it, in a transaction of its own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from cache.errors import CacheError, InvalidEntry
from cache.transfer import Refusal
from cache.transfer.heads import by_alias
from cache.transfer.tables import RowProblem, read_table
from gateway.errors import Conflict, InvalidRequest, NotFound
from gateway.review.closing import Closing, Review
from gateway.review.closing.promotion import Publication
from gateway.review.entries.approval import Approvals
from gateway.review.gate_examples import ExampleLabel
from gateway.review.tickets import Ticket, Tickets

__all__ = ["Decided", "DecidedReport", "DecidedReviews"]

_HEADINGS = by_alias(
    {
        "decision": "決定 判断 対応 决定 處理 处理",
        "answer": "回答 答案",
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
_YES_OR_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Decided:
    """A row that somebody filled in."""

    line: int
    ticket: str
    revision: int
    review: Review


@dataclass(frozen=True, slots=True)
class DecidedReport:
    """What became of the rows, or would."""

    closed: int
    published: int
    undecided: int
    refused: tuple[Refusal, ...]


def _read_decided(path: Path) -> Iterator[Decided | Refusal | None]:
    """The rows of a sheet; None where nobody decided.

    Raises:
        UnreadableTable: if the file as a whole can't be read.
    """
    for row in read_table(path, required=("id", "revision", "decision"), headings=_HEADINGS):
        if isinstance(row, RowProblem):
            yield Refusal(row.line, "row", row.expected)
            continue
        try:
            yield _decided(row.line, row.values)
        except InvalidEntry as wrong:
            yield Refusal(row.line, wrong.field, wrong.expected)
        except InvalidRequest as wrong:
            yield Refusal(row.line, wrong.param or "row", str(wrong))


class DecidedReviews:
    """Closes tickets as a sheet says."""

    def __init__(self, tickets: Tickets, closing: Closing, approvals: Approvals) -> None:
        self._tickets = tickets
        self._closing = closing
        self._approvals = approvals

    async def take(self, path: Path, *, tenant: str, by: str, keep: bool) -> DecidedReport:
        """Close what can be closed; with `keep` false nothing changes, and what competes is not looked for.

        Raises:
            UnreadableTable, StoreUnavailable, IndexUnavailable, EncoderError: what was closed stays closed.
        """
        refused: list[Refusal] = []
        closed = published = undecided = 0
        lines: dict[str, int] = {}
        for row in list(_read_decided(path)):  # all of the file is read before anything changes
            if row is None:
                undecided += 1
            elif isinstance(row, Refusal):
                refused.append(row)
            elif lines.setdefault(row.ticket, row.line) != row.line:
                refused.append(Refusal(row.line, "id", f"expected another than in line {lines[row.ticket]}"))
            elif wrong := await self._close(row, tenant=tenant, by=by, keep=keep):
                refused.append(wrong)
            else:
                closed += 1
                published += row.review.publication is not None
        return DecidedReport(closed, published, undecided, tuple(refused))

    async def _close(self, row: Decided, *, tenant: str, by: str, keep: bool) -> Refusal | None:
        try:
            ticket = await self._tickets.get(row.ticket, tenant=tenant)
            _refuse_if_changed(ticket, row.revision, by=by)
            await self._closing.refuse_unfit(ticket, row.review)
            if keep:
                await self._kept(ticket, row.review, by=by)
        except InvalidEntry as wrong:
            return Refusal(row.line, wrong.field, wrong.expected)
        except (InvalidRequest, NotFound, Conflict) as wrong:
            return Refusal(row.line, wrong.param or "id", str(wrong))
        except CacheError as wrong:
            return Refusal(row.line, "answer", str(wrong))
        return None

    async def _kept(self, ticket: Ticket, review: Review, *, by: str) -> None:
        check = self._approvals.begin(accept_collisions=False).check
        try:
            await self._closing.close(ticket.id, review, tenant=ticket.tenant, by=by, check=check)
        except Exception:
            if ticket.state == "open":  # publishing claims it first: others must not find it held
                with suppress(Conflict):
                    await self._tickets.release(ticket.id, tenant=ticket.tenant, by=by)
            raise


def _refuse_if_changed(ticket: Ticket, revision: int, *, by: str) -> None:
    if ticket.revision != revision:
        raise Conflict(f"ticket {ticket.id} has changed since it was exported; it is {ticket.state}")
    if ticket.state not in ("open", "claimed") or (ticket.claimed_by or by) != by:
        raise Conflict(f"ticket {ticket.id} is {ticket.state} by {ticket.claimed_by}")


def _decided(line: int, values: Mapping[str, Any]) -> Decided | None:
    texts = {name: "" if value is None else str(value).strip() for name, value in values.items()}
    decision = _word(texts, "decision")
    if not decision:
        return None
    answer = texts.get("answer", "")
    _refuse_unusable(texts, decision, answer)
    gate = _word(texts, "gate")
    review = Review(
        answer=answer if decision == "answer" else None,
        publication=Publication() if _yes(texts, "publish") else None,
        gate=cast("ExampleLabel", gate) if gate else None,
        topic=texts.get("topic", ""),
        faithful=_yes(texts, "faithful"),
        comment=texts.get("comment", ""),
    )
    return Decided(line, texts["id"], int(texts["revision"]), review)


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
