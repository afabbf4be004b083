"""The settings of what people do: review, judge their answers, and be forgotten."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gateway.settings.types import Listable, Name, Patterns, Section, Text

__all__ = [
    "CENTURY_DAYS",
    "FeedbackSettings",
    "Mode",
    "RetentionSettings",
    "ReviewSettings",
    "TopicModeSettings",
]

CENTURY_DAYS = 36_500  # further back there may be no date to count from
Days = Annotated[float, Field(gt=0, le=CENTURY_DAYS)]

Mode = Literal["human_first", "answer_then_review", "automatic"]


class TopicModeSettings(Section):
    """Who answers new questions of a topic."""

    topic: Name
    documents: list[Text] = []  # names or patterns (fees/*) of the documents that a draft is written from
    word: Listable = []  # a word of the question, or several in a row
    pattern: Patterns = []  # RE2's syntax, anywhere in the question
    mode: Mode
    sample: float = Field(1.0, ge=0, le=1)  # of answer_then_review: the share that people read

    @model_validator(mode="after")
    def _says_what_it_is(self) -> Self:
        if not (self.documents or self.word or self.pattern):
            raise ValueError("a topic needs documents, word or pattern")
        return self


class ReviewSettings(Section):
    """What is promised to those who wait for a person, and which answers people read."""

    promise_hours: float = Field(24.0, gt=0, le=24 * CENTURY_DAYS)  # a ticket that waits longer is overdue
    two_persons: bool = False  # who wrote an entry may not activate it; another has to
    mode: Mode = "automatic"  # of new questions that are of none of the topics
    sample: float = Field(1.0, ge=0, le=1)
    modes: list[TopicModeSettings] = []  # the first that fits counts


class FeedbackSettings(Section):
    """What a thumbs down does."""

    pause_after: int = Field(3, ge=0)  # different askers who are not content pause an entry; 0: never
    window_days: Days = 30.0  # in which they are counted
    keep_answers_h: float = Field(72.0, ge=0, le=24 * CENTURY_DAYS)  # answers to look into; 0 keeps none


class RetentionSettings(Section):
    """After how many days something is deleted; without a number it is kept."""

    outcomes_days: Days | None = None  # the hourly counts behind the figures stay
    tickets_days: Days | None = None  # closed ones, after their last change; suggestions, too
    feedback_days: Days | None = None
    audits_days: Days | None = None  # their texts; verdicts stay, the error bound needs them
