"""`users`: who may sign in to the console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from rich.table import Table

from gateway.commands import ConfigOption, console, run, tenant_option
from gateway.configuration.loading import find_settings
from gateway.people import PersonRole, Users
from gateway.stores import open_database

__all__ = ["add_to"]

T = TypeVar("T")


Name = Annotated[str, typer.Argument(help="The user's name, as histories will show it.")]
Tenant = Annotated[str, tenant_option("Where the role holds.")]
Password = Annotated[
    str | None,
    typer.Option(envvar="CONSOLE_PASSWORD", help="Asked for if neither given nor in the environment."),
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    users = typer.Typer(help="Who may sign in to the console.", no_args_is_help=True)
    users.command("add")(add)
    users.command("list")(list_users)
    users.command("disable")(disable)
    users.command("password")(password)
    app.add_typer(users, name="users")


def add(
    name: Name,
    role: Annotated[PersonRole, typer.Option(help="What the user may do.")] = "reviewer",
    tenant: Tenant = "default",
    password: Password = None,
    config: ConfigOption = None,
) -> None:
    """Make a user, or give a known one a role in one more tenant."""

    async def work(users: Users) -> None:
        known = await users.find(name) is not None
        given = password or (None if known else _asked())
        await users.add(name, tenant=tenant, role=role, password=given)

    _with_users(config, work)
    console.print(f"{name} is {role} in {tenant}.")


def list_users(config: ConfigOption = None, tenant: Annotated[str | None, typer.Option()] = None) -> None:
    """List users with their roles."""

    async def work(users: Users) -> Table:
        table = Table("name", "roles", "signs in by", "since", "disabled")
        for one in await users.list(tenant=tenant):
            roles = ", ".join(f"{member.role} in {member.tenant}" for member in one.memberships)
            way = "password" if one.password else "identity provider"
            disabled = f"{one.disabled_at:%Y-%m-%d}" if one.disabled_at else ""
            table.add_row(one.name, roles, way, f"{one.created_at:%Y-%m-%d}", disabled)
        return table

    console.print(_with_users(config, work))


def disable(name: Name, config: ConfigOption = None) -> None:
    """Keep a user out from now on; a new password lets them in again."""
    _with_users(config, lambda users: users.disable(name))
    console.print(f"{name} is signed out and can't sign in.")


def password(name: Name, password: Password = None, config: ConfigOption = None) -> None:
    """Give a user another password; they are signed out everywhere."""
    _with_users(config, lambda users: users.set_password(name, password or _asked()))
    console.print(f"{name} has a new password.")


def _asked() -> str:
    given: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    return given


def _with_users(config: ConfigOption, work: Callable[[Users], Awaitable[T]]) -> T:
    settings = find_settings(config)

    async def opened() -> T:
        async with open_database(settings) as database:
            return await work(Users(database, reserved=settings.auth.names))

    return run(opened())
