"""A time belongs to the days that are told beside it; a range has all of its days."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.days import of_another_day
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said
from gateway.checking.opening import judge_apart
from gateway.settings import Settings

DESK = "The desk is open Monday to Friday from 8:30 to 18:00 and on Saturday from 9:00 to 16:00."
SHORT = "Mon-Fri 8:30 am - 8 pm, Sat 9 am - 5 pm"
LINES = "Mon–Fri: 8:30 am – 8 pm\nSat: 9 am – 5 pm\nSun: closed"
BEHIND = (
    "Call us 9:00 to 18:00 from Monday to Thursday, 9:00 to 15:00 on Fridays. On public holidays until 12:00."
)
ORDERS = "Order before 15:00 on Friday and it is sent on Saturday. On Saturdays we close at 13:00."
JA = "月〜金 8:30〜20:00、土日 9:00〜17:00"
BY_SPACE = "平日8:30〜20:00 土曜10:00〜17:00"
VISITS = "面会は、平日が14時から20時、土日祝日が11時から20時です。"
ZH = "周一至周五 8:30–20:00，周六、周日 9:00–17:00。"
WORKDAYS = "工作日9:00—20:00，周末10:00—18:00。"
DAILY = "每天8:00—22:00开放，周一12:00开放。"
COURTS = "游泳馆周二至周日6:30开放；羽毛球每小时50元，18:00以后及周末每小时80元。"


def found(passage: str, statement: str, question: str = "") -> list[str]:
    return [time for time, _ in of_another_day(said(statement, question), Passages([passage]).lines, [])]


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        (DESK, "On Fridays it closes at 18:00.", "On Fridays it closes at 16:00."),
        (DESK, "On Wednesdays it opens at 8:30.", "On Wednesdays it opens at 9:00."),
        (SHORT, "On Saturday we close at 5 pm.", "On Saturday we close at 8 pm."),
        (SHORT, "On Friday we close at 8 pm, on Saturday at 5 pm.", "On Friday we close at 5 pm, on Saturday at 8 pm."),
        (LINES, "On Tuesdays we are open until 8 pm.", "On Tuesdays we are open until 5 pm."),
        (BEHIND, "On Tuesdays you can call until 18:00.", "On Tuesdays you can call until 15:00."),
        (JA, "水曜は20時までです。", "水曜は17時までです。"),
        (JA, "土曜日の営業は17:00までです。", "土曜日の営業は20:00までです。"),
        (JA, "平日は20時まで、土日は17時までです。", "平日は17時まで、土日は20時までです。"),
        (BY_SPACE, "土曜は17:00までです。", "土曜は20:00までです。"),
        (ZH, "周三晚上8点关门。", "周三17:00关门。"),
        (ZH, "可以，周六门诊到下午5点。", "可以，周六门诊到晚上8点。"),
        (WORKDAYS, "周日下午六点关门。", "周日晚上八点关门。"),
    ],
)  # fmt: skip
def test_a_time_of_another_day_is_seen(passage: str, right: str, wrong: str) -> None:
    assert not found(passage, right)
    assert found(passage, wrong)


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        (BEHIND, "On public holidays, even on a Monday, you can call until 12:00."),
        (ORDERS, "If you order before 15:00 on Friday, it is sent on Saturday."),
        (SHORT, "On Saturday we close at 5 pm instead of 8 pm."),
        (SHORT, "On Saturday we are not open until 8 pm."),
        (VISITS, "平日は午後2時〜8時、休日は午前11時〜午後8時です。"),
        (DAILY, "周一开放到22:00。"),
        (COURTS, "周三18:00以前每小时50元。"),
    ],
)
def test_a_time_of_any_day_or_none_is_no_other_days(passage: str, statement: str) -> None:
    assert not found(passage, statement)


@pytest.mark.parametrize(
    ("passage", "question", "right", "wrong"),
    [
        (SHORT, "When do you close on Saturday?", "We close at 5 pm.", "We close at 8 pm."),
        (SHORT, "Is Saturday like the week?", "During the week we close at 8 pm.", "We close at 8 pm."),
        (SHORT, "I come at 8 pm on Saturday, is it open?", "No, 8 pm is too late.", "No, we open at 8:30 am."),
        (JA, "土曜は何時まで開いていますか。", "17:00までです。", "20:00までです。"),
        (ZH, "周六几点关门？", "下午5点关门。", "晚上8点关门。"),
    ],
)  # fmt: skip
def test_a_time_alone_is_of_the_day_that_was_asked_about(
    passage: str, question: str, right: str, wrong: str
) -> None:
    assert not found(passage, right, question)
    assert found(passage, wrong, question)


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        (SHORT, "On Saturday we close at 5 pm.", "On Saturday we close at 8 pm."),
        (JA, "水曜は20時までです。", "土曜日の営業は20:00までです。"),
        (WORKDAYS, "周三晚上八点关门。", "周日晚上八点关门。"),
    ],
)
async def test_a_time_of_another_day_does_not_pass(passage: str, right: str, wrong: str) -> None:
    async with judge_apart(Settings()) as judge:
        said = {text: await judge.judge(text, [passage], question="") for text in (right, wrong)}
    assert {text: verdict.passed for text, verdict in said.items()} == {right: True, wrong: False}  # type: ignore[union-attr]
