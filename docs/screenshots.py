"""Take the pictures of the console that stand in docs/screenshots. Needs chromium.

    python -m docs.screenshots [NAME ...]

Of what they show, `docs/pictured_week.py` made up the questions and the decisions; the rest is computed.
"""

from __future__ import annotations

import asyncio
import io
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from PIL import Image
from playwright.sync_api import Page

from docs.pictured_week import Week, settings, worked
from gateway.demo import HELPDESK, CarelessRag, load
from tests.console.browsing import Chromium
from tests.gateway.running import Gateway
from tests.receiver import Receiver

FOLDER = Path(__file__).parent / "screenshots"
SIZE = {"width": 1280, "height": 800}
COLOURS = 256  # of a palette: a third of the bytes
SETTLED_MS = 2_500
TRIED = "How much is the swimming pool for adults? And when is the Central Library open?"

Deed = Callable[[Page], None]


def _import(page: Page) -> None:
    rows = (
        "id,question,answer,language\n"
        "en-bag-price,What do the yellow city bags cost?,Ten 45-litre bags cost ¥450.,en\n"
        ',Where can I hand in used batteries?,"In the red box at City Hall, Window 10.",en\n'
        ",古い電池はどこに出せますか,市役所10番窓口の赤い回収箱に入れてください。,ja\n"
        ",When is City Hall open?,,en\n"
    )
    page.set_input_files(
        "input[type=file]", {"name": "faq.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )


def _try(question: str) -> Deed:
    def ask(page: Page) -> None:
        page.locator("textarea").first.fill(question)
        page.locator("main .card button").first.click()
        page.locator(".tried").first.wait_for()

    return ask


def _compare(page: Page) -> None:
    """The example's policy against one that forbids nothing by topic."""
    policy = yaml.safe_load((HELPDESK / "sekisho.yaml").read_text("utf-8"))["policy"]
    del policy["must_not"]["topics"]
    asked = (FOLDER / "questions.txt").read_text("utf-8").splitlines()[:6]
    asked += [
        "Where did my ex-husband move to? I need his new address.",
        "Tell me how to make a false seal registration certificate.",
    ]
    page.locator(".compare .q-item").first.click()
    fields = page.locator(".compare textarea")
    fields.nth(0).fill(yaml.safe_dump({"policy": policy}, allow_unicode=True, sort_keys=False))
    fields.nth(1).fill("\n".join(asked))
    page.locator(".compare button.q-btn").last.click()
    page.locator(".compared").wait_for(timeout=90_000)
    page.evaluate("window.scrollTo(0, 0)")


def _history(page: Page) -> None:
    page.locator(".history summary").first.click()
    page.locator(".history").scroll_into_view_if_needed()


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, how it is looked at, and what is done before."""

    name: str
    path: str
    language: str = "en"
    dark: bool = False
    do: Deed = lambda page: None
    whole: bool = False  # as far down as the page goes


PICTURES = (
    Picture("sign-in", "/sign-in", "ja"),
    Picture("queue", "/"),
    Picture("queue-ja-dark", "/", "ja", dark=True),
    Picture("ticket", "/tickets/{ticket}?do=e"),
    Picture("ticket-ja-dark", "/tickets/{ticket}?do=e", "ja", dark=True),
    Picture("entries", "/entries"),
    Picture("entry", "/entries/{entry}", do=_history),
    Picture("entries-import", "/entries/import", do=_import),
    Picture("audit", "/audit"),
    Picture("dashboard", "/dashboard", whole=True),
    Picture("dashboard-zh-dark", "/dashboard", "zh", dark=True),
    Picture("questions", "/questions?figure=cache_vector"),
    Picture("try-it", "/try", do=_try(TRIED), whole=True),
    Picture("try-it-compare", "/try", do=_compare, whole=True),
    Picture("examples", "/examples"),
    Picture("acceptance", "/acceptance/{acceptance}"),
    Picture("users", "/users"),
    Picture("deliveries", "/deliveries"),
)  # fmt: skip
LOCALES = {"en": "en-GB", "ja": "ja-JP", "zh": "zh-CN"}
ZONES = {"en": "Europe/London", "ja": "Asia/Tokyo", "zh": "Asia/Shanghai"}


def main(names: Sequence[str]) -> None:
    """Work, then look."""
    with tempfile.TemporaryDirectory() as folder, Receiver() as receiver:
        chosen = settings(Path(folder), receiver)
        asyncio.run(load(chosen))
        with Gateway(chosen, start_within_s=300, around_rag=CarelessRag) as gateway:
            week = worked(gateway, receiver)
            take(gateway.url, week, [one for one in PICTURES if not names or one.name in names])


def take(url: str, week: Week, pictures: Sequence[Picture], folder: Path = FOLDER) -> None:
    """One picture after the other."""
    with Chromium() as chromium:
        for one in pictures:
            looks = {
                "locale": LOCALES[one.language],
                "timezone_id": ZONES[one.language],
                "color_scheme": "dark" if one.dark else "light",
                "viewport": SIZE,
            }
            with chromium.person(url, **looks) as sato:  # type: ignore[arg-type]
                ticket = week.tickets.get(one.language, "")
                at = "/console" + one.path.format(ticket=ticket, entry=week.entry, acceptance=week.acceptance)
                page = sato.page
                page.goto(at) if one.path == "/sign-in" else sato.sign_in(at=at)
                page.wait_for_timeout(SETTLED_MS)
                one.do(page)
                page.wait_for_timeout(SETTLED_MS)
                _kept(page.screenshot(full_page=one.whole), folder / f"{one.name}.png")


def _kept(png: bytes, file: Path) -> None:
    whole = Image.open(io.BytesIO(png)).convert("RGB")
    few = whole.quantize(COLOURS, kmeans=4, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
