"""Every table of Sekisho. SQL is the truth: what is not here did not happen."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

__all__ = [
    "FreeText",
    "Moment",
    "api_keys",
    "audit_windows",
    "audits",
    "documents",
    "entries",
    "entry_history",
    "entry_phrasings",
    "entry_sources",
    "feedback",
    "metadata",
    "outcomes",
    "passages",
    "settings",
    "suggestions",
    "ticket_events",
    "tickets",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(TypeDecorator[datetime]):
    """A point in time: aware going in, aware UTC coming out, of both databases."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC; SQLite drops the zone, so all moments there must share one."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment needs a time zone, got the naive {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment as aware UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FreeText(TypeDecorator[str]):
    """What people write. PostgreSQL takes no NUL, and neither database takes half a surrogate pair."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text with "?" or U+FFFD where a character cannot be stored: no ticket is lost over it."""
        if value is None or (value.isascii() and "\x00" not in value):
            return value
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


# One row for every question: 2^31 would last two months at 400 questions a second.
# SQLite counts in 64 bits, and only if the type is INTEGER.
RowNumber = BigInteger().with_variant(Integer(), "sqlite")

EVERYBODY = text("''")  # the group of what everybody of a tenant may read

entries = Table(
    "entries",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("kind", String(20), nullable=False),  # ground_truth | confirmed_answer
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # who may read it
    Column("language", String(8), nullable=False),
    Column("answer", FreeText, nullable=False),
    Column("state", String(10), nullable=False),  # draft | active | paused | stale | retired
    Column("owner", FreeText, nullable=False, default=""),
    Column("sources", JSON, nullable=False, default=list),  # [{"document", "version"}]
    Column("valid_from", Date),
    Column("valid_until", Date),
    Column("review_by", Date),
    Column("revision", Integer, nullable=False, default=1),
    Column("indexed_revision", Integer, nullable=False, default=0),  # < revision: the index is behind
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Index(None, "tenant", "state"),
    Index("ix_entries_behind", "indexed_revision", "revision"),
)

entry_phrasings = Table(
    "entry_phrasings",
    metadata,
    Column("id", String(36), primary_key=True),  # also the id of its point in the index
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("position", Integer, nullable=False),  # 0 is the entry's question
    Column("text", FreeText, nullable=False),
    Column("normalised", FreeText, nullable=False),
    Column("exact_key", LargeBinary(16), nullable=False),  # hash of `normalised`: short and indexable
    Index(None, "tenant", "exact_key"),
)

# How the entries of a document are found; what they came from, and in which version, says `entries.sources`.
entry_sources = Table(
    "entry_sources",
    metadata,
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True),
    Column("document_key", LargeBinary(16), primary_key=True, index=True),  # hash of the document's name
)

