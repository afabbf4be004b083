"""What is left of an answer without its unsupported sentences, if that still answers the question.

Cut are whole sentences, and everything that is not supported: what nobody checked, too. A doubt about the
rest is no repair; the answer is then kept back as if nothing could be cut. The rest has to be about the
question as much as what was cut, to have the figure that was asked for, and to point to nothing that is gone:
no head of a list without its items, no count of what was listed, no step missing, no "therefore" after a gap.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from classifiers.faithfulness import Checked, StatementVerdict
from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.statements.citations import CITATION
from classifiers.faithfulness.statements.segmentation import LIST_MARK, Sentence, lines, sentences
from classifiers.faithfulness.statements.speech_acts import speech_act
from classifiers.faithfulness.wording import weight
from languages.identification import script_language

__all__ = ["Repaired", "repaired"]

ASKS_A_FIGURE = re.compile(
    r"\bhow (?:much|many|long|often|far|old|late|early|soon)\b|\bwhen\b"
    r"|\bwhat (?:time|date|day|year|percentage)\b|\bwhich (?:date|day|year)\b"
    r"|いくら|いつ|何[時分日週月年円件個人回歳枚点割％%]|何パーセント|(?:どの|どれ)(?:くらい|ぐらい|ほど)"
    r"|多少|几[点天月年个元次人岁周份张]|何时|什么时候|多久|多长|哪一?[天年月]",
    re.IGNORECASE,
)
# What points back wherever it stands in a sentence, and what does so at its beginning.
POINTS_BACK = {
    "en": re.compile(
        r"\b(?:it|its|they|them|their|theirs|he|she|his|him|this|these|those|such|above|aforementioned)\b"
        r"|\bthe (?:same|former|latter)\b"
        r"|^\W*(?:that|however|but|and|or|so|also|then|thus|hence|therefore|thereby|thereafter|otherwise|instead"
        r"|additionally|moreover|furthermore|besides|likewise|similarly|consequently|accordingly|nevertheless"
        r"|for (?:example|instance)|in (?:addition|contrast|either case|other words)|as (?:a result|well)"
        r"|if (?:so|not)|both|neither|either|one|another|others?|after that|afterwards|alternatively"
        r"|conversely|on the other hand|first(?:ly)?|second(?:ly)?|third(?:ly)?|next"
        r"|finally|lastly|still|yet|again)\b",
        re.IGNORECASE,
    ),
    "ja": re.compile(
        r"これ|それ|この|その|こちら|そちら|ここ|そこ|同様|同じく|上記|前述|前者|後者|以上の|こう|そう"
        r"|^\W*(?:また|さらに|更に|なお|ただし|但し|しかし|よって|従って|したがって|ゆえに|そして|一方|つまり|すなわち"
        r"|例えば|たとえば|まず|次に|次いで|最後に|最終的に|加えて|ほか|他に|あるいは|または|および|かつ|もしくは|逆に|反対に"
        r"|あと|とはいえ|第[一二三]に)"
    ),
    "zh": re.compile(
        r"[它他她]|这|那[个些样]|该|此|其|上述|前者|后者|以上|同样"
        r"|^\W*(?:但|不过|然而|因此|所以|因而|而|并且?|另外|同时|例如|比如|首先|然后|接着|最后|也|还|否则|或者?|以及|且|即"
        r"|可以?|需要?|须|必须|应该?|请|会|能|将|就|才|一旦|反之|相反|第[一二三])"
    ),
}
# A Japanese sentence without one of these takes its topic from the one before.
TOPIC_JA = re.compile("[はがもを]|には|では|につき")
BARE = re.compile(
    r"\W*(?:yes|no|correct|right|はい|いいえ|ええ|是的?|不是|对|可以|不可以|没有)\W*", re.IGNORECASE
)
MOST_COUNTED = 12
NUMBERED = re.compile(r"[\d一二三四五六七八九十①-⑳]|[a-zA-Z][.)]")
MARKS = re.compile(r"[ \t　>#]*")
TWICE = ("**", "__", "`", '"')  # opened and closed by the same mark
PAIRED = (("「", "」"), ("『", "』"), ("（", "）"), ("(", ")"), ("“", "”"), ("[", "]"))
_State = Literal["supported", "cut", "plain"]  # plain: a heading, a greeting, a question; it claims nothing


@dataclass(frozen=True, slots=True)
class Repaired:
    """What may be delivered, and the sentences that are not in it any more."""

    text: str
    cut: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence of the answer, and what its statements were found to be."""

    sentence: Sentence
    state: _State
    evidence: str = ""

    @property
    def text(self) -> str:
        return self.sentence.text

    @property
    def is_listed(self) -> bool:
        return self.sentence.kind in ("item", "row", "code")

    @property
    def introduces(self) -> bool:
        return self.sentence.kind == "heading" or self.text.rstrip(" *_").endswith((":", "："))


def repaired(answer: str, verdict: Checked, *, question: str) -> Repaired | None:
    """The rest of a blocked answer; None where it would not answer the question, or would not stand alone."""
    parts = _without_empty_heads([_part(one, verdict.statements) for one in sentences(answer)])
    cut = [part for part in parts if part.state == "cut"]
    placed = [one for one in verdict.statements if one.supported or _stands_in(one, cut)]
    if not cut or len(placed) < len(verdict.statements):  # something unsupported can't be cut out
        return None
    if _breaks_a_form(answer, parts) or _points_to_a_gap(parts) or not _answers(parts, question):
        return None
    text = _text_without(answer, cut)
    return None if _parts_a_pair(answer, text, cut) else Repaired(text, tuple(part.text for part in cut))


