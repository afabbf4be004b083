"""The check between RAG and the asker: which judge the configuration wants, its patience, and its costs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog

from classifiers import ClassifierError
from classifiers.faithfulness import FaithfulnessJudge, FaithfulnessVerdict, Unchecked

__all__ = ["checked_within"]


async def checked_within(
    seconds: float, judge: FaithfulnessJudge, answer: str, contexts: Sequence[str], *, question: str | None
) -> FaithfulnessVerdict:
    """The verdict on an answer; a judge that fails or is too slow has not checked."""
    try:
        async with asyncio.timeout(seconds):
            return await judge.judge(answer, contexts, question=question)
    except TimeoutError:
        _log().warning("judge too slow", seconds=seconds)
        return Unchecked(reason="judge_too_slow", judge="none")
    except ClassifierError as exc:  # what judges say of themselves quotes neither a text nor a key
        _log().warning("judge failed", error=str(exc))
        return Unchecked(reason="judge_failed", judge="none")


def _log() -> Any:
    return structlog.get_logger("sekisho.faithfulness")
