"""Where a statement takes another side than its evidence: this month for the next, we for you, open for shut;
or says of one what the contexts say of another: "adults enter free" beside "adults pay, children enter free".

The contexts often name both sides, so a statement is compared with them clause by clause: only one that has
most of its other words speaks of the same thing. Where one as good as that is on its side, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import yaml

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.said import Said
from classifiers.faithfulness.statements.clauses import clauses
from classifiers.faithfulness.wording import IN_HIRAGANA, folded, is_cjk, stem, terms
from languages.identification import script_language

__all__ = ["agreed", "alternatives", "turned"]

ALIGNED = 0.5  # share of a statement's other words in a clause that speaks of the same thing
AS_GOOD = 0.7  # of the best clause; one as good as that on the statement's side supports it
WHOLE, NEARLY = 0.99, 0.9  # where a clause on another side has all of it, one on its side needs nearly all
TURNED = ("open", "need", "allowed")  # kinds with two sides, of which a denial says the other
EXCEPT = re.compile(
    r"以外|除[きくい外]|除.{1,12}外|ではなく|と(?:違|異な)[いっり]|而不是|不同于"
    r"|\b(?:except|other than|apart from|unless|instead of|rather than|unlike|few)\b"
)
REACH = 60  # characters before or behind a word, in which it may be denied
OCCASIONS = ("weekday", "month#")  # numbers that say when something is open
JOINT = re.compile(r"[、，,;；]\s*|\s(?:and|but|while)\s")
TOPIC_JA = re.compile(r"[^、は]{1,20}は(?=[^、]*、)")
LONGEST_READ = 1_000  # characters; more is no sentence
MOST_REMEMBERED = 4_096  # clauses

Sides = Mapping[str, Mapping[str, str]]  # of each kind, with the word that says so


def alternatives(each: Said, known: Sequence[Line]) -> tuple[tuple[str, str], ...]:
    """The statement's word and that of the contexts, where they take different sides of one thing."""
    if EXCEPT.search(each.line.plain):
        return ()
    found = []
    for kind, sides in _own(each).items():
        if len(sides) == 1:
            ((side, word),) = sides.items()
            if other := _otherwise(each, kind, side, known):
                found.append((word, other))
    return tuple(found)


def agreed(each: Said, known: Sequence[Line]) -> tuple[str, ...]:
    """The words by which a statement takes a side that the contexts take: "one day ahead", 前日."""
    return tuple(
        word
        for kind, sides in _own(each).items()
        for side, word in sides.items()
        if any(side in _there(line, kind) for line in known)
    )


def turned(each: Said, known: Sequence[Line]) -> bool:
    """Whether all that a statement denies is a side that the contexts take in other words: 不营业, 休息."""
    return len(each.line.denials) == 1 and any(
        not _any_side(kind, each.line.language).fullmatch(word)  # it holds the denial as well
        and _shares(each, kind, side, known)[0] >= ALIGNED
        for kind in TURNED
        for side, word in _own(each).get(kind, {}).items()
    )


def _own(each: Said) -> Sides:
    return _sides(each.line.stated, each.line.language)


def _there(line: Line, kind: str) -> Mapping[str, str]:
    """The sides of one kind that a line of the contexts takes."""
    return _sides_there(line.plain, line.language, kind)


def _otherwise(each: Said, kind: str, side: str, known: Iterable[Line]) -> str:
    """What the clause that speaks of the same thing says instead, "" if none is sure to."""
    supported, best, other = _shares(each, kind, side, known)
    less = AS_GOOD if best < WHOLE else NEARLY
    return other if best >= ALIGNED and supported < less * best else ""


def _shares(each: Said, kind: str, side: str, known: Iterable[Line]) -> tuple[float, float, str]:
    """What share of its rest the best clauses have, on its side and on another, and the other's word."""
    rest = _rest(each, kind)
    weight = sum(rest.values())
    best, other, supported = 0.0, "", 0.0
    for line in known:
        for clause, sides in _clauses_with(line, kind):
            if kind == "open" and not _on_one_occasion(each, clause, named=side in sides):
                continue
            share = sum(w for term, w in rest.items() if term in clause.content) / weight if weight else 1.0
            if side in sides:
                supported = max(supported, share)
            elif share > best and len(sides) == 1 and _of_one(each, kind, clause, rest):
                best, other = share, next(iter(sides.values()))
    return supported, best, other


def _clauses_with(line: Line, kind: str) -> Iterator[tuple[Line, Mapping[str, str]]]:
    """The clauses of a line that take a side, with the subject they share."""
    if not _there(line, kind):
        return
    for clause in _claims(line.text):
        for part in _parts(clause.text, kind):
            sides = _there(part, kind)
            if sides and not EXCEPT.search(part.plain):
                yield part, sides


