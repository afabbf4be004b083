"""A week of the example helpdesk in minutes: residents ask, a reviewer answers, the figures must hold.

    pip install '.[test]'
    python -m examples.simulated_week [--questions 5000] [--seed 7] [--json FILE]

What is real: the gateway with all its stages, its HTTP interface, its stores and its figures. What is played:

- *the residents*. They ask the questions of the helpdesk's 168 entries, some much more often than others, in
  four wordings and with or without a greeting; beside them off-topic questions, attacks and questions that
  nobody can answer. Two fifths of the entries are on the shelf on the first day. *Traps* are entries that
  never get there while their nearest neighbour is: whoever asks for them must not get the neighbour's answer.
  *Drift*: from the fifth day on a third of the questions are of four documents nobody asked about yet.
- *the chatbot*, in part: it quotes the documents, and for one question in three adds a sentence of its own
  making, which the faithfulness check has to catch.
- *the reviewer*. Three times a day they answer what waits, publish what they answer (traps excepted), and
  judge the audited hits. They know what was meant, and make no mistakes: the bound of wrong answers is as
  good as they are.
- *time*: each question is asked at its moment of the week, and nobody waits for it.

At the end the figures of `/v1/figures` are compared with the raw outcomes in SQL and with what the residents
were told, and the bound of wrong answers from the cache with how many there were.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import httpx2
import time_machine
import yaml
from rich.console import Console
from rich.table import Table
from sqlalchemy import func, select

from cache.transfer import import_entries
from encoders import Encoded
from gateway.app import create_app
from gateway.assembly import Services, assemble
from gateway.demo import HELPDESK, LANGUAGES, TENANT, demo_settings
from gateway.domain import Draft, NothingRelevant, OnDraft, Question
from gateway.recording.logs import configure_logging
from gateway.settings import Settings
from gateway.stages import Rag
from gateway.stores import open_stores
from storage.schema import audit_windows, audits, outcomes

BEGINS = datetime(2026, 5, 11, tzinfo=UTC)  # a Monday
DAYS = 7
DRIFT_DAY = 4  # counted from 0
DRIFT_DOCUMENTS = ("water-supply", "pets", "bicycle-parking", "senior-bus-pass")
SHIFTS = (0.4, 0.55, 0.75)  # of a day, when the reviewer works
TRAPS = 12  # in each language
SHARES = {"entry": 0.78, "trap": 0.07, "off_topic": 0.08, "attacks": 0.04, "unanswerable": 0.03}
STRAYS = {
    "en": " There is a surcharge of ¥98,765 since last Tuesday.",
    "ja": "先週の火曜日からは98,765円の追加料金がかかります。",
}


@dataclass(frozen=True, slots=True)
class Known:
    """An entry as the world knows it, whether or not it is on the shelf."""

    id: str
    language: str
    wordings: tuple[str, ...]
    answer: str
    document: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a resident. `means` is the entry that answers it; None if none does."""

    at: datetime
    kind: str
    text: str
    means: Known | None


@dataclass(slots=True)
class Told:
    """What the residents were told, question by question."""

    asked: Asked
    outcome: str
    reason: str
    tier: str | None
    looked_up: bool
    answer: str
    wrong: bool  # a verified entry answered, and it was not the one that was meant


@dataclass(slots=True)
class Week:
    """Everything that came of it."""

    told: list[Told] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, float] = field(default_factory=dict)
    published: int = 0
    judged: int = 0
    added: int = 0

    def of_day(self, day: int) -> list[Told]:
        """What was told on a day."""
        return [one for one in self.told if (one.asked.at - BEGINS).days == day]

    @property
    def looked_up(self) -> int:
        """Questions that came to the cache."""
        return sum(one.looked_up for one in self.told)

    def wrong(self, tier: str) -> int:
        """How many of them got a wrong answer from a tier of it."""
        return sum(one.wrong and one.tier == tier for one in self.told)

    @property
    def is_covered(self) -> bool:
        """Whether both bounds of the figures cover what happened."""
        bound = self.figures["wrong_answers"]
        limits = {"vector": bound["upper"], "exact": bound["upper_exact"]}
        return all(self.wrong(tier) / self.looked_up <= limit for tier, limit in limits.items())


