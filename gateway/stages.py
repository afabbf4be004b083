"""What each stage of the way has to do. The pipeline knows these verbs and nothing else of a stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from cache.matching import Match
from classifiers.faithfulness import FaithfulnessJudge as Judge
from classifiers.gate import Gate, GateVerdict
from encoders import Encoded
from gateway.domain import (
    Conversation,
    Draft,
    FrontEndTask,
    NothingRelevant,
    Offers,
    OnDraft,
    Outcome,
    Question,
    Step,
    Understood,
)
from gateway.settings.people import Mode

__all__ = [
    "NO_NEWS",
    "Cache",
    "Chosen",
    "DidYouMean",
    "Gate",
    "Judge",
    "Modes",
    "News",
    "NextTurn",
    "QuestionGate",
    "Rag",
    "Reviewers",
    "Understanding",
    "Watch",
]


class Understanding(Protocol):
    """Takes the questions out of a message."""

    async def understand(self, conversation: Conversation, /) -> Understood: ...


class QuestionGate(Protocol):
    """The gate over a conversation: judges a question in it, and says what may go on to the chatbot."""

    async def judge(self, question: Question, encoded: Encoded, /) -> GateVerdict: ...

    async def cleared(self, question: Question, /) -> Question: ...


class Cache(Protocol):
    """Finds a verified answer. A dead index is a `Miss`, never an error."""

    async def find(self, question: Encoded, /, *, tenant: str, language: str, group: str = "") -> Match: ...


class Rag(Protocol):
    """Writes a draft from passages; `on_draft` is told it while it is written, if it comes in parts.

    Raises `UpstreamUnavailable` when it can't.
    """

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant: ...


class Reviewers(Protocol):
    """Keeps a question for a person. Raises `TicketNotStored`, and then nothing was kept."""

    async def open(
        self,
        question: Question,
        *,
        outcome: Literal["withheld", "escalated", "answered"],
        reason: str,
        steps: tuple[Step, ...],
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """The mode of a draft, and the topic that has it; the empty text where none was named."""

    mode: Mode
    topic: str = ""
    reviewed: bool = False  # of answer_then_review: this one goes to a reviewer


class Modes(Protocol):
    """Says who answers a new question: people, RAG, or RAG with people looking on."""

    @property
    def by_documents(self) -> bool: ...  # the draft's contexts may say so, not only the question

    def choose(self, question: Question, draft: Draft, /) -> Chosen: ...


class DidYouMean(Protocol):
    """Finds verified questions to ask the asker about. Stores that can't be asked have none."""

    async def near(self, question: Question, /) -> Offers: ...


@dataclass(frozen=True, slots=True)
class News:
    """What people answered since to what the asker had asked before: it stands in front of a reply."""

    text: str = ""
    tickets: tuple[str, ...] = ()


NO_NEWS = News()


class NextTurn(Protocol):
    """Gives the news of an asker, each once. Never raises for it."""

    async def take(self, conversation: Conversation, language: str, /) -> News: ...


class Watch(Protocol):
    """Is told what happened. Never raises, never waits."""

    def outcome(self, outcome: Outcome, /, *, ms: float) -> None: ...

    def front_end_task(self, task: FrontEndTask, /) -> None: ...

    def failure(self, question: Question, exc: Exception, /) -> None: ...

    def hung_up(self, question: Question, /) -> None: ...  # the asker, before anything was decided

    def held_for_contexts(self, question: Question, /) -> None: ...  # in a stream, as they came late
