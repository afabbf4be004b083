"""Every word of the interface exists in three languages, and stands nowhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

import gateway.console
from gateway.console.texts import LANGUAGES, preferred, texts_of

CONSOLE = Path(gateway.console.__file__).parent
MODULES = sorted(CONSOLE.rglob("*.py"))
WORDY = {"label", "button", "menu_item", "tooltip", "input", "textarea", "select", "checkbox", "switch", "notify", "link",
         "markdown", "html", "expansion", "tab", "chip", "badge", "item_label", "tell", "empty", "figure", "confirmed", "toggle", "radio"}  # fmt: skip
WORDY_KEYWORDS = {
    "label",
    "text",
    "placeholder",
    "title",
    "message",
    "hint",
    "caption",
    "note",
    "help_text",
    "yes",
    "body",
}
OURS = {"関所", "Sekisho", "?"}  # names, and a key
KEY = re.compile(r"^[a-z_]+(\.[a-zA-Z_]+)+$")
PLACES = re.compile(r"\{(\w*)[^}]*\}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_stands_twice(language: str) -> None:
    tree = yaml.compose((CONSOLE / "texts" / f"{language}.yaml").read_text("utf-8"))
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value]
            assert len(names) == len(set(names)), sorted({name for name in names if names.count(name) > 1})
            waiting += [value for _, value in node.value]


def test_the_languages_have_the_same_keys() -> None:
    assert LANGUAGES == ("en", "ja", "zh")
    for language in ("ja", "zh"):
        missing = texts_of("en").keys ^ texts_of(language).keys
        assert not missing, (language, sorted(missing))


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_a_text_has_the_same_places_to_fill_in_every_language(language: str) -> None:
    english, other = texts_of("en"), texts_of(language)  # type: ignore[arg-type]
    differ = {
        key for key in english.keys if set(PLACES.findall(english(key))) != set(PLACES.findall(other(key)))
    }
    assert not differ


def test_japanese_and_chinese_are_not_left_in_english() -> None:
    same = {
        key
        for key in texts_of("en").keys
        for language in ("ja", "zh")
        if re.search("[a-zA-Z]{4}", texts_of("en")(key)) and texts_of("en")(key) == texts_of(language)(key)  # type: ignore[arg-type]
    }
    assert {key for key in same if not key.startswith("languages.")} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_shown_as_they_are_and_hold_no_marks_of_markdown(language: str) -> None:
    texts = texts_of(language)  # type: ignore[arg-type]
    assert [key for key in texts.keys if "`" in texts(key)] == []


def test_tickets_that_are_only_alike_are_not_called_the_same() -> None:
    said = [texts_of(language)("ticket.with_alike", n=3) for language in LANGUAGES]
    assert said == [
        "Also answer the tickets with similar questions (3)",
        "似た質問の 3 件にも回答する",
        "同时回答 3 张问题相似的工单",
    ]


def test_an_owner_may_be_a_person_as_well_as_a_section() -> None:
    """A form comes with the reviewer's name there."""
    assert texts_of("ja")("entry.owner") == "担当"


OTHER_NAMES = {  # of a thing that has a name: what it is not called besides
    "zh": {
        "关口": "闸口 闸门",
        "核查": "检查 核对",
        "已拦截": "扣留",
        "不在服务范围": "不属于",
        "RAG 回答": "RAG回答",
    },
    "ja": {"ゲート": "関門", "別の言い方": "言い回し", "問い合わせ": "チケット", "必ず通す質問": "カナリア"},
}


@pytest.mark.parametrize("language", OTHER_NAMES)
def test_a_thing_has_one_name(language: str) -> None:
    texts = texts_of(language)  # type: ignore[arg-type]
    for name, others in OTHER_NAMES[language].items():
        assert any(name in texts(key) for key in texts.keys), name
        found = {key for key in texts.keys for other in others.split() if other in texts(key)}
        assert not found - {"entry.reject"}, name  # there it is the phrasing of another entry


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(CONSOLE)))
def test_no_page_holds_a_word_of_its_own(module: Path) -> None:
    found = []
    for call in (
        node for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Call)
    ):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        several = name in ("empty", "figure", "confirmed")
        said = call.args[: 3 if several else 1] if name in WORDY else []
        said += [one.value for one in call.keywords if one.arg in WORDY_KEYWORDS and name in WORDY]
        found += [f"line {one.lineno}: {text}" for one in said for text in _words(one)]
    assert not found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(CONSOLE)))
def test_no_page_quotes_in_the_way_of_one_language(module: Path) -> None:
    texts = (
        node.value
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Constant)
    )
    assert not [text for text in texts if isinstance(text, str) and re.search("[“”「」]", text)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(CONSOLE)))
def test_every_text_a_page_asks_for_is_there(module: Path) -> None:
    keys = texts_of("en").keys
    sections = {key.partition(".")[0] for key in keys}
    for call in (
        node for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Call)
    ):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        for one in call.args[:2] if name in ("t", "on") else ():
            if (
                isinstance(one, ast.Constant)
                and isinstance(one.value, str)
                and KEY.match(one.value)
                and one.value.partition(".")[0] in sections
            ):
                assert one.value in keys, f"line {one.lineno}"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("ja,en;q=0.8", "ja"),
        ("fr-FR,zh-CN;q=0.7,en;q=0.3", "zh"),
        ("en;q=0.2, ja;q=0.9", "ja"),
        ("fr", "en"),
        ("", "en"),
        ("ja;q=x", "ja"),
    ],
)
def test_the_browsers_wish_is_granted(header: str, language: str) -> None:
    assert preferred(header) == language


def _words(node: ast.expr) -> list[str]:
    """Literal words in an argument; keys of texts, icons and names of fields are none."""
    texts = [
        one.value
        for one in (
            [node]
            if isinstance(node, ast.Constant)
            else node.values
            if isinstance(node, ast.JoinedStr)
            else []
        )
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return [
        text for text in texts if re.search(r"[^\W\d_]{2}", text) and text not in OURS and not KEY.match(text)
    ]
