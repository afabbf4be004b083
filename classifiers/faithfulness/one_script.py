"""Traditional characters read as simplified ones, in which the lists of words are written.

Each character is read as one, so that a place in what is read is the same place in what was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from classifiers.faithfulness import FaithfulnessVerdict, NewPart, PassageSpan, StatementVerdict
from languages.identification import script_language
from languages.words import in_simplified_characters

__all__ = ["Texts"]


@dataclass(frozen=True, slots=True)
class Texts:
    """An answer with its contexts and its question."""

    answer: str
    contexts: tuple[str, ...]
    question: str | None

    @classmethod
    def of(cls, answer: str, contexts: Sequence[str], question: str | None) -> Self:
        """The texts as they were written."""
        return cls(answer, tuple(contexts), question)

    def in_one_script(self) -> Texts:
        """The same in simplified characters, if all of it is Chinese."""
        if script_language("\n".join([self.answer, *self.contexts])) != "zh":
            return self
        plain = in_simplified_characters
        question = self.question and plain(self.question)
        read = Texts(plain(self.answer), tuple(map(plain, self.contexts)), question)
        pairs = zip((self.answer, *self.contexts), (read.answer, *read.contexts), strict=True)
        return read if all(len(one) == len(other) for one, other in pairs) else self

    def as_written(self, verdict: FaithfulnessVerdict, read: Texts) -> FaithfulnessVerdict:
        """A verdict on what was read, in the words that were written."""
        if read == self:
            return verdict
        return replace(verdict, statements=tuple(self._written(one, read) for one in verdict.statements))

    def _written(self, one: StatementVerdict, read: Texts) -> StatementVerdict:
        span = one.span and self._span(one.span)
        new = tuple(
            NewPart(part.kind, self._found(part.text, read), self._found(part.instead, read))
            for part in one.new
        )
        text = self.answer[one.start : one.end] or one.text
        return replace(one, text=text, span=span, new=new)

    def _span(self, span: PassageSpan) -> PassageSpan:
        return replace(span, text=self.contexts[span.passage][span.start : span.end])

    def _found(self, part: str, read: Texts) -> str:
        """A part of one of the texts as it was written; what stands nowhere stays as it was read."""
        pairs = zip((self.answer, *self.contexts), (read.answer, *read.contexts), strict=True)
        places = ((written, at) for written, plain in pairs if (at := plain.find(part)) >= 0)
        written, at = next(places, (part, 0))
        return written[at : at + len(part)]
