"""All pages, in the order of the navigation."""

from __future__ import annotations

from gateway.console.pages import audit, dashboard, questions, queue, ticket, try_it
from gateway.console.pages.page import Page

__all__ = ["PAGES"]

PAGES: tuple[Page, ...] = (
    Page(path="/", name="queue", show=queue.show, icon="inbox"),
    Page(path="/audit", name="audit", show=audit.show, role="reviewer", icon="fact_check"),
    Page(path="/dashboard", name="dashboard", show=dashboard.show, icon="insights"),
    Page(path="/try", name="try_it", show=try_it.show, role="reviewer", icon="route"),
    Page(path="/questions", name="questions", show=questions.show),
    Page(path="/tickets/{ticket_id}", name="ticket", show=ticket.show),
)
