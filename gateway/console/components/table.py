"""A table whose rows come from the server a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nicegui import ui
from nicegui.events import GenericEventArguments

from gateway.console.visit import Visit

__all__ = ["Column", "Rows", "Table", "Wanted"]

PAGE = 50  # rows, until the reader chooses


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; `kind` says how its values look. A chip's tone stands in the row as `NAME_tone`."""

    name: str
    label: str
    kind: Literal["text", "number", "chip", "quiet"] = "text"
    sortable: bool = False
    width: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are wanted."""

    offset: int
    limit: int
    sort: str | None
    descending: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows, each with an `id`, and how many there are in all."""

    rows: Sequence[Mapping[str, Any]]
    total: int


class Table:
    """Asks `fetch` for the page that is looked at; `refresh` asks again."""

    def __init__(
        self,
        visit: Visit,
        columns: Sequence[Column],
        fetch: Callable[[Wanted], Awaitable[Rows]],
        *,
        on_open: Callable[[str], Any] | None = None,
    ) -> None:
        t = visit.t
        self._fetch = fetch
        self._names = [one.name for one in columns]
        self._hidden: set[str] = set()
        self._wanted = Wanted(0, PAGE, None, False)
        self._table = ui.table(
            columns=[_column(one) for one in columns],
            rows=[],
            row_key="id",
            pagination={"rowsPerPage": PAGE, "rowsNumber": 0},
        ).classes("rows")
        self._table.props(f'flat dense separator="horizontal" no-data-label="{t("table.empty")}"')
        self._table.props(f'rows-per-page-label="{t("table.per_page")}" :rows-per-page-options="[25,50,100]"')
        for one in columns:
            if one.kind == "chip":
                self._table.add_slot(f"body-cell-{one.name}", CHIP)
        self._table.on("request", visit.action(self._requested, role="viewer"))
        if on_open is not None:
            self._table.classes("opens")
            self._table.on("row-click", lambda event: on_open(str(event.args["id"])), js_handler=ROW_ID)

    def show(self, name: str, *, shown: bool) -> None:
        """Show a column, or hide it as long as it has nothing to say."""
        (self._hidden.discard if shown else self._hidden.add)(name)
        self._table.props["visible-columns"] = [one for one in self._names if one not in self._hidden]

    async def refresh(self, *, from_start: bool = False) -> None:
        """Fetch the rows again."""
        if from_start:
            self._wanted = Wanted(0, self._wanted.limit, self._wanted.sort, self._wanted.descending)
        found = await self._fetch(self._wanted)
        self._table.rows = [dict(row) for row in found.rows]
        self._table.pagination = {
            "page": self._wanted.offset // self._wanted.limit + 1,
            "rowsPerPage": self._wanted.limit,
            "rowsNumber": found.total,
            "sortBy": self._wanted.sort,
            "descending": self._wanted.descending,
        }

    async def _requested(self, event: GenericEventArguments) -> None:
        asked = event.args["pagination"]
        limit = min(max(int(asked.get("rowsPerPage") or PAGE), 1), 200)
        offset = (max(int(asked.get("page") or 1), 1) - 1) * limit
        self._wanted = Wanted(offset, limit, asked.get("sortBy"), bool(asked.get("descending")))
        await self.refresh()


ROW_ID = "(event, row, index) => emit({id: row.id})"
CHIP = """<q-td :props="props">
<span v-if="props.value" class="chip" :class="props.row[props.col.name + '_tone']">{{ props.value }}</span>
</q-td>"""


def _column(column: Column) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": column.name,
        "label": column.label,
        "field": column.name,
        "align": "right" if column.kind == "number" else "left",
        "sortable": column.sortable,
        "classes": "" if column.kind == "chip" else column.kind,
    }
    return shown | ({"style": f"width:{column.width}"} if column.width else {})
