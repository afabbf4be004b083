"""Passages into an answer, quoted sentence by sentence.

Quoting needs no language model and can't invent anything. It is as good as the document's own sentences; that
they answer, and don't only speak of the matter, a small model of ours says of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from classifiers.faithfulness.statements.segmentation import LIST_MARK, Sentence, sentences
from classifiers.faithfulness.wording import folded
from classifiers.gate.lexical import Rarity, lexical_share
from encoders import Encoded, Encoder, EncoderError
from encoders.memo import MemoEncoder
from encoders.pairs import PairModel
from gateway.domain import Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.chunking import PATH_SEPARATOR
from gateway.rag.passages import RetrievedPassage
from gateway.rag.writer import OnText
from gateway.rag.written import Written

__all__ = ["ExtractiveWriter", "quotation"]

# How a sentence earns its place. Given the right document, the quotation held the answer for 95 % of 200
# questions of SQuAD 2 with the shipped encoder (94 % without), for 90 % of 300 of JaQuAD and of CMRC 2018,
# in 1.4 to 1.5 sentences. On the English helpdesk of `examples/`, searched as a whole, quotations held 53 %
# of the words of the verified answers, which are as long.
PASSAGE_WEIGHT = 0.5  # the subject often stands in the heading or in the sentence before
RANK_WEIGHT = 1.5
NEW_WEIGHT = 0.5  # what all sentences of a section speak of stands in its heading
MEANING_WEIGHT = 2.0  # where the encoder knows the language
KIND_WEIGHT = 0.3  # a question for a number or a date is answered by one
GAIN = 0.12  # share of the question that a second sentence has to add
RUNNER_UP = 0.75  # of the best sentence's score, for a sentence that adds something
AS_GOOD = 0.87  # of it, for one that need not; rows of a table are alike anyway
HEADING_GAIN = 0.4  # and a heading
MOST_SENTENCES = 3
MOST_READ = 10  # sentences that the model of answers reads, 10 ms each
ANSWERS_FROM = 0.0  # its log odds
AS_SURE = 1.5  # log odds below the surest sentence, for another one that answers as well
LONGEST_LIST = 700  # characters

_ASKS_FOR_A_NUMBER = re.compile(
    r"\b(?:when|until|deadline|cost|which (?:year|day|floor)|"
    r"how (?:many|much|long|old|far|often|soon|late|early)|what (?:time|year|date|day|number|fee|price))\b|"
    r"いつ|いくら|いくつ|ど(?:の|れ)くらい|期限|料金|手数料|"
    r"何(?:[年月日時分人歳円個回度番枚台階件名%％]|ヶ|か|パーセント)|"
    r"电话|多少|几|何时|什么时候|哪一?年|多久|多长|费用",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万〇]{2,}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
_POINTS_BACK = re.compile(
    r"(?:It|Its|They|Them|Their|This|These|That|Those|He|She|His|Her|Both|Such|However|Otherwise|But|Then|Also|"
    r"In (?:this|that|these|such) cases?|If (?:so|not))\b|"
    r"(?:これ|それ|この|その|ここ|そこ|こう|そう|ただし|また|なお|しかし|どちら|いずれ|同)|"
    r"(?:它|他们|她们|他|她|这|那|此|该|其|但|否则|另外|同时|上述)"
)
_HEADS = ("■", "□", "◆", "◇", "▼", "●", "★")  # with which plain text heads a part
_ENDS = re.compile(r"[。．.!！:：;；]|\d")
_ANNOUNCES = re.compile(
    r"[:：]\s*$|\b(?:the following|as follows|these)\b|次の|以下の|下記|如下|以下", re.IGNORECASE
)  # of a sentence right before a list

# Whose fee, whose deadline: 犬の登録手数料 is not answered by the fee of registering a seal, however alike
# the words. A passage may name a thing in full (国民健康保険 for 国保), so each kanji is looked for alone.
# Of 3,000 questions of JaQuAD (training) with their passage 11 name something that it doesn't.
_SUBJECT = re.compile(
    r"(?:では|じゃあ|あと|この|その|うちの)?([一-鿿々〆㐀-䶿]{1,8}|[ァ-ヺー]{2,15})の(?=[一-鿿ァ-ヺ々])"
)
_NO_SUBJECT = re.compile(  # when, how, who asks, and the office itself
    r"当時|[今本来昨翌毎][日月年週度]+|現在|最[初後近新]|次|今|.*[前後]|何|誰|自分|私|僕|俺|家|近所|一般|普通|通常|他|別|例"
    r"|[本当弊貴御]?(?:市|町|村|区|県|社|店|校)|市?役所"
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question against the passages that were found for it."""

    text: str
    rarity: Rarity
    held: float  # by all passages together; a word that none of them holds tells nothing
    meaning: Mapping[str, float]  # cosine of each sentence that was embedded

    def share(self, text: str) -> float:
        """How much of what can be answered stands in a text, 0..1."""
        return lexical_share(self.text, text, self.rarity) / self.held


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence that may answer, in its passage."""

    passage: RetrievedPassage
    sentences: tuple[Sentence, ...]  # of the whole passage
    at: int
    score: float
    answers: float = 0.0  # log odds, where a model read it

    @property
    def read(self) -> str:
        """It as a model reads it: under its headings, after the words that it can't be understood without."""
        before = self.sentences[self.at - 1].text if _leans(self.sentences, self.at) else ""
        alone = _in_its_list(self.sentences, self.at)
        return f"{self.passage.heading}\n{f'{before} {alone}'.strip()}"


