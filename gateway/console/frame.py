"""What stands around every page: navigation, language, light or dark, who is signed in, and the keys."""

from __future__ import annotations

from nicegui import ui

from gateway.console.pages import PAGES
from gateway.console.pages.page import Page
from gateway.console.texts import LANGUAGES, UiLanguage
from gateway.console.visit import Visit
from gateway.errors import StoreUnavailable

__all__ = ["framed"]

NEXT_THEME = {"": "light", "light": "dark", "dark": ""}
THEME_ICON = {"": "brightness_auto", "light": "light_mode", "dark": "dark_mode"}


async def framed(visit: Visit, page: Page) -> None:
    """Show a page inside the frame, or that the person's role does not reach it."""
    ui.add_head_html(f'<link rel="stylesheet" href="{visit.root}/static/console.css">')
    ui.add_head_html(f'<script src="{visit.root}/static/zone.js" data-reload="yes"></script>')
    ui.colors(primary="var(--accent)", dark_page="var(--ground)", dark="var(--surface)")
    visit.keys.listen()
    with ui.element("header").classes("bar"):
        await _navigation(visit, page)
        _person(visit)
    with ui.element("main").classes("page"):
        if visit.person.may(page.role):
            await page.show(visit)
        else:
            ui.label(visit.t("errors.role_not_allowed")).classes("quiet")


async def _navigation(visit: Visit, page: Page) -> None:
    with ui.link(target="/").classes("brand"):
        ui.label("関所").classes("seal").props("lang=ja")
        ui.label("Sekisho")
    with ui.element("nav").props(f'aria-label="{visit.t("frame.navigation")}"'):
        for one in PAGES:
            if one.icon and visit.person.may(one.role):
                _leads_to(visit, one, here=one.name == page.name, alarms=await _alarms(visit, one))


def _leads_to(visit: Visit, page: Page, *, here: bool, alarms: int) -> None:
    with ui.link(target=page.path).classes("here" if here else "") as link:
        ui.icon(page.icon)
        ui.label(visit.t(f"pages.{page.name}"))
        if alarms:
            ui.label(f"{alarms:,}").classes("alarms")
    link.props["title"] = visit.t(f"pages.{page.name}")


async def _alarms(visit: Visit, page: Page) -> int:
    """How many; none where the store can't be read, for the page itself says that."""
    try:
        return await page.alarms(visit) if page.alarms else 0
    except StoreUnavailable:
        return 0


def _person(visit: Visit) -> None:
    t = visit.t
    with ui.element("div").classes("self"):
        visit.keys.help_button()
        _languages(visit)
        _theme(visit)
        who = (
            ui.button(visit.person.name, icon="account_circle", color=None)
            .props("flat no-caps dense")
            .classes("who")
        )
        who.props["aria-label"] = visit.person.name  # on a narrow screen the icon stands alone
        with who, ui.menu().props("anchor='bottom right' self='top right'"):
            with ui.element("div").classes("whoami"):
                ui.label(visit.person.name).classes("strong")
                ui.label(f"{t(f'roles.{visit.person.role}')} · {visit.tenant}").classes("quiet small")
                ui.label(visit.zone.key).classes("quiet small")
            _tenants(visit)
            ui.menu_item(t("frame.sign_out"), visit.action(lambda: _sign_out(visit), role="viewer"))


def _languages(visit: Visit) -> None:
    async def speak(language: UiLanguage) -> None:
        await visit.services.people.users.prefer(visit.person.id, language=language)
        ui.navigate.reload()

    with (
        ui.button(visit.t.language.upper(), color=None).props("flat dense").classes("small-button") as button
    ):
        button.tooltip(visit.t("frame.language"))
        with ui.menu():
            for language in LANGUAGES:
                chosen = visit.action(speak, role="viewer")
                ui.menu_item(visit.t(f"languages.{language}"), lambda to=language, do=chosen: do(to))


def _theme(visit: Visit) -> None:
    now = visit.person.theme

    async def turn() -> None:
        await visit.services.people.users.prefer(visit.person.id, theme=NEXT_THEME[now])
        ui.navigate.reload()

    icon, chosen = THEME_ICON.get(now, THEME_ICON[""]), visit.action(turn, role="viewer")
    button = ui.button(icon=icon, on_click=chosen, color=None)
    button.props("flat dense round").classes("small-button").tooltip(visit.t(f"frame.theme.{now or 'auto'}"))


def _tenants(visit: Visit) -> None:
    async def turn(tenant: str) -> None:
        await visit.services.people.sessions.turn_to(visit.cookie, tenant)
        ui.navigate.to("/")

    others = [one for one in visit.person.memberships if one.tenant != visit.tenant]
    for one in others:
        chosen = visit.action(turn, role="viewer")
        label = f"{one.tenant} · {visit.t(f'roles.{one.role}')}"
        ui.menu_item(label, lambda to=one.tenant, do=chosen: do(to))


async def _sign_out(visit: Visit) -> None:
    await visit.services.people.sessions.close(visit.cookie)
    ui.navigate.to("/sign-in")
