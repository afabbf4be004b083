"""Further judges beside the gate: each may forbid, none may allow, and one that fails lets nobody pass."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import numpy as np
import pytest

from classifiers import ClassifierError
from classifiers.gate import GateLabel, GateVerdict, Neighbour, ShadowVerdict
from classifiers.gate.detectors import Clear, Flagged, LabelDetector, Panel, Seat
from classifiers.gate.rules import Rules
from classifiers.testing import ScriptedGate
from encoders import Encoded, EncoderError

QUESTION = Encoded("How do I open it?", np.ones(2, np.float32))


class Says:
    """A detector that says what the test put here, or raises it."""

    judge = "scripted@1"

    def __init__(self, says: Clear | Flagged | Exception | float) -> None:
        self.says = says
        self.asked = 0

    async def detect(self, text: str, /) -> Clear | Flagged:
        self.asked += 1
        if isinstance(self.says, Exception):
            raise self.says
        if isinstance(self.says, float):
            await asyncio.sleep(self.says)
            return Clear()
        return self.says


FLAGGED, CLEAR = Says(Flagged("weapons", "weapons 0.91")), Says(Clear())
DEAD, BROKEN, SLOW = Says(ClassifierError("no answer")), Says(EncoderError("no model")), Says(5.0)


def panel(label: GateLabel, *detectors: Says, shadow: bool = False, told: list[str] | None = None) -> Panel:
    seats = [
        Seat(name=f"d{place}", detector=one, timeout_s=0.05, shadow=shadow)
        for place, one in enumerate(detectors)
    ]
    heard = told if told is not None else []
    return Panel(
        ScriptedGate(otherwise=label), seats, told=lambda name, result: heard.append(f"{name} {result}")
    )


@pytest.mark.parametrize(
    ("before", "detectors", "label", "topic"),
    [
        pytest.param("must", (CLEAR,), "must", None, id="nothing is found"),
        pytest.param("must", (FLAGGED,), "must_not", "weapons", id="flagged is forbidden"),
        pytest.param("unsure", (FLAGGED,), "must_not", "weapons", id="flagged is more than unsure"),
        pytest.param("must", (CLEAR, FLAGGED), "must_not", "weapons", id="one is enough"),
        pytest.param("must", (DEAD, FLAGGED), "must_not", "weapons", id="forbidden is worse than failed"),
        pytest.param("must", (DEAD,), "unsure", None, id="a dead one lets nobody pass"),
        pytest.param("must", (BROKEN, CLEAR), "unsure", None, id="nor does a broken one"),
        pytest.param("must", (SLOW,), "unsure", None, id="nor a slow one"),
        pytest.param("unsure", (CLEAR,), "unsure", None, id="nobody allows"),
        pytest.param("may", (CLEAR,), "may", None, id="what is refused stays refused"),
        pytest.param("must_not", (CLEAR,), "must_not", None, id="what is forbidden stays forbidden"),
    ],
)
async def test_the_worst_decides(
    before: GateLabel, detectors: tuple[Says, ...], label: GateLabel, topic: str | None
) -> None:
    verdict = await panel(before, *detectors).judge(QUESTION, tenant="default")
    assert (verdict.label, verdict.topic) == (label, topic)


async def test_what_is_refused_anyway_is_not_sent_anywhere() -> None:
    detector = Says(Clear())
    for label in ("may", "must_not"):
        await panel(label, detector).judge(QUESTION, tenant="default")  # type: ignore[arg-type]
    assert detector.asked == 0


async def test_a_verdict_says_who_flagged_it_and_why() -> None:
    verdict = await panel("must", FLAGGED).judge(QUESTION, tenant="default")
    assert verdict.rule == "detector:d0"
    assert verdict.reason == "d0 flags it: weapons 0.91"
    assert verdict.score == 0.0
    assert verdict.judge == "scripted@1 scripted@1"


async def test_a_detector_in_shadow_is_recorded_and_not_enforced() -> None:
    verdict = await panel("must", FLAGGED, DEAD, CLEAR, shadow=True).judge(QUESTION, tenant="default")
    assert verdict.label == "must"
    assert verdict.shadow == (
        ShadowVerdict("detector:d0", "must_not", "d0 flags it: weapons 0.91", "weapons"),
        ShadowVerdict("detector:d1", "unsure", "d1 could not judge it: no answer"),
    )


async def test_the_same_text_is_judged_once_but_a_failure_is_not_kept() -> None:
    sure, broken, told = Says(Clear()), Says(ClassifierError("busy")), list[str]()
    judged = panel("must", sure, broken, told=told)
    for _ in range(2):
        await judged.judge(QUESTION, tenant="default")
    assert (sure.asked, broken.asked) == (1, 2)
    assert sorted(told) == ["d0 clear", "d1 failed", "d1 failed"]


class Verified:
    """A gate that knows a verified entry in these words."""

    def __init__(self, text: str, rule: str) -> None:
        nearest = Neighbour("entry", text, 1.0, 1.0, "must", "e1")
        self.verdict = GateVerdict(
            label="must", score=1.0, reason="known", nearest=nearest, judge="v", rule=rule
        )

    async def judge(self, question: Encoded, /, *, tenant: str, group: str = "") -> GateVerdict:
        return self.verdict


@pytest.mark.parametrize(
    ("text", "rule", "label"),
    [
        ("how do i open it", "entry", "must"),
        ("how do i open it", "example", "must"),
        ("how do i open them", "entry", "must_not"),
        ("how do i open it", "scope", "must_not"),
    ],
)
async def test_what_a_person_verified_in_these_words_is_not_guessed_at(
    text: str, rule: str, label: str
) -> None:
    judged = Panel(Verified(text, rule), [Seat(name="d", detector=FLAGGED)])
    assert (await judged.judge(QUESTION, tenant="default")).label == label


class Labels:
    """A model that gives these scores."""

    name = "labels@1"

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores

    async def label(self, text: str, /) -> Mapping[str, float]:
        return self.scores


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ({"safe": 0.9, "INJECTION": 0.1, "JAILBREAK": 0.0}, Clear()),
        ({"safe": 0.1, "INJECTION": 0.5, "JAILBREAK": 0.4}, Flagged("attacks", "INJECTION 0.50")),
        ({"safe": 0.1, "INJECTION": 0.6, "JAILBREAK": 0.9}, Flagged("jailbreak", "JAILBREAK 0.90")),
        ({"safe": 1.0, "INJECTION": 0.0, "JAILBREAK": 0.49}, Clear()),
    ],
)
async def test_labels_that_count_are_topics(scores: Mapping[str, float], found: Clear | Flagged) -> None:
    topics = {"INJECTION": "attacks", "JAILBREAK": "jailbreak"}
    assert await LabelDetector(Labels(scores), topics).detect("a") == found


@pytest.mark.parametrize("scores", [{"A": 0.0}, {"A": 0.0, "B": float("nan")}], ids=["missing", "no number"])
async def test_a_label_without_a_score_is_no_verdict(scores: Mapping[str, float]) -> None:
    with pytest.raises(ClassifierError):
        await LabelDetector(Labels(scores), {"A": "a", "B": "b"}).detect("a")


@pytest.mark.parametrize("shadow", ["must_not", "must_not:weapons", "detector", "detector:d0"])
async def test_a_class_in_shadow_binds_judges_from_outside_too(shadow: str) -> None:
    seats = [Seat(name="d0", detector=FLAGGED)]
    rules = Rules(shadow=frozenset({shadow}))
    verdict = await Panel(ScriptedGate(otherwise="must"), seats, rules=rules).judge(
        QUESTION, tenant="default"
    )
    assert verdict.label == "must"
    assert [(one.rule, one.label, one.topic) for one in verdict.shadow] == [
        ("detector:d0", "must_not", "weapons")
    ]


async def test_a_detector_that_failed_holds_a_question_back_though_its_class_is_in_shadow() -> None:
    seats = [Seat(name="d0", detector=DEAD)]
    rules = Rules(shadow=frozenset({"must_not", "unsure"}))
    verdict = await Panel(ScriptedGate(otherwise="must"), seats, rules=rules).judge(
        QUESTION, tenant="default"
    )
    assert verdict.label == "unsure"