class ExtractiveWriter:
    """Quotes the sentences that answer, at most three or a list with its introduction.

    With an encoder, sentences are found by their meaning, too, in the languages it was trained on. With a
    reader, only what it takes for an answer is quoted, to each thing that a question asks.
    """

    name = "extractive@2"

    def __init__(self, encoder: Encoder | None = None, reader: PairModel | None = None) -> None:
        # The same passages are read again and again: 8,192 sentences are 12 MiB with the shipped model.
        self._encoder = MemoEncoder(encoder, size=8192) if encoder else None
        self._reader = reader

    async def write(
        self,
        question: Question,
        asked: Encoded,
        passages: Sequence[RetrievedPassage],
        on_text: OnText | None = None,
        /,
    ) -> Written | None:
        """The quotation in one piece, or None where nothing answers the question, or a part of it.

        Raises:
            UpstreamUnavailable: a model failed.
        """
        meaning: dict[str, float] = {}
        if self._encoder and question.language in self._encoder.identity.languages:
            meaning = await self._similarities(self._encoder, asked, passages)
        weighed = _weighed(asked.text, passages, meaning)
        if weighed is None:
            return None
        quoted = [await self._quoted(part, *weighed) for part in question.parts or (question.text,)]
        return Written("\n".join(dict.fromkeys(filter(None, quoted)))) if all(quoted) else None

    async def close(self) -> None:
        """Nothing to close."""

    async def _quoted(self, part: str, question: _Asked, ranked: Sequence[_Candidate]) -> str | None:
        """What answers one thing that is asked, by itself and together with all that it is asked with."""
        if self._reader is None:
            return _composed(question, ranked[0], _others(question, ranked))
        looked_at = ranked[:MOST_READ]
        try:
            asked = dict.fromkeys([part, question.text])
            logits = [await self._reader.scores([(text, one.read) for one in looked_at]) for text in asked]
        except EncoderError as exc:
            raise UpstreamUnavailable("the passages can't be read at present", cause="encoder") from exc
        least = map(float, np.min(logits, axis=0))
        read = [replace(one, answers=logit) for one, logit in zip(looked_at, least, strict=True)]
        answering = sorted((one for one in read if one.answers >= ANSWERS_FROM), key=lambda one: -one.answers)
        return _composed(question, answering[0], _as_sure(answering)) if answering else None

    async def _similarities(
        self, encoder: Encoder, asked: Encoded, passages: Sequence[RetrievedPassage]
    ) -> dict[str, float]:
        """One call a passage, as the memory holds what comes in small calls."""
        cosines: dict[str, float] = {}
        try:
            for passage in passages:
                texts = _readings(passage)
                vectors = await encoder.encode(texts)
                cosines |= zip(texts, map(float, vectors @ asked.vector), strict=True)
        except EncoderError as exc:
            raise UpstreamUnavailable("the passages can't be read at present", cause="encoder") from exc
        return cosines


