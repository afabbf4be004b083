"""What the detector of attacks is fitted on: texts with their topics, and where they come from.

The held-out half of what we wrote (tests/classifiers/gate/attacks) is never read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Literal

import yaml

from classifiers.gate.detector import Script, script_of, windows
from classifiers.gate.shipped import shipped_attacks, shipped_everyday
from classifiers.text import has_kana, normalise
from training.command import rows
from training.question_pairs import families

__all__ = ["SCRIPTS", "Text", "collected"]

HERE = Path(__file__).parent
SCRIPTS: tuple[Script, ...] = ("latin", "east_asian")
LANGUAGES = ("en", "ja", "zh")
SOURCES = {
    "mustnot_harm_harmbench": "harm",
    "mustnot_harm_advbench": "harm",
    "mustnot_injection": "injection",
    "mustnot_jailbreak_wild": "jailbreak",
    "mustnot_harm_catqa": "harm",
    "mustnot_jailbreak": "jailbreak",
    "may_far_travel": "",
}
WORDINGS = 3  # of each act
PARTS = 2  # of a longer harmless text
JOINED = 100  # texts of several harmless ones
FROM_CLINC = 2_500
ABOUT_DOCUMENTS = {"squad2": 900, "jaquad_train": 1_200, "cmrc2018_dev": 900}  # long questions
ASKED = {"ja": 800, "zh": 800}  # questions to helpdesks, each in one wording
LONGEST_TOLD = 400  # characters of an attack that is told in a story; longer ones are stories themselves
_SENTENCE = re.compile(r"[^.!?。！？；;]+[.!?。！？；;]*\s*")
# Characters that say by themselves that somebody tells something.
_LEAST_SENTENCE = {"latin": 25, "east_asian": 9}


@dataclass(frozen=True)
class Text:
    """A text with its topic; none means harmless. Texts of one group are never judged by each other."""

    text: str
    topic: str
    source: str
    group: str
    script: Script
    hard: bool = False  # chosen because it sounds alarming
    # padded, told: with harmless words, a story around it
    form: Literal["whole", "padded", "part", "told"] = "whole"


def collected(data: Path) -> list[Text]:
    """Everything that may be fitted on, with its copies among harmless words and in stories."""
    texts, desks = _once(data), _desks()
    return [
        *texts,
        *_padded(texts, Random(1)),
        *_stories([one for one in texts if one.topic], Random(2)),
        *desks,  # with dice of their own: the copies of the others stay the same
        *_padded(desks, Random(4)),
        *_told_in_stories([one for one in desks if one.topic], Random(5)),
        *_asked(Random(6)),
    ]


def _once(data: Path) -> list[Text]:
    """Each text once."""
    random = Random(0)
    found = [*_public(data, random), *_written(), *_acts(random)]
    found.extend(_mixed([one.text for one in found if one.source == "clinc150"], random))
    once = {normalise(one.text): one for one in reversed(found)}
    return list(once.values())


def _public(data: Path, random: Random) -> list[Text]:
    found = []
    for language in LANGUAGES:
        for row in rows(data / f"gate/{language}.dev.jsonl"):
            if row["slice"] in SOURCES:
                found.append(_text(row["text"], SOURCES[row["slice"]], row["slice"]))
    clinc = random.sample(rows(data / "gate/clinc150_train.jsonl"), FROM_CLINC)
    found.extend(_text(row["text"], "", "clinc150") for row in clinc)
    for row in rows(data / "cache/faq/banking77.entries.jsonl"):
        found.extend(_text(text, "", "banking77") for text in row["questions"])
    return [*found, *_about_documents(data)]


def _about_documents(data: Path) -> list[Text]:
    judged = {normalise(row["text"]) for name in LANGUAGES for row in rows(data / f"gate/{name}.dev.jsonl")}
    random, found = Random(3), []
    for name, count in ABOUT_DOCUMENTS.items():
        questions = sorted({row["question"] for row in rows(data / f"qa/{name}.jsonl")})
        unseen = [question for question in questions if normalise(question) not in judged]
        found.extend(_text(question, "", name) for question in random.sample(unseen, count))
    return found


def _written() -> list[Text]:
    shipped = shipped_attacks()
    found = [_text(text, topic.name, "written") for topic in shipped.topics for text in topic.examples]
    found.extend(_text(text, "", "written", hard=True) for text in shipped.harmless)
    found.extend(_text(text, "", "everyday") for text in shipped_everyday())
    terse = yaml.safe_load((HERE / "attacks/terse.yaml").read_text(encoding="utf-8"))
    found.extend(_text(text, "", "terse") for texts in terse.values() for text in texts)
    for language in LANGUAGES:
        for row in rows(HERE / f"attacks/{language}.jsonl"):
            harmless = row["gold"] == "may"
            topic = "" if harmless else row["slice"].removeprefix("mustnot_")
            found.append(_text(row["text"], topic, "written", hard=harmless))
    for language in ("ja", "zh"):
        for row in rows(HERE / f"pairs/{language}.jsonl"):
            found.extend(_text(row[key], "", "pairs") for key in ("cached_question", "question"))
    return found


def _desks() -> list[Text]:
    """Orders in the words of a helpdesk's subject beside their harmless twins, and long polite questions."""
    listed = {
        name: yaml.safe_load((HERE / f"attacks/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("orders", "polite")
    }
    found = []
    for language in LANGUAGES:
        for pair in (pair for pairs in listed["orders"][language].values() for pair in pairs):
            order = _text(pair["order"], "harm", "orders")
            twin = _text(pair["twin"], "", "orders", hard=True)
            found += [order, replace(twin, group=order.group)]
        polite = (text for texts in listed["polite"][language].values() for text in texts)
        found += [_text(text, "", "polite") for text in polite]
    return found


def _asked(random: Random) -> list[Text]:
    """What helpdesks are asked every day, in the words of whoever is in a hurry."""
    short = yaml.safe_load((HERE / "attacks/asked.yaml").read_text(encoding="utf-8"))
    found = [_text(text, "", "terse") for texts in short.values() for text in texts]
    for language, count in ASKED.items():
        told = [line for desk in families(language) for family in desk for line in family if len(line) > 1]
        found += [_text(random.choice(one), "", "asked") for one in random.sample(told, count)]
    return found


def _acts(random: Random) -> list[Text]:
    listed = yaml.safe_load((HERE / "attacks/acts.yaml").read_text(encoding="utf-8"))
    return [
        replace(_text(wording.format(act), topic, "acts", hard=not topic), group=act)
        for kind, topic in (("harmful", "harm"), ("harmless", ""))
        for language in LANGUAGES
        for act in listed[kind][language]
        for wording in random.sample(listed["wordings"][language], WORDINGS)
    ]


def _mixed(english: Sequence[str], random: Random) -> list[Text]:
    """A few words in Latin letters, small or large, within Japanese and Chinese: no sign of an attack."""
    listed = yaml.safe_load((HERE / "attacks/mixed.yaml").read_text(encoding="utf-8"))
    found = []
    for frame in (frame for language in sorted(listed) for frame in listed[language]):
        for form in (str.title, str.title, str.lower, str.upper) * 2:
            names = [form(_piece(random.choice(english), "latin", random)) for _ in range(frame.count("{}"))]
            found.append(_text(frame.format(*names), "", "mixed"))
    return found


def _text(text: str, topic: str, source: str, *, hard: bool = False) -> Text:
    return Text(text, topic, source, text, script_of(normalise(text)), hard)


def _padded(texts: Sequence[Text], random: Random) -> list[Text]:
    """Some texts again with harmless words around them, and parts of the harmless ones.

    Neither politeness nor length says anything, and a part is judged by its wording alone.
    """
    padding = yaml.safe_load((HERE / "attacks/padding.yaml").read_text(encoding="utf-8"))
    found = []
    harmless = {
        script: [one.text for one in texts if one.script == script and not one.topic] for script in SCRIPTS
    }
    for one in texts:
        if random.random() < (0.35 if one.topic else 0.08):
            piece = _piece(random.choice(harmless[one.script]), one.script, random)
            text = f"{piece} {one.text}" if random.random() < 0.5 else f"{one.text} {piece}"
            found.append(replace(one, text=text, form="padded"))
        if random.random() < (0.25 if one.topic else 0.06):
            language = "en" if one.script == "latin" else random.choice(("ja", "zh"))
            before, after = (
                random.choice(padding[language]["before"]),
                random.choice(padding[language]["after"]),
            )
            form = random.choice(("{b} {t}", "{t} {a}", "{b} {t} {a}"))
            found.append(replace(one, text=form.format(b=before, t=one.text, a=after), form="padded"))
    for one in texts:
        parts = windows(normalise(one.text)) if not one.topic else []
        found.extend(
            replace(one, text=part, form="part") for part in random.sample(parts, min(PARTS, len(parts)))
        )
    for script in SCRIPTS:
        for number in range(JOINED):
            joined = " ".join(random.sample(harmless[script], random.randint(2, 6)))
            found.append(Text(joined, "", "joined", f"joined {number}", script))
    return found


def _piece(text: str, script: Script, random: Random) -> str:
    """One to nine words of a harmless text, or as much where words are not parted."""
    if script == "latin":
        return " ".join(text.split()[: random.randint(1, 9)])
    return text[: random.randint(2, 18)]


def _stories(attacks: Sequence[Text], random: Random) -> list[Text]:
    """What customers tell: whole, by sentences and two at once; and attacks told before, after and within it.

    So the words of a story speak for nothing by themselves.
    """
    found = []
    for language, told in _listed_stories().items():
        for story in told:
            one = _text(story, "", "stories")
            sentences = [text for text in _sentences(story) if len(text) >= _LEAST_SENTENCE[one.script]]
            parts = [text for text in sentences if text != story]
            found += [one, *(replace(one, text=text, form="part") for text in parts)]
            found.append(replace(one, text=f"{story} {random.choice(told)}", form="padded"))
        found += _in_stories(attacks, language, told, random)
    return found


def _listed_stories() -> dict[str, list[str]]:
    listed = yaml.safe_load((HERE / "attacks/stories.yaml").read_text(encoding="utf-8"))
    return {
        language: [story for kind in listed[language].values() for story in kind] for language in LANGUAGES
    }


def _told_in_stories(attacks: Sequence[Text], random: Random) -> list[Text]:
    return [
        one
        for language, told in _listed_stories().items()
        for one in _in_stories(attacks, language, told, random)
    ]


def _in_stories(attacks: Sequence[Text], language: str, told: Sequence[str], random: Random) -> list[Text]:
    of_this = [one for one in attacks if _language(one.text) == language and len(one.text) <= LONGEST_TOLD]
    return [replace(one, text=_told(one.text, told, random), form="told") for one in of_this]


def _told(attack: str, listed: Sequence[str], random: Random) -> str:
    """An attack with a part of a story before it, after it, or on both sides."""
    before, after = (_some(random.choice(listed), random) for _ in range(2))
    joint = " " if attack.isascii() or random.random() < 0.5 else ""
    return random.choice(("{b}{j}{t}", "{t}{j}{a}", "{b}{j}{t}{j}{a}")).format(
        b=before, a=after, t=attack, j=joint
    )


def _some(story: str, random: Random) -> str:
    """The whole story as often as a sentence of it."""
    return story if random.random() < 0.5 else random.choice(_sentences(story) or [story])


def _sentences(story: str) -> list[str]:
    return [text for found in _SENTENCE.findall(story) if len(text := found.strip()) > 3]


def _language(text: str) -> str:
    if script_of(normalise(text)) == "latin":
        return "en"
    return "ja" if has_kana(text) else "zh"
