"""The production chatbot: our question in, its answer and its contexts out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

from encoders import Encoded
from gateway.domain import Draft, NothingRelevant, OnDraft, Question, Turn
from gateway.errors import ConfigurationError, ToolCalled, UpstreamUnavailable
from gateway.models.completions import ChatModel, Completion
from gateway.rag.contexts import ReadContexts, read_contexts
from gateway.rag.written import Written
from gateway.settings import UpstreamSettings

__all__ = ["UpstreamRag"]


class UpstreamRag:
    """Asks the production chatbot. A draft without contexts is a draft that cannot be checked."""

    def __init__(self, model: ChatModel, contexts: ReadContexts) -> None:
        self._model = model
        self._contexts = contexts

    @classmethod
    def of(cls, settings: UpstreamSettings, *, extra_body: Mapping[str, Any] | None = None) -> Self:
        """The chatbot that the configuration describes.

        Raises:
            ConfigurationError: `upstream` says no address or no model, or its `contexts` can't be read.
        """
        if not settings.base_url or not settings.model:
            raise ConfigurationError("upstream: kind: openai needs base_url and model")
        model = ChatModel(
            base_url=settings.base_url,
            model=settings.model,
            api_key=settings.api_key.get_secret_value() if settings.api_key else None,
            wire="responses" if settings.contexts == "openai-responses" else "chat",
            connect_timeout_s=settings.connect_timeout_s,
            timeout_s=settings.timeout_s,
            max_retries=settings.max_retries,
            breaker_failures=settings.breaker_failures,
            breaker_reset_s=settings.breaker_reset_s,
            extra_body=extra_body,
        )
        return cls(model, read_contexts(settings.contexts))

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        """What the chatbot answers to this one question, in its conversation.

        Raises:
            UpstreamUnavailable: it did not answer, or not in a form that can be read.
        """
        conversation = question.conversation
        turns = (*conversation.turns[:-1], Turn("user", question.for_the_chatbot))
        try:
            if conversation.choices > 1:
                found = await self._model.choices(turns, conversation.options, conversation.choices)
                first, *others = map(self._choice, found)
                return replace(first, others=tuple(others))
            on_text = partial(self._pass_on, on_draft) if on_draft else None
            return self._draft(await self._model.complete(turns, conversation.options, on_text))
        except ToolCalled as exc:
            return self._choice(exc)

    def _pass_on(self, on_draft: OnDraft, text: str, reply: Mapping[str, Any]) -> None:
        on_draft(Draft(text=text, contexts=self._contexts(reply), model=self._model.model))

    def _choice(self, found: Completion | UpstreamUnavailable) -> Draft:
        """A choice; one without a text that could be checked is none that passed."""
        if isinstance(found, Completion):
            return self._draft(found)
        why = "tool_call" if isinstance(found, ToolCalled) else "no_text"
        return Draft(text="", contexts=(), model=self._model.model, unreadable=why)

    def _draft(self, completion: Completion) -> Draft:
        written = Written.of(completion)
        return Draft(
            text=written.text,
            unfinished=written.unfinished,
            unreadable=written.unreadable,
            contexts=self._contexts(completion.reply),
            model=completion.model,
            tokens=completion.tokens,
            first_s=completion.first_s,
        )

    @property
    def failing(self) -> bool:
        """Whether the chatbot is left alone, as it failed again and again."""
        return self._model.failing

    async def close(self) -> None:
        """Close the connections to the chatbot."""
        await self._model.close()
