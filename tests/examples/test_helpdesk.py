"""The example helpdesk is complete, says the same in both languages, and is supported by its documents."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evaluation import helpdesk
from gateway.configuration.loading import load_settings
from gateway.gatekeeping.policy import read_policy

HELPDESK = Path(__file__).parents[2] / "examples" / "helpdesk"
LANGUAGES = ("en", "ja")
TOPICS = ("crime", "personal_data", "attacks")
OUTCOMES = {
    "ground_truth",
    "confirmed_answer",
    "rag",
    "refused",
    "escalated",
    "withheld",
}  # withheld needs an LLM that errs

KANA = re.compile(r"[\u3041-\u30ff]")
JAPANESE = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
NUMBER = re.compile(r"\d+(?:[.:]\d+)?")
PATTERNS = {  # what must be the same in both languages, document by document and entry by entry
    "amounts": re.compile(r"¥(?P<en>\d+)|(?P<ja>\d+)円"),
    "telephones": re.compile(r"\d{3}-\d{3}-\d{4}"),
    "times": re.compile(r"(?<!\d)\d{1,2}:\d{2}"),
    "forms": re.compile(r"(?<![A-Za-z])[A-Z]-\d{1,2}(?!\d)"),
    "shares": re.compile(r"[\d.]+(?= ?%)"),
}


def plain(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", unicodedata.normalize("NFKC", text))


def found(kind: str, text: str) -> set[str]:
    return {
        next((group for group in match.groups() if group), match.group())
        for match in PATTERNS[kind].finditer(plain(text))
    }


def numbers(text: str) -> set[str]:
    return set(NUMBER.findall(plain(text)))


def rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HELPDESK / path).read_text("utf-8").splitlines()]


def lines(path: str) -> list[str]:
    return (HELPDESK / path).read_text("utf-8").splitlines()


def phrasings(entry: dict[str, Any]) -> list[str]:
    return [entry["question"], *entry["phrasings"]]


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


def facts() -> list[tuple[str, str, str]]:
    table = (HELPDESK / "README.md").read_text("utf-8").split("## Facts")[1]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "|" in line
    ]
    return [(fact, value, document) for fact, value, document in cells[2:]]


DOCUMENTS = sorted(path.name for path in (HELPDESK / "en" / "documents").glob("*.md"))
ENTRIES = {
    language: {entry["id"]: entry for entry in rows(f"{language}/entries.jsonl")} for language in LANGUAGES
}
EACH_ENTRY = [pytest.param(entry, id=key) for entries in ENTRIES.values() for key, entry in entries.items()]
EACH_STOP = [
    pytest.param(language, stop, id=f"{language}-{number}")
    for language in LANGUAGES
    for number, stop in enumerate(rows(f"{language}/tour.jsonl"), 1)
]


def test_the_configuration_loads_with_all_its_examples() -> None:
    policy = read_policy(load_settings(HELPDESK / "sekisho.yaml"))
    assert len(policy.must.examples) == sum(len(lines(f"{language}/must.txt")) for language in LANGUAGES)
    assert [topic.name for topic in policy.topics] == list(TOPICS)


def test_the_cases_are_what_their_command_writes() -> None:
    assert rows("cases.jsonl") == helpdesk()


def test_a_case_of_a_move_has_the_section_about_that_move() -> None:
    contexts = {case["id"]: case["ground_contexts"] for case in helpdesk() if case.get("ground_contexts")}
    assert contexts["en-move-within"][0].startswith("## Moving within the city")
    assert "| M-1 | within 14 days" in contexts["en-move-in"][0]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_every_refusal_has_words_in(language: str) -> None:
    policy = load_settings(HELPDESK / "sekisho.yaml").policy
    replies = [policy.may.reply, policy.must_not.reply, *(topic.reply for topic in policy.must_not.topics)]
    assert all(language in reply for reply in replies)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("file", "least"),
    [("must.txt", 40), ("may.txt", 40), *((f"must_not/{topic}.txt", 15) for topic in TOPICS)],
)
def test_the_gate_has_enough_examples_each_once_and_in_its_language(
    language: str, file: str, least: int
) -> None:
    examples = lines(f"{language}/{file}")
    assert len(examples) >= least
    assert len({folded(example) for example in examples}) == len(examples)
    assert all(bool(JAPANESE.search(example)) == (language == "ja") for example in examples)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_example_stands_in_two_classes(language: str) -> None:
    files = ["must.txt", "may.txt", *(f"must_not/{topic}.txt" for topic in TOPICS)]
    examples = [folded(example) for file in files for example in lines(f"{language}/{file}")]
    assert len(set(examples)) == len(examples)


@pytest.mark.parametrize("language", LANGUAGES)
def test_must_examples_are_not_the_entries_phrasings(language: str) -> None:
    stored = {folded(phrasing) for entry in ENTRIES[language].values() for phrasing in phrasings(entry)}
    assert not stored & {folded(example) for example in lines(f"{language}/must.txt")}


def test_both_languages_have_the_same_documents() -> None:
    assert len(DOCUMENTS) >= 15
    assert sorted(path.name for path in (HELPDESK / "ja" / "documents").glob("*.md")) == DOCUMENTS


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_has_a_title_headings_a_table_and_a_fair_length(document: str) -> None:
    english, japanese = (
        (HELPDESK / language / "documents" / document).read_text("utf-8") for language in LANGUAGES
    )
    assert 250 <= len(english.split()) <= 500
    assert 800 <= len(japanese) <= 1500
    for text in (english, japanese):
        assert text.startswith("# ")
        assert text.count("\n## ") >= 3
        assert "\n|---" in text
    assert not JAPANESE.search(english)
    assert KANA.search(japanese)


@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_says_the_same_in_both_languages(document: str, kind: str) -> None:
    english, japanese = (
        (HELPDESK / language / "documents" / document).read_text("utf-8") for language in LANGUAGES
    )
    assert found(kind, english) == found(kind, japanese)


def test_telephone_numbers_can_not_exist() -> None:
    texts = [path.read_text("utf-8") for path in HELPDESK.rglob("*") if path.is_file()]
    assert all(number.startswith("000-555-") for text in texts for number in found("telephones", text))


@pytest.mark.parametrize(("fact", "value", "document"), facts())
def test_a_fact_of_the_list_stands_in_both_documents(fact: str, value: str, document: str) -> None:
    for language in LANGUAGES:
        text = (HELPDESK / language / "documents" / f"{document}.md").read_text("utf-8")
        for kind in ("amounts", "telephones", "times"):
            assert found(kind, value) <= found(kind, text), fact
    assert numbers(value), fact


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_enough_entries_each_with_its_own_id(language: str) -> None:
    assert len(rows(f"{language}/entries.jsonl")) == len(ENTRIES[language]) >= 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_entries_share_a_phrasing(language: str) -> None:
    stored = [folded(phrasing) for entry in ENTRIES[language].values() for phrasing in phrasings(entry)]
    assert len(set(stored)) == len(stored)


@pytest.mark.parametrize("entry", EACH_ENTRY)
def test_an_entry_is_complete(entry: dict[str, Any]) -> None:
    assert entry["language"] in LANGUAGES
    assert entry["id"].startswith(f"{entry['language']}-")
    assert len(entry["id"]) <= 36
    assert entry["kind"] in {"ground_truth", "confirmed_answer"}
    assert len(entry["phrasings"]) >= 3
    assert all(text.strip() == text != "" for text in (*phrasings(entry), entry["answer"], entry["owner"]))
    assert date.fromisoformat(entry["review_by"]) > date(2026, 4, 1)
    assert entry["sources"]
    assert all((HELPDESK / source).is_file() for source in entry["sources"])


@pytest.mark.parametrize("entry", EACH_ENTRY)
def test_an_entry_is_written_in_its_language(entry: dict[str, Any]) -> None:
    japanese = [bool(JAPANESE.search(text)) for text in (*phrasings(entry), entry["answer"], entry["owner"])]
    assert japanese == [entry["language"] == "ja"] * len(japanese)


@pytest.mark.parametrize("entry", EACH_ENTRY)
def test_every_number_of_an_answer_stands_in_its_source(entry: dict[str, Any]) -> None:
    sources = " ".join((HELPDESK / source).read_text("utf-8") for source in entry["sources"])
    assert numbers(entry["answer"]) <= numbers(sources)


@pytest.mark.parametrize("key", [key.removeprefix("en-") for key in ENTRIES["en"]])
def test_an_entry_says_the_same_in_both_languages(key: str) -> None:
    english, japanese = ENTRIES["en"][f"en-{key}"], ENTRIES["ja"][f"ja-{key}"]
    assert english["kind"] == japanese["kind"]
    assert [source[2:] for source in english["sources"]] == [source[2:] for source in japanese["sources"]]
    for kind in PATTERNS:
        assert found(kind, english["answer"]) == found(kind, japanese["answer"])


def test_no_entry_exists_in_one_language_only() -> None:
    english, japanese = ({key[3:] for key in ENTRIES[language]} for language in LANGUAGES)
    assert english == japanese


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tour_shows_every_outcome(language: str) -> None:
    tour = rows(f"{language}/tour.jsonl")
    assert len(tour) >= 12
    assert {stop["outcome"] for stop in tour} == OUTCOMES
    assert {stop["topic"] for stop in tour if stop.get("label") == "must_not"} == set(TOPICS)


@pytest.mark.parametrize(("language", "stop"), EACH_STOP)
def test_a_stop_of_the_tour_names_what_exists(language: str, stop: dict[str, Any]) -> None:
    optional = {"entry", "entries", "never_entry", "label", "topic", "earlier"}
    assert {"question", "outcome", "about"} <= stop.keys() <= {"question", "outcome", "about", *optional}
    assert stop["about"].strip()
    named = [*stop.get("entries", []), *(stop[key] for key in ("entry", "never_entry") if key in stop)]
    assert all(key in ENTRIES[language] for key in named)
    answering = stop.get("entries", [stop["entry"]] if "entry" in stop else [])
    assert {ENTRIES[language][key]["kind"] for key in answering} in (set(), {stop["outcome"]})
    assert bool(answering) == (stop["outcome"] in {"ground_truth", "confirmed_answer"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_refusals_of_the_tour_are_not_copied_from_the_policy(language: str) -> None:
    files = ["must.txt", "may.txt", *(f"must_not/{topic}.txt" for topic in TOPICS)]
    examples = {folded(example) for file in files for example in lines(f"{language}/{file}")}
    refused = {
        folded(stop["question"]) for stop in rows(f"{language}/tour.jsonl") if stop["outcome"] == "refused"
    }
    assert not refused & examples