@lru_cache(MOST_REMEMBERED)
def _claims(text: str) -> tuple[Line, ...]:
    return tuple(Line(f"{each.subject} {text[each.start : each.end]}".strip()) for each in clauses(text))


@lru_cache(MOST_REMEMBERED)
def _parts(text: str, kind: str) -> tuple[Line, ...]:
    """A clause cut at the commas between which each part takes a side, a Japanese topic with all of them."""
    found, begin = [], 0
    topic = TOPIC_JA.match(text)
    for comma in JOINT.finditer(text):
        if _enumerates(text[begin : comma.start()], kind):
            continue
        if _has_side(text[begin : comma.start()], kind) and _has_side(text[comma.end() :], kind):
            found.append(text[begin : comma.start()])
            begin = comma.end()
    found.append(text[begin:])
    if topic:
        found[1:] = [part if "は" in part else topic[0] + part for part in found[1:]]
    return tuple(Line(part) for part in found)


def _enumerates(text: str, kind: str) -> bool:
    """Whether a contrast is all that stands before a comma: 「現金、カード、電子マネーで払えます」."""
    if kind not in _contrasts():
        return False
    plain = folded(text)
    return any(plain.endswith(word) for word in _sides_there(plain, script_language(plain), kind).values())


def _has_side(text: str, kind: str) -> bool:
    plain = folded(text)
    return bool(_sides_there(plain, script_language(plain), kind))


def _rest(each: Said, kind: str) -> dict[str, float]:
    """What a statement says beside the words that take sides and, of what is open, its occasion."""
    text = _as_far_as(each.line, kind)
    days = (q.text for q in each.line.quantities if q.unit in OCCASIONS) if kind == "open" else ()
    for day in days:
        text = text.replace(day, "\0")
    if kind in TURNED and each.line.language != "ja":
        text = _denied_side(kind, each.line.language).sub(lambda m: "\0" * len(m[0]), text)
    for pattern in _words(kind.split()[0], each.line.language):
        text = pattern.sub(lambda m: "\0" * len(m[0]), text)
    content = {term: each.content[term] for term in terms(text).content if term in each.content}
    telling = {term: w for term, w in content.items() if not (is_cjk(term) and IN_HIRAGANA.search(term))}
    return telling if kind == "open" else telling or content


def _as_far_as(line: Line, kind: str) -> str:
    """A statement up to the comma behind the word that takes a side: 「…負担しますので、ご安心ください。」"""
    for comma in JOINT.finditer(line.stated):  # at most 1,000 characters: a longer one takes no side
        if kind in _sides(line.stated[: comma.start()], line.language):
            return line.stated[: comma.start()]
    return line.stated


def _of_one(each: Said, kind: str, clause: Line, rest: Iterable[str]) -> bool:
    """Whether both have the same numbers and signs (店舗B), and both deny or neither."""
    if each.line.language != "en" and any(term.isascii() and term not in clause.content for term in rest):
        return False
    if kind in TURNED:
        return True
    mine, theirs = (Line(_as_far_as(line, kind)) for line in (each.line, clause))
    if bool(mine.denials) != bool(theirs.denials) or _turns(each, clause):
        return False
    own = [word for sides in _own(each).values() for word in sides.values()]
    numbers = (q for q in each.numbers if not q.is_label and not any(q.text in word for word in own))
    return all(clause.pool.find(q) == "same" for q in numbers)


def _turns(each: Said, clause: Line) -> bool:
    """Whether it says the opposite of a clause in other words: open on weekdays, closed at weekends."""
    mine = _own(each)
    return any(
        (theirs := _there(clause, kind)) and mine[kind].keys().isdisjoint(theirs)
        for kind in TURNED
        if kind in mine
    )


def _on_one_occasion(each: Said, clause: Line, *, named: bool) -> bool:
    """Whether a clause speaks of the days and times of a statement; `named` by themselves, not as 平日."""
    mine, theirs, asked = _occasions(each.line), _occasions(clause, named=named), _occasions(each.asked)
    if not _occasions(clause) and _pattern(_data()["always"][clause.language]).search(clause.plain):
        return True
    weeks = {q.value for q in clause.quantities if q.unit == "order"}
    own = {q.value for q in each.line.quantities if q.unit == "order"}
    if weeks and not (own and own <= weeks):
        return False
    meant = mine or asked & theirs
    return meant <= theirs and bool(meant) == bool(theirs)


def _occasions(line: Line, *, named: bool = False) -> set[str]:
    found = _pattern(_data()["occasions"][line.language]).findall(line.plain)
    days = (q for q in line.quantities if q.unit in OCCASIONS and not (named and q.is_label))
    return {*map(stem, found)} | {q.value for q in days}


