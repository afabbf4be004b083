"""`ask`: one question from the command line."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import openai
import typer
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gateway.assembly import assemble
from gateway.commands import ConfigOption, console, run, tenant_option
from gateway.configuration.loading import find_settings
from gateway.domain import Conversation, Turn
from gateway.errors import NotAuthenticated, UpstreamUnavailable
from gateway.recording.logs import configure_logging
from gateway.routes.decision import answer_body

__all__ = ["add_to"]

_COLOURS = {"refused": "red", "withheld": "yellow", "escalated": "yellow"}

Url = Annotated[str | None, typer.Option(help="Ask a running gateway there.", envvar="SEKISHO_URL")]
Key = Annotated[str, typer.Option(help="The API key for --url.", envvar="SEKISHO_KEY")]
Tenant = Annotated[str, tenant_option("Whose shelf to ask, without --url.")]
AskersGroup = Annotated[str, typer.Option(help="Of which group to ask there; by default of none.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what /v1/answers says.")]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("ask")(ask_command)


def ask_command(
    question: str,
    config: ConfigOption = None,
    url: Url = None,
    key: Key = "",
    tenant: Tenant = "default",
    group: AskersGroup = "",
    as_json: AsJson = False,
) -> None:
    """Ask one question, in this process or a running gateway, and show the way it took."""

    async def ask() -> None:
        body = await _over_http(question, url, key) if url else await _here(question, config, tenant, group)
        if as_json:
            console.print_json(data=body)
        else:
            console.print(_picture(body))

    run(ask())


async def _here(question: str, config: ConfigOption, tenant: str, group: str) -> dict[str, Any]:
    request_id = uuid.uuid4().hex[:24]
    settings = find_settings(config)
    configure_logging(settings.logging.model_copy(update={"level": "error"}))  # the picture says the rest
    async with assemble(settings) as services:
        asked = Conversation(
            turns=(Turn("user", question),), tenant=tenant, group=group, request_id=request_id
        )
        return answer_body(await services.pipeline.answer(asked), request_id)


async def _over_http(question: str, url: str, key: str) -> dict[str, Any]:
    """Our own path through OpenAI's client: its retries and its errors."""
    base_url = f"{url.rstrip('/').removesuffix('/v1')}/v1"  # with it or without
    async with openai.AsyncOpenAI(base_url=base_url, api_key=key or "none") as client:
        try:
            body: dict[str, Any] = await client.post(
                "/answers", body={"question": question}, cast_to=dict[str, Any]
            )
        except openai.AuthenticationError as exc:
            why = "does not know the API key that was given" if key else "asks for an API key"
            raise NotAuthenticated(f"the gateway at {url} {why}: --key, or SEKISHO_KEY") from exc
        except openai.APIStatusError as exc:
            raise UpstreamUnavailable(f"the gateway says {exc.status_code}: {exc.message}") from exc
        except openai.APIConnectionError as exc:
            raise UpstreamUnavailable(f"no gateway answers at {url}") from exc
    return body


def _picture(body: dict[str, Any]) -> Group:
    panels = [_panel(one) for one in body["questions"]]
    return Group(*panels) if panels else Group(Panel(body["text"], title="small talk"))


def _panel(one: dict[str, Any]) -> Panel:
    way = Table.grid(padding=(0, 2))
    for step in one["steps"]:
        found = step["found"]
        told = found.get("label") or found["type"]
        way.add_row(
            Text(step["stage"], style="bold"),
            f"{step['ms']:.1f} ms",
            Text(f"{told}: {found.get('reason', '')}", style="dim"),
        )
    colour = _COLOURS.get(one["outcome"], "green")
    title = " · ".join(filter(None, (one["outcome"], one["reason"], one["ticket"])))
    return Panel(
        Group(Text(one["question"], style="dim"), Text(one["text"]), "", way),
        title=Text(title, style=f"bold {colour}"),
        border_style=colour,
    )
