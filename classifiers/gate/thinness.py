"""Which classes of a policy are too thin to trust, and how many examples more would help."""

from __future__ import annotations

from classifiers.conformal import least_cases
from classifiers.gate import Policy
from classifiers.gate.scope import LEAST_OTHERS
from classifiers.text import has_words, normalise

__all__ = ["thin_notes"]

_LEAST_OF_TOPIC = 10  # a rule of thumb: a topic is known by what is near to its examples


def thin_notes(policy: Policy, *, max_false_refusal: float) -> tuple[str, ...]:
    """A sentence for each class and topic that has too few examples, must first."""
    promised = f"to promise at most {max_false_refusal:.0%} false refusals; until then a default cut is used"
    may = "to learn what looks like ours and is not; until then a rule decides"
    near = "for other wordings of it to be known; until then little more than its own examples is caught"
    counted = [
        ("must", _written(policy.must.examples), least_cases(max_false_refusal), promised),
        ("may", _written(policy.may.examples), LEAST_OTHERS, may),
    ]
    if policy.must_not.examples or policy.must_not.description:
        counted.append(("must_not", _written(policy.must_not.examples), _LEAST_OF_TOPIC, near))
    counted += [
        (f"must_not topic {topic.name}", _written(topic.examples), _LEAST_OF_TOPIC, near)
        for topic in policy.topics
    ]
    return tuple(
        f"{name} has {count} example{'s' * (count != 1)}: {needed - count} more are needed {why}"
        for name, count, needed, why in counted
        if count < needed
    )


def _written(examples: tuple[str, ...]) -> int:
    """How many different ones there are."""
    return len({normalise(text) for text in examples if has_words(normalise(text))})
