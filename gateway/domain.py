"""What travels along the way of a question. Frozen values, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from cache.entries import EntryKind
from cache.matching import Match
from classifiers.faithfulness import FaithfulnessVerdict
from classifiers.gate import GateVerdict

__all__ = [
    "FILTERED",
    "Answered",
    "Choice",
    "Conversation",
    "Correction",
    "Draft",
    "Failed",
    "Finding",
    "FrontEndTask",
    "HandedOver",
    "NothingRelevant",
    "Offer",
    "Offers",
    "OnDraft",
    "Outcome",
    "OutcomeName",
    "Passage",
    "Question",
    "Refused",
    "Reply",
    "Sent",
    "SmallTalk",
    "Stage",
    "Step",
    "Tokens",
    "Turn",
    "Understood",
]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, as text."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class FrontEndTask:
    """What a chat front end wants done beside the chat, and the reply to it. Nobody asks anything."""

    front_end: str
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the asker sent, and who asks."""

    turns: tuple[Turn, ...]  # the last one is the asker's
    tenant: str
    group: str = ""  # of the tenant's people, as the key says; "" reads only what is everybody's
    request_id: str
    asker: str | None = None  # the operator's id for the person, if given
    options: Mapping[str, Any] = field(default_factory=dict)  # temperature … for the chatbot, passed on
    choices: int = 1  # answers asked for (OpenAI's n)
    task: FrontEndTask | None = None  # the last turn is none of a person's: no stage reads it

    @property
    def real_question(self) -> str:
        """What the person wrote last."""
        return self.turns[-1].text


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One self-contained question taken out of a real question."""

    text: str
    language: str  # ISO 639-1: en, ja, zh
    conversation: Conversation
    self_contained: bool = True  # False: it depends on earlier turns and could not be rewritten
    leans_on: tuple[str, ...] | None = None  # the asker's turns it depends on; None: the one before it
    answers_the_bot: bool = False  # it is a short answer to what the bot asked, so it is not out of scope
    wants_person: bool = False  # it asks for somebody to talk to; no chatbot answers that
    parts: tuple[str, ...] = ()  # the sentences that ask, if several do: no answer to one is one to all
    as_written: str = ""  # the same words with their line breaks, where it is all that a message asks

    @property
    def tenant(self) -> str:
        """Whose question it is; nothing of another tenant may be served to it."""
        return self.conversation.tenant

    @property
    def group(self) -> str:
        """Whose entries the asker may read besides everybody's."""
        return self.conversation.group

    @property
    def for_the_chatbot(self) -> str:
        """It as whoever answers reads it best: the same words, in their lines if those are known."""
        return self.as_written or self.text

    @property
    def turns_leaned_on(self) -> tuple[str, ...]:
        """The asker's turns that it needs to be understood."""
        if self.self_contained or self.leans_on is not None:
            return self.leans_on or ()
        before = [turn.text for turn in self.conversation.turns[:-1] if turn.role == "user"]
        return tuple(before[-1:])

    @property
    def in_view(self) -> str:
        """The question with what it depends on."""
        return "\n".join([*self.turns_leaned_on, self.text])


# What a message says that asks nothing; `Replies` has words under each of these names.
SmallTalk = Literal["small_talk", "thanks", "goodbye", "noted", "correction", "identity"]


@dataclass(frozen=True, slots=True)
class Understood:
    """The questions of a message. None means small talk: a greeting, thanks, a bare "yes"."""

    questions: tuple[Question, ...]
    language: str
    small_talk: SmallTalk = "small_talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage retrieved for a question."""

    text: str
    source: str = ""  # document or URL
    title: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a model says that an answer took."""

    read: int
    written: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What the evaluator said of the passages that were found, and what became of them (Corrective RAG)."""

    label: Literal["correct", "ambiguous", "incorrect"]
    scores: tuple[float, ...]  # of each passage that was found
    reason: str
    judge: str
    kept: float = 1.0  # share of the text of the passages used that bears on the question
    web: Literal["off", "answered", "nothing", "failed"] = "off"  # what a search beyond the documents gave
    query: str = ""  # what was searched for there


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What RAG answered, with its contexts, before any check."""

    text: str
    contexts: tuple[Passage, ...]
    model: str
    tokens: Tokens | None = None  # None where the chatbot does not count them
    first_s: float | None = None  # until its first words; None where it was not streamed to us
    unreadable: str = (
        ""  # why there is no text to check: a tool call, no whole sentence before it was cut off
    )
    unfinished: str | None = (
        None  # what came after `text` before the model's limit cut it off; None: nothing did
    )
    others: tuple[Draft, ...] = ()  # further choices, where several were asked for
    correction: Correction | None = None  # of our own retrieval; a chatbot does not tell

    @property
    def choices(self) -> tuple[Draft, ...]:
        """It and the others."""
        return (self, *self.others)

    @property
    def cut_off(self) -> bool:
        """Whether the model's limit on its length ended it."""
        return self.unfinished is not None

    @property
    def written(self) -> str:
        """All that came, with what is not a whole sentence."""
        return self.text + (self.unfinished or "")


OnDraft = Callable[[Draft], None]  # is told a draft as far as it is written; no contexts: none came yet


