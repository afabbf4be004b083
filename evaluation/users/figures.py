"""What dialogues add up to: turn, dialogue, whole; by persona, language and criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.answers.summary import mean_interval
from evaluation.users.dialogues import Dialogue
from evaluation.users.judging import CRITERIA, MARKED_BELOW
from gateway.domain import Tokens

__all__ = ["Figures", "figures_of"]


_NONE = Tokens(0, 0)


@dataclass(slots=True)
class Figures:
    """Counts and means; what is undetermined is counted and in no mean."""

    values: list[float] = field(default_factory=list)  # of dialogues
    turns: int = 0
    marked: int = 0  # turns below 0.7
    undetermined: int = 0  # turns without a verdict
    done: int = 0  # dialogues that the person ended
    failed: int = 0  # that an error ended
    n: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    scores: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in CRITERIA})
    played: Tokens = _NONE
    answered: Tokens = _NONE

    def add(self, dialogue: Dialogue) -> None:
        """Count one."""
        self.n += 1
        self.done += dialogue.done
        self.failed += bool(dialogue.error)
        if dialogue.value is not None:
            self.values.append(dialogue.value)
        for turn in dialogue.turns:
            value = turn.verdict.value
            self.turns += 1
            self.undetermined += value is None
            self.marked += value is not None and value < MARKED_BELOW
            self.outcomes[turn.said.outcome] = self.outcomes.get(turn.said.outcome, 0) + 1
            for name, criterion in turn.verdict.criteria.items():
                self.scores[name].append(criterion.score)
        self.played = _sum(self.played, dialogue.tokens)
        self.answered = _sum(self.answered, dialogue.answered_tokens)

    @property
    def mean(self) -> float | None:
        """The mean of the dialogues."""
        return sum(self.values) / len(self.values) if self.values else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Its interval, over dialogues."""
        return mean_interval(self.values)

    def criterion(self, name: str) -> float | None:
        """The mean score of one, 1 to 5."""
        found = self.scores[name]
        return sum(found) / len(found) if found else None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "dialogues": self.n,
            "mean": self.mean,
            "ci95": self.ci95,
            "turns": self.turns,
            "turns_below_0.7": self.marked,
            "undetermined_turns": self.undetermined,
            "ended_by_the_person": self.done,
            "failed": self.failed,
            "criteria": {name: self.criterion(name) for name in CRITERIA},
            "outcomes": dict(sorted(self.outcomes.items())),
            "tokens": {"playing_and_judging": self.played.read + self.played.written,
                       "answering": self.answered.read + self.answered.written},
        }  # fmt: skip


def figures_of(dialogues: Iterable[Dialogue]) -> tuple[Figures, dict[str, Figures], dict[str, Figures]]:
    """Of all of them, by persona and by language."""
    whole = Figures()
    personas: dict[str, Figures] = {}
    languages: dict[str, Figures] = {}
    for one in dialogues:
        groups: Sequence[Figures] = (
            whole,
            personas.setdefault(one.persona, Figures()),
            languages.setdefault(one.case.lang, Figures()),
        )
        for figures in groups:
            figures.add(one)
    return whole, personas, languages


def _sum(one: Tokens, other: Tokens | None) -> Tokens:
    return Tokens(one.read + other.read, one.written + other.written) if other else one
