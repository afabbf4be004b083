"""What became of every question, and what people said of it."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
    text,
)

from storage.schema.base import EVERYBODY, FreeText, Moment, RowNumber, SealedJson, SealedText, metadata

__all__ = ["audit_windows", "audits", "feedback", "outcomes"]

outcomes = Table(
    "outcomes",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # the asker's
    Column("request_id", String(64), nullable=False, index=True),
    Column("asker_key", String(64)),  # hash of the asker's id: by it their rows are found and deleted
    Column("question_hash", String(64), nullable=False),
    Column("question", SealedText),  # only where the operator switched texts on
    Column("language", String(8), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("reason", String(60), nullable=False),
    Column("tier", String(10)),  # exact | vector, for answers from the cache
    Column("entry_id", String(36)),
    Column("ticket_id", String(16)),
    Column("faithfulness", Float),
    Column("unchecked", Boolean, nullable=False, default=False),
    Column("gate_score", Float),
    Column("gate_label", String(10)),
    Column("gate_rule", String(60)),
    Column("shadow", JSON(none_as_null=True)),  # what rules in shadow mode would have said
    Column("stage_ms", JSON, nullable=False, default=dict),
    Column("ms", Float, nullable=False),
    Column("tokens_in", Integer),  # what the chatbot says that its draft took
    Column("tokens_out", Integer),
    Index(None, "tenant", "at"),
    Index(None, "tenant", "outcome", "at"),  # the questions behind a figure
    Index(
        "ix_outcomes_of_askers",
        "asker_key",
        sqlite_where=text("asker_key IS NOT NULL"),
        postgresql_where=text("asker_key IS NOT NULL"),
    ),
    Index(
        "ix_outcomes_in_shadow",
        "tenant",
        "id",
        sqlite_where=text("shadow IS NOT NULL"),
        postgresql_where=text("shadow IS NOT NULL"),
    ),
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("request_id", String(64), nullable=False, index=True),
    Column("verdict", String(10), nullable=False),  # up | down
    Column("comment", SealedText, nullable=False, default=""),
    Column("by", FreeText, nullable=False, default=""),
    Column("asker", SealedText),  # of the request, as the client named them there
    Column("entry_id", String(36)),
    Index(None, "entry_id", "at"),
)

# A shelf while one cut, made for one model, serves it: what its audited hits are a sample of. Answers by RAG
# have rows of their own, for as long as the same judge lets them out.
audit_windows = Table(
    "audit_windows",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("language", String(8), nullable=False),
    Column("model", String(128), nullable=False),  # digest of encoder, pair model and weights; of RAG's judge
    Column("since", String(40), nullable=False),  # of the cut; empty for the default
    Column("cut", Float, nullable=False),
    Column("lookups", RowNumber, nullable=False, default=0),
    Column("exact_hits", RowNumber, nullable=False, default=0),
    Column("vector_hits", RowNumber, nullable=False, default=0),
    Column("rag_answers", RowNumber, nullable=False, default=0, server_default="0"),  # in a row of their own
    Column("drift", JSON, nullable=False, default=dict),  # the state of cache.calibration.drift
    Column("started_at", Moment, nullable=False),
    Column("breached_at", Moment),
    Column("action", String(10)),  # tightened | paused | alarm
    UniqueConstraint("tenant", "language", "model", "since"),
)

audits = Table(
    "audits",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("window_id", ForeignKey("audit_windows.id", ondelete="CASCADE"), nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("language", String(8), nullable=False),
    Column("request_id", String(64), nullable=False, index=True),
    Column("tier", String(10), nullable=False),  # exact | vector | rag
    Column("score", Float, nullable=False),  # of the match; of an answer by RAG its worst statement's
    Column("question", SealedText, nullable=False),  # a reviewer can't judge a hash: kept as in tickets
    Column("phrasing", FreeText, nullable=False),
    Column("answer", SealedText, nullable=False),  # as it was served; the entry may be edited later
    Column("contexts", SealedJson(none_as_null=True)),  # of an answer by RAG
    Column("entry_id", String(36), nullable=False),  # empty for an answer by RAG
    Column("entry_revision", Integer, nullable=False),
    Column("topic", FreeText, nullable=False),
    Column("verdict", String(10), nullable=False),  # open | right | wrong | unsure
    Column("faithful", Boolean),  # whether an answer by RAG says what its contexts say; None if nobody knows
    Column("comment", SealedText, nullable=False, default=""),
    Column("by", FreeText),
    Column("at", Moment, nullable=False),
    Column("judged_at", Moment),
    Index(None, "tenant", "verdict", "at"),
    Index(None, "window_id", "verdict"),
)
