"""True statements of question-answering corpora, and the same statements made false in one point."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from classifiers.faithfulness.statements.segmentation import sentences
from classifiers.faithfulness.wording import content_runs, lexicon

__all__ = ["Case", "cases"]

NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\d,.]*\d)|(?<=[^\x00-\x7f])\d[\d,]*(?:\.\d+)?")
ENGLISH_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
UNIT_SWAPS = {
    "days": "weeks",
    "weeks": "months",
    "months": "years",
    "years": "months",
    "hours": "days",
    "minutes": "hours",
    "percent": "percentage points",
    "million": "billion",
    "billion": "million",
    "km": "miles",
    "kilometers": "miles",
    "miles": "kilometers",
    "feet": "metres",
    "meters": "feet",
    "tons": "kilograms",
    "$": "€",
    "°C": "°F",
    "年間": "か月間",
    "日間": "週間",
    "時間": "日間",
    "万人": "億人",
    "万円": "億円",
    "メートル": "キロメートル",
    "キロ": "メートル",
    "センチ": "ミリ",
    "歳": "か月",
    "ドル": "円",
    "天": "周",
    "个月": "年",
    "小时": "分钟",
    "公里": "米",
    "万": "亿",
    "岁": "个月",
    "世紀": "年",
    "世纪": "年",
    "月": "年",
    "円": "ドル",
}
DENIALS = {
    "en": (
        (
            r"\b(is|are|was|were|can|will|would|could|should|must|may|has been|have been|had)\b(?! not)",
            r"\1 not",
        ),
    ),
    "ja": (
        (r"できる(?=[。、]|$)", "できない"),
        (r"している(?=[。、]|$)", "していない"),
        (r"ている(?=[。]|$)", "ていない"),
        (r"である(?=[。]|$)", "ではない"),
        (r"した(?=[。]|$)", "しなかった"),
        (r"された(?=[。]|$)", "されなかった"),
        (r"だった(?=[。]|$)", "ではなかった"),
        (r"する(?=[。]|$)", "しない"),
        (r"った(?=[。]|$)", "わなかった"),
        (r"です(?=[。]|$)", "ではありません"),
        (r"ます(?=[。]|$)", "ません"),
    ),
    "zh": (
        (r"(?<![不没])(是|可以|能够|会|需要|允许|属于)", r"不\1"),
        (r"(?<![没不])有(?=[^些的])", "没有"),
        (r"(?<![不没])(成为|获得|进入|参加|使用)", r"没有\1"),
    ),
}
AFFIRMATIONS = {
    "en": (
        (r"\b(is|are|was|were|can|will|did|do|does|could|has|have|had) not\b", r"\1"),
        (r"\bnever\b", "always"),
    ),
    "ja": (
        (r"できない", "できる"),
        (r"していない", "している"),
        (r"ではない", "である"),
        (r"しなかった", "した"),
        (r"されなかった", "された"),
    ),
    "zh": ((r"没有", "有"), (r"不(?=是|能|会|可|需|允)", "")),
}
ASKING = {
    "en": re.compile(
        r"\b(?:what|which|who|whom|whose|when|where|how many|how much|how|why|did|does|do)\b|\?", re.I
    ),
    "ja": re.compile(
        r"(?:は|が|を|に|で|から)?(?:何|誰|だれ|どこ|いつ|どの|どれ|どのよう|なぜ|いくつ|いくら)[^、]{0,8}(?:か|の)?[?？。]?$|[?？]$"
    ),
    "zh": re.compile(r"什么|谁|哪[个些里年一]?|何时|何地|多少|几|怎么样?|为什么|吗|呢|[?？]"),
}


@dataclass(frozen=True, slots=True)
class Case:
    """A statement with its contexts, and whether they support it."""

    source: str
    kind: str
    lang: str
    text: str
    contexts: tuple[str, ...]
    faithful: bool


def cases(rows: Sequence[dict[str, Any]], source: str, *, limit: int, seed: int = 7) -> Iterator[Case]:
    """Pairs of a true and a false statement, each among one or two foreign passages."""
    rng = random.Random(seed)
    shuffled = rng.sample(list(rows), len(rows))
    made = 0
    for row in shuffled:
        if made >= limit:
            return
        contexts = _with_distractors(row, shuffled, rng)
        pairs = [*_sentence_pairs(row, shuffled, rng), *_answer_pairs(row, shuffled, rng)]
        for kind, true, false in pairs:
            yield Case(source, "true", row["lang"], true, contexts, True)
            yield Case(source, kind, row["lang"], false, contexts, False)
            made += 2


def _with_distractors(
    row: dict[str, Any], rows: Sequence[dict[str, Any]], rng: random.Random
) -> tuple[str, ...]:
    contexts = [
        row["context"],
        *(r["context"] for r in rng.sample(rows, 2) if r["context"] != row["context"]),
    ]
    rng.shuffle(contexts)
    return tuple(contexts)


Change = Callable[[str, dict[str, Any], random.Random], str | None]


def _sentence_pairs(
    row: dict[str, Any], rows: Sequence[dict[str, Any]], rng: random.Random
) -> Iterator[tuple[str, str, str]]:
    fit = [s.text for s in sentences(row["context"]) if 20 <= len(s.text) <= 220]
    changes: list[tuple[str, Change]] = [
        ("number", _other_number),
        ("name", _other_name),
        ("negation", _other_polarity),
        ("unit", _other_unit),
        ("opposite", _opposite),
    ]
    rng.shuffle(changes)
    for kind, change in changes[:3]:
        if not fit:
            return
        true = _reworded(rng.choice(fit), row["lang"], rng)
        false = change(true, row, rng)
        if false and false != true:
            yield kind, true, false


def _answer_pairs(
    row: dict[str, Any], rows: Sequence[dict[str, Any]], rng: random.Random
) -> Iterator[tuple[str, str, str]]:
    """The question's own words, which a person chose, with the right answer and with a foreign one."""
    if not row["answerable"] or not row["answers"]:
        return
    right = row["answers"][0]
    numeric = any(c.isdigit() for c in right)
    others = [
        r["answers"][0]
        for r in rng.sample(rows, 40)
        if r["answers"]
        and any(c.isdigit() for c in r["answers"][0]) == numeric
        and r["answers"][0] not in row["context"]
    ]
    if others and len(right) < 80:
        asked = ASKING[row["lang"]].sub(" ", row["question"]).strip()
        yield "answer", f"{asked} {right}", f"{asked} {others[0]}"


