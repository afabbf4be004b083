"""Japanese and Chinese sentences said otherwise, and said wrongly; `rewording` does so in English."""

from __future__ import annotations

import gzip
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import rjieba

from classifiers.faithfulness.wording import lexicon
from training.perturbations import ASKING, DENIALS, UNIT_SWAPS
from training.rewording import LEAD_INS, numbers

__all__ = ["EastAsian", "Language", "east_asian", "said_of"]

Language = Literal["ja", "zh"]

THESAURUS: Final = Path(__file__).resolve().parent.parent / "cache" / "reading" / "thesaurus"
LEAST_ALIKE: Final = 0.93  # probability that two words mean the same
SYNONYM_SHARE: Final = 0.35
JAPANESE_WORD: Final = re.compile(
    r"(?<![一-鿿々])[一-鿿々]{2,4}(?![一-鿿々])"
    r"|(?<![ァ-ヺー])[ァ-ヺー]{3,}(?:・[ァ-ヺー]{2,})*(?![ァ-ヺー])|[A-Z][A-Za-z]{2,}"
)
CHINESE_KINDS: Final = {
    "n": "noun",
    "v": "verb",
    "a": "adjective",
    "nr": "person",
    "ns": "place",
    "nt": "body",
    "nz": "name",
}
NAMES: Final = ("person", "place", "body", "name", "katakana", "latin")
SIDES: Final = {
    "ja": (
        ("すべて", "一部"),
        ("必ず", "まれに"),
        ("多く", "少数"),
        ("初めて", "最後に"),
        ("だけ", "以外"),
        ("かつ", "または"),
        ("年間", "か月間"),
        ("賛成", "反対"),
        ("設立", "解散"),
        ("成功", "失敗"),
    ),
    "zh": (
        ("全部", "部分"),
        ("所有", "少数"),
        ("必须", "可以"),
        ("主要", "次要"),
        ("首次", "最后一次"),
        ("最早", "最晚"),
        ("因为", "尽管"),
        ("父亲", "哥哥"),
        ("成立", "解散"),
        ("成功", "失败"),
        ("支持", "反对"),
    ),
}
ASKED: Final = {
    "ja": re.compile(
        r"(?:何|誰|だれ|どこ|いつ|どれ|なに|いくつ|いくら|どちら|どんな\w{0,3}|どの\w{0,4}|どのよう\w{0,3})"
        r"(?:年|月|日|人|回|つ|歳|世紀|大会)?"
    ),
    "zh": re.compile(
        r"什么(?:时候|时间|地方|人)?|谁|哪里|哪儿|何时|何地|何处|哪[一个些位座年种]*[^的，。？]{0,2}|多少[年人个米次]?|几[个座位年月日次]?"
    ),
}


