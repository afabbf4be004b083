"""All pages, in the order of the navigation."""

from __future__ import annotations

from gateway.console.pages import (
    acceptance,
    audit,
    dashboard,
    deliveries,
    entries,
    entries_import,
    entry,
    examples,
    questions,
    queue,
    ticket,
    try_it,
    users,
)
from gateway.console.pages.page import Page

__all__ = ["PAGES"]

PAGES: tuple[Page, ...] = (
    Page(path="/", name="queue", show=queue.show, icon="inbox"),
    Page(path="/entries", name="entries", show=entries.show, icon="verified"),
    Page(path="/audit", name="audit", show=audit.show, role="reviewer", icon="fact_check"),
    Page(path="/acceptance", name="acceptance", show=acceptance.show, role="reviewer", icon="balance"),
    Page(path="/dashboard", name="dashboard", show=dashboard.show, icon="insights"),
    Page(path="/try", name="try_it", show=try_it.show, role="reviewer", icon="route"),
    Page(path="/examples", name="examples", show=examples.show, role="reviewer", icon="rule"),
    Page(path="/users", name="users", show=users.show, role="admin", icon="group"),
    Page(
        path="/deliveries",
        name="deliveries",
        show=deliveries.show,
        role="admin",
        icon="forward_to_inbox",
        alarms=deliveries.dead_letters,
    ),
    Page(path="/questions", name="questions", show=questions.show),
    Page(path="/acceptance/{test_id}", name="acceptance_test", show=acceptance.show_test, role="reviewer"),
    Page(path="/entries/new", name="entry_new", show=entry.show_new, role="reviewer"),
    Page(path="/entries/import", name="entries_import", show=entries_import.show, role="reviewer"),
    Page(path="/entries/{entry_id}", name="entry", show=entry.show),
    Page(path="/tickets/{ticket_id}", name="ticket", show=ticket.show),
)
