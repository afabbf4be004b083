"""Where a sentence holds several claims: each clause that can be judged alone, with the subject it shares.

No parser is at hand, so a cut is made only where the words leave no doubt: a clause that stays joined to its
neighbour is judged with it, while a wrong cut would hold back a good answer.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from languages.identification import script_language

__all__ = ["Clause", "clauses", "subject_of"]

SEMICOLON = re.compile(r"[;；]\s*")
# A row of a table in one line, "Dog registration; Fee: 3,000 yen": its values belong together.
ROW = re.compile(r"[^;；]+(?:[;；][^;；:：]{1,40}[:：][^;；]+)+")
SHORTEST_CLAUSE = 4  # words, or characters of Japanese and Chinese
NEAR = 8  # words within which a new clause shows its verb
WORD = re.compile(r"[^\W_]+(?:['’.,:-][^\W_]+)*|[$€£¥]")
JOINT_EN = re.compile(r"(?P<comma>,?)\s+(?=(?P<word>and|but|while|whereas|yet|so)\s(?!that\b))", re.I)
JOINING_EN = re.compile(r"(?:and|but|while|whereas|yet|so)\s+", re.I)
NEEDS_COMMA = ("while", "whereas", "yet", "so")
COMMA_JA = re.compile("、")
COMMA_ZH = re.compile(r"[，,](?=\s*[^\s\d])")
# Where a subject ends in a time or in half a number, which are of its own clause: 公寓周日到周四[23点关门].
WHEN_ZH = re.compile(
    r"(?:[\d:：一二三四五六七八九十百千万两兩年月日号號点點半至到、和与及~–-]"
    r"|(?:[周週]|星期|礼拜|禮拜)[一二三四五六日天末]?|每[天日周週月年]|平日|工作日|[上下中]午|早上|晚上|凌晨|傍晚)+$"
)
LONGEST_SENTENCE = 1_000  # characters; more is no sentence, and stays whole
FAR = 40  # characters before which a new topic shows its は
MOST_JOINTS = 20  # of a sentence that are looked at
TOPIC_JA = re.compile(r"[一-龥々ァ-ヶーA-Za-z0-9０-９」』）)_とのこ](?<!または)は(?!が?き)")
SUBJECT_JA = re.compile(r"[^、]{0,20}?[一-龥々ァ-ヶーA-Za-z0-9０-９」』）)_のこ][はがも]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that claims something by itself; `sentence[start:end]`."""

    start: int
    end: int
    subject: str = ""  # the words before it without which it could not be judged: "X", "If lost, X"


@dataclass(frozen=True, slots=True)
class _Cut:
    at: int
    subject: str = ""


def clauses(sentence: str) -> list[Clause]:
    """The clauses of a sentence, in order, without overlap; the sentence itself where it can't be cut."""
    hidden = _pattern("all", "protected").sub(lambda m: m[0][0] + "_" * (len(m[0]) - 2) + m[0][-1], sentence)
    bounds = [0, *(m.end() for m in SEMICOLON.finditer(hidden)), len(hidden)]
    parts = [(a, b) for a, b in itertools.pairwise(bounds) if hidden[a:b].strip()]
    if ROW.fullmatch(hidden) or any(_size(hidden[a:b]) < SHORTEST_CLAUSE for a, b in parts):
        parts = [(0, len(hidden))]
    found: list[Clause] = []
    for start, end in parts:
        cuts = [_Cut(0), *_cuts(hidden[start:end]), _Cut(end - start)]
        for cut, after in itertools.pairwise(cuts):
            stop = start + cut.at + len(sentence[start + cut.at : start + after.at].rstrip())
            subject = _shown(sentence, start, hidden, cut.subject)
            found.append(Clause(start + cut.at, stop, subject))
    return found


def subject_of(clause: str) -> str:
    """What a clause speaks of, with its conditions ("If lost, the card …"); "" if that is not plain."""
    match script_language(clause):
        case "en":
            return _subject_of_en(clause)
        case "ja":
            ends = [m.end() for m in _pattern("ja", "condition").finditer(clause)]
            topic = TOPIC_JA.search(clause) or SUBJECT_JA.match(clause)
            end = max([topic.end() if topic else 0, *ends])
            begin = 0 if ends else clause.rfind("、", 0, end - 1) + 1  # 「中流に位置し、東は」: of the east
            return clause[begin:end]
        case _:
            only = _pattern("zh", "only").match(clause)
            told = _pattern("zh", "told").search(clause, only.end() if only else 0)
            return clause[: told.start()] if told and told.start() > 1 else ""