entry_history = Table(
    "entry_history",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("entry_id", String(36), nullable=False, index=True),
    Column("revision", Integer, nullable=False),
    Column("at", Moment, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("change", String(40), nullable=False),  # created | edited | activated | paused | …
    Column("snapshot", JSON, nullable=False),  # the whole entry after the change
)

suggestions = Table(
    "suggestions",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("entry_id", ForeignKey("entries.id", ondelete="CASCADE"), nullable=False),
    Column("text", FreeText, nullable=False),
    Column("exact_key", LargeBinary(16), nullable=False),  # of the normalised text: each stands here once
    Column("language", String(8), nullable=False),
    Column("times", Integer, nullable=False, default=1),
    Column("source", String(10), nullable=False),  # accepted | ticket | near_miss | asked
    Column("state", String(10), nullable=False),  # open | accepted | rejected
    Column("by", FreeText, nullable=False),  # who suggested it, then who decided
    Column("at", Moment, nullable=False),  # when that was
    UniqueConstraint("entry_id", "exact_key"),
    Index(None, "tenant", "state", "at"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("path", String(1024), nullable=False, unique=True),  # relative to its corpus, or a URL
    Column("title", FreeText, nullable=False),
    Column("version", String(64), nullable=False),  # sha256 of the text
    Column("language", String(8), nullable=False),
    Column("text", FreeText, nullable=False),
    Column("indexed_version", String(64), nullable=False, default=""),
    Column("updated_at", Moment, nullable=False),
)

passages = Table(
    "passages",
    metadata,
    Column("id", String(36), primary_key=True),  # also the id of its point in the index
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("position", Integer, nullable=False),
    Column("heading", FreeText, nullable=False, default=""),
    Column("text", FreeText, nullable=False),
)

tickets = Table(
    "tickets",
    metadata,
    Column("id", String(16), primary_key=True),  # T-7K3M9Q2X: read out over the telephone
    Column("tenant", String(64), nullable=False),
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # the asker's
    Column("request_id", String(64), nullable=False, index=True),
    Column("asker", FreeText),
    Column("language", String(8), nullable=False),
    Column("real_question", FreeText, nullable=False),
    Column("question", FreeText, nullable=False),
    Column("turns", JSON, nullable=False, default=list),  # the conversation before it
    Column("outcome", String(12), nullable=False),  # withheld | escalated | stale_entry
    Column("reason", String(60), nullable=False),
    Column("steps", JSON, nullable=False, default=list),  # what every stage found
    Column("state", String(10), nullable=False),  # open | claimed | answered | dismissed
    Column("claimed_by", FreeText),
    Column("answer", FreeText),
    Column("entry_id", String(36), index=True),  # the verified entry it became, or asks to review
    Column("revision", Integer, nullable=False, default=1),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("answered_at", Moment),
    Index(None, "tenant", "state", "created_at"),
)

ticket_events = Table(
    "ticket_events",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("ticket_id", ForeignKey("tickets.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("at", Moment, nullable=False),
    Column("by", FreeText, nullable=False),
    Column("event", String(20), nullable=False),  # opened | claimed | released | answered | dismissed
    Column("detail", JSON, nullable=False, default=dict),
)

outcomes = Table(
    "outcomes",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("request_id", String(64), nullable=False, index=True),
    Column("question_hash", String(64), nullable=False),
    Column("question", FreeText),  # only where the operator switched texts on
    Column("language", String(8), nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("reason", String(60), nullable=False),
    Column("tier", String(10)),  # exact | vector, for answers from the cache
    Column("entry_id", String(36)),
    Column("ticket_id", String(16)),
    Column("faithfulness", Float),
    Column("unchecked", Boolean, nullable=False, default=False),
    Column("gate_score", Float),
    Column("stage_ms", JSON, nullable=False, default=dict),
    Column("ms", Float, nullable=False),
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("request_id", String(64), nullable=False, index=True),
    Column("verdict", String(10), nullable=False),  # up | down
    Column("comment", FreeText, nullable=False, default=""),
    Column("by", FreeText, nullable=False, default=""),
    Column("entry_id", String(36)),
)

# A shelf while one cut, made for one model, serves it: what its audited hits are a sample of.
audit_windows = Table(
    "audit_windows",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("language", String(8), nullable=False),
    Column("model", String(128), nullable=False),  # the encoder's digest
    Column("since", String(40), nullable=False),  # of the cut; empty for the default
    Column("cut", Float, nullable=False),
    Column("lookups", RowNumber, nullable=False, default=0),
    Column("exact_hits", RowNumber, nullable=False, default=0),
    Column("vector_hits", RowNumber, nullable=False, default=0),
    Column("drift", JSON, nullable=False, default=dict),  # the state of cache.drift
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
    Column("request_id", String(64), nullable=False),
    Column("tier", String(10), nullable=False),  # exact | vector
    Column("score", Float, nullable=False),
    Column("question", FreeText, nullable=False),  # a reviewer can't judge a hash: kept as in tickets
    Column("phrasing", FreeText, nullable=False),
    Column("answer", FreeText, nullable=False),  # as it was served; the entry may be edited later
    Column("entry_id", String(36), nullable=False),
    Column("entry_revision", Integer, nullable=False),
    Column("topic", FreeText, nullable=False),
    Column("verdict", String(10), nullable=False),  # open | right | wrong | unsure
    Column("comment", FreeText, nullable=False, default=""),
    Column("by", FreeText),
    Column("at", Moment, nullable=False),
    Column("judged_at", Moment),
    Index(None, "tenant", "verdict", "at"),
    Index(None, "window_id", "verdict"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant", String(64), nullable=False),
    Column("group", String(40), nullable=False, server_default=EVERYBODY),  # reads its entries, too
    Column("role", String(10), nullable=False),  # client | reviewer | admin
    Column("label", FreeText, nullable=False, default=""),
    Column("hash", String(64), nullable=False, unique=True),  # sha256: keys are 256 random bits
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(100), primary_key=True),  # e.g. "cache.cut.default"
    Column("value", JSON, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