def quotation(
    asked: str, passages: Sequence[RetrievedPassage], meaning: Mapping[str, float] | None = None
) -> str | None:
    """What answers by its words and meaning, word for word, under its heading where it is needed."""
    weighed = _weighed(asked, passages, meaning or {})
    if weighed is None:
        return None
    question, ranked = weighed
    return _composed(question, ranked[0], _others(question, ranked))


def _weighed(
    asked: str, passages: Sequence[RetrievedPassage], meaning: Mapping[str, float]
) -> tuple[_Asked, list[_Candidate]] | None:
    """The sentences that may answer, likeliest first."""
    passages = [passage for passage in passages if not _of_another(asked, passage.shown)]
    shown = [passage.shown for passage in passages]
    rarity = Rarity.fitted(sentence.text for passage in passages for sentence in sentences(passage.text))
    held = lexical_share(asked, "\n".join(shown), rarity)
    if not held:
        return None
    question = _Asked(asked, rarity, held, meaning)
    ranked = sorted(_candidates(question, passages), key=lambda candidate: -candidate.score)
    return (question, ranked) if ranked else None


def _composed(question: _Asked, best: _Candidate, others: Iterable[_Candidate]) -> str:
    """The best sentence with others of its passage, in the document's order."""
    spans = [_span(best), *map(_span, others)]
    parts = _merged(spans)
    quoted = _joined([_quoted(best, span, marked=len(parts) > 1 or len(span) > 1) for span in parts])
    return _with_heading(question, best.passage.heading, quoted)


def _of_another(asked: str, shown: str) -> bool:
    """Whether a question asks about something that the passage doesn't name."""
    found = _SUBJECT.match(folded(asked).strip())
    if not found or _NO_SUBJECT.fullmatch(found[1]):
        return False
    there, name = folded(shown), found[1]
    parts = [name] if "ァ" <= name[0] <= "ヺ" else list(name)
    return not all(part in there for part in parts)


def _titles(text: str, sentence: Sentence) -> bool:
    """Whether it only heads what follows: ■ 返品."""
    mark = text[_line(text, sentence.start) : sentence.start].strip()
    return sentence.kind == "heading" or (mark in _HEADS and not _ENDS.search(sentence.text))


def _line(text: str, at: int) -> int:
    """Where the line begins that this place is in."""
    return text.rfind("\n", 0, at) + 1


def _readings(passage: RetrievedPassage) -> list[str]:
    """Each sentence as it is read: under its heading, an item after the words that announce its list."""
    last = passage.heading.rpartition(PATH_SEPARATOR)[2]
    parts = tuple(sentences(passage.text))
    return [f"{last}. {_in_its_list(parts, at)}" for at in range(len(parts))]


def _candidates(question: _Asked, passages: Sequence[RetrievedPassage]) -> Iterator[_Candidate]:
    wants_number = _ASKS_FOR_A_NUMBER.search(question.text) is not None
    for rank, passage in enumerate(passages, 1):
        of_passage = PASSAGE_WEIGHT * question.share(passage.shown) + RANK_WEIGHT / (rank + 1)
        in_heading = question.share(passage.heading)
        parts, readings = tuple(sentences(passage.text)), _readings(passage)
        for at, sentence in enumerate(parts):
            if _titles(passage.text, sentence) or sentence.text.rstrip().endswith(("?", "？")):
                continue  # a document's own question is no answer
            alone = _in_its_list(parts, at)
            new = question.share(f"{passage.heading}\n{alone}") - in_heading
            score = of_passage + question.share(alone) + NEW_WEIGHT * new
            score += MEANING_WEIGHT * question.meaning.get(readings[at], 0.0)
            if wants_number and _NUMBER.search(sentence.text):
                score += KIND_WEIGHT
            yield _Candidate(passage, parts, at, score)


