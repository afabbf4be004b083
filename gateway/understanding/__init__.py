"""Messages to questions: what the person wrote, without noise, one self-contained question at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from gateway.domain import Conversation, Question, Turn, Understood
from gateway.errors import InvalidRequest
from gateway.understanding.follow_ups import FollowUps
from gateway.understanding.replying import answers_the_bot, bot_asked, small_talk_language
from gateway.understanding.rewriting import Completes, Rewriter
from gateway.understanding.splitting import (
    Asked,
    as_written,
    is_reply,
    own_words,
    questions_in,
    small_talk_in,
)
from gateway.understanding.vouching import Vouching
from gateway.understanding.wording import Wording, wording
from languages.identification import Language, language_of

__all__ = ["Understanding"]

_LONGEST_TURN = 8_000  # characters of the end of an earlier turn that are read
_SPACES = re.compile(r"([^\S\n])[^\S\n]+")
_MANY_MARKS = re.compile(r"((?:[^\w\n]|_){20})(?:[^\w\n]|_)+")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_LEANS_BACK = 4  # turns of the asker; a chain of follow-ups longer than that has lost its subject anyway


class Understanding:
    """Cleans and splits by rules of each language; `follow_ups` says what leans on earlier turns.

    With a language model, that is said in full. With `vouching`, an English question in doubt is asked about
    at the verified answers.
    """

    def __init__(
        self,
        follow_ups: FollowUps,
        llm: Completes | None = None,
        *,
        max_questions: int = 8,
        default_language: Language = "ja",
        rewrite_timeout_s: float = 8.0,
        vouching: Vouching | None = None,
    ) -> None:
        self._rewriter = Rewriter(llm, timeout_s=rewrite_timeout_s) if llm else None
        self._max_questions = max_questions
        self._default_language: Language = default_language
        self._follow_ups = follow_ups
        self._vouching = vouching

    async def understand(self, conversation: Conversation, /) -> Understood:
        """The questions of the last message; none for small talk.

        Raises:
            InvalidRequest: if there are more than `max_questions`.
        """
        text = _without_runs(conversation.real_question)
        earlier = [
            replace(turn, text=_without_runs(turn.text[-_LONGEST_TURN:]))
            for turn in conversation.turns[:-1]
            if turn.role != "system" and turn.text.strip()
        ]
        said = self._said_in(earlier)
        language = language_of(text, hint=said, default=self._default_language)
        language = small_talk_language(text, language, said)
        words = wording(language)
        if is_reply(text, words):
            return self._reply(conversation, earlier, words)
        asked = [self._question(one, conversation, earlier, words) for one in self._split(text, words)]
        if not asked:
            return Understood((), language, small_talk_in(text, words))
        if len(asked) == 1:
            question = await asked[0]
            message = conversation.real_question.strip()
            written = as_written(message, question.text) if "\n" in message else ""
            return Understood((replace(question, as_written=written),), language)
        if self._rewriter:
            return Understood(tuple(await asyncio.gather(*asked)), language)
        return Understood(tuple([await one for one in asked]), language)  # a task each costs 40 µs

    def _said_in(self, earlier: Sequence[Turn]) -> Language | None:
        """The language of the conversation so far: of what the asker said, else of what they were told."""
        said = "\n".join(turn.text for turn in earlier[-4:] if turn.role == "user") or "\n".join(
            turn.text for turn in earlier[-1:]
        )
        return language_of(said, default=self._default_language) if said else None

    def _split(self, text: str, words: Wording) -> list[Asked]:
        found = questions_in(text, words)
        if len(found) > self._max_questions:
            raise InvalidRequest(
                f"at most {self._max_questions} questions in one message, found {len(found)}; "
                "send them separately",
                param="messages",
            )
        return found

    def _reply(self, conversation: Conversation, earlier: Sequence[Turn], words: Wording) -> Understood:
        """ "Yes" after a question of ours goes on with the conversation; else it is small talk."""
        text = conversation.real_question.strip()
        if not bot_asked(earlier):
            return Understood((), words.language, small_talk_in(text, words))
        reply = Question(
            text=text,
            language=words.language,
            conversation=conversation,
            self_contained=False,
            answers_the_bot=True,
        )
        return Understood((reply,), words.language)

    async def _question(
        self, asked: Asked, conversation: Conversation, earlier: Sequence[Turn], words: Wording
    ) -> Question:
        text = asked.text
        answers = answers_the_bot(text, earlier, words)
        alone = asked.wants_person or await self._stands_alone(asked, earlier, words, conversation)
        if not alone and earlier and self._rewriter:
            rewritten = await self._rewriter.rewrite(text, earlier, words)
            text, alone = (rewritten, True) if rewritten else (text, False)
        return Question(
            text=text,
            language=words.language,
            conversation=conversation,
            self_contained=alone,
            leans_on=() if alone else await self._leaned_on(earlier, words),
            answers_the_bot=answers,
            wants_person=asked.wants_person,
            parts=asked.parts,
        )

    async def _stands_alone(
        self, asked: Asked, earlier: Sequence[Turn], words: Wording, conversation: Conversation
    ) -> bool:
        text = asked.text
        said = [turn.text for turn in earlier if turn.role == "user"] or [turn.text for turn in earlier]
        leaning = await self._follow_ups.read(text, said, words)
        if leaning.why is None or (asked.announced and leaning.likely):
            return True
        if self._vouching is None or words.language != "en" or not (leaning.likely or leaning.vague):
            return False
        return await self._vouching.vouches(text, conversation, likely=leaning.likely)

    async def _leaned_on(self, earlier: Sequence[Turn], words: Wording) -> tuple[str, ...]:
        """The asker's last turn, and those before it for as long as they lean themselves."""
        said = [turn.text for turn in earlier if turn.role == "user"][-_LEANS_BACK:]
        first = len(said) - 1
        while first > 0:
            text = own_words(said[first], words) or said[first]
            if (await self._follow_ups.read(text, said[:first], words)).likely:
                break
            first -= 1
        return tuple(said[max(first, 0) :])


def _without_runs(text: str) -> str:
    """A text with few of very many marks in a row: they say nothing and cost the rules their square."""
    text = _MANY_MARKS.sub(r"\1", _SPACES.sub(r"\1", text))
    return _BLANK_LINES.sub("\n\n", text)
