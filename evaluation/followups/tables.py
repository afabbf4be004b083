"""What was looked up of the turns of conversations, as a table for people."""

from __future__ import annotations

from rich.table import Table

from evaluation.command_line import BASELINE, latency
from evaluation.followups.judging import FollowUpsResult

__all__ = ["followups_table"]


def followups_table(result: FollowUpsResult) -> list[Table]:
    """What is looked up though it depends on earlier turns, and held back though it does not."""
    found = result.as_json()
    table = Table(
        "",
        "dependent, looked up (missed)",
        "self-contained, held back",
        title=f"{found['n']} turns, {found['dependent']} of them dependent on earlier ones",
    )
    for name, (missed, held) in result.ways().items():
        table.add_row(name, str(missed), str(held), style="" if name == "Sekisho" else BASELINE)
    table.caption = latency(found)
    return [table]
