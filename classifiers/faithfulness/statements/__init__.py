"""An answer into individual statements: each can be true or false by itself, and knows where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from classifiers.faithfulness.statements.citations import without_sources
from classifiers.faithfulness.statements.clauses import clauses
from classifiers.faithfulness.statements.replies import is_reply, spelled_out
from classifiers.faithfulness.statements.segmentation import Sentence, sentences
from classifiers.faithfulness.statements.speech_acts import SpeechAct, refers, speech_act
from languages.identification import script_language

__all__ = ["Statement", "statements", "statements_to_judge", "too_long"]

LONGEST_ANSWER = 50_000  # characters; about a second
MOST_REMEMBERED = 64  # answers; several metrics of an evaluation take the same one apart
TABLE_RULE = re.compile(r"[\s|:=\-+]*-[\s|:=\-+]*")
JOINED = re.compile(
    r"^(?:and|but|while|whereas|yet|so)\s+|^(?:并且|而且|但是|不过|同时|另外|此外|并|且|但|而)[，,]?",
    re.IGNORECASE,
)
CONTRAST = re.compile(r"(?<=[すたんいだるけ])(?:が|けれども|けれど|けど)、$")
SHORT = {"en": 90, "ja": 36, "zh": 36}  # characters
# Begins a sentence whose subject the one before names: no その後 ("after that"), no 那么 ("then").
PRONOUN = re.compile(
    r"(?:It|They|This|These)\b|(?:これ|それ|こちら|そちら)(?:ら)?[はもが]|它们?|[该其](?=[^他中后间次实])"
)
LABELLED = re.compile(r"[^:：。.!?！？]{1,20}[:：][ \t　]*\S")  # "Price: 10 euros"
MARKS, NUMBER = frozenset("-*+•·・‣▪●○◦◆■□★※"), "1"
NOTE = "※"  # of what stands above as a whole
CLAIMS: Final[Set[SpeechAct]] = {"claim", "lead_in"}  # of a clause or an item, which introduces nothing
# Says something though it has no full stop: "No deposit is needed", 「予約は不要」, 可以退款.
# "Who can apply", "Items that are excluded" and 不能退款的情况 only name what follows.
HEADLINE = re.compile(
    r"^(?!\W*(?:what|which|who|whom|whose|when|where|why|how|if)\b)(?:(?!\b(?:that|which|who|whose)\b).)*"
    r"\b(?:is|are|was|were|has|have|can(?:not)?|must|costs?|may|will|needs?|pays?|do(?:es)?|allowed|required|free)\b"
    r"|\b\w+n't\b|(?:です|ます|ません|ました|でした|できる|できない|無料|有料|不要|不可|可能|必要|禁止)[】」\W]*$"
    r"|(?:可以?|不能|无需|無需|不需要|不用|必须|必須|免费|免費|禁止|需要)(?!.{0,12}的.{0,6}$)",
    re.IGNORECASE,
)
TITLE_WORDS = 6  # a heading of up to six words (or twice as many characters) names a part and claims nothing
TITLE_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of an answer; `answer[start:end] == text`."""

    text: str
    start: int
    end: int
    claim: str = ""  # the same as it can be judged alone, with the subject that a clause shares
    introduction: str = ""  # what an item, or a sentence that begins with a pronoun, is read after
    listed: str = ""  # of an item: the answer from there up to its end

    def __post_init__(self) -> None:
        if not self.claim:
            object.__setattr__(self, "claim", self.text)

    @property
    def is_short(self) -> bool:
        """Whether it may lack what stands around it; a long one says enough by itself."""
        return len(self.claim) < SHORT[script_language(self.claim)]

    @property
    def introduced(self) -> str:
        """The claim as a reader takes it, an item after what introduces it: "You need: a photo"."""
        return f"{self.introduction}: {self.claim}" if self.introduction else self.claim