class World:
    """What there is to ask, and what is on the shelf on the first day."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same week for the same seed
        self.known = [one for language in LANGUAGES for one in _entries(language)]
        self.beside: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
        new = {one.id for one in self.known if one.document in DRIFT_DOCUMENTS}
        old = [one for one in self.known if one.id not in new]
        self.chance.shuffle(old)
        self.shelf = {one.id for one in old[: len(self.known) * 2 // 5]}
        self.traps = {one.id for language in LANGUAGES for one in self._traps(language, new)}
        self.fixed = [
            one for one in old if one.id not in self.traps
        ]  # in the order of how often they are asked
        self.new = [one for one in self.known if one.id in new and one.id not in self.traps]
        self.chance.shuffle(self.new)

    def ask(self, at: datetime) -> Asked:
        """The question of a moment."""
        kind = self.chance.choices(list(SHARES), list(SHARES.values()))[0]
        language = self.chance.choice(LANGUAGES)
        if kind in self.beside:
            return Asked(at, kind, self.chance.choice(self.beside[kind][language]), None)
        if kind == "trap":
            means = self.chance.choice([one for one in self.known if one.id in self.traps])
        else:
            means = self._popular(at)
        opening = self.chance.choice(self.beside["opening"][means.language])
        return Asked(at, kind, opening + self.chance.choice(means.wordings), means)

    def _popular(self, at: datetime) -> Known:
        """Zipf's law over what is asked about at the time."""
        drifted = (at - BEGINS).days >= DRIFT_DAY and self.chance.random() < 1 / 3
        among = self.new if drifted else self.fixed
        weights = [1 / (rank + 3) for rank in range(len(among))]
        return self.chance.choices(among, weights)[0]

    def _traps(self, language: str, new: set[str]) -> list[Known]:
        """Entries whose nearest neighbour, by their letters, is on the shelf while they are not."""
        of_language = [one for one in self.known if one.language == language and one.id not in new]
        shelved = [one for one in of_language if one.id in self.shelf]
        others = [one for one in of_language if one.id not in self.shelf]
        return sorted(others, key=lambda one: -max(_alike(one, other) for other in shelved))[:TRAPS]


class StrayingRag:
    """The chatbot: it quotes, and for some questions it adds what no document says."""

    def __init__(self, inner: Rag) -> None:
        self._inner = inner

    async def ask(
        self, question: Question, encoded: Encoded, /, on_draft: OnDraft | None = None
    ) -> Draft | NothingRelevant:
        """The inner draft, for every third question with a sentence too many."""
        found = await self._inner.ask(question, encoded)
        strays = random.Random(question.text).random() < 1 / 3  # noqa: S311 - the same for the same text
        if isinstance(found, NothingRelevant) or not strays:
            return found
        return replace(found, text=found.text + STRAYS.get(question.language, STRAYS["en"]))


class Reviewer:
    """Works on tickets and audits over HTTP, as a program of the operator's could."""

    def __init__(self, http: httpx2.AsyncClient, world: World, week: Week) -> None:
        self._http = http
        self._world = world
        self._week = week
        self._meant: dict[str, Asked] = {}  # by the id of the request
        self._entries = {id_: id_ for id_ in world.shelf}  # by what they answer

    def hear(self, request_id: str, asked: Asked) -> None:
        """What a resident meant; a person sees it from the question."""
        self._meant[request_id] = asked

    async def work(self) -> None:
        """One shift."""
        while True:
            page = (await self._http.get("/v1/tickets", params={"state": "open", "limit": 100})).json()
            for ticket in page["tickets"]:
                await self._resolve(ticket)
            if page["next"] is None:
                break
        while True:
            page = (await self._http.get("/v1/audits", params={"verdict": "open", "limit": 100})).json()
            for audit in page["audits"]:
                await self._judge(audit)
            if page["next"] is None:
                break

    async def _resolve(self, ticket: dict[str, Any]) -> None:
        asked = self._meant.get(ticket["request_id"])
        means = asked.means if asked else None
        if means is None or means.language != ticket["language"]:
            await self._post(f"/v1/tickets/{ticket['id']}/dismiss", {"comment": "nothing to answer"})
            return
        entry = self._entries.get(means.id)
        answer: dict[str, Any] = {"answer": means.answer}
        if entry is None and means.id not in self._world.traps:
            words = dict.fromkeys((ticket["question"], *means.wordings[1:3]))
            phrasings = [word for word in words if word != means.wordings[0]]
            answer |= {"publish": True, "question": means.wordings[0], "phrasings": phrasings}
        reply = await self._post(f"/v1/tickets/{ticket['id']}/answer", answer)
        if reply.get("entry"):
            self._entries[means.id] = reply["entry"]["id"]
            self._week.published += 1
        elif entry is not None:
            await self._add(entry, ticket["question"])

    async def _add(self, entry_id: str, wording: str) -> None:
        """His entry should have answered this: it gets the asker's words, too."""
        entry = (await self._http.get(f"/v1/entries/{entry_id}")).json()["entry"]
        if wording in entry["phrasings"] or entry["state"] != "active":
            return
        change = {"revision": entry["revision"], "phrasings": [*entry["phrasings"], wording]}
        reply = await self._http.patch(f"/v1/entries/{entry_id}", json=change)
        self._week.added += reply.status_code == 200  # 409: another entry has these words

    async def _judge(self, audit: dict[str, Any]) -> None:
        asked = self._meant[audit["request_id"]]
        right = asked.means is not None and asked.means.answer == audit["answer"]
        await self._post(
            f"/v1/audits/{audit['id']}", {"verdict": "right" if right else "wrong", "pause": False}
        )
        self._week.judged += 1

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = await self._http.post(path, json=body)
        if reply.status_code >= 400:
            raise RuntimeError(f"{path}: {reply.status_code} {reply.text}")
        found: dict[str, Any] = reply.json()
        return found


