"""Which questions are judged, and on which side the gateway's answer stands: by a seed and a secret."""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.answers.results import CaseResult
from gateway.errors import InvalidRequest
from gateway.review.acceptance_tests import Pair, Side

__all__ = ["Key", "drawn", "gateway_side", "read_key"]


class Key(BaseModel):
    """What tells the answers apart. Nobody needs it before the end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    test: str
    secret: str
    seed: int
    commitment: str

    def write(self, file: Path) -> None:
        """Write it to a file that only its owner reads; an existing one stays.

        Raises:
            InvalidRequest: if that can't be done.
        """
        try:
            with file.open("x", encoding="utf-8") as out:
                file.chmod(0o600)
                out.write(self.model_dump_json(indent=2) + "\n")
        except OSError as exc:
            raise InvalidRequest(f"--key: {file} can't be written: {exc.strerror}") from exc


def read_key(file: Path) -> Key:
    """The key of a file.

    Raises:
        InvalidRequest: if it is none.
    """
    try:
        return Key.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as exc:
        raise InvalidRequest(f"--key: {file} is no key of an acceptance test") from exc


@dataclass(frozen=True, slots=True)
class _Drawn:
    pairs: tuple[Pair, ...]
    secret: str


def drawn(results: Iterable[CaseResult], n: int, *, seed: int) -> _Drawn:
    """So many questions with a ground truth and an answer, each once, and the secret that shuffled the sides.

    Raises:
        InvalidRequest: if there are not so many.
    """
    fit = [one for one in results if one.case.ground_truth.strip() and one.said and one.said.answered]
    if len(fit) < n:
        raise InvalidRequest(
            f"--n: expected at most {len(fit)}, as many cases have a ground truth and were answered, not {n}"
        )
    chosen = random.Random(seed).sample(sorted(fit, key=lambda one: one.case.id), n)  # noqa: S311 - a sample
    secret = secrets.token_hex(32)
    return _Drawn(tuple(_pair(number, one, secret) for number, one in enumerate(chosen, 1)), secret)


def gateway_side(secret: str, number: int) -> Side:
    """Where the gateway's answer stands in a pair."""
    return "left" if hashlib.sha256(f"{secret}:{number}".encode()).digest()[0] & 1 else "right"


def _pair(number: int, one: CaseResult, secret: str) -> Pair:
    answer = one.said.answer if one.said else ""
    sides: Sequence[str] = (answer.strip(), one.case.ground_truth.strip())
    left, right = sides if gateway_side(secret, number) == "left" else sides[::-1]
    return Pair(
        number=number, case_id=one.case.id, language=one.case.lang, question=one.case.real_question,
        left=left, right=right,
    )  # fmt: skip
