"""Why a judge said so, told in the reader's language from what the judge found."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from cache.guards import default_guards
from cache.matching import Objection
from classifiers.faithfulness import NewKind, UncheckedReason
from classifiers.faithfulness.lexical import LexicalJudge
from classifiers.gate import GateVerdict
from gateway.console.components.reasons import reason_of, statement_reason
from gateway.console.texts import LANGUAGES, UiLanguage, texts_of
from gateway.domain import Failed
from gateway.rendering import rendered


def _judged(answer: str, context: str) -> Any:
    return rendered(LexicalJudge().judge_now(answer, [context]))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The worst statement: new number: 500円"),
        ("ja", "最も疑わしい記述：資料にない数値：500円"),
        ("zh", "最可疑的陈述：资料中没有的数字：500円"),
    ],
)
def test_what_is_new_is_told_in_the_readers_language(language: UiLanguage, said: str) -> None:
    found = _judged("再発行は500円です。", "利用カードの再発行は300円です。")
    assert reason_of(texts_of(language), found).startswith(said)


def test_what_stands_instead_is_told_with_it() -> None:
    part = {"kind": "opposite", "text": "開ける", "instead": "閉める"}
    statement = {"state": "unsupported", "reason": "opposite: …", "new": [part]}
    assert statement_reason(texts_of("ja"), statement) == "反対または程度が異なる：開ける（資料では 閉める）"


@pytest.mark.parametrize("state", ["unsupported", "unchecked"])
def test_what_has_no_parts_keeps_the_judges_words(state: str) -> None:
    statement = {"state": state, "reason": "資料には書かれていません", "new": []}
    assert statement_reason(texts_of("zh"), statement) == "資料には書かれていません"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_news_has_words(language: UiLanguage) -> None:
    for kind in get_args(NewKind):
        part = {"kind": kind, "text": "x", "instead": ""}
        said = statement_reason(texts_of(language), {"state": "unsupported", "reason": "raw", "new": [part]})
        assert said != "raw"


@pytest.mark.parametrize(
    ("rule", "label", "said"),
    [
        ("scope", "may", "対象とする根拠がほとんどありません。"),
        ("forbidden", "unsure", "禁止された内容の可能性があります。"),
        ("deny:gossip", "must_not", "拒否リストにあります。"),
        ("name", "unsure", "こちらの資料などにない名称が含まれています。"),
        ("llm", "may", "said by a model"),
    ],
)
def test_a_verdict_of_the_gate_is_told_by_its_rule(rule: str, label: Any, said: str) -> None:
    verdict = GateVerdict(
        label=label, score=0.1, reason="said by a model", nearest=None, judge="examples@2", rule=rule
    )
    found: Any = rendered(verdict)
    assert reason_of(texts_of("ja"), found) == said


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_guard_and_every_reason_for_no_check_has_words(language: UiLanguage) -> None:
    t = texts_of(language)
    for guard in default_guards():
        found = {"type": "near_miss", "reason": "raw", "objection": rendered(Objection(guard.name, "raw"))}
        assert "raw" not in reason_of(t, found)
    for reason in get_args(UncheckedReason):
        assert reason_of(t, {"type": "unchecked", "reason": reason}) not in ("", reason)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("cause", ["http_401", "http_503", "timeout", "unreachable", "broke_off", "unreadable", "no_text", "filtered", "left_alone", "contexts", "documents", "encoder"])  # fmt: skip
def test_every_cause_of_a_chatbot_s_failure_has_words(language: UiLanguage, cause: str) -> None:
    found: Any = rendered(Failed(cause, "raw"))
    said = reason_of(texts_of(language), found)
    assert said
    assert "raw" not in said
    assert ("503" in said) == (cause == "http_503")


@pytest.mark.parametrize(
    ("objection", "said"),
    [
        (None, "近い質問ですが、同じ質問とまでは言えません。"),
        (Objection("numbers", "the question has 3, the entry 2"), "数値が異なります。"),
        (
            Objection("names", "could not be checked (KeyError: x)", failed=True),
            "照合できない項目があり、照合できないものは回答に使いません。",
        ),
        (Objection("of the house", "another hall"), "of the house: another hall"),
    ],
)
def test_a_near_miss_says_what_kept_it_back(objection: Objection | None, said: str) -> None:
    found = {"type": "near_miss", "reason": "raw", "objection": rendered(objection)}
    assert reason_of(texts_of("ja"), found) == said


def test_a_ticket_from_before_there_were_codes_shows_its_words() -> None:
    old = {"type": "near_miss", "reason": "numbers: the question has 3, the entry 2"}
    assert reason_of(texts_of("ja"), old) == old["reason"]
    assert reason_of(texts_of("ja"), {"type": "unchecked", "reason": "no contexts"}) == "no contexts"


def test_what_the_page_says_already_is_not_said_again() -> None:
    found = _judged("再発行は300円です。", "利用カードの再発行は300円です。")
    assert reason_of(texts_of("en"), found) == ""
