"""Messages that ask nothing new: small talk, and short answers to what the bot asked. None is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.domain import Turn
from gateway.understanding.splitting import is_reply, questions_in
from gateway.understanding.wording import Wording, wording
from languages.identification import LANGUAGES, Language

__all__ = ["answers_the_bot", "bot_asked", "small_talk_language"]

_LONGEST_SMALL_TALK = 24  # characters; a longer greeting is read in its own language only
_MOST_WORDS, _MOST_CHARACTERS = 5, 14  # of a short answer, where spaces part the words and where they don't
_SENTENCE = re.compile(r"[^.。!！?？\n]*[?？]")
_QUESTION_AT_END = re.compile(r"[?？][^\w?？]*$")


def small_talk_language(text: str, language: Language, said: Language | None = None) -> Language:
    """In which language a short message is small talk, a bare reply or a call for a person.

    早上好 looks Japanese by its script, and so does 人工.

    That of what was `said` before comes first, as "ok" is of them all. Its own `language` if in none.
    """
    if len(text) > _LONGEST_SMALL_TALK:
        return language
    tried = dict.fromkeys([*([said] if said else []), language, *LANGUAGES])
    return next((one for one in tried if _is_known(text, wording(one))), language)


def bot_asked(earlier: Sequence[Turn]) -> bool:
    """Whether the turn before this message has a question."""
    last = earlier[-1] if earlier else None
    return last is not None and last.role == "assistant" and _SENTENCE.search(last.text) is not None


def answers_the_bot(text: str, earlier: Sequence[Turn], words: Wording) -> bool:
    """Whether a message is a short answer to the question that the bot's turn ended with.

    After an open offer ("Anything else?") only yes, no or a number is one: what else comes is a new subject.
    """
    if is_reply(text, words):
        return bot_asked(earlier)
    if not bot_asked(earlier) or not _QUESTION_AT_END.search(earlier[-1].text):
        return False
    asked = _SENTENCE.findall(earlier[-1].text)[-1]
    if any(wording(language).open_offer.search(asked) for language in LANGUAGES):
        return False
    return _is_short(text, words) and not (words.question_start.match(text) or words.question.search(text))


def _is_known(text: str, words: Wording) -> bool:
    """Whether it is what a language lists: a bare reply, small talk, a call for a person."""
    if is_reply(text, words):
        return True
    asked = questions_in(text, words)
    return not asked or any(one.wants_person for one in asked)


def _is_short(text: str, words: Wording) -> bool:
    if words.language == "en" or text.isascii():
        return len(text.split()) <= _MOST_WORDS and len(text) <= _MOST_CHARACTERS * _MOST_WORDS
    return len(text) <= _MOST_CHARACTERS
