"""Who signs in to the console, and as what."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, String, Table

from storage.schema.base import Moment, RowNumber, metadata

__all__ = ["memberships", "sessions", "sign_in_failures", "users"]

users = Table(
    "users",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(200), nullable=False, unique=True),  # shown in histories of tickets and entries
    Column("password", String(200)),  # an argon2 hash; none for those whom the identity provider knows
    Column("subject", String(500), unique=True),  # issuer and subject at the identity provider
    Column("language", String(8), nullable=False, default=""),  # of the interface; empty: the browser's
    Column("theme", String(8), nullable=False, default=""),  # light | dark; empty: the system's
    Column("created_at", Moment, nullable=False),
    Column("disabled_at", Moment),
)

memberships = Table(
    "memberships",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant", String(64), primary_key=True),
    Column("role", String(10), nullable=False),  # viewer | reviewer | admin
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String(64), primary_key=True),  # sha256 of what the cookie holds
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("tenant", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False, index=True),
)

# Counted in SQL, so that several gateways refuse together. Names are hashed: people type passwords there.
sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("id", RowNumber, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("name_hash", String(64), nullable=False),
    Column("address", String(64), nullable=False),
    Index(None, "name_hash", "at"),
    Index(None, "address", "at"),
)