@lru_cache(MOST_REMEMBERED)
def _sides(plain: str, language: str) -> Sides:
    """The sides that a statement takes, by their kinds."""
    found: dict[str, dict[str, str]] = {}
    if len(plain) > LONGEST_READ:
        return found
    for kind in _data()["sides"]:
        if taken := dict(_taken(plain, language, kind)):
            found[kind] = taken
    for act, party, word in _doing(plain, language):
        found.setdefault(f"party {act}", {})[party] = word
    for match in _contrasted(language).finditer(plain):
        kind, side = str(match.lastgroup).split("_")
        found.setdefault(kind, {})[side] = match[0]
    return found


@lru_cache(MOST_REMEMBERED)
def _sides_there(plain: str, language: str, kind: str) -> Mapping[str, str]:
    """The sides of one kind that a sentence of the contexts takes: few statements take sides of several."""
    if len(plain) > LONGEST_READ:
        return {}
    if kind in _kinds():
        return dict(_taken(plain, language, kind)) or _also_there(plain, language, kind)
    return {party: word for act, party, word in _doing(plain, language) if kind == f"party {act}"}


def _taken(plain: str, language: str, kind: str) -> Iterator[tuple[str, str]]:
    sides = _kinds()[kind].get(language, {})
    if not sides:
        return
    denied = _pattern(_data()["denied"][language])
    for match in _any_side(kind, language).finditer(plain):
        side = list(sides)[(match.lastindex or 1) - 1]
        at = match.start()
        beside = plain[match.end() :][:REACH] if language == "ja" else plain[max(0, at - REACH) : at]
        word = match[0]
        if kind in TURNED and (denial := denied.search(beside)):
            side = next(one for one in sides if one != side)
            word = word + denial[0] if language == "ja" else denial[0] + word
        yield side, word


def _also_there(plain: str, language: str, kind: str) -> dict[str, str]:
    more = _data()["also_there"].get(kind, {}).get(language, {})
    found = ((side, _pattern(words).search(plain)) for side, words in more.items())
    return {side: match[0] for side, match in found if match}


def _doing(plain: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Act, party and words of what is done by one; by courtesy only where no party is named."""
    if not _act(language).search(plain):
        return
    for patterns in _doers(language):
        found = [(party, match) for party, pattern in patterns for match in pattern.finditer(plain)]
        if found:
            yield from ((match.lastgroup or "", party, match[0].rstrip("。、!?)")) for party, match in found)
            return


@cache
def _act(language: str) -> re.Pattern[str]:
    """Words for what is done."""
    return _pattern("|".join(words[language] for words in _data()["acts"].values()))


@cache
def _doers(language: str) -> tuple[tuple[tuple[str, re.Pattern[str]], ...], ...]:
    data = _data()
    act = "|".join(f"(?P<{name}>{words[language]})" for name, words in data["acts"].items())
    named = (
        (party, _pattern(form.format(party=f"(?:{words[language]})", act=act)))
        for party, words in data["parties"].items()
        for form in data["doing"][language]
    )
    courteous = (
        (party, _pattern(form.format(act=act)))
        for party, forms in data["by_courtesy"].items()
        for form in forms.get(language, ())
    )
    return tuple(named), tuple(courteous)


@cache
def _contrasted(language: str) -> re.Pattern[str]:
    """All words of the contrasts, in groups named by kind and side."""
    named = "|".join(
        f"(?P<{kind}_{side}>{words})"
        for kind, sides in _contrasts().items()
        for side, words in sides.get(language, {}).items()
    )
    return _pattern(rf"\b(?:{named})" if language == "en" else named)


@cache
def _contrasts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """The rows of `contrasts` as kinds: the words of each side by language."""
    found = {}
    for language, rows in _data()["contrasts"].items():
        edge = r"\b" if language == "en" else ""
        for row, sides in enumerate(rows):
            words = {f"side{at}": f"{edge}(?:{side}){edge}" for at, side in enumerate(sides)}
            found[f"{language}{row}"] = {language: words}
    return found


@cache
def _any_side(kind: str, language: str) -> re.Pattern[str]:
    return _pattern("|".join(f"({words})" for words in _kinds()[kind][language].values()))


@cache
def _kinds() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return {**_data()["sides"], **_contrasts()}


@cache
def _denied_side(kind: str, language: str) -> re.Pattern[str]:
    denied = _data()["denied"][language].replace("$", "")
    return _pattern(f"(?:{denied})(?={_any_side(kind, language).pattern})")


@cache
def _words(kind: str, language: str) -> tuple[re.Pattern[str], ...]:
    """What is left out where the rest of two texts is compared."""
    data = _data()
    if kind == "open":
        return (
            _any_side(kind, language),
            _pattern(data["occasions"][language]),
            _pattern(data["usual"][language]),
        )
    if kind != "party":
        return (_any_side(kind, language),)
    edge = r"\b" if language == "en" else ""
    return tuple(_pattern(f"{edge}(?:{words[language]}){edge}") for words in data["parties"].values())


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words)


@cache
def _data() -> Mapping[str, Any]:
    text = files(__package__).joinpath("alternatives.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found
