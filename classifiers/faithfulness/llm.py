"""The check by a language model, in RAGAS' two steps: the statements of an answer, then a verdict on each.

What the model leaves out is never a pass. A sentence that none of its statements takes up is a statement by
itself; a verdict that is missing, given twice, out of range or anything but 0 and 1 leaves its statement
unchecked. Where a statement stands in the answer, and which place in the contexts is nearest to it, is found
here and not asked for.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Annotated, Any, Literal

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, WithJsonSchema

from classifiers import ClassifierError
from classifiers.faithfulness import (
    FaithfulnessVerdict,
    StatementState,
    StatementVerdict,
    Unchecked,
    verdict_of,
)
from classifiers.faithfulness.evidence import Contexts, Evidence
from classifiers.faithfulness.placing import left_out, new_parts, placed, span_of
from classifiers.faithfulness.statements import Statement, statements, too_long
from classifiers.faithfulness.wording import folded
from classifiers.model_replies import AsksModel, read_object, response_format
from languages.identification import script_language

__all__ = ["LlmJudge"]

JUDGE = "llm@1"  # changes with the prompts
MOST_AT_ONCE = 40  # statements in one call
MOST_CALLS = 24  # for the verdicts on one answer
OVERLAP = 500  # characters that two windows of one long passage share
_LONGEST_REASON = 300
_CONTROL = re.compile(
    r"<\|[^<>|]{1,40}\|>|</?s>|\[/?INST\]"
)  # marks of chat templates: no text may end its turn


class _Statements(BaseModel):
    """What the first step is asked for."""

    model_config = ConfigDict(extra="ignore")

    statements: list[str]


class _Said(BaseModel):
    """One verdict as it came; whether it is one is looked at here."""

    model_config = ConfigDict(extra="ignore")

    index: Annotated[Any, WithJsonSchema({"type": "integer"})] = None
    reason: Annotated[Any, WithJsonSchema({"type": "string"})] = ""
    verdict: Annotated[Any, WithJsonSchema({"type": "integer", "enum": [0, 1]})] = None


class _Echoed(_Said):
    """Models that were taught RAGAS' form repeat the statement instead of its index."""

    statement: Any = None


class _Verdicts(BaseModel):
    """What the second step is asked for."""

    statements: list[_Said]


class _Read(BaseModel):
    """What of it is read."""

    model_config = ConfigDict(extra="ignore")

    statements: list[_Echoed]


_STATEMENTS = response_format(_Statements, name="statements")
_VERDICTS = response_format(_Verdicts, name="verdicts")
_Window = list[tuple[int, str]]  # passages with their index


