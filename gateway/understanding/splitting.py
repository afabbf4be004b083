"""A message into the texts of its questions: noise off, sentences apart, each question with its context."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import sentencex

from gateway.domain import SmallTalk
from gateway.understanding.leaning import continues
from gateway.understanding.wording import Wording
from languages.scripts import EAST_ASIAN

__all__ = ["Asked", "as_written", "is_reply", "own_words", "questions_in", "small_talk_in"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_ITEM = re.compile(r"\s*(?:[(（\[]?\d{1,2}[.)．）、:：\]](?!\d)|[①-⑳]|[-*•・●■◆]\s|[QＱ]\d*\s*[.:：．])\s*")
_INLINE_LISTS = (
    re.compile(r"(?=[①-⑳])"),
    re.compile(r"(?=[(（]\d{1,2}[)）])"),
    re.compile(r"(?:(?<=\s)|^)(?=\d{1,2}[.)．）]\s)"),
)
_SQUEEZED = re.compile(rf"(?<=[?？])(?=[A-Za-z{EAST_ASIAN}])")
_ENDS = re.compile(r"[.。．!！?？:：;；…」』）)\"”]\s*$")
_CLAUSE = re.compile(rf"[,、，;；]\s*|(?<=[{EAST_ASIAN}])\s+(?=[{EAST_ASIAN}])")  # 太差了 转人工
_CALL = 3  # characters: of a list, "…, 人", the last word is no call
_QUOTED_ON = re.compile(r"(?:と|って|という|との|などと)")
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_PUNCTUATION = " \t\n,，.。．!！?？~～;；:：…、"
_WRAPPED_CJK = 15  # characters: a shorter line was ended on purpose
_CLOSING = ' \t」』）)"”*'
_SIGNATURE_LINES, _SIGNATURE_WIDTH = 5, 60
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\ufe0f\u200d\u20e3]+")
_ANSWERED_FIRST: tuple[SmallTalk, ...] = (
    "correction",
    "identity",
    "goodbye",
    "thanks",
    "small_talk",
    "noted",
)
_FILLERS = 5  # "Hi, thanks, ok, so, well, …" is noise only for so long


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a message, with the statements that it is asked under."""

    text: str
    wants_person: bool  # a sentence of it asks for somebody to talk to: "I'd like to speak to a human"
    parts: tuple[str, ...] = ()  # the sentences that ask, if several do, one leaning on the other
    announced: bool = False  # behind words that say that another subject comes


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    own: str  # without what announces another subject
    asks: bool
    item: bool = False


def questions_in(text: str, wording: Wording) -> list[Asked]:
    """The questions of a message. A statement before a question stays with it, and with those after it.

    A sentence that leans on the question before it stays with that one. A message that only states
    something ("my card is gone") is a question as well.
    """
    sentences = _sentences(text, wording)
    if all(wording.kinds["correction"].fullmatch(_bare(sentence.text)) for sentence in sentences):
        return []
    announces = sentences[0].own != sentences[0].text
    return [
        Asked(
            wording.glue.join(unit),
            any(_wants_person(one, wording) for one in unit),
            _parts(unit, wording),
            announced=announces and place == 0,
        )
        for place, unit in enumerate(_units(sentences, wording))
    ]


def _parts(unit: Sequence[str], wording: Wording) -> tuple[str, ...]:
    """What asks in it, if several clauses do: "How much is it? And when does it open?"."""
    clauses = [clause for sentence in unit for clause in _CLAUSE.split(sentence) if clause]
    found = [
        one
        for place, one in enumerate(clauses)
        if one.rstrip(_CLOSING).endswith(("?", "？"))
        or wording.question_end.search(_bare(one))
        or (place and wording.additive_start.match(one) and _asks(one, wording))
    ]
    return tuple(found) if len(found) > 1 else ()


def as_written(message: str, question: str) -> str:
    """The part of a message that is this question, in its lines; "" if that can't be told.

    It has exactly the letters and figures of the question, so that who judged the one has judged the other.
    """
    lines = _CONTROL.sub(" ", "\n".join(message.splitlines())).split("\n")
    text, places = "\n".join(lines), list(_letters(lines))
    wanted = "".join(filter(str.isalnum, question))
    at = "".join(text[place] for place in places).find(wanted)
    if not wanted or at < 0:
        return ""
    start = 0
    if at:  # behind a greeting: from its line on, or from its first letter where they share one
        line = text.rfind("\n", 0, places[at]) + 1
        start = line if places[at - 1] < line else places[at]
    after = at + len(wanted)
    return text[start : places[after] if after < len(places) else None].strip("\n").rstrip()


