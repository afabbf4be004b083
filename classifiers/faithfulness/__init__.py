"""Whether the contexts support every statement of an answer.

an answer     `statements`   cut into what can be true or false by itself, without its `citations`
the contexts  `passages`     read once, in `lines` of words (`wording`) and `quantities`
the question  `told`         what its asker states; `worked_out` (`dates`) is what an answer reckons from it
  compared    `evidence`     what of a statement is found and what is new; what is denied (`contradictions`)
  laid beside `examination`  each statement with its evidence; `windows` are what a model reads with it
  judged by   `local`        which is `weighing` evidence and a reading; or `lexical`, by words alone, or
                             `cross_encoder`, or `llm`, or two in a `cascade`; `placing` says where
  in          `one_script`   traditional characters are read as simplified ones
  cut at      `promise`      no more supported answers are kept back than was promised
a verdict     `ruling`       becomes what may leave; what is left without the unsupported is `repair`'s
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

__all__ = [
    "Checked",
    "FaithfulnessJudge",
    "FaithfulnessVerdict",
    "NewPart",
    "PassageSpan",
    "StatementState",
    "StatementVerdict",
    "Unchecked",
    "UncheckedReason",
    "verdict_of",
]

StatementState = Literal["supported", "unsupported", "unchecked"]
NewKind = Literal["number", "unit", "name", "negation", "opposite", "relation", "wording"]


UncheckedReason = Literal[
    "nothing_to_check",
    "no_contexts",
    "other_language",  # the contexts are in another one than the answer
    "answer_too_long",
    "too_many_statements",
    "statement_unchecked",  # nobody judged it, and none is unsupported
    "judge_too_slow",
    "judge_failed",
    "judge_off",
    "cut_off",  # by the chatbot's limit, before its first sentence ended
    "tool_call",  # the chatbot asked for one instead of answering
    "no_text",
]


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """A place in the contexts: `contexts[passage][start:end] == text`."""

    passage: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class NewPart:
    """Something that a statement says and the contexts don't."""

    kind: NewKind
    text: str  # as the statement has it; "" where it is not in one place, as a negation
    instead: str = ""  # what the contexts have in its place, where that is known


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVerdict:
    """One individual statement, and the place in the contexts that speaks for it most."""

    derived: ClassVar = ("supported", "passage", "evidence")  # stand in its JSON, too

    text: str
    start: int  # character span in the answer; 0, 0 where the statement stands nowhere in it
    end: int
    state: StatementState
    score: float | None  # probability of support, 0..1; None where nobody gave one
    reason: str  # what is new in it, why it was not checked, or "supported"
    judge: str  # who decided this one
    new: tuple[NewPart, ...] = ()
    span: PassageSpan | None = None

    @property
    def supported(self) -> bool:
        """What was not checked is not supported."""
        return self.state == "supported"

    @property
    def passage(self) -> int | None:
        """The best passage, by its index in the contexts."""
        return self.span.passage if self.span else None

    @property
    def evidence(self) -> str:
        """What stands there, "" if nothing was found."""
        return self.span.text if self.span else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Every statement was judged, or one is unsupported, which is enough to fail. Made by `verdict_of`."""

    passed: bool
    faithfulness: float  # F = supported statements / statements (RAGAS)
    score: float  # of the worst statement, which decides; ranks answers
    worst: int  # that statement, by its index
    statements: tuple[StatementVerdict, ...]  # never empty
    reason: str
    judge: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """No verdict: no contexts, nothing to check, or a statement that nobody judged. Not a pass."""

    reason: UncheckedReason | str  # in one word; the words of judges from elsewhere are shown as they are
    judge: str
    statements: tuple[StatementVerdict, ...] = ()  # those that were judged all the same; none unsupported


FaithfulnessVerdict = Checked | Unchecked


class FaithfulnessJudge(Protocol):
    """Judges an answer against the contexts it was written from.

    Raises:
        ClassifierError: when the judge cannot run.
    """

    async def judge(
        self, answer: str, contexts: Sequence[str], /, *, question: str | None = None
    ) -> FaithfulnessVerdict: ...


def verdict_of(statements: Sequence[StatementVerdict], *, judge: str) -> FaithfulnessVerdict:
    """The verdict on an answer: one unsupported statement fails it, else one unchecked leaves it so."""
    if not statements:
        return Unchecked(reason="nothing_to_check", judge=judge)
    failed = [one for one in statements if one.state == "unsupported"]
    if not failed and any(one.state == "unchecked" for one in statements):
        return Unchecked(reason="statement_unchecked", judge=judge, statements=tuple(statements))
    # Judges may have several cuts, so the worst statement is looked for among the unsupported first.
    worst = min(failed or statements, key=_probability)
    reason = "every statement is supported"
    if failed:
        reason = f"{len(failed)} of {len(statements)} statements not supported; the worst: {worst.reason}"
    return Checked(
        passed=not failed,
        faithfulness=sum(one.supported for one in statements) / len(statements),
        score=_probability(worst),
        worst=next(index for index, one in enumerate(statements) if one is worst),
        statements=tuple(statements),
        reason=reason,
        judge=judge,
    )


def _probability(statement: StatementVerdict) -> float:
    return float(statement.supported) if statement.score is None else statement.score