def statements(answer: str, question: str = "") -> list[Statement]:
    """The statements of an answer, in order, without overlap; greetings, questions and refusals are none.

    A bare yes or no that it opens with claims what the question asks, and nothing where that asks for
    something else. The only row of a table is no statement where nothing else is claimed, nor is what sends
    the asker to somebody where the answer knows nothing. What only a model takes for no claim is one where
    the answer has no other: 「目盛りまで入れてください。」.
    """
    return [*_remembered(answer, question)]


@lru_cache(MOST_REMEMBERED)
def _remembered(answer: str, question: str) -> tuple[Statement, ...]:
    read = sentences(answer)
    told = list(without_sources(_without_table_heads(answer, read)))
    knows_nothing = any(speech_act(sentence.text) == "refusal" for sentence in told)
    reply = _reply(told) if question else None
    replied = tuple(_replied(reply, question)) if reply else ()
    told = [sentence for sentence in told if sentence is not reply]
    found = replied + _found(answer, told, CLAIMS)
    if knows_nothing and all(refers(each.text) for each in found):
        return ()
    found = found or _found(answer, told, {*CLAIMS, "aside"})
    rows = sum(sentence.kind == "row" for sentence in read)
    if len(found) == rows == 1:  # whether it names columns or fills them, nobody can tell
        return ()
    return found


def _reply(told: Sequence[Sentence]) -> Sentence | None:
    """The bare yes or no that an answer opens with, behind its greetings."""
    opening = (each for each in told if is_reply(each.text) or speech_act(each.text) != "greeting")
    first = next(opening, None)
    return first if first and is_reply(first.text) else None


def _replied(reply: Sentence, question: str) -> Iterator[Statement]:
    if claim := spelled_out(reply.text, question):
        yield Statement(reply.text, reply.start, reply.end, claim)


def _found(answer: str, told: Sequence[Sentence], claims: Set[SpeechAct]) -> tuple[Statement, ...]:
    over_lists = {one.start for one, following in pairwise(told) if following.kind in ("item", "row")}
    return tuple(
        _introduced(answer, each, introduction, sentence)
        if introduction and each.start == sentence.start
        else each
        for sentence, introduction in _introductions(answer, told)
        if not _names(sentence, over_list=sentence.start in over_lists)
        for each in _statements_of(sentence, claims)
    )


def statements_to_judge(answer: str, question: str, *, most: int) -> list[Statement] | str:
    """The statements of an answer, or why there is nothing that could be judged."""
    if reason := too_long(answer):
        return reason
    found = statements(answer, question)
    if not found:
        return "nothing_to_check"
    return found if len(found) <= most else "too_many_statements"


def too_long(answer: str) -> str:
    """Why an answer is not read, or nothing."""
    return "answer_too_long" if len(answer) > LONGEST_ANSWER else ""


def _introductions(answer: str, found: Iterable[Sentence]) -> Iterator[tuple[Sentence, Sentence | None]]:
    """Each sentence; with those that say little by themselves what introduces them.

    Of an item that is the item that its list is a part of, or the sentence or heading before the list. Lines
    such as "Price: 10 euros" below a heading are items without a mark. Of a sentence that begins with a
    pronoun it is the sentence or heading before.
    """
    above, before = list[_Above](), 0  # what the next item may be a part of, the outermost first
    for sentence in found:
        mark = answer[before : sentence.start].strip() if sentence.kind == "item" else ""
        before = sentence.end
        if mark:
            kind = mark[-1] if mark[-1] in MARKS else NUMBER
            own = _Above(sentence, _indentation(answer, sentence.start), kind)
            while above and not own.is_part_of(above):
                above.pop()
            yield sentence, above[-1].sentence if above else None
            above.append(own)
        elif sentence.kind == "item":
            yield sentence, None
        elif LABELLED.match(sentence.text) and above and above[0].sentence.kind == "heading":
            yield sentence, above[0].sentence
            del above[1:]
        else:
            yield sentence, above[0].sentence if above and PRONOUN.match(sentence.text) else None
            above = [_Above(sentence)]


