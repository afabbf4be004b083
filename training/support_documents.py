"""The documents that the support model learns from, by source."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from classifiers.faithfulness.said import CITATION
from classifiers.faithfulness.statements import statements
from training.command import rows
from training.rewording import NAMED, English, Rewriter
from training.rewording_cjk import Language, east_asian
from training.rewording_cjk import said_of as asked_and_answered
from training.support_groups import Document, sentence_lines
from training.synonyms import read_synonyms

__all__ = ["documents", "rewriters"]

EAST_ASIAN: Final = ("jaquad", "cmrc2018", "ja_corpus", "zh_corpus", "jhars")
SHORTEST_ANSWER_STATEMENT: Final = {"en": 20, "ja": 10, "zh": 8}  # characters
MOST_CONTEXT: Final = 6_000  # characters of a document
LONGEST_STATEMENT: Final = 320

_WHEN: Final = re.compile(
    r"^(?:when|where|in what \w+|what year|which year) (was|were|is|are) (.+?) "
    r"(\w+(?:ed|en|wn|nd|lt|de|rn|ld))\b(.*)\?$",
    re.I,
)
_DID: Final = re.compile(
    r"^(?:(when|where|in what \w+|what year)|(?:what|which|who|whom)(?: \w+){0,2}) did (.+)\?$", re.I
)
_BE: Final = re.compile(r"^(?:what|who|which|where|when)(?: \w+){0,3}? (is|are|was|were) (.+)\?$", re.I)
_SUBJECT: Final = re.compile(
    r"^(?:what|who|which)(?: \w+){0,2}? (\w+(?:ed|s|ew|ote|ook|ade|ave|ould|an))\b (.+)\?$", re.I
)
_INSIDE: Final = re.compile(
    r"\b(?:what|which|who|whom|where|how many|how much)(?: (?:year|country|city|kind of|type of|name))?\b",
    re.I,
)


def said_of(question: str, answer: str) -> str:
    """A statement made of a question and its answer, by rule: not always good English, as answers are not."""
    answer = answer.strip(" .")
    if found := _WHEN.match(question):
        where = "" if re.match(r"(?:in|on|at|during|after|before|the \w+ of)\b", answer) else "in "
        return f"{_capital(found[2])} {found[1]} {found[3]}{found[4]} {where}{answer}."
    if found := _DID.match(question):
        where = "in " if found[1] and not answer.startswith(("in ", "on ", "at ", "after ")) else ""
        return f"{_capital(found[2])} {where}{answer}."
    if (
        re.match(r"^(?:who|what|which)", question, re.I)
        and (found := _SUBJECT.match(question))
        and found[1] not in ("was", "is")
    ):
        return f"{_capital(answer)} {found[1]} {found[2]}."
    if found := _BE.match(question):
        return f"{_capital(found[2])} {found[1]} {answer}."
    if (found := _INSIDE.search(question)) and found.start() > 12:
        return f"{question[: found.start()]}{answer}{question[found.end() :].rstrip('?')}."
    return f"{question} {_capital(answer)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _squad(data: Path) -> Iterator[Document]:
    articles: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(data / "qa/squad2.jsonl"):
        articles[row["title"]][row["context"]].append(row)
    for contexts in articles.values():
        for context, asked in contexts.items():
            said = tuple(said_of(row["question"], row["answers"][0]) for row in asked if row["answers"])
            yield Document("squad2", "en", sentence_lines(context), said)


def _answered(file: Path, source: str) -> Iterator[Document]:
    """Contexts with the statements of the answers given from them, as people judged these."""
    by_context: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows(file):
        by_context[tuple(row["contexts"])].append(row)
    for contexts, answers in by_context.items():
        lines = tuple(line for context in contexts for line in sentence_lines(context))
        said, unsaid = [], []
        for row in answers:
            for each in statements(row["answer"]):
                text = " ".join(CITATION.sub(" ", each.text).split())
                if not SHORTEST_ANSWER_STATEMENT[row["lang"]] <= len(text) <= LONGEST_STATEMENT:
                    continue
                marked = [
                    s for s in row["unsupported"] or () if s["start"] < each.end and each.start < s["end"]
                ]
                if row["faithful"] or (row["unsupported"] and not marked):
                    said.append(text)
                elif marked:
                    parts = (
                        row["answer"][max(s["start"], each.start) : min(s["end"], each.end)] for s in marked
                    )
                    unsaid.append((text, tuple(parts)))
                elif not row["unsupported"] and len(row["answer"]) < LONGEST_STATEMENT:
                    unsaid.append((text, ()))
        lang = answers[0]["lang"]
        yield Document(source, lang, lines, tuple(dict.fromkeys(said)), tuple(dict.fromkeys(unsaid)))


def _english(data: Path, source: str) -> list[Document]:
    faithfulness = data / "faithfulness"
    match source:
        case "squad2":
            return list(_squad(data))
        case "ragchecker":
            found = rows(data / "evaluation/ragchecker.jsonl")
            texts = {
                row[key] if isinstance(row[key], str) else row[key]["response"]
                for row in found
                for key in ("gt_answer", "model1", "model2")
            }
            plain = (re.sub(r"\[\d+\]", "", text)[:MOST_CONTEXT] for text in sorted(texts))
            return [Document(source, "en", sentence_lines(text)) for text in plain]
        case "halueval":
            passages = sorted(
                {c for row in rows(faithfulness / "halueval_qa.jsonl") for c in row["contexts"]}
            )
            spaced = (re.sub(r"(?<=[a-z0-9])\.(?=[A-Z])", ". ", passage) for passage in passages)
            return [Document(source, "en", sentence_lines(passage)) for passage in spaced]
        case "factcg_passages":  # each pair of documents differs in a sentence: one of them is enough
            found = {row["id"]: row for row in rows(faithfulness / "factcg.jsonl")}
            kept: dict[str, str] = {}
            for row in found.values():
                kept.setdefault(row["contexts"][0][:120], " ".join(row["contexts"]))
            return [Document(source, "en", sentence_lines(text[:MOST_CONTEXT])) for text in kept.values()]
        case "factcg":
            found = [row for row in rows(faithfulness / "factcg.jsonl") if row["group"] == "CG2C_doc"]
            return _claims(found, source)
        case "begin":
            return list(_answered(faithfulness / "begin_dev.jsonl", source))
        case "ragtruth" | "ragtruth_even" | "ragtruth_odd":  # halves, to measure one on the other
            found = list(_answered(faithfulness / "ragtruth_nontest.jsonl", source))
            half = {"ragtruth_even": 0, "ragtruth_odd": 1}.get(source)
            return [one for one in found if half is None or half_of(one.sentences) == half]
    raise ValueError(f"source: expected a known one, not {source!r}")


def half_of(sentences: tuple[str, ...]) -> int:
    """Which half of a source a document belongs to, by its text."""
    return crc32("".join(sentences)[:200].encode()) % 2


def _claims(found: list[dict[str, Any]], source: str) -> list[Document]:
    by_context: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in found:
        by_context["\n".join(row["contexts"])].append(row)
    return [
        Document(
            source,
            "en",
            sentence_lines(context[:MOST_CONTEXT]),
            tuple(row["answer"] for row in claims if row["faithful"]),
            tuple((row["answer"], ()) for row in claims if not row["faithful"]),
        )
        for context, claims in by_context.items()
    ]


def _east_asian(data: Path, source: str) -> list[Document]:
    lang: Language = "zh" if source in ("cmrc2018", "zh_corpus") else "ja"
    match source:
        case "jaquad" | "cmrc2018":
            file = {"jaquad": "qa/jaquad_train.jsonl", "cmrc2018": "qa/cmrc2018_dev.jsonl"}[source]
            articles: dict[str, list[str]] = defaultdict(list)
            said: dict[str, list[str]] = defaultdict(list)
            for row in rows(data / file):
                if row["context"] not in articles[row["title"]]:
                    articles[row["title"]].append(row["context"])
                said[row["title"]].append(asked_and_answered(row["question"], row["answers"][0], lang))
            return [
                Document(source, lang, _lines(contexts, 14_000), tuple(said[title]))
                for title, contexts in articles.items()
            ]
        case "ja_corpus" | "zh_corpus":
            passages: dict[str, list[str]] = defaultdict(list)
            for row in rows(data / f"gate/{lang}.corpus.jsonl"):
                passages[row["title"]].append(row["text"])
            return [Document(source, lang, _lines(texts, 6_000)) for texts in passages.values()]
        case "jhars":
            return list(_answered(data / "faithfulness/jhars_dev.jsonl", source))
    raise ValueError(f"source: expected a known one, not {source!r}")


def _lines(texts: list[str], most: int) -> tuple[str, ...]:
    return tuple(line for text in texts for line in sentence_lines(text[:most]))


def _english_rewriter(documents: list[Document], wordnet: Path) -> English:
    counted: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for document in documents:
        for line in document.sentences:
            counted.update(re.findall(r"[a-z]+", line.lower()))
            names.update(NAMED.findall(line))
            names.update(re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}\b", line))
    return English(read_synonyms(wordnet, counted), sorted(names))


def documents(data: Path, source: str) -> list[Document]:
    """The documents of one source."""
    return _east_asian(data, source) if source in EAST_ASIAN else _english(data, source)


def rewriters(found: list[Document], wordnet: Path | None) -> dict[str, Rewriter]:
    """For each language of the documents what rewords them, with their own words and names."""
    made: dict[str, Rewriter] = {}
    for lang in sorted({one.lang for one in found}):
        own = [one for one in found if one.lang == lang]
        if lang == "ja" or lang == "zh":
            made[lang] = east_asian(lang, (line for one in own for line in one.sentences))
        elif wordnet:
            made[lang] = _english_rewriter(own, wordnet)
        else:
            raise SystemExit("--wordnet is needed for English sources")
    return made
