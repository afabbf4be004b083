"""Passages into an answer, quoted sentence by sentence.

Quoting needs no language model and can't invent anything. It is as good as the document's own sentences; that
they answer, and don't only speak of the matter, a small model of ours says of each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from classifiers.faithfulness.statements.segmentation import LIST_MARK, sentences
from classifiers.faithfulness.wording import folded
from classifiers.gate.lexical import Rarity, lexical_share
from encoders import Encoded, Encoder, EncoderError
from encoders.memo import MemoEncoder
from encoders.pairs import PairModel
from encoders.scripts import EAST_ASIAN, HAN, KATAKANA
from gateway.domain import Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.passages import RetrievedPassage
from gateway.rag.pieces import Piece, merged, pieces, quoted
from gateway.rag.writer import OnText
from gateway.rag.written import Written

__all__ = ["ExtractiveWriter"]

# Which pieces the model reads: those that hold most of the question. Given the right document, the first of
# them held the answer for 95 % of 200 questions of SQuAD 2 with the shipped encoder (94 % without), for 90 %
# of 300 of JaQuAD and of CMRC 2018.
PASSAGE_WEIGHT = 0.5  # the subject often stands in the heading or in the sentence before
RANK_WEIGHT = 1.5
NEW_WEIGHT = 0.5  # what all sentences of a section speak of stands in its heading
MEANING_WEIGHT = 2.0  # where the encoder knows the language
KIND_WEIGHT = 0.3  # a question for a number or a date is answered by one
MOST_READ = 10  # 10 ms each
MOST_ITEMS_READ = 3  # of one list, beside all of it

ANSWERS_FROM = 1.5  # log odds
AS_SURE = 1.5  # log odds below the surest piece, for another one that answers as well
MOST_QUOTED = 3
HEADING_GAIN = 0.4  # share of the question that a heading has to add

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

# Whose fee, whose deadline: 犬の登録手数料 is not answered by the fee of registering a seal, however alike
# the words. A passage may name a thing in full (国民健康保険 for 国保), so each kanji is looked for alone.
# Of 3,000 questions of JaQuAD (training) with their passage 11 name something that it doesn't. A topic,
# 図書館は…, is such a subject where a heading names it: of 料金は… the passage may speak as 手数料.
_NAME = f"(?:では|じゃあ|あと|この|その|うちの)?([{HAN}]{{1,8}}|[{KATAKANA}]{{2,15}})"
_SUBJECT = re.compile(_NAME + f"の(?=[{HAN}{KATAKANA}])")
_TOPIC = re.compile(_NAME + r"(?:[はが]|って)")
_COMPOUND = 4  # kanji: two words at least
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

    def share(self, text: str) -> float:
        """How much of what can be answered stands in a text, 0..1."""
        return lexical_share(self.text, text, self.rarity) / self.held


class ExtractiveWriter:
    """Quotes what a model takes for an answer, to each thing that a question asks.

    Pieces are found by their words and, in the languages that the encoder was trained on, by their meaning.
    """

    name = "extractive@3"
    failing = False  # nobody outside is asked

    def __init__(self, encoder: Encoder, reader: PairModel) -> None:
        # The same passages are read again and again: 8,192 pieces are 12 MiB with the shipped model.
        self._encoder = MemoEncoder(encoder, size=8192)
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
        subject = _subject(asked.text, [passage.heading for passage in passages])
        named = [passage for passage in passages if _names(passage.shown, subject)]
        weighed = _weighed(asked.text, named)
        if weighed is None:
            return None
        try:
            read = await self._likeliest(question, asked, weighed, named)
            quotations = [
                await self._quotation(part, weighed, read) for part in question.parts or (question.text,)
            ]
        except EncoderError as exc:
            raise UpstreamUnavailable("the passages can't be read at present", cause="encoder") from exc
        return Written("\n".join(dict.fromkeys(filter(None, quotations)))) if all(quotations) else None

    async def close(self) -> None:
        """Nothing to close."""

    async def _likeliest(
        self, question: Question, asked: Encoded, weighed: _Asked, passages: Sequence[RetrievedPassage]
    ) -> list[Piece]:
        """The pieces that the model reads."""
        wants_number = _ASKS_FOR_A_NUMBER.search(weighed.text) is not None
        by_meaning = self._encoder.identity.may_read(question.language)
        scored: list[tuple[float, Piece]] = []
        for rank, passage in enumerate(passages, 1):
            found = list(pieces(passage))
            cosines = await self._cosines(asked, found) if by_meaning else [0.0] * len(found)
            of_passage = PASSAGE_WEIGHT * weighed.share(passage.shown) + RANK_WEIGHT / (rank + 1)
            in_heading = weighed.share(passage.heading)
            for one, cosine in zip(found, cosines, strict=True):
                new = weighed.share(one.read) - in_heading
                score = of_passage + weighed.share(one.text) + NEW_WEIGHT * new + MEANING_WEIGHT * cosine
                if wants_number and _NUMBER.search(one.text):
                    score += KIND_WEIGHT
                scored.append((score, one))
        scored.sort(key=lambda of: -of[0])
        return list(_few_of_a_list(one for _, one in scored))[:MOST_READ]

    async def _cosines(self, asked: Encoded, found: Sequence[Piece]) -> list[float]:
        """Of a passage, as the memory holds what comes in small calls."""
        vectors = await self._encoder.encode([f"{one.last_heading}. {one.text}" for one in found])
        return [float(cosine) for cosine in vectors @ asked.vector]

    async def _quotation(self, part: str, weighed: _Asked, read: Sequence[Piece]) -> str | None:
        """What answers one thing that is asked, by itself and together with all that it is asked with."""
        asked = dict.fromkeys([part, weighed.text])
        logits = [await self._reader.scores([(text, one.read) for one in read]) for text in asked]
        least = map(float, np.min(logits, axis=0))
        answering = sorted(
            ((answers, one) for answers, one in zip(least, read, strict=True) if answers >= ANSWERS_FROM),
            key=lambda of: -of[0],
        )
        if not answering:
            return None
        (surest, best), *rest = answering
        others = (one for answers, one in rest if answers >= surest - AS_SURE and _beside(one, best))
        return _composed(weighed, [best, *islice(others, MOST_QUOTED - 1)])


def _weighed(asked: str, passages: Sequence[RetrievedPassage]) -> _Asked | None:
    """A question by the words that these passages hold, if they hold any."""
    rarity = Rarity.fitted(sentence.text for passage in passages for sentence in sentences(passage.text))
    held = lexical_share(asked, "\n".join(passage.shown for passage in passages), rarity)
    return _Asked(asked, rarity, held) if held else None


def _subject(asked: str, headings: Sequence[str]) -> str:
    """What a Japanese question asks about, as far as it tells; else ""."""
    text = folded(asked).strip()
    if found := _SUBJECT.match(text):
        return "" if _NO_SUBJECT.fullmatch(found[1]) else found[1]
    topic = _TOPIC.match(text)
    return topic[1] if topic and any(topic[1] in folded(heading) for heading in headings) else ""


def _names(shown: str, subject: str) -> bool:
    """Whether a passage names the subject of a question, in full or in short; of 学童保育 the 学童."""
    there = folded(shown)
    if not subject or subject in there:
        return True
    if "ァ" <= subject[0] <= "ヺ" or (len(subject) >= _COMPOUND and subject[:2] not in there):
        return False
    return all(part in there for part in subject)


def _few_of_a_list(ranked: Iterable[Piece]) -> Iterator[Piece]:
    """Without the less likely items of a list, which would leave nothing else to read."""
    read = Counter[tuple[str, range]]()
    for one in ranked:
        if one.item and one.list:
            read[one.passage.id, one.list] += 1
            if read[one.passage.id, one.list] > MOST_ITEMS_READ:
                continue
        yield one


def _beside(one: Piece, best: Piece) -> bool:
    """Whether both can be quoted together: parts of one passage, and neither holds the other."""
    return one.passage.id == best.passage.id and not {*one.span} & {*best.span}


def _composed(weighed: _Asked, chosen: Sequence[Piece]) -> str | None:
    """Pieces of one passage in the document's order; for several items of a list all of it, or nothing."""
    best, in_list = chosen[0], Counter(one.list for one in chosen)
    spans: list[range] = []
    for one in chosen:
        if one.list is None or in_list[one.list] == 1:
            spans.append(one.span)
        elif one.listed_whole:
            spans.append(one.list)
        else:
            return None
    spans = merged(spans)
    texts = [quoted(best.passage, best.sentences, span, among_others=len(spans) > 1) for span in spans]
    return _with_heading(weighed, best.last_heading, _joined(texts))


def _joined(quotations: Sequence[str]) -> str:
    if any("\n" in quotation or LIST_MARK.match(quotation) for quotation in quotations):
        return "\n".join(quotations)
    return "".join(quotations) if re.search(r"[。！？]$", quotations[0]) else " ".join(quotations)


def _with_heading(weighed: _Asked, heading: str, quotation: str) -> str:
    """The heading before the quotation, where it says what is asked about and the quotation doesn't."""
    if not heading or heading.endswith(("?", "？")):
        return quotation
    if weighed.share(f"{heading}\n{quotation}") - weighed.share(quotation) < HEADING_GAIN:
        return quotation
    colon = "：" if re.search(f"[{EAST_ASIAN}]", quotation) else ":"
    apart = "\n" if "\n" in quotation or LIST_MARK.match(quotation) else " " if colon == ":" else ""
    return f"{heading}{colon}{apart}{quotation}"