def _reworded(text: str, lang: str, rng: random.Random) -> str:
    """A looser form, so that being verbatim proves nothing: asides and openings left out, other endings."""
    if rng.random() < 0.6:
        text = re.sub(r"\s*[（(][^（()）]{1,40}[)）]", "", text)
    if rng.random() < 0.4:
        _, sep, tail = text.partition({"en": ", ", "ja": "、", "zh": "，"}[lang])
        text = tail if sep and len(tail) > 20 else text
    if lang == "ja" and rng.random() < 0.5:
        text = re.sub(r"である(。?)$", r"です\1", text)
        text = re.sub(
            r"(した|った)(。?)$",
            lambda m: {"した": "しました", "った": "ったとされています"}[m[1]] + m[2],
            text,
        )
    if lang == "en" and rng.random() < 0.5:
        text = re.sub(r"\b(very|also|however|the|approximately|often|then)\b ", "", text, count=3)
    if rng.random() < 0.3:
        text = NUMBER.sub(lambda m: _written_otherwise(m[0]), text)
    if rng.random() < 0.3:
        text = {"en": "According to the documents, ", "ja": "資料によると、", "zh": "根据资料，"}[lang] + text
    return text


def _written_otherwise(number: str) -> str:
    plain = number.replace(",", "")
    return f"{int(plain):,}" if plain.isdigit() and len(plain) > 4 else plain


def _other_number(text: str, row: dict[str, Any], rng: random.Random) -> str | None:
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    plain = match[0].replace(",", "")
    elsewhere = [n for n in NUMBER.findall(row["context"]) if len(n) == len(match[0]) and n not in text]
    if elsewhere and rng.random() < 0.35:
        return text[: match.start()] + rng.choice(elsewhere) + text[match.end() :]
    value = float(plain)
    changed = rng.choice(
        [value * 2, value + rng.choice([1, 2, 5, 10]), max(0.0, value - rng.choice([1, 2, 3])), value * 10]
    )
    new = f"{changed:.1f}" if "." in plain else str(int(changed))
    return None if new == plain else text[: match.start()] + new + text[match.end() :]


def _other_name(text: str, row: dict[str, Any], rng: random.Random) -> str | None:
    find = (lambda t: ENGLISH_NAME.findall(t)) if row["lang"] == "en" else (lambda t: list(content_runs(t)))
    mine = [n for n in find(text) if len(n) > 1]
    if not mine:
        return None
    old = rng.choice(mine)
    pool = [
        n
        for n in find(row["context"])
        if n not in text and abs(len(n) - len(old)) <= (8 if row["lang"] == "en" else 1)
    ]
    foreign = {
        "en": ["Henderson", "Brazil", "Vienna", "Michael Turner", "Ontario"],
        "ja": ["佐々木", "ブラジル", "高松", "農林", "ロンドン"],
        "zh": ["王建国", "巴西", "长沙", "农业", "伦敦"],
    }[row["lang"]]
    new = rng.choice(pool) if pool and rng.random() < 0.5 else rng.choice(foreign)
    return text.replace(old, new, 1)


def _other_polarity(text: str, row: dict[str, Any], rng: random.Random) -> str | None:
    for pattern, instead in (*AFFIRMATIONS[row["lang"]], *DENIALS[row["lang"]]):
        changed, count = re.subn(pattern, instead, text, count=1)
        if count:
            return changed
    return None


def _other_unit(text: str, row: dict[str, Any], rng: random.Random) -> str | None:
    for unit, other in UNIT_SWAPS.items():
        pattern = (
            rf"(?<=\d ){re.escape(unit)}\b"
            if unit.isascii() and unit.isalpha()
            else rf"(?<=\d){re.escape(unit)}"
        )
        if unit == "$":
            pattern = r"\$(?=\d)"
        changed, count = re.subn(pattern, other, text, count=1)
        if count:
            return changed
    return None


def _opposite(text: str, row: dict[str, Any], rng: random.Random) -> str | None:
    for pair in rng.sample(lexicon().opposites, len(lexicon().opposites)):
        for mine, theirs in (pair, pair[::-1]):
            for word in sorted(mine):
                pattern = rf"\b{word}\b" if word.isascii() else re.escape(word)
                if len(word) > 1 and re.search(pattern, text):
                    return re.sub(pattern, sorted(theirs)[0], text, count=1)
    return None
