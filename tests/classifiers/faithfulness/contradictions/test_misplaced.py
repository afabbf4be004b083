"""What the contexts tell of one thing is not told of another, though no list knows the two."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.facts import facts
from classifiers.faithfulness.contradictions.misplaced import misplaced
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said

LIGHTS = "A flashing orange light means a firmware update. A red light means that there is no connection."
PLANS = "Video calls on the Basic plan are limited to 40 minutes. The Team plan costs $25 a month."
LOGS = (
    "The Basic plan costs $9 and includes 50 GB. The Team plan costs $25 and includes 500 GB and audit logs."
)
OWNERS = "Only the workspace owner can delete a workspace. Admins can invite and remove members."
RECORDING = "Guests can join a call without an account, but only account holders can record it."
REPORTS = "A missing parcel must be reported within 14 days. Damage must be reported within 48 hours."
APPROVAL = "5日以上連続して休む場合は部長の承認が必要です。自家用車での通勤は総務部の許可が必要です。"
LAMPS = "オレンジ色に点滅しているときは用紙切れです。赤色に点灯しているときはインク切れです。"
CODES = "H2のときは冷却器の故障です。H3のときは停電からの復帰を示します。"
MEMBERS = "普通会员满99元包邮，金卡会员不限金额包邮。"
OVERTIME = "工作日加班按1.5倍工资计算，法定节假日加班按3倍计算。"
EXPORT = "成员数量不限。只有管理员可以导出数据。普通成员可以查看文档。"
HONEY = "Honey is rich in sugar. Unlike jam, it keeps for years."


def found(passage: str, statement: str, question: str) -> tuple[tuple[str, str], ...]:
    each, known = said(statement, question), Passages([passage]).lines
    return misplaced(each, facts(each.line, known), known)


@pytest.mark.parametrize(
    ("passage", "statement"),
    [
        (LIGHTS, "A red light means that a firmware update is running."),
        (PLANS, "Calls on the Team plan end after 40 minutes."),
        (LOGS, "Audit logs come with the Basic plan."),
        (OWNERS, "Admins can delete a workspace."),
        (RECORDING, "Guests can record a call without an account."),
        (REPORTS, "A missing parcel must be reported within 48 hours."),
        (APPROVAL, "5日以上連続して休む場合は総務部の承認が必要です。"),
        (LAMPS, "ランプがオレンジ色に点滅しているときはインク切れです。"),
        (CODES, "H3は冷却器の故障を示します。"),
        (MEMBERS, "普通会员不限金额包邮。"),
        (OVERTIME, "法定节假日加班按1.5倍工资计算。"),
        (EXPORT, "普通成员可以导出数据。"),
    ],
)
def test_what_is_told_of_another_is_seen(passage: str, statement: str) -> None:
    assert found(passage, statement, "")


@pytest.mark.parametrize(
    ("passage", "statement", "question"),
    [
        pytest.param(LIGHTS, "A red light means that the connection is lost.", "", id="told of it"),
        pytest.param(LIGHTS, "A firmware update makes the light flash orange.", "", id="turned round"),
        pytest.param(PLANS, "You pay $25 a month on the Team plan.", "", id="in other words"),
        pytest.param(RECORDING, "Without an account guests can join a call.", "", id="in another order"),
        pytest.param(HONEY, "Honey keeps for years.", "", id="the subject of the sentence before"),
        pytest.param(
            APPROVAL, "自家用車で通うには総務部の許可が要ります。", "", id="in other words, in Japanese"
        ),
        pytest.param(
            "Flexible tickets can be changed. After that a fee of 10 euros applies.",
            "Flexible tickets can be changed for a fee of 10 euros.",
            "",
            id="a pronoun behind a preposition",
        ),
        pytest.param(
            "常勤の職員は年20日の休暇があります。非常勤の職員は年10日です。",
            "非常勤の休暇は年に10日です。",
            "",
            id="told in short",
        ),
        pytest.param(
            "入会金は3,000円ですが、4月中は無料です。解約に手数料はかかりません。",
            "4月に入会すれば入会金はかかりません。",
            "",
            id="a number of whom it is told is not told",
        ),
        pytest.param(
            "高知県西南部の町。四万十川の中流に位置し、東は太平洋に面し、北西部は愛媛県と境を接する。",
            "東は太平洋に面しており、北西部では愛媛県と接しています。",
            "",
            id="a clause before the topic is none of it",
        ),
        pytest.param(MEMBERS, "金卡会员买多少都包邮。", "", id="in other words, in Chinese"),
        pytest.param(
            "サボテンは砂漠に適応しています。茎全体は皮膜で水分の損失を防いでいます。",
            "サボテンは皮膜で水分の損失を防いでいます。",
            "サボテンはなぜ乾燥に強いのですか。",
            id="what the question is about is meant all along",
        ),
    ],
)
def test_what_is_told_of_the_same_is_not(passage: str, statement: str, question: str) -> None:
    assert found(passage, statement, question) == ()