class LlmJudge:
    """A `FaithfulnessJudge` that asks any chat model.

    Args:
        statements: `llm` asks for them, with pronouns resolved; `local` takes the claims that sentences make,
            and saves a call.
        longest_contexts: characters that one call may hold; more contexts are asked about in windows, and a
            statement is supported if one window supports it.
        timeout_s: for each of the two steps.
    """

    def __init__(
        self,
        model: AsksModel,
        *,
        statements: Literal["llm", "local"] = "llm",
        longest_contexts: int = 24_000,
        timeout_s: float = 20.0,
    ) -> None:
        self._model = model
        self._splits = statements == "llm"
        self._longest_contexts = longest_contexts
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """The version of the prompts, and the model."""
        return f"{JUDGE}:{self._model.model}"

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict:
        """Take the answer apart, and judge each statement."""
        if reason := too_long(answer):
            return Unchecked(reason=reason, judge=self.name)
        if not answer.strip():
            return Unchecked(reason="nothing_to_check", judge=self.name)
        if not any(context.strip() for context in contexts):
            return Unchecked(reason="no_contexts", judge=self.name)
        found = (
            await self.split(answer, question or "") if self._splits else statements(answer, question or "")
        )
        return verdict_of(await self.verdicts(found, contexts), judge=self.name)

    async def verdicts(
        self, found: Sequence[Statement], contexts: Sequence[str], /
    ) -> tuple[StatementVerdict, ...]:
        """A verdict on each of these statements.

        Raises:
            ClassifierError: if the model could not be asked about any, or there is too much to ask.
        """
        windows = _windows(contexts, self._longest_contexts)
        parts = [found[at : at + MOST_AT_ONCE] for at in range(0, len(found), MOST_AT_ONCE)]
        if len(windows) * len(parts) > MOST_CALLS:
            raise ClassifierError(f"{self.name}: more than {MOST_CALLS} calls for one answer")
        replies = await asyncio.gather(*(self._asked(part, each) for each in windows for part in parts))
        failed = [reply for reply in replies if isinstance(reply, ClassifierError)]
        if failed and len(failed) == len(replies):
            raise failed[0]
        near = await anyio.to_thread.run_sync(partial(_nearest, found, contexts))
        verdicts = []
        for at, (statement, evidence) in enumerate(zip(found, near, strict=True)):
            part, place = divmod(at, MOST_AT_ONCE)
            said = [
                None if isinstance(one, ClassifierError) else one[place]
                for one in replies[part :: len(parts)]
            ]
            verdicts.append(self._verdict(statement, said, evidence))
        return tuple(verdicts)

    def _verdict(
        self, statement: Statement, said: Sequence[_Said | None], near: Evidence
    ) -> StatementVerdict:
        """One window that supports it is enough; without one, each has to have said that it does not."""
        yes = next((one for one in said if one and one.verdict == 1), None)
        decides = yes or (said[0] if all(said) else None)
        state: StatementState = "unchecked" if decides is None else "supported" if yes else "unsupported"
        reason = _one_line(decides.reason) if decides else "no_verdict"
        return StatementVerdict(
            text=statement.claim,
            start=statement.start,
            end=statement.end,
            state=state,
            score=None if decides is None else float(state == "supported"),
            reason=reason or state,
            judge=self.name,
            new=new_parts(near.novelty) if state == "unsupported" else (),
            span=span_of(near.best),
        )

    async def split(self, answer: str, question: str, /) -> list[Statement]:
        """The model's statements, each with its place in the answer, and what they leave out.

        Raises:
            ClassifierError: if the model can't be asked, or gives none that can be read.
        """
        given = {"question": _plain(question), "answer": _plain(answer)}
        reply = await self._ask(_prompt("statements", script_language(answer)), given, _STATEMENTS)
        said = [_plain(one) for one in read_object(reply, _Statements, judge=self.name).statements]
        found = [placed(one, answer) for one in said if one.strip()]
        return found + left_out(statements(answer, question), found)

    async def _asked(
        self, found: Sequence[Statement], window: _Window
    ) -> list[_Said | None] | ClassifierError:
        """The verdict on each statement by these passages; None where there is none that can be read."""
        claims = [_plain(each.claim) for each in found]
        given = {
            "passages": [{"passage": number, "text": _plain(text)} for number, text in window],
            "statements": [{"index": at, "statement": claim} for at, claim in enumerate(claims, 1)],
        }
        prompt = _prompt("verdicts", script_language("\n".join(claims)))
        try:
            reply = await self._ask(prompt, given, _VERDICTS)
            return _aligned(read_object(reply, _Read, judge=self.name).statements, claims)
        except ClassifierError as exc:  # what the other calls said still counts
            return exc

    async def _ask(self, prompt: str, given: Mapping[str, Any], form: Mapping[str, Any]) -> str:
        """The texts go as JSON in the user's turn, where they can end neither a string nor a turn."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._model.ask(prompt, json.dumps(given, ensure_ascii=False), form)
        except TimeoutError:
            raise ClassifierError(f"{self.name} did not answer within {self._timeout_s:g} s") from None


def _aligned(said: Sequence[_Echoed], claims: Sequence[str]) -> list[_Said | None]:
    """For each statement its one verdict. Whatever is doubtful about it makes it none."""
    found: dict[int, list[_Echoed]] = defaultdict(list)
    if all(type(one.index) is not int or one.index > 0 for one in said):  # counted from 0: all are one off
        for place, one in enumerate(said):
            found[_place(one, place, said, claims)].append(one)
    return [_readable(found[at], claim) for at, claim in enumerate(claims)]


def _place(one: _Echoed, place: int, said: Sequence[_Echoed], claims: Sequence[str]) -> int:
    """By its index, else by the statement it repeats, else by order where each statement has a verdict."""
    if type(one.index) is int:
        return one.index - 1
    same = [at for at, claim in enumerate(claims) if _same(one.statement, claim)]
    if len(same) == 1:
        return same[0]
    in_order = len(said) == len(claims) and all(type(each.index) is not int for each in said)
    return place if in_order else -1


def _readable(said: Sequence[_Echoed], claim: str) -> _Said | None:
    if len(said) != 1 or type(said[0].verdict) is not int or said[0].verdict not in (0, 1):
        return None
    echoed = said[0].statement
    return said[0] if said[0].index is None or echoed is None or _same(echoed, claim) else None


def _same(one: object, other: str) -> bool:
    return isinstance(one, str) and folded(" ".join(one.split())) == folded(" ".join(other.split()))


def _windows(contexts: Sequence[str], longest: int) -> list[_Window]:
    """The passages, numbered from 1, in as many calls as it takes; a long one in several pieces."""
    windows: list[_Window] = [[]]
    room = longest
    for number, context in enumerate(contexts, 1):
        for piece in _pieces(context, longest):
            if len(piece) > room and windows[-1]:
                windows.append([])
                room = longest
            windows[-1].append((number, piece))
            room -= len(piece)
    return windows


def _pieces(context: str, longest: int) -> list[str]:
    if not context.strip() or len(context) <= longest:
        return [context] if context.strip() else []
    step = longest - min(OVERLAP, longest // 2)
    return [context[at : at + longest] for at in range(0, len(context) - (longest - step), step)]


def _nearest(found: Sequence[Statement], contexts: Sequence[str]) -> list[Evidence]:
    known = Contexts(contexts)
    return [known.evidence(each.claim) for each in found]


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", text)


def _one_line(reason: object) -> str:
    return " ".join(reason.split())[:_LONGEST_REASON] if isinstance(reason, str) else ""


@cache
def _prompt(step: Literal["statements", "verdicts"], language: str) -> str:
    return files(__package__).joinpath("prompts", language, f"{step}.md").read_text("utf-8")
