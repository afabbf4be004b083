"""An answer taken apart and laid beside its contexts: what the judges of our own decide by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from classifiers.faithfulness import StatementState, StatementVerdict, Unchecked
from classifiers.faithfulness.evidence import Contexts, Evidence, Novelty
from classifiers.faithfulness.placing import new_parts, span_of
from classifiers.faithfulness.statements import Statement, statements_to_judge
from languages.identification import script_language

__all__ = ["NO_PLACE", "Examined", "examine", "foreign", "laid_beside"]

FOREIGN = 0.8  # share of new words above which an answer in another writing than its contexts is not judged
MOST_STATEMENTS = 1_000
NO_PLACE = "no_place"  # why a statement is unsupported of which nothing is new
NAMED = 5  # new words that a reason spells out


@dataclass(frozen=True, slots=True)
class Examined:
    """A statement with what the contexts have of it, and have otherwise."""

    statement: Statement
    evidence: Evidence

    def verdict(
        self, state: StatementState, score: float | None, *, judge: str, reason: str = ""
    ) -> StatementVerdict:
        """The verdict on it; without a reason, an unsupported one says what is new."""
        said, new = self.statement, self.evidence.novelty
        return StatementVerdict(
            text=said.text,
            start=said.start,
            end=said.end,
            state=state,
            score=score,
            reason=reason or ("supported" if state == "supported" else _why_not(new)),
            judge=judge,
            new=() if state == "unchecked" else new_parts(new),
            span=span_of(self.evidence.best),
        )


def examine(
    answer: str, known: Contexts, question: str | None, *, judge: str
) -> tuple[Examined, ...] | Unchecked:
    """The statements of an answer beside its contexts, or why a judge of words has nothing to say."""
    found = statements_to_judge(answer, question or "", most=MOST_STATEMENTS)
    if isinstance(found, str):
        return Unchecked(reason=found, judge=judge)
    if not len(known):
        return Unchecked(reason="no_contexts", judge=judge)
    examined = laid_beside(found, known, question or "")
    if foreign(answer, known.passages, [one.evidence for one in examined]):
        reason = "other_language"
        open_ones = (one.verdict("unchecked", None, judge=judge, reason=reason) for one in examined)
        return Unchecked(reason=reason, judge=judge, statements=tuple(open_ones))
    return examined


def laid_beside(found: Sequence[Statement], known: Contexts, question: str) -> tuple[Examined, ...]:
    """The statements of an answer, each with its evidence."""
    numbers = known.worked_out([each.claim for each in found], question)
    return tuple(
        Examined(
            each,
            known.evidence(
                each.claim,
                question,
                written=each.text,
                listed=each.listed,
                introduced=each.introduced if each.introduction else "",
                worked_out=numbers,
            ),
        )
        for each in found
    )


def foreign(answer: str, contexts: Sequence[str], evidence: Sequence[Evidence]) -> bool:
    """Words cannot be compared across languages, and that is no evidence against the answer."""
    if _in_words(answer) == _in_words("\n".join(contexts)):
        return False
    return all(len(e.novelty.words) > FOREIGN * e.novelty.word_count for e in evidence)


def _in_words(text: str) -> bool:
    """Not in characters, as Japanese and Chinese."""
    return script_language(text) == "en"


def _why_not(novelty: Novelty) -> str:
    """What a reviewer should look at first."""
    words = f"{len(novelty.words)} of {novelty.word_count} words not in any context"
    reasons = (
        _told("new number", novelty.numbers),
        _told("number with another unit", novelty.other_units),
        _told("opposite", _pairs(novelty.opposites)),
        _told("another name", _pairs(novelty.exchanged)),
        _told("stronger or weaker", _pairs(novelty.degrees)),
        _told("the other way round", _pairs(novelty.swapped)),
        _told("told of another subject", _pairs(novelty.crossed)),
        "negation differs" if novelty.negation else "",
        _told("new name", novelty.names[:NAMED]),
        _told(words, novelty.words[:NAMED]),
        _told("number stands elsewhere in the contexts", novelty.far_numbers),
    )
    return "; ".join(filter(None, reasons)) or NO_PLACE


def _told(what: str, found: Sequence[str]) -> str:
    return f"{what}: {', '.join(found)}" if found else ""


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{mine} / {theirs}" if theirs else mine for mine, theirs in pairs]