def _part(sentence: Sentence, statements: Sequence[StatementVerdict]) -> _Part:
    here = [one for one in statements if one.start < sentence.end and sentence.start < one.end]
    if any(not one.supported for one in here):
        return _Part(sentence, "cut", " ".join(one.evidence for one in here))
    return _Part(sentence, "supported" if here else "plain", " ".join(one.evidence for one in here))


def _stands_in(statement: StatementVerdict, parts: Sequence[_Part]) -> bool:
    return any(part.sentence.start < statement.end and statement.start < part.sentence.end for part in parts)


def _without_empty_heads(parts: list[_Part]) -> list[_Part]:
    """Headings and lead-ins that claim nothing go with all that they introduce."""
    for at in reversed(range(len(parts))):
        introduced = _introduced(parts, at)
        if parts[at].state == "plain" and introduced and all(one.state == "cut" for one in introduced):
            parts[at] = replace(parts[at], state="cut")
    return parts


def _introduced(parts: Sequence[_Part], at: int) -> list[_Part]:
    head, following = parts[at], parts[at + 1 :]
    if head.sentence.kind == "heading":
        return list(itertools.takewhile(lambda part: part.sentence.kind != "heading", following))
    listed = list(itertools.takewhile(lambda part: part.is_listed, following))
    if head.is_listed:
        return []
    return listed or (list(following[:1]) if head.introduces else [])


def _breaks_a_form(answer: str, parts: Sequence[_Part]) -> bool:
    """Whether a numbered step, a table or a piece of code would have a hole."""
    cut = [part for part in parts if part.state == "cut"]
    if any(part.sentence.kind == "code" or _is_numbered(answer, part.sentence) for part in cut):
        return True
    tables = itertools.groupby(parts, key=lambda part: part.sentence.kind)
    rows = [list(group) for kind, group in tables if kind == "row"]
    return any(
        any(row.state == "cut" for row in table) and not any(row.state == "supported" for row in table)
        for table in rows
    )


def _is_numbered(answer: str, sentence: Sentence) -> bool:
    mark = LIST_MARK.match(answer, max(start for start, _ in lines(answer) if start <= sentence.start))
    return sentence.kind == "item" and mark is not None and bool(NUMBERED.search(mark[0]))


def _points_to_a_gap(parts: Sequence[_Part]) -> bool:
    """Whether something that stays takes up, announces or counts what goes."""
    last = max(at for at, part in enumerate(parts) if part.state == "cut")
    kept_before = [part for part in parts[:last] if part.state != "cut"]
    if any(_counts(part.text) for part in kept_before):
        return True
    for at, part in enumerate(parts):
        if part.state == "cut":
            continue
        if part.introduces and any(one.state == "cut" for one in _introduced(parts, at)[:1]):
            return True
        follows = at > 0 and parts[at - 1].state == "cut"
        leads = at + 1 < len(parts) and parts[at + 1].state == "cut"
        if (follows and _leans(part)) or (leads and BARE.fullmatch(part.text)):
            return True
    return False


def _counts(text: str) -> bool:
    """Whether it may say how many things follow: "three ways", "both", 2点."""
    found = Line(CITATION.sub(" ", text)).quantities
    few = (one for one in found if not one.unit and one.value.isdigit() and int(one.value) <= MOST_COUNTED)
    return any(one.is_count for one in found) or any(few) or bool(re.search(r"(?i)\bboth\b|両方|两者", text))


def _leans(part: _Part) -> bool:
    if part.sentence.kind == "heading" or speech_act(part.text) in ("greeting", "offer"):
        return False
    language = script_language(part.text)
    if language == "ja" and not part.is_listed and not TOPIC_JA.search(part.text):
        return True
    return bool(POINTS_BACK[language].search(part.text))


def _answers(parts: Sequence[_Part], question: str) -> bool:
    """Whether what stays is about the question, no less than what goes, and has the figure it asks for."""
    asked = Line(question)
    kept = [part for part in parts if part.state == "supported"]
    about = max((_about(part, asked) for part in kept), default=0.0)
    if not about or about < max(_about(part, asked) for part in parts if part.state == "cut"):
        return False
    if not ASKS_A_FIGURE.search(question):
        return True
    known = {quantity.value for quantity in asked.quantities}
    return any(quantity.value not in known for part in kept for quantity in Line(part.text).quantities)


def _about(part: _Part, asked: Line) -> float:
    """The weight of the question's words that a sentence or the place that supports it takes up."""
    shared = asked.content & (Line(part.text).content | Line(part.evidence).content)
    return weight(shared)


def _text_without(answer: str, cut: Sequence[_Part]) -> str:
    """The answer without these sentences, and without the lines that held nothing else."""
    gone = {at for part in cut for at in range(part.sentence.start, part.sentence.end)}
    lines = "".join(_kept_lines(answer, gone))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _kept_lines(answer: str, gone: set[int]) -> Iterator[str]:
    start = 0
    for line in answer.splitlines(keepends=True):
        places = range(start, start + len(line))
        start += len(line)
        if gone.isdisjoint(places):
            yield line
            continue
        kept = "".join(c for at, c in zip(places, line, strict=True) if at not in gone)
        mark = LIST_MARK.match(kept) or MARKS.match(kept)
        if kept[mark.end() if mark else 0 :].strip(" \t　*_\r\n"):
            yield re.sub(r"(?<=\S)[ \t　]{2,}", " ", kept).rstrip() + "\n"


def _parts_a_pair(before: str, after: str, cut: Sequence[_Part]) -> bool:
    """Whether a bracket, a quotation or an emphasis goes over the edge of what was cut."""
    if any(before[: part.sentence.start].count(mark) % 2 for part in cut for mark in TWICE):
        return True
    return any(
        before.count(opens) == before.count(closes) and after.count(opens) != after.count(closes)
        for opens, closes in PAIRED
    )