def _subject_of_en(clause: str) -> str:
    words = _worded(clause)
    framed = clause.find(",") + 1 if words and words[0][0] in _words("opens_frame") else 0
    verbs = [at for i, (_, at) in enumerate(words) if at >= framed and _is_finite(words, i)]
    end = verbs[0] if verbs else framed
    condition = next(
        (at for word, at in words if at > end and word in _words("trailing_condition")), len(clause)
    )
    return f"{clause[:end]}{clause[condition:]}"


def _shown(sentence: str, start: int, hidden: str, subject: str) -> str:
    """A shared subject with what stands in its brackets and quotes."""
    at = hidden.find(subject, start)
    return sentence[at : at + len(subject)] if subject and at >= 0 else ""


def _cuts(part: str) -> Iterator[_Cut]:
    if len(part) > LONGEST_SENTENCE:
        return iter(())
    language = script_language(part)
    if language == "en":
        return _english(part) if not _pattern("en", "scoped").search(part) else iter(())
    if language == "ja":
        return _japanese(part) if not _pattern("ja", "scoped").search(part) else iter(())
    return _chinese(part)


def _size(text: str) -> int:
    return len(text.split()) + sum(ord(c) > 0x2E7F for c in text)


# English: a joint, and behind it a verb that goes on with the subject, or a subject with its verb.


def _english(part: str) -> Iterator[_Cut]:
    """Cuts at joints between main clauses; a subordinate clause stays with its own."""
    begin, shared = 0, ""
    for joint in itertools.islice(JOINT_EN.finditer(part), MOST_JOINTS):
        left, right = part[begin : joint.start()], part[joint.end() :]
        word = joint["word"].lower()
        if word in NEEDS_COMMA and not joint["comma"]:
            continue
        right = right[JOINING_EN.match(right).end() :]  # type: ignore[union-attr]  # the joint looked ahead
        found = _main_clause(left)
        if found is None or min(_size(left), _size(right)) < SHORTEST_CLAUSE // 2:
            continue
        frame, verb_at = found
        own = shared or left[:verb_at].strip()
        if _goes_on(right) and own:
            shared = own
        elif _starts_anew(right, comma=bool(joint["comma"])):
            shared = ""
        else:
            continue
        begin = joint.end()
        yield _Cut(begin, shared or (frame if word != "but" else ""))


def _main_clause(left: str) -> tuple[str, int] | None:
    """What frames the clause ("For students,") and where its verb stands; None if it has none of its own."""
    comma = left.rfind(",") + 1
    words = _worded(left[comma:])
    verbs = [i for i in range(len(words)) if _is_finite(words, i)]
    if not verbs or _words("pair_opener") & {word for word, _ in words}:
        return None
    subordinate = [i for i, (word, _) in enumerate(words) if word in _words("subordinator")]
    if any(any(v > i for v in verbs) or _word_at(words, i + 1) in _words("pronoun") for i in subordinate):
        return None
    return _frame_en(left[:comma]), comma + words[verbs[0]][1]


def _worded(text: str) -> list[tuple[str, int]]:
    return [(m[0].lower(), m.start()) for m in WORD.finditer(text)]


def _is_finite(words: Sequence[tuple[str, int]], i: int) -> bool:
    """Whether a word is a verb: some only before what can't follow a noun ("costs 5", "costs the")."""
    word = words[i][0]
    if word in _words("auxiliary") or word in _words("finite"):
        return True
    after = _word_at(words, i + 1)
    if word not in _words("finite_before") or not after:
        return False
    return after in _words("determiner") or not after[0].isalpha()


def _word_at(words: Sequence[tuple[str, int]], i: int) -> str:
    return words[i][0] if i < len(words) else ""


def _frame_en(text: str) -> str:
    """What stands before the comma, if it sets a condition or a scope, and is no clause or source itself."""
    words = _worded(text)
    if not words or _pattern("en", "source").match(text):
        return ""
    is_clause = any(_is_finite(words, i) for i in range(len(words)))
    return "" if is_clause and words[0][0] not in _words("subordinator") else text.strip()


def _goes_on(right: str) -> bool:
    """A verb right behind the joint: "… and is valid for a year"."""
    words = _worded(JOINT_EN.split(right, maxsplit=1)[0])
    first = next((i for i, (word, _) in enumerate(words) if word not in _words("adverb")), len(words))
    if first == len(words) or not _is_finite(words, first):
        return False
    return not any(word in _words("trailing_condition") for word, _ in words[first:])


