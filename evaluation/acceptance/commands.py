"""`sekisho acceptance`: people judge blindly whether the gateway answers as well as the ground truths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cache.store.rows import new_id
from evaluation.acceptance.drawing import Key, drawn, read_key
from evaluation.acceptance.sheet import read_sheet, write_sheet
from evaluation.acceptance.verdict import Result, unblinded
from evaluation.answers.runs import open_results
from evaluation.command_line import Config, Json, console, tell
from evaluation.extras import check_installed
from evaluation.pages import write_page
from gateway.commands import run, tenant_option
from gateway.configuration.loading import find_settings
from gateway.errors import InvalidRequest
from gateway.review.acceptance_tests import AcceptanceTest, AcceptanceTests, commitment_of
from gateway.settings import Settings
from gateway.stores import open_database

__all__ = ["acceptance", "create_command", "read_command", "report_command", "sheet_command"]

acceptance = typer.Typer(
    help="Blind tests: is the gateway's answer as good as the ground truth?", no_args_is_help=True
)

Test = Annotated[str, typer.Argument(help="The test's id.")]
Tenant = Annotated[str, tenant_option("Whose test.")]
KeyFile = Annotated[Path, typer.Option("--key", help="The file that tells the answers apart.")]


@acceptance.command("create")
def create_command(
    run_folder: Annotated[Path, typer.Option("--run", help="A run of `sekisho evaluate answers`.")],
    key: KeyFile,
    n: Annotated[int, typer.Option(help="Pairs to judge.", min=1)] = 60,
    margin: Annotated[
        float,
        typer.Option(help="How far wins − losses may lie below 0, as a share.", min=0, max=1),
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Draws the questions.")] = 1,
    name: Annotated[str, typer.Option(help="What judges see.")] = "Acceptance",
    tenant: Tenant = "default",
    config: Config = None,
) -> None:
    """Draw questions of a run, and put ground truth and answer side by side in an order nobody knows."""
    settings = find_settings(config)
    sample = drawn(open_results(run_folder), n, seed=seed)
    commitment = commitment_of(sample.pairs, margin=margin, key=sample.secret)
    if key.exists():
        raise InvalidRequest(f"--key: {key} exists already; a key is never overwritten")
    id_ = new_id()

    async def keep() -> None:
        async with open_database(settings) as database:
            await AcceptanceTests(database).create(
                sample.pairs, id_=id_, tenant=tenant, name=name, margin=margin, commitment=commitment,
                by="sekisho acceptance",
            )  # fmt: skip

    # First: a key without its test does no harm, a test without its key can never be read.
    Key(test=id_, secret=sample.secret, seed=seed, commitment=commitment).write(key)
    run(keep())
    console.print(
        f"Test {id_}: {n} pairs, margin {margin:g}. Judges find it in the console under /console/acceptance."
    )
    console.print(f"{key} tells the answers apart: nobody who judges may see it. Commitment {commitment}.")


@acceptance.command("sheet")
def sheet_command(
    test: Test,
    out: Annotated[Path, typer.Option(help="Write the sheet there (XLSX).")],
    judge: Annotated[str, typer.Option(help="Who judges on it: the order is their own.")],
    tenant: Tenant = "default",
    config: Config = None,
) -> None:
    """A sheet for a judge who does not use the console."""

    async def left() -> None:
        async with open_database(find_settings(config)) as database:
            pairs = await AcceptanceTests(database).left_to(test, tenant=tenant, by=judge)
        write_sheet(out, test, pairs)
        console.print(f"{len(pairs)} pairs for {judge}: {out}")

    run(left())


@acceptance.command("read")
def read_command(
    test: Test,
    file: Annotated[Path, typer.Argument(help="The sheet, filled in.")],
    judge: Annotated[str, typer.Option(help="Who judged on it.")],
    tenant: Tenant = "default",
    config: Config = None,
) -> None:
    """Take the votes of a sheet."""
    votes = list(read_sheet(file, test))

    async def keep() -> None:
        async with open_database(find_settings(config)) as database:
            store = AcceptanceTests(database)
            numbers = {pair.number for pair in await store.pairs(test, tenant=tenant)}
            if strange := sorted({number for number, *_ in votes} - numbers):
                raise InvalidRequest(f"{file}: number: there is no pair {strange[0]} in this test")
            for number, better, critical, why in votes:
                await store.vote(
                    test, number, better, tenant=tenant, by=judge, critical=critical, comment=why
                )

    run(keep())
    console.print(f"{len(votes)} votes of {judge} are kept")


@acceptance.command("report")
def report_command(
    test: Test,
    key: Annotated[
        Path | None, typer.Option(help="Tells the answers apart and ends the test; without it, the progress.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report there (HTML).")] = None,
    tenant: Tenant = "default",
    json_file: Json = None,
    config: Config = None,
) -> None:
    """How far the test is; with the key, what it says."""
    settings = find_settings(config)
    if key is None:
        _progress(run(_standing(settings, test, tenant)))
        return
    check_installed("nltk", "the agreement of the judges is worked out with nltk")  # before the test ends
    known = read_key(key)
    result = run(_ended(settings, test, tenant, known))
    tell([_table(result)], result.as_json(), json_file)
    verdict = "not inferior" if result.not_inferior else "not shown to be not inferior"
    console.print(
        f"Wins − losses {result.net:+.1%}, at least {result.net_at_least:+.1%}, "
        f"margin −{result.test.margin:.1%}: {verdict}"
    )
    if out:
        _page(out, result, known)
        console.print(f"{out} is written")


async def _standing(settings: Settings, test: str, tenant: str) -> AcceptanceTest:
    async with open_database(settings) as database:
        return await AcceptanceTests(database).test(test, tenant=tenant)


async def _ended(settings: Settings, test: str, tenant: str, key: Key) -> Result:
    """Nothing is told apart while votes still come: it is closed first."""
    async with open_database(settings) as database:
        store = AcceptanceTests(database)
        found = await store.test(test, tenant=tenant)
        pairs, votes = await store.pairs(test, tenant=tenant), await store.votes(test, tenant=tenant)
        unblinded(found, pairs, votes, key)  # a wrong key must not end the test
        await store.close(test, tenant=tenant)
        votes = await store.votes(test, tenant=tenant)
        return unblinded(await store.test(test, tenant=tenant), pairs, votes, key)


def _progress(test: AcceptanceTest) -> None:
    table = Table(title=f"{test.name}: {test.pairs} pairs")
    table.add_column("judge")
    table.add_column("judged", justify="right")
    for judge, n in sorted(test.votes.items()):
        table.add_row(judge, f"{n} of {test.pairs}")
    console.print(table)


def _table(result: Result) -> Table:
    table = Table(title=f"{result.test.name}: the gateway's answer beside the ground truth")
    for name in ("", "pairs", "share", "exact 95 %"):
        table.add_column(name, justify="left" if not name else "right")
    for outcome, told in (("win", "better"), ("tie", "as good"), ("loss", "worse")):
        n = result.count(outcome)  # type: ignore[arg-type]
        low, high = result.interval(outcome)  # type: ignore[arg-type]
        table.add_row(told, str(n), f"{n / result.judged:.1%}", f"{low:.1%} to {high:.1%}")
    alpha = "–" if result.alpha is None else f"{result.alpha:.2f}"
    table.caption = f"{result.judged} of {len(result.pairs)} judged; Krippendorff's alpha {alpha}"
    return table


def _page(file: Path, result: Result, key: Key) -> None:
    rows = result.pairs
    write_page(
        file,
        "acceptance.html",
        title=result.test.name,
        about=f"{len(rows)} questions; people judged without knowing which answer was whose.",
        result=result,
        seed=key.seed,
        sections=(
            ("Lost or critical", [one for one in rows if one.outcome == "loss" or one.critical]),
            ("Won", [one for one in rows if one.outcome == "win" and not one.critical]),
        ),
    )
