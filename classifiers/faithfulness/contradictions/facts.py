"""The contexts as facts: what each clause speaks of, and what it tells of that."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from classifiers.faithfulness.lines import Line
from classifiers.faithfulness.statements.clauses import clauses, subject_of
from classifiers.faithfulness.wording import IN_HIRAGANA, folded
from languages.identification import script_language

__all__ = ["Fact", "facts", "telling"]

JOINTS_ZH = re.compile("[的是有了在可以需须按由]")
PRONOUN = re.compile(
    r"(?:^|,\s|\b(?:after|before|in|of|for|from|with)\s)(?:it|its|they|their|this|that|these|those)\b"
    r"|(?:^|、)[こそ][のれ]|(?:^|，)[它其该此这]",
    re.IGNORECASE,
)
CODE = re.compile(r"(?<![a-z0-9])[a-z]{1,3}-?\d{1,4}(?![a-z0-9])")  # E3, A4
COMMA = re.compile("[，,]")
# Terms (pairs of characters in Japanese and Chinese) of a statement; a longer one joins what stands apart.
LONGEST = {"en": 9, "ja": 14, "zh": 16}
LEAST_TERMS = 2
MOST_SENTENCES = 24  # that a statement is compared with
MOST_REMEMBERED = 4_096  # lines


@dataclass(frozen=True, slots=True)
class Fact:
    """A clause of the contexts. What it speaks of may stand in what it tells as well."""

    line: Line
    about: Line  # its subject
    content: frozenset[str]
    subject: frozenset[str]
    source: int  # its sentence, by its place in the contexts

    @property
    def told(self) -> frozenset[str]:
        """Its words but for those of its subject."""
        return self.content - self.subject


def facts(said: Line, known: Sequence[Line]) -> tuple[Fact, ...]:
    """The facts of the sentences that share most words with a short statement, in their order."""
    own = telling(said)
    if not LEAST_TERMS <= len(own) <= LONGEST[said.language]:
        return ()
    sharing = ((at, line.content) for at, line in enumerate(known) if not own.isdisjoint(line.content))
    nearest = heapq.nlargest(MOST_SENTENCES, ((len(own & content), -at) for at, content in sharing))
    return tuple(
        Fact(part, about, content, subject, at)
        for at in sorted(-at for _, at in nearest)
        for part, about, content, subject in _read(known[at].text)
    )


@lru_cache(MOST_REMEMBERED)
def _read(text: str) -> tuple[tuple[Line, Line, frozenset[str], frozenset[str]], ...]:
    """The clauses of a sentence, each with its subject ("it" is none), and the words of both."""
    found = []
    for clause in clauses(text):
        for own in _parts(text[clause.start : clause.end]):
            part = f"{clause.subject} {own}".strip()
            subject = subject_of(part)
            line, about = Line(part), Line("" if PRONOUN.search(subject) else subject)
            found.append((line, about, telling(line), telling(about)))
    return tuple(found)


def _parts(text: str) -> Iterable[str]:
    """A Chinese clause cut at commas, if every part has a subject and a predicate."""
    parts = COMMA.split(text)
    if len(parts) > 1 and script_language(folded(text)) == "zh" and all(map(subject_of, parts)):
        return parts
    return [text]


def telling(line: Line) -> frozenset[str]:
    """Its words with content; no pair of characters with an ending or a joint; and its codes."""
    terms = (term for term in line.terms.content if not IN_HIRAGANA.search(term))
    if line.language == "zh":
        terms = (term for term in terms if not JOINTS_ZH.search(term))
    return frozenset(terms) | {*CODE.findall(line.plain)}
