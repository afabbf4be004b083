"""Which view a person looks at, as the address says it: it can be sent to a colleague."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import cast, get_args
from urllib.parse import urlencode

from nicegui import ui

from gateway.console.components.chip import with_topic
from gateway.console.components.moments import zone_of
from gateway.console.texts import Texts
from gateway.console.visit import Visit
from gateway.figures.hours import View
from gateway.figures.periods import Period, last_days
from languages.identification import Language

__all__ = ["DAYS", "Seen", "ended", "is_dark", "seen_by"]

DAYS = (1, 7, 30, 90)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is looked at. `begins` narrows it to one step of the period."""

    tenant: str
    days: int = 7
    language: Language | None = None
    timezone: str = "UTC"
    begins: datetime | None = None

    def view(self) -> View:
        """The view, as of now."""
        period = last_days(self.days, timezone=self.timezone)
        if self.begins is not None:
            steps = (*period.steps(), period.until)
            later = [at for at in steps if at > self.begins]
            period = Period(self.begins, later[0] if later else period.until, period.days)
        return View(self.tenant, period, self.language)

    def address(self, path: str, **more: object) -> str:
        """The address of a page for the same view, narrowed further."""
        said: dict[str, object] = {"days": self.days, "language": self.language, "tenant": self.tenant}
        said |= {"timezone": self.timezone, "begins": self.begins and self.begins.isoformat(), **more}
        return f"{path}?{urlencode({name: value for name, value in said.items() if value is not None})}"


def seen_by(visit: Visit) -> Seen:
    """What the address says, as far as it makes sense and the person may see it."""
    asked = visit.query
    days = int(asked["days"]) if asked.get("days", "") in [str(one) for one in DAYS] else 7
    tenants = {one.tenant for one in visit.person.memberships}
    tenant = asked.get("tenant", visit.tenant)
    language = asked.get("language")
    return Seen(
        tenant=tenant if tenant in tenants else visit.tenant,
        days=days,
        language=cast("Language", language) if language in get_args(Language) else None,
        timezone=zone_of(asked["timezone"]).key if "timezone" in asked else visit.zone.key,
        begins=_moment(asked.get("begins")),
    )


async def is_dark(visit: Visit) -> bool:
    """Ask the browser whether it shows the dark theme; one that does not say gets light charts."""
    await visit.client.connected()
    with suppress(TimeoutError):
        return bool(await ui.run_javascript("document.body.classList.contains('body--dark')", timeout=5.0))
    return False


def ended(t: Texts, reason: str) -> str:
    """Why a question ended as it did, in the reader's words; a topic stands behind its class."""
    name, _, topic = reason.partition(":")
    said = t.or_else(f"ended.{name}", t.or_else(f"reasons.{name}", name))
    return with_topic(t, said, topic)


def _moment(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo else None
