"""One person's look at one page: who it is, in which language, and what they may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from nicegui import Client, ui

from cache.errors import CacheError, DuplicatePhrasing, InvalidEntry, TooLong
from classifiers import ClassifierError
from encoders import EncoderError
from gateway.assembly import Services
from gateway.console.components.keys import Keys
from gateway.console.components.reasons import expected_of
from gateway.console.components.telling import Telling, Undo, tell
from gateway.console.texts import Texts
from gateway.errors import InvalidRequest, NotAllowed, SekishoError
from gateway.people import Person, PersonRole
from gateway.recording.failures import log_failure
from storage.sql import DatabaseUnavailable
from storage.vectors import IndexUnavailable

__all__ = ["Visit", "Work"]

Work = Callable[..., Awaitable[None]]
NAMED = (SekishoError, CacheError, ClassifierError, DatabaseUnavailable, IndexUnavailable, EncoderError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What a page is shown with."""

    services: Services
    person: Person
    t: Texts
    keys: Keys
    client: Client = field(repr=False)
    cookie: str = field(repr=False)
    zone: ZoneInfo = field(default=ZoneInfo("UTC"))
    root: str = ""  # where the console is mounted
    path: str = "/"
    params: Mapping[str, str] = field(default_factory=dict)  # of the address: /tickets/{ticket_id}
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def tenant(self) -> str:
        """Whose questions and entries are shown."""
        return self.person.tenant

    def action(self, work: Work, *, role: PersonRole = "reviewer") -> Work:
        """A handler for what a person does: checked on the server each time; failures are told."""

        @wraps(work)
        async def guarded(*args: Any, **kwargs: Any) -> None:
            try:
                await self._still(role)
                await work(*args, **kwargs)
            except Exception as exc:  # noqa: BLE001 - a click is never without an answer
                _log(exc)
                tell(self.client, _explained(self.t, exc), kind="problem")

        return guarded

    def tell(self, text: str, *, kind: Telling = "done", undo: Undo | None = None) -> None:
        """Say at the foot of the page what was done, and offer to undo it; or what went wrong."""
        taken_back = None if undo is None else self.action(undo)
        tell(self.client, text, kind=kind, undo=taken_back, undo_text=self.t("frame.undo"))

    async def _still(self, role: PersonRole) -> None:
        """Raises `NotAllowed` if the session ended, or the role was taken away since the page was shown."""
        now = await self.services.people.sessions.find(self.cookie)
        if now is None:
            ui.navigate.to("/sign-in")
            raise NotAllowed("signed out")
        if now.tenant != self.person.tenant or not now.may(role):
            raise NotAllowed(f"this needs the role {role}")


def _log(problem: Exception) -> None:
    """What a person did wrong is no news to an operator; what broke is."""
    log = structlog.get_logger("sekisho.console")
    if isinstance(problem, CacheError) or (
        isinstance(problem, SekishoError) and problem.status < HTTPStatus.INTERNAL_SERVER_ERROR
    ):
        log.info("action refused", error=type(problem).__name__)
    else:
        log_failure(log, "action failed", problem)


def _explained(t: Texts, problem: Exception) -> str:
    """What went wrong, in the person's words; for a reader of English, what exactly stands beside it."""
    if not isinstance(problem, NAMED):
        return t("errors.internal_error")
    if isinstance(problem, TooLong):
        field = t.or_else(f"entry.{problem.field}", problem.field)
        return t("errors.TooLong", field=field, longest=problem.longest, found=problem.found)
    code = problem.code if isinstance(problem, SekishoError) else type(problem).__name__
    said = t.or_else(f"errors.{code}", t("errors.other"))
    if t.language == "en":
        return f"{said} {problem}"
    return said + expected_of(t, _field_of(problem), "")


def _field_of(problem: Exception) -> str:
    """The field that can't be used, where what it takes can be said whatever is wrong with it."""
    match problem:
        case DuplicatePhrasing():
            return ""  # says it itself
        case InvalidEntry(field=name) | InvalidRequest(param=str(name)) if name not in (
            "question",
            "language",
        ):
            return name
    return ""
