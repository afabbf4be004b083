"""Verdicts to measure, by hand."""

from __future__ import annotations

from classifiers.faithfulness import FaithfulnessVerdict, PassageSpan, StatementVerdict, verdict_of

__all__ = ["checked", "statement"]


def statement(text: str, score: float, *, cut: float = 0.5) -> StatementVerdict:
    """Supported from the cut on."""
    supported = score >= cut
    return StatementVerdict(
        text=text,
        start=0,
        end=len(text),
        state="supported" if supported else "unsupported",
        score=score,
        reason="supported" if supported else "new",
        judge="scripted@1",
        span=PassageSpan(0, 0, 4, "All."),
    )


def checked(*statements: StatementVerdict) -> FaithfulnessVerdict:
    """The verdict on an answer of these."""
    return verdict_of(statements, judge="scripted@1")
