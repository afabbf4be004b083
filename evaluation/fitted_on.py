"""What the gate and the faithfulness judge were fitted on: no figure about them may come from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from classifiers.faithfulness.shipped import fitted_on
from classifiers.gate import Policy
from classifiers.gate.shipped import shipped_attacks, shipped_background, shipped_everyday
from classifiers.text import normalise, only_words
from evaluation.cases import Answer, GateCase
from gateway.assembly import Services
from gateway.gatekeeping.learning import taught
from gateway.gatekeeping.opening import VERIFIED_QUESTIONS
from gateway.gatekeeping.policy import read_policy

__all__ = ["FittedTexts", "LeftOut", "Unseen", "judge_sources", "same_words"]

Case = TypeVar("Case", bound=GateCase)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A case that the gate has seen."""

    text: str
    gold: str
    seen_as: str


@dataclass(frozen=True, slots=True)
class Unseen(Generic[Case]):
    """The cases that may be used, and those that may not."""

    cases: tuple[Case, ...]
    left_out: tuple[LeftOut, ...]


class FittedTexts:
    """Texts by their words, with what each was to the fit."""

    def __init__(self, policy: Policy, verified: Iterable[str] = ()) -> None:
        attacks = shipped_attacks()
        groups: list[tuple[str, Iterable[str]]] = [
            ("a verified question", verified),
            ("a shipped everyday question", shipped_everyday()),
            ("a shipped question to others", chain.from_iterable(shipped_background().values())),
            ("a shipped harmless text", attacks.harmless),
            *((f"a shipped attack ({topic.name})", topic.examples) for topic in attacks.topics),
            *((f"an example of {topic.name}", topic.examples) for topic in policy.topics),
            ("an example of must_not", policy.must_not.examples),
            ("an example of may", policy.may.examples),
            ("an example of must", policy.must.examples),
        ]
        self._seen = {same_words(text): seen_as for seen_as, texts in groups for text in texts}

    @classmethod
    async def of(cls, services: Services, tenant: str) -> FittedTexts:
        """What the gate that judges for a tenant was fitted on."""
        verified = await services.stores.entries.questions(tenant, limit=VERIFIED_QUESTIONS)
        accepted = await services.gatekeeping.examples.accepted(tenant)
        return cls(taught(read_policy(services.settings), accepted), verified)

    def unseen(self, cases: Sequence[Case]) -> Unseen[Case]:
        """Part the cases by whether the gate has seen their words."""
        left_out = [
            LeftOut(case.text, case.gold, self._seen[words])
            for case in cases
            if (words := same_words(case.text)) in self._seen
        ]
        usable = tuple(case for case in cases if same_words(case.text) not in self._seen)
        return Unseen(usable, tuple(left_out))


def same_words(text: str) -> str:
    """Equal for two texts that differ in width, case, spaces, punctuation or invisible characters alone."""
    return only_words(normalise(text))


def judge_sources(judge: str, cases: Sequence[Answer]) -> list[str]:
    """On what the judge was fitted, and a warning if rows of a file come from there."""
    if judge not in ("local", "cascade"):
        return ["What the judge's model was trained on is not known here; it may have seen these answers."]
    known = fitted_on()
    seen = Counter(case.source for case in cases if case.source in known)
    said = [f"The shipped judge was fitted on: {', '.join(known)}."]
    if not any(case.source for case in cases):
        said.append("The rows have no `source`, so whether they are among these is not known.")
    if seen:
        used = "; ".join(f"{count} of {source} ({known[source]})" for source, count in seen.items())
        said.append(f"Warning: {used}. Read their figures as what to expect at best.")
    return said
