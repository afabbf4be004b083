"""An OpenAI-compatible model as judges ask it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classifiers import ClassifierError
from gateway.domain import Turn
from gateway.errors import UpstreamUnavailable
from gateway.rag.completions import ChatModel

__all__ = ["AskedModel"]


class AskedModel:
    """A chat model that answers a judge: at temperature 0, in the form that is asked for."""

    def __init__(self, model: ChatModel, *, most_tokens: int) -> None:
        self._model = model
        self._most_tokens = most_tokens

    @property
    def model(self) -> str:
        """What the endpoint calls it."""
        return self._model.model

    async def ask(self, system: str, user: str, response_format: Mapping[str, Any], /) -> str:
        """The model's reply.

        Raises:
            ClassifierError: if it can't be asked.
        """
        options = {"temperature": 0, "max_tokens": self._most_tokens, "response_format": response_format}
        try:
            completion = await self._model.complete([Turn("system", system), Turn("user", user)], options)
        except UpstreamUnavailable as exc:
            raise ClassifierError(str(exc)) from exc
        return completion.text
