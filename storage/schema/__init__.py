"""Every table of Sekisho. SQL is the truth: what is not here did not happen."""

from storage.schema.acceptance import acceptance_pairs, acceptance_tests, acceptance_votes
from storage.schema.access import api_keys, settings
from storage.schema.answers import answers
from storage.schema.base import FreeText, Moment, metadata
from storage.schema.deliveries import deliveries, notices
from storage.schema.documents import documents, passages
from storage.schema.entries import entries, entry_history, entry_phrasings, entry_sources, suggestions
from storage.schema.erasures import erasures
from storage.schema.figures import outcome_hours
from storage.schema.gate import gate_examples
from storage.schema.labels import draft_labels
from storage.schema.outcomes import audit_windows, audits, feedback, outcomes
from storage.schema.people import memberships, sessions, sign_in_failures, users
from storage.schema.tickets import asked_by_somebody, ticket_events, tickets

__all__ = [
    "FreeText",
    "Moment",
    "acceptance_pairs",
    "acceptance_tests",
    "acceptance_votes",
    "answers",
    "api_keys",
    "asked_by_somebody",
    "audit_windows",
    "audits",
    "deliveries",
    "documents",
    "draft_labels",
    "entries",
    "entry_history",
    "entry_phrasings",
    "entry_sources",
    "erasures",
    "feedback",
    "gate_examples",
    "memberships",
    "metadata",
    "notices",
    "outcome_hours",
    "outcomes",
    "passages",
    "sessions",
    "settings",
    "sign_in_failures",
    "suggestions",
    "ticket_events",
    "tickets",
    "users",
]