@dataclass(frozen=True, slots=True)
class NothingRelevant:
    """RAG found nothing that could answer."""

    reason: str
    contexts: tuple[Passage, ...] = ()
    correction: Correction | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The stage could not be asked."""

    cause: str  # one of few words, as `UpstreamUnavailable` has them
    reason: str  # quotes no text and no key


@dataclass(frozen=True, slots=True)
class Offer:
    """A verified entry that may be what the asker meant."""

    entry: str
    question: str
    score: float


@dataclass(frozen=True, slots=True)
class Offers:
    """What the asker is asked about, the most probable first."""

    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the asker had read of a draft before it was stopped."""

    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several answers to the same question."""

    text: str
    filtered: bool  # a canned text stands in the place of what the chatbot said
    cut_off: bool = False  # the model's limit on its length ended it


OutcomeName = Literal["ground_truth", "confirmed_answer", "rag", "refused", "withheld", "escalated"]
Finding = GateVerdict | Match | Draft | NothingRelevant | Failed | FaithfulnessVerdict | Offers | Sent
Stage = Literal["gate", "cache", "rag", "faithfulness", "did_you_mean", "sent"]


@dataclass(frozen=True, slots=True)
class Step:
    """One stage a question went through: what it found and how long it took."""

    stage: Stage
    ms: float
    found: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The asker gets an answer that a person verified or whose statements are supported."""

    question: Question
    text: str
    source: EntryKind | Literal["rag"]
    reason: str
    entry: str | None = None
    verdict: FaithfulnessVerdict | None = None  # None for verified entries: people checked those
    cut: tuple[str, ...] = ()  # unsupported sentences that were cut out of it
    ticket: str | None = None  # observed only: it had left before it was found to be bad
    choices: tuple[Choice, ...] = ()  # where several were asked for and differ
    steps: tuple[Step, ...] = ()
    did_you_mean: ClassVar[tuple[Offer, ...]] = ()

    @property
    def name(self) -> OutcomeName:
        """The name that clients see: where the answer came from."""
        return self.source

    @property
    def cut_off(self) -> bool:
        """Whether it is a draft that the model's limit on its length ended."""
        return any(isinstance(step.found, Draft) and step.found.cut_off for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The asker gets a canned reply: the question is not ours, or forbidden."""

    question: Question
    text: str
    reason: str
    steps: tuple[Step, ...] = ()
    name: ClassVar[OutcomeName] = "refused"
    cut_off: ClassVar[bool] = False
    entry: ClassVar[None] = None
    verdict: ClassVar[None] = None
    cut: ClassVar[tuple[str, ...]] = ()
    ticket: ClassVar[None] = None
    did_you_mean: ClassVar[tuple[Offer, ...]] = ()
    choices: ClassVar[tuple[Choice, ...]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The asker waits for a person."""

    name: Literal["withheld", "escalated"]  # the first: RAG answered, but nobody should rely on it
    question: Question
    text: str
    reason: str
    ticket: str
    verdict: FaithfulnessVerdict | None = None
    did_you_mean: tuple[Offer, ...] = ()
    choices: tuple[Choice, ...] = ()  # where several were asked for and differ
    steps: tuple[Step, ...] = ()
    cut_off: ClassVar[bool] = False
    entry: ClassVar[None] = None
    cut: ClassVar[tuple[str, ...]] = ()


# Each has the fields of all three; what one never has is a ClassVar of it.
Outcome = Answered | Refused | HandedOver


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back for one message: an outcome per question, or words where nothing was asked."""

    outcomes: tuple[Outcome, ...]
    text: str
    language: str
    told: tuple[str, ...] = ()  # tickets of earlier questions whose answer stands in front
    choices: tuple[Choice, ...] = ()  # where several were asked for; `text` is then the worst one's
    unasked: Literal["small_talk", "front_end_task"] = "small_talk"  # why, where there are no outcomes

    def introduced(self, preface: str, told: tuple[str, ...]) -> Reply:
        """It, with what people answered since in front."""
        choices = tuple(replace(one, text=preface + one.text) for one in self.choices)
        return replace(self, text=preface + self.text, told=told, choices=choices)

    @property
    def tokens(self) -> Tokens | None:
        """What its drafts took, 0 where none was written; None where a chatbot does not count."""
        found = (step.found for outcome in self.outcomes for step in outcome.steps)
        taken = [draft.tokens for draft in found if isinstance(draft, Draft)]
        counted = [one for one in taken if one is not None]
        if len(counted) < len(taken):
            return None
        return Tokens(sum(one.read for one in counted), sum(one.written for one in counted))

    @property
    def cut_off(self) -> bool:
        """Whether one of its answers is, by the model's limit on its length."""
        return any(outcome.cut_off for outcome in self.outcomes)

    @property
    def name(self) -> OutcomeName:
        """One name for the whole reply: of several outcomes the one furthest from an answer."""
        names: list[OutcomeName] = [outcome.name for outcome in self.outcomes]
        return max(names, key=_FURTHEST.index, default="ground_truth")  # small talk: the operator's own words


FILTERED: frozenset[OutcomeName] = frozenset({"refused", "withheld"})  # OpenAI's content_filter
_FURTHEST: tuple[OutcomeName, ...] = (
    "ground_truth",
    "confirmed_answer",
    "rag",
    "refused",
    "escalated",
    "withheld",
)