def _letters(lines: Sequence[str]) -> Iterator[int]:
    """Where in lines that are joined the letters and figures stand, but for the marks of lists."""
    begins = 0
    for line in lines:
        marker = _ITEM.match(line)
        first = marker.end() if marker else 0
        yield from (begins + place for place in range(first, len(line)) if line[place].isalnum())
        begins += len(line) + 1


def is_reply(text: str, wording: Wording) -> bool:
    """Whether a message can only be a reply to something we asked: "yes", 2番."""
    return wording.answer.fullmatch(_bare(text)) is not None


def small_talk_in(text: str, wording: Wording) -> SmallTalk:
    """What kind of small talk a message is that holds no question: of several, the one to be answered."""
    said = [_bare(bit) for line in _lines(text, wording) for bit in _bits(line, wording)]
    kinds = [_kind(bit, wording) for bit in filter(None, said)]
    found = [kind for kind in _ANSWERED_FIRST if kind in kinds]
    return found[0] if found else "noted"  # 😢 and ？？？ say nothing


def _kind(bit: str, wording: Wording) -> SmallTalk:
    found: list[SmallTalk] = [kind for kind, words in wording.kinds.items() if words.fullmatch(bit)]
    if found:
        return found[0]
    return "noted" if wording.answer.fullmatch(bit) else "small_talk"


def _bits(line: str, wording: Wording) -> Iterator[str]:
    """What a line of small talk says, greeting by greeting."""
    for piece in _segments(line, wording):
        rest = piece.strip()
        while (found := wording.opening_start.match(rest)) and found.end():
            yield found.group()
            rest = rest[found.end() :].lstrip()
        yield rest


def _bare(text: str) -> str:
    """The text as it is compared with expressions: one width, no emoji or punctuation around it."""
    return _EMOJI.sub("", unicodedata.normalize("NFKC", text)).strip(_PUNCTUATION)


def _units(sentences: list[_Sentence], wording: Wording) -> list[list[str]]:
    units: list[list[str]] = []
    shared: list[str] = []  # the statements that the next question is asked under
    pending: list[str] = []
    for place, sentence in enumerate(sentences):
        text = wording.additive_start.sub("", sentence.own, count=1) if place else sentence.own
        if not sentence.asks:
            pending.append(text)
        elif units and not pending and _goes_on(replace(sentence, text=text), wording):
            units[-1].append(sentence.text)
        else:
            shared = _under(shared, pending, wording)
            units.append([*shared, text])
            pending = []
    if pending and units:
        units[-1].extend(pending)
    elif pending:
        units.append(pending)
    return units


def _goes_on(sentence: _Sentence, wording: Wording) -> bool:
    """Whether it asks on from the question before it, or says why that is asked: 父が高齢なのですが。"""
    background = not sentence.item and wording.background_end.search(sentence.text)
    return bool(background) or continues(sentence.text, wording, item=sentence.item)


def _under(shared: list[str], pending: list[str], wording: Wording) -> list[str]:
    """New statements replace the old ones, unless they go on about the same thing."""
    if shared and pending and continues(pending[0], wording, item=False):
        return [*shared, *pending]
    return pending or shared


def _sentences(text: str, wording: Wording) -> list[_Sentence]:
    found: list[_Sentence] = []
    for line in _lines(_CONTROL.sub(" ", text), wording):
        marker = _ITEM.match(line)
        body = line[marker.end() :] if marker else line
        for number, piece in enumerate(_segments(body, wording)):
            if own := own_words(piece, wording):
                item = bool(marker) and number == 0
                found.append(_Sentence(_without_noise(piece, wording), own, _asks(own, wording), item))
    return _listed(found)


def _listed(sentences: list[_Sentence]) -> list[_Sentence]:
    """The items of a list are questions if nothing else in the message asks."""
    if any(sentence.asks for sentence in sentences) or sum(sentence.item for sentence in sentences) < 2:
        return sentences
    return [replace(sentence, asks=sentence.item) for sentence in sentences]