async def simulate(folder: Path, *, questions: int = 5000, seed: int = 7) -> Week:
    """The week, with its figures."""
    world, week = World(seed), Week()
    settings = demo_settings(folder)
    settings = settings.model_copy(
        update={
            "console": settings.console.model_copy(update={"enabled": False}),
            "logging": settings.logging.model_copy(update={"level": "error"}),
        }
    )
    configure_logging(settings.logging)
    with time_machine.travel(BEGINS, tick=False) as clock:
        await _stock(settings, world)
        async with _served(settings) as (services, client, reviewer_http):
            reviewer = Reviewer(reviewer_http, world, week)
            shifts = [BEGINS + timedelta(days=day + part) for day in range(DAYS) for part in SHIFTS]
            for number in range(questions):
                at = BEGINS + timedelta(days=DAYS) * (number / questions)
                while shifts and shifts[0] <= at:
                    clock.move_to(shifts.pop(0))
                    await _written(services, week.told)
                    await reviewer.work()
                clock.move_to(at)
                asked = world.ask(at)
                week.told += await _ask(client, reviewer, asked)
            clock.move_to(BEGINS + timedelta(days=DAYS) - timedelta(seconds=1))
            await _written(services, week.told)
            await reviewer.work()
            clock.move_to(BEGINS + timedelta(days=DAYS) - timedelta(milliseconds=1))
            week.figures = (await reviewer_http.get("/v1/figures", params={"days": DAYS})).json()
            week.raw = await _raw(services)
    return week


async def _stock(settings: Settings, world: World) -> None:
    """The shelf of the first day, with the cut that a fresh FAQ gets. Two wordings of each are stored."""
    async with open_stores(settings) as stores:
        for language in LANGUAGES:
            rows = _rows(language)
            kept = [row | {"phrasings": row["phrasings"][:1]} for row in rows if row["id"] in world.shelf]
            file = settings.path(settings.storage.folder) / f"first-day-{language}.jsonl"
            file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in kept), "utf-8")
            report = await import_entries(stores.entries, TENANT, file, by="simulated week")
            if report.refused:
                raise RuntimeError(f"{file}: {report.refused[0]}")
        await stores.index_pending()
        for tenant, language in await stores.entries.shelves():
            await stores.shelf.calibrate(tenant, language)


@asynccontextmanager
async def _served(
    settings: Settings,
) -> AsyncIterator[tuple[Services, httpx2.AsyncClient, httpx2.AsyncClient]]:
    async with assemble(settings, around_rag=StrayingRag) as services:
        transport = httpx2.ASGITransport(app=create_app(services))
        keys = {
            role: await services.keys.create(TENANT, role, f"simulated {role}")
            for role in ("client", "reviewer")
        }
        clients = [
            httpx2.AsyncClient(
                transport=transport, base_url="http://sekisho", headers={"authorization": f"Bearer {key}"}
            )
            for key in keys.values()
        ]
        yield services, clients[0], clients[1]
        for client in clients:
            await client.aclose()


