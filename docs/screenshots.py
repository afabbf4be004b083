"""Take the pictures of the console that stand in docs/screenshots. Needs chromium.

    python -m docs.screenshots

A gateway with the example helpdesk is asked the questions of its tour and some more, so that what the
pictures show went the way of a question.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gateway.demo import HELPDESK, CarelessRag, demo_settings, load
from gateway.settings import Settings
from tests.console.browsing import PASSWORDS, Chromium
from tests.gateway.running import KEYS, Gateway

FOLDER = Path(__file__).parent / "screenshots"
PICTURES = (
    # name, path, locale, scheme, width, height
    ("sign-in", "/sign-in", "ja-JP", "light", 1440, 900),
    ("queue", "/", "en-US", "light", 1440, 900),
    ("queue-ja-dark", "/", "ja-JP", "dark", 1440, 900),
    ("ticket", "/tickets/{ticket}?do=e", "en-US", "light", 1440, 900),
    ("ticket-ja-dark", "/tickets/{ticket}?do=e", "ja-JP", "dark", 1440, 900),
)


def settings(folder: Path) -> Settings:
    """The example's, on a free port and with a key to ask with."""
    own = demo_settings(folder)
    key = {"key": KEYS["client"], "role": "client"}
    return own.model_copy(
        update={
            "server": own.server.model_copy(update={"port": 0}),
            "auth": type(own.auth).model_validate({"keys": [key]}),
        }
    )


def main() -> None:
    """Ask, then look."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = settings(Path(folder))
        asyncio.run(load(chosen))
        with Gateway(chosen, start_within_s=300, around_rag=CarelessRag) as gateway:
            users = gateway.services.people.users
            gateway.do(users.add("sato", tenant="default", role="admin", password=PASSWORDS["sato"]))
            take(gateway, asked(gateway))


def asked(gateway: Gateway) -> dict[str, str]:
    """Ask everything; by language, a ticket with a withheld draft, which shows most."""
    more = (FOLDER / "questions.txt").read_text("utf-8").splitlines()
    questions = [*_rows("*/tour.jsonl"), *more, *_rows("careless.jsonl")]
    replies = [gateway.answer(question) for question in questions]
    gateway.do(gateway.services.queue.catch_up())
    return {reply["language"]: reply["ticket"] for reply in replies if reply["outcome"] == "withheld"}


def _rows(pattern: str) -> list[str]:
    lines = [line for file in sorted(HELPDESK.glob(pattern)) for line in file.read_text("utf-8").splitlines()]
    return [row["question"] for row in map(json.loads, lines) if "question" in row]


def take(gateway: Gateway, tickets: Mapping[str, str]) -> None:
    """One picture after the other."""
    FOLDER.mkdir(exist_ok=True)
    with Chromium() as chromium:
        for name, path, locale, scheme, width, height in PICTURES:
            size = {"width": width, "height": height}
            with chromium.person(gateway.url, locale=locale, color_scheme=scheme, viewport=size) as sato:
                at = "/console" + path.format(ticket=tickets[locale[:2]])
                page = sato.page
                page.goto(at) if path == "/sign-in" else sato.sign_in(at=at)
                page.wait_for_timeout(2_500)
                page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
