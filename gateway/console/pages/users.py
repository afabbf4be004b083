"""Who may sign in, and which API keys a tenant has: for its administrators."""

from __future__ import annotations

from functools import partial
from typing import get_args

from nicegui import ui

from gateway.console.components.chip import Tone, chip
from gateway.console.components.confirm import confirmed
from gateway.console.components.moments import when
from gateway.console.pages.ticket_parts import card
from gateway.console.visit import Visit, Work
from gateway.errors import InvalidRequest, NotFound
from gateway.people import PersonRole, UserRecord
from gateway.people.access import KeyRecord, Role

__all__ = ["show"]

ROLE_TONES: dict[str, Tone] = {"admin": "calm", "reviewer": "good", "viewer": "quiet", "client": "quiet"}


async def show(visit: Visit) -> None:
    """Users and keys of the tenant whose administrator looks."""
    await _Page(visit).build()


class _Page:
    def __init__(self, visit: Visit) -> None:
        self.visit = visit

    async def build(self) -> None:
        ui.label(self.visit.t("pages.users")).classes("title")
        with ui.element("div").classes("columns"):
            with ui.element("div").classes("stack"):
                self.people = ui.element("div")
                self._new_user()
            with ui.element("div").classes("stack"):
                self.keys = ui.element("div")
                self._new_key()
        await self._draw()

    async def _draw(self) -> None:
        users = await self.visit.services.people.users.list(tenant=self.visit.tenant)
        keys = await self.visit.services.keys.list(tenant=self.visit.tenant)
        for part in (self.people, self.keys):
            part.clear()
        with self.people, card(self.visit.t("users.people"), name="people"):
            for user in users:
                self._user(user)
        with self.keys, card(self.visit.t("users.keys"), name="keys-card"):
            if not keys:
                ui.label(self.visit.t("users.no_keys")).classes("quiet")
            for key in keys:
                self._key(key)

    def _user(self, user: UserRecord) -> None:
        t = self.visit.t
        role = next(one.role for one in user.memberships if one.tenant == self.visit.tenant)
        with ui.element("div").classes("line person").props(f'data-name="{_attribute(user.name)}"'):
            ui.label(user.name).classes("strong")
            chip(t(f"roles.{role}"), ROLE_TONES[role])
            ui.label(t("users.by_password" if user.password else "users.by_provider")).classes("quiet small")
            ui.element("span").classes("push")
            if user.disabled_at:
                chip(t("users.disabled"), "bad")
            self._role_choice(user, role)
            if user.name != self.visit.person.name:
                if user.password or user.disabled_at:
                    self._button("users.set_password", "password", partial(self._set_password, user))
                if not user.disabled_at:
                    self._button("users.disable", "person_off", partial(self._disable, user))

    def _button(self, text: str, icon: str, work: Work) -> None:
        button = ui.button(icon=icon, on_click=self.visit.action(work, role="admin"))
        button.props(f'flat dense round aria-label="{self.visit.t(text)}"').tooltip(self.visit.t(text))
        button.classes(text.removeprefix("users."))

    def _role_choice(self, user: UserRecord, role: PersonRole) -> None:
        if user.name == self.visit.person.name:
            return  # nobody locks themselves out by a slip

        async def give(wanted: PersonRole) -> None:
            users, tenant = self.visit.services.people.users, self.visit.tenant
            await users.add(user.name, tenant=tenant, role=wanted)
            await self._draw()
            self.visit.tell(self.visit.t("users.role_given", name=user.name))

        names = {one: self.visit.t(f"roles.{one}") for one in get_args(PersonRole)}
        chosen = self.visit.action(lambda event: give(event.value), role="admin")
        ui.select(names, value=role, on_change=chosen).props("dense borderless options-dense").classes("role")

    async def _set_password(self, user: UserRecord) -> None:
        """A new password lets a disabled user in again."""
        self._own(user)
        t = self.visit.t
        with ui.dialog() as dialog, ui.element("div").classes("sheet"):
            ui.label(t("users.password_of", name=user.name)).classes("sheet-title")
            field = ui.input(t("sign_in.password"), password=True).props("outlined dense autofocus")
            with ui.element("div").classes("sheet-actions"):
                ui.button(t("frame.cancel"), on_click=lambda: dialog.submit(None)).props("flat no-caps")
                keep = ui.button(t("entry.save"), on_click=lambda: dialog.submit(field.value))
                keep.props("unelevated no-caps")
        given = await dialog
        dialog.delete()
        if given:
            await self.visit.services.people.users.set_password(user.name, given)
            await self._draw()
            self.visit.tell(t("users.password_set", name=user.name))

    async def _disable(self, user: UserRecord) -> None:
        self._own(user)
        t = self.visit.t
        if await confirmed(
            t,
            t("users.disable"),
            t("users.disable_body", name=user.name),
            yes=t("users.disable"),
            danger=True,
        ):
            await self.visit.services.people.users.disable(user.name)
            await self._draw()
            self.visit.tell(t("users.is_disabled", name=user.name))

    def _own(self, user: UserRecord) -> None:
        """Password and access are one's own in all tenants, so an administrator of one can't change them.

        Raises:
            InvalidRequest: if the user has a role elsewhere, where this administrator has none.
        """
        ours = {one.tenant for one in self.visit.person.memberships if one.role == "admin"}
        if not {one.tenant for one in user.memberships} <= ours:
            raise InvalidRequest(
                f"{user.name} has a role in another tenant, too: use `sekisho users`", param="elsewhere"
            )

    def _new_user(self) -> None:
        t = self.visit.t
        with card(t("users.new"), name="new-user"), ui.element("div").classes("fields"):
            name = ui.input(t("sign_in.name")).props("outlined dense").classes("new-name")
            password = ui.input(t("users.password"), password=True).props("outlined dense")
            password.classes("new-password").props("autocomplete=new-password")
            names = {one: t(f"roles.{one}") for one in get_args(PersonRole)}
            role = ui.select(names, value="reviewer").props("outlined dense options-dense")

            async def add() -> None:
                users = self.visit.services.people.users
                if password.value and await users.find(name.value) is not None:
                    raise InvalidRequest(
                        "this name is taken: give the user a role without a password", param="taken"
                    )
                await users.add(
                    name.value, tenant=self.visit.tenant, role=role.value, password=password.value or None
                )
                said = t("users.added", name=name.value.strip())
                name.value = password.value = ""
                await self._draw()
                self.visit.tell(said)

            button = ui.button(
                t("users.add"), icon="person_add", on_click=self.visit.action(add, role="admin")
            )
            button.props("unelevated no-caps").classes("add-user")

    def _key(self, key: KeyRecord) -> None:
        t = self.visit.t
        with ui.element("div").classes("line key-record").props(f"data-id={key.id}"):
            ui.label(key.label or key.id[:8]).classes("strong")
            chip(t(f"users.key_roles.{key.role}"), ROLE_TONES[key.role])
            if key.group:
                ui.label(t("ticket.group", name=key.group)).classes("quiet small")
            ui.element("span").classes("push")
            when(key.created_at, self.visit.zone).classes("faint small")
            if key.revoked_at:
                chip(t("users.revoked"), "bad")
            else:
                self._button("users.revoke", "key_off", partial(self._revoke, key))

    async def _revoke(self, key: KeyRecord) -> None:
        t, name = self.visit.t, key.label or key.id[:8]
        body = t("users.revoke_body", name=name)
        if await confirmed(t, t("users.revoke"), body, yes=t("users.revoke"), danger=True):
            known = [one.id for one in await self.visit.services.keys.list(tenant=self.visit.tenant)]
            if key.id not in known:
                raise NotFound(f"there is no key {key.id}")
            await self.visit.services.keys.revoke(key.id)
            await self._draw()
            self.visit.tell(t("users.is_revoked", name=name))

    def _new_key(self) -> None:
        t = self.visit.t
        with card(t("users.new_key"), name="new-key"):
            with ui.element("div").classes("fields"):
                label = ui.input(t("users.label")).props("outlined dense").classes("key-label")
                group = ui.input(t("entry.group")).props("outlined dense")
                names = {one: t(f"users.key_roles.{one}") for one in get_args(Role)}
                role = ui.select(names, value="client").props("outlined dense options-dense")
            made = ui.element("div")

            async def create() -> None:
                key = await self.visit.services.keys.create(
                    self.visit.tenant, role.value, label.value.strip(), group=group.value.strip()
                )
                label.value = group.value = ""
                await self._draw()
                made.clear()
                with made, ui.element("div").classes("notice new-key-shown"):
                    ui.icon("key")
                    with ui.element("div").classes("stack tight"):
                        ui.label(t("users.shown_once")).classes("strong")
                        ui.label(key).classes("mono pre key-value")

            button = ui.button(
                t("users.make_key"), icon="key", on_click=self.visit.action(create, role="admin")
            )
            button.props("unelevated no-caps").classes("make-key")


def _attribute(text: str) -> str:
    return "".join(one for one in text if one not in "\"\\'")
