"""Whether retrieval found the ground contexts. No model.

Definition. A ground context is *found* among the first k contexts, a context is *relevant* if it holds one:

    context recall@k    = found ground contexts / ground contexts
    context precision@k = relevant contexts among the first k / contexts among the first k
    ranked precision    = sum of precision@i over relevant places i / relevant contexts (average precision)

How they are compared, in this order, unless told otherwise:

- by id, where every ground context and every context has one. Duplicate ids count once in recall.
- by document, where told so: the id up to the first `#`.
- by text: runs of three words (of five characters in Japanese and Chinese). A ground context is found when
  half of its runs stand in the contexts so far, so a passage that was cut into chunks is found by its
  chunks; a context is relevant when half of its runs, or of the ground context's, are shared. Shorter texts
  are compared as they are.
- by distance, where told so, as ragas does: a ground context is found if the best normalised Levenshtein
  similarity is above 0.5; a context is relevant if it is at least 0.5.

The smallest k with recall 1.0 stands in the steps of the recall, None where there is none.

Edge cases: no ground contexts: undetermined. Nothing retrieved: recall 0, precision undetermined; where a
verified entry answered, nothing had to be retrieved, and both are undetermined.
Ids on one side only are no ids. Fewer than k contexts: precision divides by those that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from rapidfuzz.distance import Levenshtein

from classifiers.faithfulness.wording import folded, is_cjk, units
from evaluation.answers.cases import AnsweredCase, Context
from evaluation.metrics import Measured, Score, Undetermined
from evaluation.metrics.examiner import lacking

__all__ = ["ContextPrecision", "ContextRecall", "Matching", "RankedContextPrecision", "average_precision"]

Matching = Literal["auto", "id", "document", "text", "distance"]
RUN_WORDS = 3
RUN_CHARACTERS = 5
SHARED = 0.5  # of the runs
SIMILAR = 0.5  # ragas' threshold for the distance
Runs = frozenset[tuple[str, ...]]


class ContextRecall:
    """The share of the ground contexts that stand among the first k contexts."""

    def __init__(self, k: int | None = None, *, by: Matching = "auto") -> None:
        self._k, self._by = _limit(k), by
        self.name = "context_recall" if k is None else f"context_recall@{k}"
        self.version = f"2:{by}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Recall; its steps say at which k each ground context was found, and how they were compared."""
        if nothing := lacking(case, "ground_contexts"):
            return nothing
        if case.entry and not case.contexts:
            return Undetermined("a verified entry answered: nothing had to be retrieved")
        by = _way(self._by, case)
        ranks = _found_at(case, by)
        within = [rank for rank in ranks if rank is not None and rank <= (self._k or len(case.contexts))]
        complete = None if None in ranks else max(rank for rank in ranks if rank is not None)
        steps = {"compared_by": by, "found_at": ranks, "smallest_k": complete}
        return Score(len(within) / len(ranks), steps)


class ContextPrecision:
    """The share of the first k contexts that hold a ground context."""

    def __init__(self, k: int | None = None, *, by: Matching = "auto") -> None:
        self._k, self._by = _limit(k), by
        self.name = "context_precision" if k is None else f"context_precision@{k}"
        self.version = f"1:{by}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Precision; its steps say which contexts are relevant."""
        if nothing := lacking(case, "ground_contexts", "contexts"):
            return nothing
        by = _way(self._by, case)
        relevant = _relevant(case, by)[: self._k]
        return Score(sum(relevant) / len(relevant), {"compared_by": by, "relevant": relevant})


class RankedContextPrecision:
    """Average precision: relevant contexts count more the higher they stand. 0 if none is relevant."""

    name = "context_precision_ranked"

    def __init__(self, *, by: Matching = "auto") -> None:
        self._by = by
        self.version = f"1:{by}"

    async def measure(self, case: AnsweredCase, /) -> Measured:
        """Average precision over all contexts."""
        if nothing := lacking(case, "ground_contexts", "contexts"):
            return nothing
        by = _way(self._by, case)
        relevant = _relevant(case, by)
        return Score(average_precision(relevant), {"compared_by": by, "relevant": relevant})


def average_precision(relevant: Sequence[bool]) -> float:
    """Mean of precision@i over the relevant places i; 0 without any."""
    hits = [at for at, is_relevant in enumerate(relevant, 1) if is_relevant]
    return sum(number / at for number, at in enumerate(hits, 1)) / len(hits) if hits else 0.0


def _limit(k: int | None) -> int | None:
    if k is not None and k < 1:
        raise ValueError(f"k: expected at least 1, got {k}")
    return k


def _way(by: Matching, case: AnsweredCase) -> Matching:
    if by != "auto":
        return by
    both = (*case.case.ground_contexts, *case.contexts)
    return "id" if case.contexts and all(context.id for context in both) else "text"


def _found_at(case: AnsweredCase, by: Matching) -> list[int | None]:
    """For each ground context the smallest k at which it is found."""
    wanted = case.case.ground_contexts
    if by in ("id", "document"):
        wanted = tuple({_key(one, by): one for one in wanted}.values())
    return [_first(one, case.contexts, by) for one in wanted]


def _first(ground: Context, contexts: Sequence[Context], by: Matching) -> int | None:
    if by != "text":
        return next((at for at, one in enumerate(contexts, 1) if _same(ground, one, by, strict=True)), None)
    wanted = _runs(ground.text)
    found: set[tuple[str, ...]] = set()
    for at, one in enumerate(contexts, 1):
        found |= wanted & _runs(one.text)
        if (found and len(found) >= SHARED * len(wanted)) or _is_within(ground.text, one.text):
            return at
    return None


def _relevant(case: AnsweredCase, by: Matching) -> list[bool]:
    grounds = case.case.ground_contexts
    if by == "text":
        return [any(_shares(ground, one) for ground in grounds) for one in case.contexts]
    return [any(_same(ground, one, by, strict=False) for ground in grounds) for one in case.contexts]


def _same(ground: Context, one: Context, by: Matching, *, strict: bool) -> bool:
    if by == "distance":
        near = Levenshtein.normalized_similarity(ground.text, one.text)
        return near > SIMILAR if strict else near >= SIMILAR
    return bool(ground.id) and _key(ground, by) == _key(one, by)


def _key(context: Context, by: Matching) -> str:
    return context.id.split("#", 1)[0] if by == "document" else context.id


def _shares(ground: Context, one: Context) -> bool:
    wanted, there = _runs(ground.text), _runs(one.text)
    shared = len(wanted & there)
    enough = shared >= SHARED * len(wanted) or shared >= SHARED * len(there)
    return bool(shared and enough) or _is_within(ground.text, one.text)


def _is_within(ground: str, context: str) -> bool:
    """Whether a text too short for runs stands in the context as it is."""
    return not _runs(ground) and bool(ground.strip()) and folded(ground.strip()) in folded(context)


@lru_cache(maxsize=4096)
def _runs(text: str) -> Runs:
    sequence = units(folded(text))
    size = RUN_CHARACTERS if sum(map(is_cjk, sequence)) * 2 > len(sequence) else RUN_WORDS
    return frozenset(zip(*(sequence[start:] for start in range(size)), strict=False))
