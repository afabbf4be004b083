"""OpenAI's moderation endpoint, or any server that speaks like it."""

from __future__ import annotations

from collections.abc import Mapping

from openai import AsyncOpenAI, OpenAIError
from pydantic import BaseModel, ConfigDict, ValidationError

from encoders import EncoderError

__all__ = ["ModerationEndpoint"]

LONGEST_TEXT = 100_000  # characters
RETRIES = 1  # an asker is waiting


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    flagged: bool
    categories: dict[str, bool | None]
    category_scores: dict[str, float | None]


class _Reply(BaseModel):
    """What the endpoint sends back, as far as we read it."""

    results: list[_Result]


class ModerationEndpoint:
    """Categories of harm as labels."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 5.0,
        by_score: bool = False,
    ) -> None:
        """`by_score` gives the endpoint's scores; else a category is 1 where the endpoint flags it."""
        self._model = model
        self._by_score = by_score
        self._client = AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=RETRIES
        )

    @property
    def name(self) -> str:
        """The model as the endpoint calls it."""
        return self._model

    async def label(self, text: str, /) -> Mapping[str, float]:
        """0..1 for each category, and `flagged` for any of them."""
        if len(text) > LONGEST_TEXT:
            raise EncoderError(f"a text of {len(text)} characters is not sent, at most {LONGEST_TEXT} are")
        readable = text.encode("utf-8", "replace").decode("utf-8")
        try:
            answer = await self._client.moderations.with_raw_response.create(
                model=self._model, input=readable
            )
            [result] = _Reply.model_validate_json(answer.content).results
        except OpenAIError as error:
            raise EncoderError(f"{self._where} could not be asked: {type(error).__name__}") from error
        except ValidationError as error:
            raise EncoderError(f"{self._where} sent no moderation") from error
        except ValueError:
            raise EncoderError(f"{self._where} sent several results for one text") from None
        given: Mapping[str, float | bool | None] = (
            result.category_scores if self._by_score else result.categories
        )
        return {"flagged": float(result.flagged)} | {name: float(value or 0) for name, value in given.items()}

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @property
    def _where(self) -> str:
        return f"the moderation endpoint {self._client.base_url} ({self._model})"