async def _ask(client: httpx2.AsyncClient, reviewer: Reviewer, asked: Asked) -> list[Told]:
    reply = await client.post("/v1/answers", json={"question": asked.text})
    if reply.status_code != 200:
        raise RuntimeError(f"{asked.text}: {reply.status_code} {reply.text}")
    body = reply.json()
    reviewer.hear(body["id"], asked)
    return [_told(asked, one) for one in body["questions"]]


def _told(asked: Asked, one: dict[str, Any]) -> Told:
    looked_up = [step["found"] for step in one["steps"] if step["stage"] == "cache"]
    tier = next((found["tier"] for found in looked_up if found["type"] == "hit"), None)
    right = asked.means is not None and asked.means.answer == one["text"]
    return Told(
        asked,
        one["outcome"],
        one["reason"],
        tier,
        bool(looked_up),
        one["text"],
        tier is not None and not right,
    )


async def _written(services: Services, told: Sequence[Told]) -> None:
    """Let what is written in the background be written: nobody waits for a statistic but us."""
    lookups = sum(one.looked_up for one in told)
    for _ in range(200):
        await asyncio.sleep(0.05)
        async with services.stores.database.connect() as connection:
            kept = await connection.scalar(select(func.count()).select_from(outcomes))
            seen = await connection.scalar(select(func.sum(audit_windows.c.lookups)))
        if (kept, seen or 0) == (len(told), lookups):
            return
    raise RuntimeError(
        f"{kept} outcomes and {seen} lookups were written in 10 s, not {len(told)} and {lookups}"
    )


async def _raw(services: Services) -> dict[str, float]:
    """The rates, from the rows of the outcomes alone."""
    names = ("outcome", "reason", "tier", "stage_ms", "unchecked", "faithfulness")
    query = select(*(outcomes.c[name] for name in names))
    async with services.stores.database.connect() as connection:
        rows = (await connection.execute(query)).all()
        judged = await connection.scalars(select(audits.c.verdict).where(audits.c.tier != "rag"))
    verdicts = Counter(judged)
    lookups = sum("cache" in row.stage_ms for row in rows)
    drafts = sum(row.unchecked or row.faithfulness is not None for row in rows)
    hits = Counter(row.tier for row in rows)
    named = Counter(row.outcome for row in rows)
    refused = Counter(row.reason.partition(":")[0] for row in rows if row.outcome == "refused")
    n = len(rows)
    return {
        "questions": 1.0,
        "refused": named["refused"] / n,
        "refused_may": refused["may"] / n,
        "refused_must_not": refused["must_not"] / n,
        "cache_hits": (hits["exact"] + hits["vector"]) / n,
        "cache_exact": hits["exact"] / n,
        "cache_vector": hits["vector"] / n,
        "cache_hits_of_lookups": (hits["exact"] + hits["vector"]) / lookups,
        "accepted_offers": sum(row.reason == "accepted_offer" for row in rows) / n,
        "rag": named["rag"] / n,
        "withheld": named["withheld"] / n,
        "escalated": named["escalated"] / n,
        "unchecked": sum(row.unchecked for row in rows) / drafts,
        "judged_wrong": verdicts["wrong"] / max(1, verdicts["wrong"] + verdicts["right"]),
    }


def disagreements(week: Week) -> list[str]:
    """Where the figures differ from the raw outcomes, or from what the residents were told."""
    said = {name: rate["value"] for name, rate in week.figures["rates"].items()}
    said["judged_wrong"] = week.figures["judged_wrong"]["value"] or 0.0
    found = [
        f"{name}: the figures say {said[name]}, the outcomes {value}"
        for name, value in week.raw.items()
        if abs((said[name] or 0.0) - value) > 1e-12
    ]
    told = {"refused": "refused", "rag": "rag", "withheld": "withheld", "escalated": "escalated"}
    counts = {name: sum(one.outcome == outcome for one in week.told) for name, outcome in told.items()}
    counts |= {f"cache_{tier}": sum(one.tier == tier for one in week.told) for tier in ("exact", "vector")}
    counts["questions"] = len(week.told)
    return found + [
        f"{name}: the figures count {week.figures['rates'][name]['count']}, the residents {n}"
        for name, n in counts.items()
        if week.figures["rates"][name]["count"] != n
    ]


