"""Who may do what, and what the gateway remembers of itself."""

from __future__ import annotations

from sqlalchemy import JSON, Column, String, Table

from storage.schema.base import EVERYBODY, FreeText, Moment, metadata

__all__ = ["api_keys", "settings"]

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
    Column("name", String(100), primary_key=True),  # e.g. "cache.cut.default.en"
    Column("value", JSON, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
