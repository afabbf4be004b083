"""What can go wrong with verified entries, named as facts.

```
CacheError
├── EntryNotFound      no such entry on this tenant's shelf
├── EntryConflict      someone changed the entry since it was read
├── InvalidEntry       a field of an entry can't be used
│   ├── TooLong            it has more characters than are kept
│   ├── DuplicatePhrasing  another active entry already answers exactly this
│   ├── AnswerWithdrawn    an entry that says just this was taken out of service
│   └── OutdatedRow        the entry changed since the row that is to replace it was exported
├── ForbiddenChange    the entry's state does not allow that change
├── SecondPersonNeeded who wrote an entry wants to activate it, where two persons are asked for
├── SuggestionNotFound no such suggestion for this tenant
├── SuggestionDecided  somebody else decided on the suggestion first
└── UnreadableTable    a file can't be read as a table of entries at all
    └── MissingColumns     no row of its first has the headings that are asked for
```
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

__all__ = [
    "AnswerWithdrawn",
    "CacheError",
    "DuplicatePhrasing",
    "EntryConflict",
    "EntryNotFound",
    "ForbiddenChange",
    "InvalidEntry",
    "MissingColumns",
    "OutdatedRow",
    "SecondPersonNeeded",
    "SuggestionDecided",
    "SuggestionNotFound",
    "TooLong",
    "UnreadableTable",
]


class CacheError(Exception):
    """Anything the cache refuses to do; the message is a sentence for a person."""


class EntryNotFound(CacheError):  # noqa: N818 - errors are named as facts
    """There is no such entry on this tenant's shelf."""

    def __init__(self, entry_id: str) -> None:
        super().__init__(f"there is no entry {entry_id}")
        self.entry_id = entry_id


class EntryConflict(CacheError):  # noqa: N818 - errors are named as facts
    """The entry was changed since the caller read it."""

    def __init__(self, entry_id: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"entry {entry_id} is at revision {found}, the change was made on revision {expected}: "
            "read it again"
        )
        self.entry_id = entry_id
        self.expected = expected
        self.found = found


class InvalidEntry(CacheError):  # noqa: N818 - errors are named as facts
    """A field of an entry can't be used; `expected` says what would be."""

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"{field}: {expected}")
        self.field = field
        self.expected = expected


class TooLong(InvalidEntry):
    """A text has `found` characters, and at most `longest` are kept."""

    def __init__(self, field: str, *, longest: int, found: int) -> None:
        super().__init__(field, f"expected at most {longest} characters, found {found}")
        self.longest = longest
        self.found = found


class DuplicatePhrasing(InvalidEntry):
    """Another active entry of the same tenant and language has this phrasing."""

    def __init__(self, phrasing: str, *, other: str) -> None:
        super().__init__("phrasings", f"“{phrasing}” already belongs to the active entry {other}")
        self.phrasing = phrasing
        self.other = other


class AnswerWithdrawn(InvalidEntry):
    """A paused, stale or retired entry of the same shelf gives this answer to this question."""

    def __init__(self, other: str, *, state: str, changed: date) -> None:
        said = f"this answer was withdrawn: the entry {other} is {state} (last changed on {changed})"
        super().__init__("state", said)
        self.other = other


class OutdatedRow(InvalidEntry):
    """A row was exported from another revision of the entry, and would undo what people changed since."""

    def __init__(self, entry_id: str, *, state: str, found: int) -> None:
        said = f"the entry {entry_id} changed since it was exported: it is {state} now, at revision {found}"
        super().__init__("revision", said)


class ForbiddenChange(CacheError):  # noqa: N818 - errors are named as facts
    """The entry's state does not allow the change."""

    def __init__(self, entry_id: str, *, state: str, change: str, allowed: tuple[str, ...]) -> None:
        ways = ", ".join(allowed) or "none"
        super().__init__(f"entry {entry_id} is {state} and can't become {change} (allowed: {ways})")
        self.entry_id = entry_id
        self.state = state
        self.change = change


class SecondPersonNeeded(CacheError):  # noqa: N818 - errors are named as facts
    """Who wrote an entry wants to activate it, and two persons are asked for."""

    def __init__(self, entry_id: str, *, by: str) -> None:
        super().__init__(f"{by} wrote what entry {entry_id} says: another person has to activate it")
        self.entry_id = entry_id
        self.by = by


class SuggestionNotFound(CacheError):  # noqa: N818 - errors are named as facts
    """There is no such suggestion for this tenant."""

    def __init__(self, suggestion_id: str) -> None:
        super().__init__(f"there is no suggestion {suggestion_id}")


class SuggestionDecided(CacheError):  # noqa: N818 - errors are named as facts
    """Somebody else decided on the suggestion first, and otherwise."""

    def __init__(self, suggestion_id: str, *, state: str, by: str) -> None:
        super().__init__(f"suggestion {suggestion_id} was already {state} by {by}")


class UnreadableTable(CacheError):  # noqa: N818 - errors are named as facts
    """A file can't be read as a table of entries; the message says where and what was expected.

    `why` is `formulas` where their values are missing, `encoding` where it is known not to be UTF-8, else
    nothing.
    """

    def __init__(self, message: str, *, why: str = "") -> None:
        super().__init__(message)
        self.why = why


class MissingColumns(UnreadableTable):
    """No row among the first of a file has all headings that are asked for."""

    def __init__(self, file: str, missing: Sequence[str], *, found: Sequence[str]) -> None:
        named = ", ".join(found) or "none"
        super().__init__(f"{file}: missing columns: {', '.join(missing)} (found: {named})")
        self.missing = tuple(missing)