def _starts_anew(right: str, *, comma: bool) -> bool:
    """A subject and, near it, its verb: "… and the card is free"."""
    head = re.split(r"[,:;]\s", right, maxsplit=1)[0]
    words = _worded(head)[: NEAR + 1]
    first = words[0][0] if words else ""
    if not comma and first not in _words("determiner") and not first[:1].isdigit() and not head[:1].isupper():
        return False
    for i in range(1, len(words)):
        word = words[i][0]
        if word in _words("subordinator") or word == "to":
            return False
        if _is_finite(words, i) and (
            word.endswith("s") or word in _words("auxiliary") or first in _words("pronoun")
        ):
            alone = words[i - 1][0]
            plural = word not in _words("plural_verb") or alone.endswith("s") or first in _words("pronoun")
            return comma or plural or alone in ("people", "children")
    return False


# Japanese: the end of a predicate before a comma.


def _japanese(part: str) -> Iterator[_Cut]:
    """Cuts at commas behind what was said to the end, and behind 「ですが、」."""
    begin, shared = 0, ""
    for comma in itertools.islice(COMMA_JA.finditer(part), MOST_JOINTS):
        left, right = part[begin : comma.end()], part[comma.end() :]
        if min(_size(left), _size(right)) < SHORTEST_CLAUSE:
            continue
        contrast = bool(_pattern("ja", "joins").search(left))
        topic = _subject_ja(left) or shared
        new_topic = bool(TOPIC_JA.search(right.split("、", 1)[0], 0, FAR))
        if not (contrast or _stated_ja(left, topic=topic, new_topic=new_topic)):
            continue
        frames = list(_pattern("ja", "frame").finditer(left))
        frame = left[: frames[-1].end()] if frames and not _pattern("ja", "source").match(left) else ""
        shared = max(topic, frame, key=len) if not new_topic else "" if contrast else frame
        begin = comma.end()
        yield _Cut(begin, shared)


def _subject_ja(left: str) -> str:
    found = TOPIC_JA.search(left) or SUBJECT_JA.match(left)
    return left[: found.end()] if found else ""


def _stated_ja(left: str, *, topic: str, new_topic: bool) -> bool:
    """Whether what stands before the comma was said to the end: 「料金は500円で、」."""
    if not topic or len(left) - len(topic) < 3:
        return False
    if any(_pattern("ja", ending).search(left) for ending in ("lists", "is", "stated")):
        return True
    if not new_topic or not TOPIC_JA.search(left):
        return False
    if left.endswith("で、"):
        return not _pattern("ja", "never").search(left)
    return bool(_pattern("ja", "goes_on").search(left)) and not _pattern("ja", "goes_on_not").search(left)


# Chinese: commas between clauses that each have a predicate.


def _chinese(part: str) -> Iterator[_Cut]:
    """Cuts at commas with a claim on either side; conditions and scopes go with every claim behind them."""
    begin, frame, topic = 0, "", ""
    commas = [*itertools.islice(COMMA_ZH.finditer(part), MOST_JOINTS)]
    for i, comma in enumerate(commas):
        left = part[begin : comma.start()]
        following = part[comma.end() : commas[i + 1].start() if i + 1 < len(commas) else len(part)].strip()
        before = re.split("[，,]", left)
        last = before[-1].strip()
        if not _claims_zh(last) or not _claims_zh(following) or _pattern("zh", "depends").match(following):
            continue
        frame = frame or _frame_zh(left[: len(left) - len(before[-1])])
        predicate = _pattern("zh", "predicate").search(last)
        topic = topic or (WHEN_ZH.sub("", last[: predicate.start()]) if predicate else "")
        begin = comma.end()
        yield _Cut(begin, frame.rstrip() if _has_subject_zh(following) else frame + topic)


def _frame_zh(text: str) -> str:
    opens = _pattern("zh", "opens_frame").match(text) and not _pattern("zh", "source").match(text)
    return text if opens else ""


def _claims_zh(segment: str) -> bool:
    return (
        len(segment) >= SHORTEST_CLAUSE
        and bool(_pattern("zh", "predicate").search(segment))
        and not _pattern("zh", "opens_frame").match(segment)
        and not _pattern("zh", "closes_frame").search(segment)
    )


def _has_subject_zh(segment: str) -> bool:
    opening = _pattern("zh", "shares").match(segment)
    rest = segment[opening.end() :] if opening else segment
    predicate = _pattern("zh", "predicate").search(rest)
    own = predicate is not None and predicate.start() >= 2
    return own and not _pattern("zh", "no_subject").match(rest)


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(
        files(__package__).joinpath("clauses.json").read_text(encoding="utf-8")
    )
    return data


@cache
def _words(kind: str) -> frozenset[str]:
    """English words of a kind."""
    return frozenset(_data()["en"][kind].split())


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    return re.compile(_data()[language][name], re.IGNORECASE)
