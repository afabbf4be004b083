"""A sentence, read once: its words, its numbers and what it denies."""

from __future__ import annotations

import re
from functools import cached_property

from classifiers.faithfulness.quantities import quantities
from classifiers.faithfulness.quantities.pool import Quantity, QuantityPool
from classifiers.faithfulness.wording import Terms, folded, lexicon, terms
from languages.identification import script_language
from languages.scripts import HAN, KATAKANA
from languages.words import Word, word_reader

__all__ = ["COMMA", "Line"]

LONGEST_READ = 16_000  # characters; the reader of Japanese refuses more
DENIED_JA = 8  # characters before a Japanese negation, of which the telling ones say what is denied
TELLING_JA = re.compile(f"[{HAN}{KATAKANA}]")
# 課程のない大学 denies nothing of it, 提出しないと sets a condition.
CONDITION_JA = re.compile(
    r"(?<=[のが])ない(?=[一-龥々ァ-ヶ\d])|ない(?=と[、。ぁ-ん]|場合|とき|限り)|なけれ(?=ば)"
)
STOPS = ".。!！?？,，、;；:："
SHORT_ANSWER = re.compile(
    r"(?:yes|no|はい|いいえ|いえ|是的?|对|能|会|要|行|可以的?|需要的?|不(?:是|能|会|行|可以|需要|用|要))[,、。.!]\s*"
)

COMMA = r"[，、]|,(?=\s|[^\x00-\x7f])|(?<=[^\x00-\x7f]),"  # no 1,200; 关门,周五 has none of full width
JOINT = re.compile(rf"[;；]|{COMMA}|\s(?:and|while|but|whereas)\s")

ALONE_ZH = re.compile(f"(?![的了吗呢吧啊行对好是能会可要用])[{HAN}](?=[了的]?(?:[{STOPS}]|$))")
HELPING = frozenset({"need", "requir", "necessary", "oblig"})
NEGATION_EN = re.compile(
    r"\b(?:not|no|unless|except|never|without|cannot|none|nobody|nothing|neither|nor|unable)\b|n't\b"
)


class Line:
    """A sentence of a passage, or a statement. What few need is read when it is asked for."""

    def __init__(self, text: str, *, start: int = 0, opens: bool = True, written: str = "") -> None:
        self.text = text
        self.written = written or text  # of a row of a table: its cells without the names of their columns
        self.start = start  # in its passage
        self.opens = opens  # the sentence that it is a part of
        self.plain = folded(text)
        self.terms: Terms = terms(self.plain)
        self.content = frozenset(self.terms.content) | frozenset(self.terms.light)

    @cached_property
    def language(self) -> str:
        """Whose rules of writing it follows: en, ja or zh."""
        return script_language(self.plain)

    @cached_property
    def stated(self) -> str:
        """What it says behind a yes or no, which takes up the question."""
        return SHORT_ANSWER.sub("", self.plain, count=1) if SHORT_ANSWER.match(self.plain) else self.plain

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its words, pairs and single characters."""
        return self.content.union(self.terms.units)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its words with their kinds, as the dictionaries of Japanese and Chinese know them."""
        return word_reader()(self.plain, self.language) if len(self.plain) <= LONGEST_READ else ()

    @cached_property
    def proper_names(self) -> tuple[str, ...]:
        """Names of people, places and things as the dictionaries of Japanese and Chinese know them."""
        if self.language == "en":
            return ()
        found = (w.surface for w in self.words if w.kind == "name")
        return tuple(n for n in found if len(n) > 1 and not n.isascii() and n in self.plain)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its numbers, dates and times."""
        return quantities(self.text)

    @cached_property
    def pool(self) -> QuantityPool:
        """The same, to be asked whether a number is among them."""
        return QuantityPool(self.quantities)

    @cached_property
    def parts(self) -> tuple[Line, ...]:
        """Itself cut at commas and joints, so that each part but the last has a number."""
        found: list[str] = []
        begin = read = 0
        for joint in JOINT.finditer(self.text):
            if quantities(self.text[read : joint.start()]):
                found.append(self.text[begin : joint.start()])
                begin = joint.end()
            read = joint.end()
        rest = self.text[begin:]
        if found and not quantities(rest):
            found[-1] = f"{found[-1]} {rest}"
        else:
            found.append(rest)
        if not found[1:]:
            return (self,)
        return tuple(Line(text, opens=not at) for at, text in enumerate(found))

    @cached_property
    def affirmed(self) -> str:
        """What it says without its negations, spaces and last mark: of 标价不含税 and 标价含税 the same."""
        language = self.language
        negation = NEGATION_EN if language == "en" else lexicon().negations[language]
        return "".join(negation.sub("", self.stated).split()).rstrip(STOPS)

    @cached_property
    def denials(self) -> list[set[str]]:
        """For each of its negations the terms next to it."""
        words = lexicon()
        text = words.not_negations.sub(lambda m: " " * len(m[0]), self.stated)
        if self.language == "en":
            cues = [
                (text[max(0, m.start() - 40) : m.start()], text[m.end() :][:60])
                for m in NEGATION_EN.finditer(text)
            ]
            return [{*_telling(before)[-2:], *_denied(after)} for before, after in cues]
        if self.language == "ja":
            text = CONDITION_JA.sub(" ", text)
        found = words.negations[self.language].finditer(text)
        if self.language == "zh":  # 不得施工: what follows
            return [_denied_zh(text[m.end() :]) for m in found]
        clauses = (re.split("[、。,]", text[max(0, m.start() - DENIED_JA) : m.start()])[-1] for m in found)
        return [{*TELLING_JA.findall(clause)} for clause in clauses]


def _denied(after: str) -> tuple[str, ...]:
    """The first word behind a denial that says what is denied: "need not be enclosed"."""
    return tuple(term for term in terms(after).content[:2] if term not in HELPING)[:1]


def _denied_zh(after: str) -> set[str]:
    """The first two characters behind a denial, or the one that ends its clause there: 不能退."""
    if alone := ALONE_ZH.match(after):
        return {alone[0]}
    return set(terms(after[:4]).content[:1])


def _telling(text: str) -> list[str]:
    """Its words but those that only help to deny: "receipts need not"."""
    return [term for term in terms(text).content if term not in HELPING]
