"""A dialogue: a persona asks a case, is answered, asks again, until it knows or the turns are used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from classifiers import ClassifierError
from evaluation.answers.cases import AnswerCase
from evaluation.answers.judging import Meter
from evaluation.answers.results import Said
from evaluation.answers.targets import Target
from evaluation.users.judging import TurnJudge, TurnVerdict
from evaluation.users.personas import Persona
from evaluation.users.playing import SimulatedUser
from gateway.domain import Tokens, Turn
from gateway.errors import SekishoError, UpstreamUnavailable

__all__ = ["Dialogue", "DialogueTurn", "Stage", "dialogue_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueTurn:
    """What was said, what was answered, and how good that was."""

    message: str
    said: Said
    verdict: TurnVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """All turns between one persona and the target."""

    id: str  # of the case and the persona
    of: str  # the versions of everything that took part: a second run of the same says the same
    case: AnswerCase
    persona: str
    turns: tuple[DialogueTurn, ...]
    done: bool = False  # the person said so; otherwise the turns were used up, or an error ended it
    error: str = ""
    cause: str = ""  # of the error, in the words of `UpstreamUnavailable`
    tokens: Tokens | None = None  # of the playing and judging model
    answered_tokens: Tokens | None = None  # of the target's

    @property
    def value(self) -> float | None:
        """The mean of the turns that have one."""
        values = [turn.verdict.value for turn in self.turns if turn.verdict.value is not None]
        return sum(values) / len(values) if values else None


def dialogue_id(case: AnswerCase, persona: Persona) -> str:
    """What the dialogue of a case and a persona is called."""
    return f"{case.id} · {persona.name}"


class Stage:
    """Where dialogues are played."""

    def __init__(
        self, target: Target, user: SimulatedUser, judge: TurnJudge, meter: Meter, *, most_turns: int
    ) -> None:
        self._target, self._user, self._judge, self._meter = target, user, judge, meter
        self._most_turns = most_turns

    def version(self, persona: Persona, digest: str, model: str) -> str:
        """What a dialogue depends on, in one line."""
        here = (self._target.version, model, self._user.version, self._judge.version)
        return " ".join((digest, persona.version, *here, f"turns={self._most_turns}"))

    async def play(self, case: AnswerCase, persona: Persona, *, of: str) -> Dialogue:
        """The dialogue, as far as it came."""
        with self._meter.counting() as spent:
            played = await self._played(case, persona, of)
            answered = [turn.said.tokens for turn in played.turns if turn.said.tokens]
            return replace(
                played,
                tokens=spent.tokens,
                answered_tokens=Tokens(sum(t.read for t in answered), sum(t.written for t in answered)),
            )

    async def _played(self, case: AnswerCase, persona: Persona, of: str) -> Dialogue:
        named = dialogue_id(case, persona)
        dialogue = Dialogue(id=named, of=of, case=case, persona=persona.name, turns=())
        said: list[Turn] = list(case.messages)
        for number in range(self._most_turns):
            try:
                message = await self._user.says(persona, case, said, turns_left=self._most_turns - number)
                if message is None:
                    return replace(dialogue, done=True)
                answer = await self._asked(case, said, message)
            except (ClassifierError, SekishoError) as exc:
                cause = exc.cause if isinstance(exc, UpstreamUnavailable) else ""
                return replace(dialogue, error=str(exc), cause=cause)
            verdict = await self._judge.judge(case, said, message, answer)
            turn = DialogueTurn(message=message, said=answer, verdict=verdict)
            dialogue = replace(dialogue, turns=(*dialogue.turns, turn))
            said += [Turn("user", message), Turn("assistant", answer.answer)]
        return dialogue

    async def _asked(self, case: AnswerCase, before: Sequence[Turn], message: str) -> Said:
        asked = replace(case, messages=tuple(before), real_question=message, question=message)
        started = perf_counter()
        said = await self._target.ask(asked)
        return replace(said, ms=round((perf_counter() - started) * 1000, 3))