def _lines(text: str, wording: Wording) -> list[str]:
    for style in _INLINE_LISTS:
        if len(style.findall(text)) >= 2:
            text = style.sub("\n", text)
    lines: list[str] = []
    for line in _without_signature(text.splitlines(), wording):
        if not line.strip():
            lines.append("")
        elif lines and _wrapped(lines[-1], line, wording):
            lines[-1] += wording.glue + line.strip()
        else:
            lines.append(line.strip())
    return [line for line in lines if line]


def _without_signature(lines: list[str], wording: Wording) -> list[str]:
    written = [place for place, line in enumerate(lines) if line.strip()]
    for place in written[1:][-_SIGNATURE_LINES - 1 :]:
        after = [rest for rest in lines[place + 1 :] if rest.strip()]
        short = all(len(rest) <= _SIGNATURE_WIDTH and not wording.question.search(rest) for rest in after)
        if short and wording.signature.match(lines[place]):
            return lines[:place]
    return lines


def _wrapped(before: str, line: str, wording: Wording) -> bool:
    """Whether a mail program broke the sentence here."""
    if not before or _ENDS.search(before) or _ITEM.match(line):
        return False
    if wording.language == "en":
        return line.lstrip()[:1].islower() and not wording.question_start.match(line.lstrip())
    return len(before) >= _WRAPPED_CJK


def _segments(line: str, wording: Wording) -> list[str]:
    pieces: list[str] = []
    for sentence in sentencex.segment(wording.language, line):
        parts = [sentence] if "://" in sentence else _SQUEEZED.split(sentence)
        for part in parts:
            if pieces and pieces[-1].endswith(("」", "』")) and _QUOTED_ON.match(part):
                pieces[-1] += part  # 「本当ですか？」と聞かれました is one sentence
            else:
                pieces.append(part.strip())
    return [one for piece in pieces if piece for one in _side_by_side(piece, wording)]


def _side_by_side(sentence: str, wording: Wording) -> list[str]:
    """The questions that only a comma parts: 补卡多少钱，套餐多少钱. Each ends as one and names its own."""
    joints = list(_CLAUSE.finditer(sentence))
    bounds = [0, *(joint.end() for joint in joints), len(sentence)]
    whole = [_is_whole(_bare(sentence[start:end]), wording) for start, end in pairwise(bounds)]
    cuts = [joint for at, joint in enumerate(joints) if whole[at] and whole[at + 1]]
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(sentence)]
    return [sentence[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_whole(clause: str, wording: Wording) -> bool:
    ends = wording.question_end.search(clause) is not None
    return ends and not continues(clause, wording, item=False)


def own_words(sentence: str, wording: Wording) -> str:
    """The sentence without noise, nor what announces another subject: whoever says "by the way" may go on."""
    text = _without_noise(sentence, wording)
    rest = wording.announcing_start.sub("", text)
    return text if rest == text else _without_noise(rest, wording)


def _without_noise(sentence: str, wording: Wording) -> str:
    """The sentence without greetings and thanks; "" if nothing is left that says something."""
    text = sentence.strip()
    for _ in range(_FILLERS):
        if wording.noise.fullmatch(_bare(text)):
            return ""
        found = wording.opening_start.match(text)
        if not found or not found.end():
            break
        text = text[found.end() :].lstrip()
    text = wording.closing_end.sub("", text).strip()
    if not _SAYS_SOMETHING.search(text) or wording.noise.fullmatch(_bare(text)):
        return ""
    return text


def _wants_person(sentence: str, wording: Wording) -> bool:
    """Whether a sentence calls for a person, or ends in a clause that does: "no use, I want a human".

    One that asks nothing may begin with it: 人間に代わってください もう機械はいやです. Who despairs
    needs one.
    """
    if wording.despair.search(sentence):
        return True
    said = _bare(sentence)
    clauses = _CLAUSE.split(said)
    told = [said, clauses[-1]] if _asks(sentence, wording) else [said, clauses[-1], clauses[0]]
    return any(len(one) >= _CALL or one == said for one in told if wording.person.fullmatch(one))


def _asks(sentence: str, wording: Wording) -> bool:
    return bool(wording.question_start.match(sentence) or wording.question.search(sentence))
