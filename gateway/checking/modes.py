"""Who answers a question that no verified answer is there for: people, RAG, or RAG with people looking on.

A topic is what the operator says it is: documents, words, patterns. A draft written from one of a topic's
documents is of the topic, and so is a question that has one of its words; no model guesses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from classifiers.gate.lists import Cut, List, Listed
from classifiers.text import normalise
from gateway.domain import Draft, Question
from gateway.settings import Settings
from gateway.settings.people import Mode, ReviewSettings
from gateway.stages import Chosen

__all__ = ["TopicModes", "patterns_without"]


class TopicModes:
    """The modes of an operator's topics. Of several topics that fit, the first of the list counts."""

    def __init__(
        self, settings: ReviewSettings, cut: Cut, *, draw: Callable[[], float] | None = None
    ) -> None:
        """`draw` gives a number in [0, 1); tests fix it, else nobody can foresee which answers are read."""
        self._settings = settings
        self._draw = draw or random.SystemRandom().random
        self._documents: Sequence[tuple[int, str]] = [
            (place, pattern) for place, topic in enumerate(settings.modes) for pattern in topic.documents
        ]
        listed = [
            Listed(rule=str(place), words=tuple(topic.word), patterns=tuple(topic.pattern))
            for place, topic in enumerate(settings.modes)
        ]
        self._words = List(listed, cut)

    @property
    def by_documents(self) -> bool:
        """Whether a topic is known by the documents of a draft."""
        return bool(self._documents)

    def choose(self, question: Question, draft: Draft) -> Chosen:
        """Who is to answer, by the documents of the draft and the words of the question in view."""
        fits = {place for place, pattern in self._documents if _from(draft, pattern)}
        fits |= {int(found.item.rule) for found in self._words.found(normalise(question.in_view))}
        if not fits:
            return self._chosen(self._settings.mode, "", self._settings.sample)
        topic = self._settings.modes[min(fits)]
        return self._chosen(topic.mode, topic.topic, topic.sample)

    def _chosen(self, mode: Mode, topic: str, sample: float) -> Chosen:
        return Chosen(mode, topic, mode == "answer_then_review" and self._draw() < sample)


def _from(draft: Draft, pattern: str) -> bool:
    return any(fnmatchcase(passage.source, pattern) for passage in draft.contexts)


def patterns_without(documents: Collection[str], settings: Settings) -> Iterator[str]:
    """What to warn of where all drafts are written from these documents: patterns of topics that fit none."""
    if settings.upstream.kind != "knowledge" or settings.upstream.corrective.web:
        return
    for topic in settings.review.modes:
        for pattern in topic.documents:
            if not any(fnmatchcase(name, pattern) for name in documents):
                yield f"review.modes, {topic.topic}: no document fits {pattern}"
