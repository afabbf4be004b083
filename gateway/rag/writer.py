"""Passages into an answer: who writes one, and a language model that does. `quoting` needs none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

from encoders import Encoded
from gateway.documents.passages import RetrievedPassage
from gateway.domain import Question, Turn
from gateway.models.completions import ChatModel
from gateway.rag.written import Written

__all__ = ["LlmWriter", "OnText", "Writer"]

OnText = Callable[[str], None]  # is told an answer as far as it is written


class Writer(Protocol):
    """Writes an answer from passages, best passage first; None where they hold no answer."""

    @property
    def name(self) -> str: ...

    @property
    def failing(self) -> bool: ...  # so often in a row that it is left alone

    async def write(
        self,
        question: Question,
        asked: Encoded,
        passages: Sequence[RetrievedPassage],
        on_text: OnText | None = None,
        /,
    ) -> Written | None: ...

    async def close(self) -> None: ...


NO_ANSWER = "[[NO ANSWER]]"  # a form that no document holds; prompts ask for exactly this


class LlmWriter:
    """Lets a language model write the answer from the passages and nothing else."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.model

    @property
    def failing(self) -> bool:
        """Whether the model is left alone, as it failed again and again."""
        return self._model.failing

    async def write(
        self,
        question: Question,
        asked: Encoded,
        passages: Sequence[RetrievedPassage],
        on_text: OnText | None = None,
        /,
    ) -> Written | None:
        """The model's answer, or None where it says that the passages hold none.

        Raises:
            UpstreamUnavailable: the model did not answer.
        """
        numbered = "\n\n".join(f"[{n}] {passage.shown}" for n, passage in enumerate(passages, 1))
        instructions = _prompt(question.language).format(no_answer=NO_ANSWER, passages=numbered)
        earlier = [turn for turn in question.conversation.turns[:-1] if turn.role != "system"]
        turns = [Turn("system", instructions), *earlier, Turn("user", question.for_the_chatbot)]
        telling = partial(_without_mark, on_text) if on_text else None
        completion = await self._model.complete(turns, {"temperature": 0}, telling)
        return None if NO_ANSWER in completion.text else Written.of(completion)

    async def close(self) -> None:
        """Close the connections to the model."""
        await self._model.close()


def _without_mark(on_text: OnText, text: str, _: Mapping[str, object]) -> None:
    """Nothing from where the mark may have begun."""
    on_text(text.partition(NO_ANSWER[:2])[0].rstrip(NO_ANSWER[0]))


@cache
def _prompt(language: str) -> str:
    prompts = files("gateway.rag") / "prompts"
    prompt = prompts / f"answer.{language}.txt"
    return (prompt if prompt.is_file() else prompts / "answer.en.txt").read_text(encoding="utf-8")