@dataclass(frozen=True, slots=True)
class _Above:
    """What may introduce an item: the sentence or heading before a list, or an item of an outer one."""

    sentence: Sentence
    indentation: int = -1  # characters before the mark of an item
    mark: str = ""

    def is_part_of(self, above: Sequence[_Above]) -> bool:
        """Whether it stands below the last of these, by its indentation or as "■" has "・" below it."""
        outer = above[-1]
        if self.indentation != outer.indentation or not outer.mark:
            return self.indentation > outer.indentation
        other = self.mark not in {NOTE, *(one.mark for one in above)}
        return other and _is_title(outer.sentence.text)


def _indentation(answer: str, at: int) -> int:
    line = answer[answer.rfind("\n", 0, at) + 1 : at]
    return len(line) - len(line.lstrip(" \t　"))


def _introduced(answer: str, each: Statement, introduction: Sentence, of: Sentence) -> Statement:
    """A statement with what introduces it, if it is short."""
    if not each.is_short:
        return each
    plain = introduction.text.strip(" \t　*_#:：。.【】")
    listed = of.kind == "item" or LABELLED.match(of.text)
    return replace(each, introduction=plain, listed=answer[introduction.start : each.end] if listed else "")


def _statements_of(sentence: Sentence, claims: Set[SpeechAct]) -> Iterator[Statement]:
    if sentence.kind in ("code", "row"):
        yield Statement(sentence.text, sentence.start, sentence.end)
        return
    if sentence.kind != "item" and speech_act(sentence.text) == "lead_in":
        return
    cut = clauses(sentence.text)
    if len(cut) > 1 and speech_act(sentence.text) == "question":
        return
    shared = True  # with a claim, not with "the documents don't say"
    for clause in cut:
        text = sentence.text[clause.start : clause.end]
        alone = _alone(text, opens=clause.start == 0) if len(cut) > 1 else text
        act = speech_act(alone)
        # Of an item, which is short, only the rules know more.
        claimed = act in claims or (act == "aside" and sentence.kind == "item")
        if claimed:
            at = sentence.start + clause.start
            yield Statement(text, at, at + len(text), _with_subject(clause.subject if shared else "", alone))
        shared = shared and claimed


def _alone(clause: str, *, opens: bool) -> str:
    """A clause without what joins it to its neighbours: "but the fee is 5", 「500円ですが、」."""
    return CONTRAST.sub("", clause if opens else JOINED.sub("", clause))


def _with_subject(subject: str, clause: str) -> str:
    if not subject:
        return clause
    return f"{subject}{' ' if subject[-1].isascii() else ''}{clause}"


def _names(sentence: Sentence, *, over_list: bool) -> bool:
    """Whether it is a heading that only names what follows; over a list "**Not allowed**" does so, too."""
    if sentence.kind != "heading" or not _is_title(sentence.text):
        return False
    return over_list or not HEADLINE.search(sentence.text)


def _is_title(text: str) -> bool:
    """Whether a heading is short and no sentence: "**Yes, refunds are possible.**" is one."""
    if any(c.isdigit() for c in text) or text.rstrip("*_ \t　】").endswith((".", "。", "．", "!", "！")):
        return False
    return len(text.split()) <= TITLE_WORDS and sum(ord(c) > 0x2E7F for c in text) <= TITLE_CHARACTERS


def _without_table_heads(answer: str, found: list[Sentence]) -> Iterator[Sentence]:
    """Rows but the one above the rule: column names claim nothing."""
    for sentence in found:
        if sentence.kind != "row" or not _is_table_head(answer, sentence.end):
            yield sentence


def _is_table_head(answer: str, end: int) -> bool:
    following = answer[end:].lstrip(" \t\r\n")[:200].split("\n", 1)[0]
    return bool(TABLE_RULE.fullmatch(following.strip()))