def _others(question: _Asked, ranked: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """More sentences of the same passage: as good as the first, or holding what it leaves open."""
    best, taken = ranked[0], _span(ranked[0])
    left = MOST_SENTENCES - len(taken)
    covered = f"{best.passage.heading}\n{_quoted(best, taken)}"
    for other in ranked[1:6]:
        if other.passage.id != best.passage.id or other.at in taken or other.score < RUNNER_UP * best.score:
            continue
        both = f"{covered}\n{other.sentences[other.at].text}"
        adds = question.share(both) - question.share(covered) >= GAIN
        equal = other.sentences[other.at].kind == "text" and other.score >= AS_GOOD * best.score
        if left > 0 and (adds or equal):
            covered, left = both, left - 1
            yield other


def _as_sure(answering: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """More sentences of the same passage that answer about as surely as the first."""
    best, taken = answering[0], _span(answering[0])
    more = [one for one in answering[1:] if one.passage.id == best.passage.id and one.at not in taken]
    yield from [one for one in more if one.answers >= best.answers - AS_SURE][: MOST_SENTENCES - 1]


def _span(candidate: _Candidate) -> range:
    """The sentence with the neighbours that it can't be read without."""
    parts, at = candidate.sentences, candidate.at
    if parts[at].kind == "item":
        return _list_around(parts, at)
    if (end := _end_of_list(parts, at + 1)) > at + 1 and _ANNOUNCES.search(parts[at].text):
        return range(at, end)
    return range(at - 1, at + 1) if _leans(parts, at) else range(at, at + 1)


def _leans(parts: Sequence[Sentence], at: int) -> bool:
    """Whether a sentence points back to the one before it."""
    points = _POINTS_BACK.match(parts[at].text.lstrip("「『“\"'（("))
    return at > 0 and parts[at].kind == parts[at - 1].kind == "text" and points is not None


def _list_around(parts: Sequence[Sentence], at: int) -> range:
    """The whole list with its introduction, if it has one and is not too long; else the item."""
    introduction, end = _introduction(parts, at), _end_of_list(parts, at)
    if introduction is not None and parts[end - 1].end - parts[introduction].start <= LONGEST_LIST:
        return range(introduction, end)
    return range(at, at + 1)


def _introduction(parts: Sequence[Sentence], at: int) -> int | None:
    """The sentence that announces the list in which this item stands."""
    while at >= 0 and parts[at].kind == "item":
        at -= 1
    return at if at >= 0 and parts[at].kind == "text" and _ANNOUNCES.search(parts[at].text) else None


def _in_its_list(parts: Sequence[Sentence], at: int) -> str:
    """A sentence as it is read: an item after the words that announce its list."""
    introduction = _introduction(parts, at) if parts[at].kind == "item" else None
    return parts[at].text if introduction is None else f"{parts[introduction].text}\n{parts[at].text}"


def _end_of_list(parts: Sequence[Sentence], at: int) -> int:
    while at < len(parts) and parts[at].kind == "item":
        at += 1
    return at


def _merged(spans: Sequence[range]) -> list[range]:
    """In the document's order; neighbours as one."""
    merged: list[range] = []
    for span in sorted(spans, key=lambda span: span.start):
        if merged and span.start <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, span.stop))
        else:
            merged.append(span)
    return merged


def _quoted(candidate: _Candidate, span: range, *, marked: bool = False) -> str:
    """The words of the passage; an item among others keeps its mark."""
    text, parts = candidate.passage.text, candidate.sentences
    start = parts[span.start].start
    if marked and parts[span.start].kind == "item":
        line = _line(text, start)
        start = line if LIST_MARK.fullmatch(text, line, start) else start
    return text[start : parts[span.stop - 1].end].strip()


def _joined(quotations: Sequence[str]) -> str:
    if any("\n" in quoted or LIST_MARK.match(quoted) for quoted in quotations):
        return "\n".join(quotations)
    return "".join(quotations) if re.search(r"[。！？]$", quotations[0]) else " ".join(quotations)


def _with_heading(question: _Asked, heading: str, quoted: str) -> str:
    """The last heading before the quotation, where it says what is asked about and the quotation doesn't."""
    last = heading.rpartition(PATH_SEPARATOR)[2]
    if not last or last.endswith(("?", "？")):
        return quoted
    if question.share(f"{last}\n{quoted}") - question.share(quoted) < HEADING_GAIN:
        return quoted
    colon = "：" if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", quoted) else ": "
    return f"{last}{colon}{quoted}"
