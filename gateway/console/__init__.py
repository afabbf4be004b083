"""The reviewers' web pages, under /console: NiceGUI inside our FastAPI app.

How a page is added:

1. `pages/NAME.py` with `async def show(visit: Visit) -> None`, which builds the page. The frame (header,
   navigation, keys) is there already. `visit` has the services, who is signed in, the texts
   (`visit.t("NAME.key", n=3)`) and what the address says (`visit.params`, `visit.query`).
2. A line in `pages/__init__.py`: path, name, `show`, the role it needs, its icon in the navigation.
3. Its words under `pages.NAME` (the title) and `NAME` in texts/en.yaml, ja.yaml and zh.yaml; a test compares
   the three, and lets no page hold a word of its own.
4. Whatever a person does goes through `visit.action(work, role=…)`: session and role are checked on the
   server each time, and what we can name (`SekishoError`, `CacheError`, an outage) is told in the person's
   language. `visit.tell(text, undo=…)` says what was done; `visit.keys.on("j", "keys.next", …)` binds a key.
5. Looks come from components/ (table, chip, figure, empty, confirm …) and static/console.css, whose variables
   know light and dark. No address outside our own origin: the door sends a policy that forbids it.

Who is let in decides `door.py`, signing in is `signing_in.py`, and the only module that knows how NiceGUI
starts is `mounting.py`.
"""

from __future__ import annotations

__all__: list[str] = []
