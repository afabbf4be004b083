"""An OpenAI-compatible model as judges ask it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from classifiers import ClassifierError
from gateway.domain import Turn
from gateway.errors import UpstreamUnavailable
from gateway.models.completions import ChatModel, Completion

__all__ = ["AskedModel"]


OnCall = Callable[[Completion | None], object]


class AskedModel:
    """A chat model that answers a judge, in the form that is asked for.

    Args:
        on_call: is told every call: what came of it, None if nothing did.
        temperature: above 0 for those who want several different answers.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        most_tokens: int,
        on_call: OnCall = lambda completion: None,
        temperature: float = 0,
    ) -> None:
        self._model = model
        self._most_tokens = most_tokens
        self._on_call = on_call
        self._temperature = temperature

    @property
    def model(self) -> str:
        """What the endpoint calls it."""
        return self._model.model

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        """The model's reply.

        Raises:
            ClassifierError: if it can't be asked.
        """
        options = {
            "temperature": self._temperature,
            "max_tokens": self._most_tokens,
            "response_format": response_format,
        }
        completion: Completion | None = None
        try:
            completion = await self._model.complete([Turn("system", system), Turn("user", user)], options)
        except UpstreamUnavailable as exc:
            raise ClassifierError(str(exc)) from exc
        finally:
            self._on_call(completion)
        return completion.text