def _entries(language: str) -> Iterable[Known]:
    for row in _rows(language):
        document = Path(row["sources"][0]).stem if row["sources"] else ""
        yield Known(row["id"], language, (row["question"], *row["phrasings"]), row["answer"], document)


def _rows(language: str) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (HELPDESK / language / "entries.jsonl").read_text("utf-8").splitlines()
    ]


def _alike(one: Known, other: Known) -> float:
    return SequenceMatcher(None, one.wordings[0], other.wordings[0]).ratio()


def _table(week: Week) -> Table:
    columns = (
        "day",
        "questions",
        "from the cache",
        "RAG",
        "refused",
        "withheld",
        "escalated",
        "wrong (cache)",
    )
    table = Table(*columns, title="The week as the residents saw it")
    for day in range(DAYS):
        told = week.of_day(day)
        n = max(1, len(told))
        shares = [sum(one.tier is not None for one in told) / n]
        shares += [
            sum(one.outcome == name for one in told) / n
            for name in ("rag", "refused", "withheld", "escalated")
        ]
        name = f"{BEGINS + timedelta(days=day):%a}" + (" (drift begins)" if day == DRIFT_DAY else "")
        wrong = sum(one.wrong for one in told)
        table.add_row(name, str(len(told)), *(f"{share:.1%}" for share in shares), str(wrong))
    return table


def _chart(week: Week) -> Iterable[str]:
    """The share of answers from the cache, twelve hours at a time."""
    half = timedelta(hours=12)
    for place in range(2 * DAYS):
        told = [one for one in week.told if (one.asked.at - BEGINS) // half == place]
        share = sum(one.tier is not None for one in told) / max(1, len(told))
        yield f"{BEGINS + half * place:%a %H:%M} {'█' * round(share * 60):<60} {share:.0%}"


def _report(week: Week, console: Console) -> None:
    console.print(_table(week))
    console.print("From the cache:", *_chart(week), sep="\n  ")
    bound, n = week.figures["wrong_answers"], week.looked_up
    by_meaning, exact = week.wrong("vector"), week.wrong("exact")
    console.print(
        f"The reviewer published {week.published} entries, added {week.added} wordings "
        f"and judged {week.judged} hits.\n"
        f"Wrong by meaning: {by_meaning} of {n} questions looked up, {by_meaning / n:.2%}; at most "
        f"{bound['upper']:.2%} by the figures ({bound['confidence']:.0%} sure, {bound['judged']} judged, "
        f"{bound['wrong']} wrong). Exact: {exact / n:.2%}, at most {bound['upper_exact']:.2%}."
    )
    kinds = {kind: [one for one in week.told if one.asked.kind == kind] for kind in SHARES}
    for kind, told in kinds.items():
        counted = Counter(one.outcome if one.tier is None else "from the cache" for one in told)
        said = ", ".join(f"{name} {n / len(told):.1%}" for name, n in counted.most_common())
        console.print(
            f"  {kind}: {len(told)} questions: {said}; wrong from the cache {sum(one.wrong for one in told)}"
        )
    for one in [one for one in week.told if one.wrong][:10]:
        console.print(f"  wrong: “{one.asked.text}” ({one.asked.kind}) got “{one.answer[:80]}…”", style="dim")
    differ = disagreements(week)
    console.print("Figures, raw outcomes and residents agree." if not differ else "\n".join(differ))


def _summary(week: Week) -> dict[str, Any]:
    daily = [week.of_day(day) for day in range(DAYS)]
    return {
        "questions": len(week.told),
        "cache_hits_by_day": [
            sum(one.tier is not None for one in told) / max(1, len(told)) for told in daily
        ],
        "rates": week.figures["rates"],
        "raw": week.raw,
        "disagreements": disagreements(week),
        "wrong": {tier: week.wrong(tier) for tier in ("vector", "exact")},
        "looked_up": week.looked_up,
        "wrong_answers": week.figures["wrong_answers"],
        "published": week.published,
        "added": week.added,
        "judged": week.judged,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate and print; ends with 1 if figures disagree or the bound does not hold."""
    parser = argparse.ArgumentParser(description="A week of the example helpdesk in some minutes.")
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        week = asyncio.run(simulate(Path(folder), questions=given.questions, seed=given.seed))
    _report(week, Console(highlight=False))
    if given.json:
        given.json.write_text(json.dumps(_summary(week), ensure_ascii=False, indent=2), "utf-8")
    if disagreements(week) or not week.is_covered:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
