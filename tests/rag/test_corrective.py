"""What becomes of passages by verdict, and a web search that may find more, less, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from classifiers import ClassifierError
from classifiers.retrieval import PassageEvidence, RelevanceVerdict
from encoders import Encoded
from gateway.documents.passages import RetrievedPassage
from gateway.domain import Draft, NothingRelevant, Question
from gateway.errors import UpstreamUnavailable
from gateway.rag.corrective import Corrective
from gateway.rag.knowledge import KnowledgeRag
from gateway.rag.websearch import KeywordQuery, SearxngSearch, keywords
from gateway.settings import CorrectiveSettings, WebSearchSettings
from tests.rag.asking import encoded, question, quoting
from tests.searxng import Searxng

ASKED = "What does the parking permit cost?"
PASSAGE = (
    "The hall is old. It is red. The parking permit costs 5 EUR. It lasts a year. Dogs must wait. Cats too."
)
PAGE = {
    "url": "https://www.town.example/fees",
    "title": "Fees",
    "content": "A parking permit costs 7 EUR at present.",
}
ELSEWHERE = {"url": "https://blog.example/cats", "title": "Cats", "content": "Cats sleep most of the day."}
Label = Literal["correct", "ambiguous", "incorrect"]


@pytest.fixture(scope="module")
def running() -> Iterator[Searxng]:
    with Searxng() as engine:
        yield engine


@pytest.fixture
def engine(running: Searxng) -> Searxng:
    running.asked.clear()
    running.finds(PAGE, ELSEWHERE)
    return running


def found(text: str = PASSAGE, path: str = "parking.md") -> RetrievedPassage:
    return RetrievedPassage(id=path, path=path, heading="", text=text, language="en", score=0.03)


def verdict(label: Label, *scores: float) -> RelevanceVerdict:
    return RelevanceVerdict(label=label, scores=scores or (0.9,), reason="said so", judge="scripted@1")


def web(engine: Searxng, write: Any = None, **settings: Any) -> SearxngSearch:
    return SearxngSearch(WebSearchSettings(url=engine.origin, **settings), write or KeywordQuery())


ACTIONS: list[Any] = [
    pytest.param("correct", True, ["parking.md"], "off", id="correct: the documents"),
    pytest.param("ambiguous", True, ["parking.md", PAGE["url"]], "answered", id="ambiguous: both"),
    pytest.param("incorrect", True, [PAGE["url"]], "answered", id="incorrect: the web"),
    pytest.param("ambiguous", False, ["parking.md"], "off", id="ambiguous, no web: the documents"),
    pytest.param("incorrect", False, [], "off", id="incorrect, no web: nothing"),
]


@pytest.mark.parametrize(("label", "with_web", "sources", "searched"), ACTIONS)
async def test_a_verdict_decides_what_is_read(
    engine: Searxng, label: Label, with_web: bool, sources: list[str], searched: str
) -> None:
    corrective = Corrective(strips_from=0.3, web=web(engine) if with_web else None)
    done = await corrective.corrected(question(ASKED), [found()], verdict(label))
    await corrective.close()
    assert [passage.path for passage in done.passages] == sources
    assert (done.correction.label, done.correction.web) == (label, searched)
    assert [each["q"] for each in engine.asked] == ([] if searched == "off" else ["parking permit cost"])


async def test_ambiguous_passages_are_left_alone_where_they_should_be() -> None:
    corrective = Corrective(reads_ambiguous=False)
    ambiguous = await corrective.corrected(question(ASKED), [found()], verdict("ambiguous"))
    correct = await corrective.corrected(question(ASKED), [found()], verdict("correct"))
    assert (ambiguous.passages, ambiguous.correction.label) == ((), "ambiguous")
    assert [passage.path for passage in correct.passages] == ["parking.md"]


async def test_strips_that_do_not_bear_on_the_question_are_dropped() -> None:
    done = await Corrective(strips_from=0.3).corrected(question(ASKED), [found()], verdict("correct"))
    assert done.passages[0].text == "The parking permit costs 5 EUR. It lasts a year."
    assert done.correction.kept == pytest.approx(48 / len(PASSAGE))
    whole = await Corrective().corrected(question(ASKED), [found()], verdict("correct"))
    assert (whole.passages[0].text, whole.correction.kept) == (PASSAGE, 1.0)


async def test_passages_much_weaker_than_the_best_are_left_out() -> None:
    passages = [found(path=f"{i}.md") for i in range(6)]
    done = await Corrective().corrected(
        question(ASKED), passages, verdict("correct", 0.8, 0.07, 0.5, 0.9, 0.5, 0.5)
    )
    assert [passage.path for passage in done.passages] == ["3.md", "0.md", "2.md", "4.md"]
    everything = await Corrective(reads=None).corrected(
        question(ASKED), passages, verdict("correct", *[0.5] * 6)
    )
    assert list(everything.passages) == passages


FAILURES: list[Any] = [
    pytest.param(PlainTextResponse("no", status_code=500), 0.0, "failed", id="an error"),
    pytest.param(PlainTextResponse("<html>"), 0.0, "failed", id="no JSON"),
    pytest.param(JSONResponse({"answers": []}), 0.0, "failed", id="no results in it"),
    pytest.param(PlainTextResponse('{"results": ' + "[" * 9_000), 0.0, "failed", id="nested to death"),
    pytest.param(JSONResponse({"results": "none"}), 0.0, "nothing", id="results that are no list of objects"),
    pytest.param(JSONResponse({"results": [1, {"url": 2}]}), 0.0, "nothing", id="results that are no pages"),
    pytest.param(JSONResponse({"results": [ELSEWHERE]}), 0.0, "nothing", id="nothing that treats it"),
    pytest.param(PlainTextResponse("x" * 20_000), 0.0, "failed", id="more than max_bytes"),
    pytest.param(RedirectResponse("http://127.0.0.1:9/"), 0.0, "failed", id="a redirect"),
    pytest.param(JSONResponse({"results": [PAGE]}), 0.5, "failed", id="too slow"),
]


@pytest.mark.parametrize(("reply", "wait_s", "result"), FAILURES)
async def test_a_web_search_that_fails_costs_only_its_pages(
    engine: Searxng, reply: Response, wait_s: float, result: str
) -> None:
    engine.answers(reply, wait_s=wait_s)
    told: list[str] = []
    corrective = Corrective(web=web(engine, timeout_s=0.3, max_bytes=10_000), on_web_search=told.append)
    ambiguous = await corrective.corrected(question(ASKED), [found()], verdict("ambiguous"))
    incorrect = await corrective.corrected(question(ASKED), [found()], verdict("incorrect"))
    await corrective.close()
    assert [passage.path for passage in ambiguous.passages] == ["parking.md"]
    assert incorrect.passages == ()
    assert told == [result, result]
    assert ambiguous.correction.web == result


async def test_an_engine_that_is_not_there_is_unavailable() -> None:
    search = SearxngSearch(WebSearchSettings(url="http://127.0.0.1:9", timeout_s=1), KeywordQuery())  # type: ignore[arg-type]
    with pytest.raises(UpstreamUnavailable, match="web search"):
        await search.find(ASKED, language="en")
    await search.close()


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://town.example/a", True),
        ("http://WWW.Town.example:8443/a", True),
        ("https://nottown.example/a", False),
        ("https://town.example.evil.example/a", False),
        ("https://evil.example/?town.example", False),
        ("https://town.example@evil.example/", False),
        ("javascript:alert(1)", False),
        ("file:///etc/passwd", False),
        ("https://[::1", False),
    ],
)
async def test_only_pages_of_allowed_hosts_are_read(engine: Searxng, url: str, allowed: bool) -> None:
    engine.finds({**PAGE, "url": url})
    search = web(engine, allowed_hosts=["Town.example"])
    _, passages = await search.find(ASKED, language="en")
    await search.close()
    assert [passage.path for passage in passages] == ([url] if allowed else [])


async def test_the_engine_is_asked_by_its_own_contract(engine: Searxng) -> None:
    engine.finds(*[{**PAGE, "url": f"https://a.example/{i}"} for i in range(9)])
    search = web(engine, results=3, api_key="k-1", engines="wikipedia")
    _, passages = await search.find(ASKED, language="ja")
    await search.close()
    asked = engine.asked[-1]
    assert (asked["format"], asked["language"], asked["engines"]) == ("json", "ja", "wikipedia")
    assert asked["authorization"] == "Bearer k-1"
    assert [passage.path for passage in passages] == [f"https://a.example/{i}" for i in range(3)]


async def test_half_a_character_of_a_page_is_a_sign(engine: Searxng) -> None:
    cut = {"url": "https://a.example/\ud83d", "title": "Fees\ude00", "content": "5 EUR \ud83d\ude00 \ud83d"}
    engine.answers(PlainTextResponse(json.dumps({"results": [cut]})))
    search = web(engine)
    _, [page] = await search.find(ASKED, language="en")
    await search.close()
    shown = (page.path, page.heading, page.text)
    assert shown == ("https://a.example/\ufffd", "Fees\ufffd", "5 EUR \U0001f600 \ufffd")


class DeadModel:
    async def query(self, text: str) -> str:
        raise ClassifierError("dead")


class Rewrites:
    async def query(self, text: str) -> str:
        return "permit price"


@pytest.mark.parametrize(
    ("write", "searched"), [(DeadModel(), "parking permit cost"), (Rewrites(), "permit price")]
)
async def test_a_query_is_rewritten_or_made_of_keywords(engine: Searxng, write: Any, searched: str) -> None:
    search = web(engine, write)
    query, _ = await search.find(ASKED, language="en")
    await search.close()
    assert query == engine.asked[-1]["q"] == searched


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How much is the annual pass in 2025?", "annual pass 2025"),
        ("駐車場の料金はいくらですか？", "駐車場 料金"),
        ("停车费用是多少？", "停车费用"),
        ("???", "???"),
    ],
)
def test_keywords_are_the_questions_own_words(text: str, words: str) -> None:
    assert keywords(text) == words


class Finds:
    """A search that finds these passages."""

    def __init__(self, *passages: RetrievedPassage) -> None:
        self.passages = list(passages)

    async def find(self, question: Encoded, *, language: str, limit: int) -> list[RetrievedPassage]:
        return self.passages


class Says:
    def __init__(self, label: Label) -> None:
        self.label = label

    async def judge(self, question: Encoded, passages: Sequence[PassageEvidence], /) -> RelevanceVerdict:
        return verdict(self.label if passages else "incorrect", *(0.5 for _ in passages))


async def ask(rag: KnowledgeRag, asked: Question) -> Draft | NothingRelevant:
    try:
        return await rag.ask(asked, encoded(asked.text))
    finally:
        await rag.close()


@pytest.mark.parametrize("passages", [[], [found()]], ids=["nothing found", "nothing relevant"])
async def test_what_the_documents_lack_is_answered_from_the_web_with_its_address(
    engine: Searxng, passages: list[RetrievedPassage]
) -> None:
    corrective = Corrective(strips_from=0.3, web=web(engine))
    rag = KnowledgeRag(Finds(*passages), Says("incorrect"), quoting(), corrective)  # type: ignore[arg-type]
    draft = await ask(rag, question(ASKED))
    assert isinstance(draft, Draft)
    assert "7 EUR" in draft.text
    assert [context.source for context in draft.contexts] == [PAGE["url"]]
    assert draft.correction is not None
    assert draft.correction.web == "answered"


async def test_nothing_relevant_says_what_was_tried(engine: Searxng) -> None:
    engine.finds(ELSEWHERE)
    rag = KnowledgeRag(Finds(found()), Says("incorrect"), quoting(), Corrective(web=web(engine)))  # type: ignore[arg-type]
    nothing = await ask(rag, question(ASKED))
    assert isinstance(nothing, NothingRelevant)
    assert nothing.reason == "said so"
    assert nothing.correction is not None
    assert (nothing.correction.label, nothing.correction.web) == ("incorrect", "nothing")


WRONG: list[Any] = [
    ({"evaluator": "llm"}, "needs llm"),
    ({"evaluator": "local", "web": {"url": "http://s.example", "rewrite": "llm"}}, "needs llm"),
    ({"web": {"url": "http://s.example"}}, "needs evaluator"),
    ({"evaluator": "local", "correct_from": 0.2, "incorrect_below": 0.5}, "must not be above"),
    ({"evaluator": "local", "web": {"url": "http://s.example", "allowed_hosts": ["https://a.example/"]}}, "allowed_hosts"),
    ({"evaluator": "local", "strips_from": 1.5}, "strips_from"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_settings_that_lack_something_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CorrectiveSettings.model_validate(settings)
