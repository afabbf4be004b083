"""The same said otherwise, and nearly the same said wrongly.

A `Rewriter` of a language offers both. A wrong change is a mapping of words, so that it can be made in the
statement or in the passage: made in both, it leaves the statement true. So no wording is a sign of falsehood.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from classifiers.faithfulness.wording import lexicon
from training.perturbations import NUMBER, UNIT_SWAPS
from training.synonyms import Synonyms

__all__ = ["LEAD_INS", "English", "Rewriter", "Span", "exchanged", "numbers", "stands_in"]

Mapping_ = Mapping[str, str]
Span = tuple[int, int]

ENGLISH_NAMES: Final = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z]{2,}(?:(?: of)? [A-Z][a-z]{2,}){0,2}\b")
NAMED: Final = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){1,2}\b")
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
SMALL: Final = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
LEAD_INS: Final = {
    "en": (
        "According to the passages, ",
        "Based on the given passages, ",
        "The document states that ",
        "As mentioned in the text, ",
        "It is said that ",
        "Additionally, ",
        "However, ",
        "In summary, ",
        "Overall, ",
        "Therefore, ",
        "1. ",
        "- ",
    ),
    "ja": (
        "資料によると、",
        "文書では、",
        "また、",
        "具体的には、",
        "つまり、",
        "なお、",
        "- ",
        "記載によれば、",
    ),
    "zh": ("根据资料，", "文中提到，", "此外，", "具体来说，", "也就是说，", "据介绍，", "- ", "资料显示，"),
}
MODALS: Final = {
    "may": "must",
    "must": "may",
    "can": "cannot",
    "some": "all",
    "most": "few",
    "many": "few",
    "all": "some",
    "always": "never",
    "never": "always",
    "often": "rarely",
    "usually": "rarely",
    "sometimes": "always",
    "more": "less",
    "less": "more",
    "before": "after",
    "after": "before",
    "first": "last",
    "last": "first",
    "because": "although",
    "only": "also",
    "up": "down",
    "at least": "at most",
    "more than": "less than",
    "with": "without",
    "until": "since",
    "should": "should not",
    "will": "will not",
    "increase": "decrease",
    "increased": "decreased",
    "higher": "lower",
    "north": "south",
    "east": "west",
    "northern": "southern",
    "western": "eastern",
    "daily": "weekly",
    "weekly": "monthly",
    "year": "month",
    "years": "months",
    "days": "hours",
    "hours": "minutes",
    "minutes": "hours",
    "weeks": "days",
    "men": "women",
    "son": "daughter",
    "father": "brother",
}
FRONTED: Final = re.compile(
    r"^((?:In|On|At|During|After|Before|By|Since|When|If|As|For|From|Under|With) [^,.;]{3,60}), ([^.]+)\.$"
)
CLAUSE_AFTER: Final = re.compile(
    r",? (?:which|who|where|whose|with|including|such as)\b[^.,;]{8,}(?=[.,;]|$)"
)
DENIABLE: Final = re.compile(r"\b(is|are|was|were|can|will|would|could|should|may|has|have|had) ([a-z]+)\b")
DENIED: Final = re.compile(
    r"\b(is|are|was|were|can|will|would|could|should|may|has|have|had|do|does|did) not ([a-z]+)\b"
)


class Rewriter(Protocol):
    """What a language offers."""

    lang: str

    def reworded(self, text: str, rng: random.Random) -> str:
        """The same, said otherwise."""
        ...

    def wrong(self, text: str, window: str, rng: random.Random) -> list[tuple[str, Mapping_]]:
        """Exchanges of words that both texts have, each by its kind."""
        ...


def exchanged(text: str, mapping: Mapping_) -> tuple[str, tuple[Span, ...], tuple[Span, ...]]:
    """The text with the words exchanged, where these stood, and where the others stand now."""
    if not mapping:
        return text, (), ()
    longest = sorted(mapping, key=len, reverse=True)
    pattern = "|".join(
        (r"(?<![A-Za-z0-9])" if key[0].isascii() else "")
        + re.escape(key)
        + (
            r"(?![A-Za-z0-9])"
            if key[-1].isascii() and not key[-1].isdigit()
            else r"(?![\d]|[.,]\d)"
            if key[-1].isdigit()
            else ""
        )
        for key in longest
    )
    made, old, new, at = "", [], [], 0
    for found in re.finditer(pattern, text):
        made += text[at : found.start()]
        new.append((len(made), len(made) + len(mapping[found[0]])))
        old.append((found.start(), found.end()))
        made += mapping[found[0]]
        at = found.end()
    return made + text[at:], tuple(old), tuple(new)


def stands_in(word: str, text: str) -> bool:
    """Whether a word, and not a part of one, stands in a text."""
    return bool(exchanged(text, {word: ""})[1])


def _other_number(text: str, elsewhere: Sequence[str], rng: random.Random) -> Mapping_ | None:
    plain = text.replace(",", "")
    value = float(plain)
    if elsewhere and rng.random() < 0.4:
        other = rng.choice(elsewhere)
        return {text: other, other: text}
    if 1200 < value < 2100 and "." not in plain and "," not in text:
        made = value + rng.choice([-30, -12, -10, -5, -3, -2, -1, 1, 2, 3, 5, 10, 20])
    else:
        made = rng.choice(
            [value * 2, value * 10, value + 1, value + 5, max(0, value - 1), value // 2, value + 10]
        )
    new = f"{made:.1f}" if "." in plain else f"{int(made):,}" if "," in text else str(int(made))
    return None if new == text else {text: new}


def numbers(text: str, window: str, rng: random.Random) -> Iterator[tuple[str, Mapping_]]:
    """Other numbers for those that both texts have."""
    inside = set(NUMBER.findall(window))
    for number in NUMBER.findall(text):
        if number in inside:
            others = [n for n in inside if n not in text and abs(len(n) - len(number)) < 2]
            if made := _other_number(number, others, rng):
                yield "number", made


@dataclass
class English:
    """English, with WordNet's synonyms and the names of a corpus."""

    synonyms: Synonyms
    names: Sequence[str]
    lang: str = "en"
    synonym_share: float = 0.3
    _by_length: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.names:
            self._by_length.setdefault(len(name.split()), []).append(name)

    def reworded(self, text: str, rng: random.Random) -> str:
        """Synonyms, another order, something left out, a lead-in."""
        if rng.random() < 0.6:
            text = re.sub(r"\s*[(\[][^()\[\]]{1,60}[)\]]", "", text)
        if rng.random() < 0.6 and (found := FRONTED.match(text)):
            start, rest = found[1], found[2]
            text = f"{rest[0].upper()}{rest[1:]} {start[0].lower()}{start[1:]}."
        if rng.random() < 0.35 and (found := CLAUSE_AFTER.search(text)) and found.start() > 25:
            text = text[: found.start()] + text[found.end() :]
        if rng.random() < 0.3 and " and " in text[30:-20]:
            text = text[: text.index(" and ", 30)] + "."
        if rng.random() < 0.5:
            text = re.sub(r"\b(very|also|however|approximately|often|then|just|really|generally) ", "", text)
        for plain, other in (
            ("percent", "%"),
            (" is not ", " isn't "),
            (" do not ", " don't "),
            (" has ", " has got "),
        ):
            if rng.random() < 0.3:
                text = text.replace(f" {plain}" if plain == "percent" else plain, other)
        text = re.sub(r"\b[a-z]{4,}\b", lambda found: self._synonym(found[0], rng), text)
        if rng.random() < 0.3:
            text = re.sub(r"\b([2-9]|10)(?= [a-z])", lambda found: SMALL[int(found[1]) - 2], text)
        if rng.random() < 0.12 and (
            found := re.match(r"([A-Z][a-z]+ ){1,3}(?=is|was|has|had|can|will)", text)
        ):
            text = rng.choice(("It ", "He ", "She ", "This ")) + text[found.end() :]
        if rng.random() < 0.2:
            lead = rng.choice(LEAD_INS["en"])
            lower = lead.endswith((", ", "that ")) and re.match(
                r"(?:The|In|It|A|An|This|There|He|She|They)\b", text
            )
            text = lead + (text[0].lower() + text[1:] if lower else text)
        if rng.random() < 0.1:
            text = text.rstrip(".")
        return text

    def _synonym(self, word: str, rng: random.Random) -> str:
        found = self.synonyms.same.get(word)
        if not found or word in MODALS or rng.random() > self.synonym_share:
            return word
        return rng.choice(found)

    def wrong(self, text: str, window: str, rng: random.Random) -> list[tuple[str, Mapping_]]:
        """Numbers, units, names, siblings, opposites, quantity, time, negation, roles."""
        made = list(numbers(text, window, rng))
        made += self._wrong_names(text, window, rng)
        for unit, other in UNIT_SWAPS.items():
            if unit.isascii() and unit.isalpha() and stands_in(unit, text) and stands_in(unit, window):
                made.append(("unit", {unit: other}))
        made += [
            ("modality", {w: o}) for w, o in MODALS.items() if stands_in(w, text) and stands_in(w, window)
        ]
        for month in MONTHS:
            if stands_in(month, text) and stands_in(month, window):
                made.append(("time", {month: rng.choice([m for m in MONTHS if m != month])}))
        for pattern, form in ((DENIABLE, r"{} not {}"), (DENIED, r"{} {}")):
            for found in pattern.finditer(text):
                if found[2] != "not" and stands_in(found[0], window):
                    made.append(("negation", {found[0]: form.format(found[1], found[2])}))
        words = set(re.findall(r"\b[a-z]{3,}\b", text)) - lexicon().function
        for word in sorted(words):
            if not stands_in(word, window):
                continue
            for kind, table in (("sibling", self.synonyms.siblings), ("opposite", self.synonyms.opposites)):
                fit = [w for w in table.get(word, ()) if w not in text and w not in window]
                if fit:
                    made.append((kind, {word: rng.choice(fit)}))
        return made

    def _wrong_names(self, text: str, window: str, rng: random.Random) -> Iterator[tuple[str, Mapping_]]:
        mine = [n for n in set(ENGLISH_NAMES.findall(text)) if stands_in(n, window)]
        mine = [n for n in mine if n not in MONTHS]
        around = [n for n in set(ENGLISH_NAMES.findall(window)) if n not in text and n not in MONTHS]
        for name in mine:
            same = self._by_length.get(len(name.split()), [])
            if same:
                other = rng.choice(same)
                if other not in text and other not in window:
                    yield "name", {name: other}
            fit = [n for n in around if not set(n.split()) & set(name.split())]
            if fit:
                other = rng.choice(fit)
                yield "crossed", {name: other, other: name}
        apart = [n for n in mine if not any(set(n.split()) & set(m.split()) for m in mine if m != n)]
        if len(apart) >= 2:
            one, other = rng.sample(apart, 2)
            yield "roles", {one: other, other: one}