@cache
def _synonyms(lang: Language) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    with gzip.open(THESAURUS / f"{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, _, others = line.rstrip("\n").split("\t")
            pairs = (other.rsplit(":", 1) for other in others.split())
            near = tuple(other for other, share in pairs if float(share) >= LEAST_ALIKE and len(other) > 1)
            if near and len(word) > 1:
                found[word] = near
    return found


def words_of(text: str, lang: Language) -> list[tuple[str, str]]:
    """The words of a text that can be exchanged, each with its kind."""
    if lang == "zh":
        tagged = [(word, CHINESE_KINDS.get(tag, "")) for word, tag in rjieba.tag(text)]
        return [(word, kind) for word, kind in tagged if kind and len(word) > 1]
    return [(found[0], _script(found[0])) for found in JAPANESE_WORD.finditer(text)]


@dataclass
class EastAsian:
    """Japanese or Chinese, with the names and words of a corpus."""

    lang: Language
    words: Mapping[tuple[str, int], Sequence[str]]  # by kind and length

    def reworded(self, text: str, rng: random.Random) -> str:
        """Synonyms, asides and openings left out, other endings, a lead-in."""
        if rng.random() < 0.6:
            text = re.sub(r"[（(][^（()）]{1,40}[)）]", "", text)
        comma = "、" if self.lang == "ja" else "，"
        if rng.random() < 0.35:
            _, found, tail = text.partition(comma)
            text = tail if found and len(tail) > 14 else text
        elif rng.random() < 0.3 and self.lang == "zh":
            head, found, _ = text.rpartition(comma)
            text = head + "。" if found and len(head) > 14 else text
        for word, _ in words_of(text, self.lang):
            near = _synonyms(self.lang).get(word)
            if near and rng.random() < SYNONYM_SHARE:
                text = text.replace(word, rng.choice(near), 1)
        if self.lang == "ja":
            text = _other_ending(text, rng)
        if rng.random() < 0.2:
            text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
        if rng.random() < 0.2:
            text = rng.choice(LEAD_INS[self.lang]) + text
        if rng.random() < 0.1:
            text = text.rstrip("。")
        return text

    def wrong(self, text: str, window: str, rng: random.Random) -> list[tuple[str, dict[str, str]]]:
        """Numbers, units, names and words, opposites, quantity, time, negation, roles."""
        made = [(kind, dict(one)) for kind, one in numbers(text, window, rng)]
        made += self._wrong_units(text, window)
        made += self._wrong_words(text, window, rng)
        sides = [*SIDES[self.lang], *_opposites()]
        for one, other in (*sides, *((b, a) for a, b in sides)):
            if one in text and one in window and not (len(one) == 1 and rng.random() < 0.5):
                made.append(("opposite", {one: other}))
        for pattern, instead in DENIALS[self.lang]:
            for found in re.finditer(rf"[^、。，]{{0,2}}(?:{pattern})", text):
                changed = re.sub(pattern, instead, found[0])
                if changed != found[0] and found[0] in window:
                    made.append(("negation", {found[0]: changed}))
        return made

    def _wrong_units(self, text: str, window: str) -> Iterable[tuple[str, dict[str, str]]]:
        for unit, other in UNIT_SWAPS.items():
            found = None if unit.isascii() else re.search(rf"[\d,.]+{re.escape(unit)}", text)
            if found and found[0] in window:
                yield "unit", {found[0]: found[0].removesuffix(unit) + other}

    def _wrong_words(
        self, text: str, window: str, rng: random.Random
    ) -> Iterable[tuple[str, dict[str, str]]]:
        mine = sorted({one for one in words_of(text, self.lang) if one[0] in window})
        around = sorted({one for one in words_of(window, self.lang) if one[0] not in text})
        for word, kind in mine:
            fit = self.words.get((kind, len(word)), ())
            other = rng.choice(fit) if fit else ""
            if other and other not in window and other not in text:
                yield ("name" if kind in NAMES else "sibling"), {word: other}
            near = [w for w, k in around if k == kind and w not in word and word not in w]
            if near:
                other = rng.choice(near)
                yield "crossed", {word: other, other: word}
        apart = [
            (a, b)
            for a, kind in mine
            for b, other_kind in mine
            if a < b and kind == other_kind and kind != "verb" and a not in b and b not in a
        ]
        if apart:
            one, other = rng.choice(apart)
            yield "roles", {one: other, other: one}


def _script(word: str) -> str:
    return "latin" if word[0].isascii() else "katakana" if "ァ" <= word[0] <= "ヺ" else "kanji"


@cache
def _opposites() -> tuple[tuple[str, str], ...]:
    made = []
    for one, other in lexicon().opposites:
        for mine in sorted(one):
            if not mine.isascii() and len(mine) > 1:
                made.append((mine, sorted(w for w in other if not w.isascii())[0]))
    return tuple(made)


def _other_ending(text: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        text = re.sub(r"(?:である|だ)(。?)$", r"です\1", text)
        text = re.sub(r"(?<=[一-鿿])した(。?)$", r"しました\1", text)
        text = re.sub(r"された(。?)$", r"されました\1", text)
        text = re.sub(r"ている(。?)$", r"ています\1", text)
        text = re.sub(r"する(。?)$", r"します\1", text)
    if rng.random() < 0.1 and text.endswith(("です。", "ます。", "した。")):
        text = text[:-1] + rng.choice(("と書かれています。", "とのことです。"))
    return text


def said_of(question: str, answer: str, lang: Language) -> str:
    """A statement made of a question and its answer: the answer stands where the question word stood."""
    found = ASKED[lang].search(question)
    if found is None:
        return f"{ASKING[lang].sub('', question).strip('?？。')}{'：' if lang == 'zh' else '、'}{answer}。"
    text = question[: found.start()] + answer + question[found.end() :]
    if lang == "zh":
        return re.sub(r"(?:呢|吗)?[？?。]*$", "。", text)
    text = re.sub(r"[?？。]+$", "", text)
    if text.endswith(("ましたか", "ますか", "ですか", "でしたか")):
        return text[:-1] + "。"
    text = re.sub(r"(?:なの|の|か|だったか|でしょうか)$", "", text)
    return text + ("です。" if text.endswith(answer) else "。")


def east_asian(lang: Language, texts: Iterable[str]) -> EastAsian:
    """The language with the words of these texts."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for text in texts:
        for word, kind in words_of(text, lang):
            found[kind, len(word)].add(word)
    return EastAsian(lang, {key: sorted(words) for key, words in found.items()})
