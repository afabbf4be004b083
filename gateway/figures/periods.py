"""The last days of an owner, in their time zone. Counts are kept by the hour, so days begin on one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gateway.errors import InvalidRequest

__all__ = ["LONGEST_DAYS", "Period", "last_days"]

LONGEST_DAYS = 366
_BY_THE_HOUR = 2  # days: a longer period is drawn by days


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` up to, and without, `until`; both are in the owner's zone."""

    since: datetime
    until: datetime
    days: int

    @property
    def before(self) -> Period:
        """As many days earlier, up to the same time of day: what a trend compares with."""
        earlier = timedelta(days=self.days)
        return Period(self.since - earlier, self.until - earlier, self.days)

    @property
    def by_the_hour(self) -> bool:
        """Whether it is short enough to be drawn hour by hour."""
        return self.days <= _BY_THE_HOUR

    def step_of(self, hour: datetime) -> datetime:
        """The beginning of the day (or hour) that an hour belongs to."""
        local = hour.astimezone(self.since.tzinfo)
        return local if self.by_the_hour else _midnight(local)

    def steps(self) -> tuple[datetime, ...]:
        """Every day (or hour) of the period, with or without questions."""
        if self.by_the_hour:
            first, last = self.since.astimezone(UTC), self.until.astimezone(UTC)
            hours = range(int((last - first) / timedelta(hours=1) + 0.999999))
            return tuple(self.step_of(first + timedelta(hours=hour)) for hour in hours)
        return tuple(self.since + timedelta(days=day) for day in range(self.days))


def last_days(days: int, *, timezone: str = "UTC", now: datetime | None = None) -> Period:
    """Today and the days before it, `days` in all.

    Raises:
        InvalidRequest: naming `days` or `timezone`.
    """
    if not 1 <= days <= LONGEST_DAYS:
        raise InvalidRequest(f"days must be from 1 to {LONGEST_DAYS}, not {days}", param="days")
    until = (now or datetime.now(UTC)).astimezone(_zone(timezone))
    return Period(_midnight(until) - timedelta(days=days - 1), until, days)


def _midnight(local: datetime) -> datetime:
    return datetime.combine(local.date(), time.min, local.tzinfo)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise InvalidRequest(
            f"timezone must be a name such as Asia/Tokyo, not {name[:60]!r}", param="timezone"
        ) from exc
