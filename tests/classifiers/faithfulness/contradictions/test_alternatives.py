"""Another month, party or state than the contexts give the same thing is held back; what only looks alike is not."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.contradictions.alternatives import alternatives
from classifiers.faithfulness.evidence import Contexts
from classifiers.faithfulness.passages import Passages
from classifiers.faithfulness.said import said

WRONG = [
    ("機器は解約月の翌月10日までに返却してください。", "機器は解約した月の10日までにお返しください。"),
    ("機器は解約月の翌月10日までに返却してください。", "解約月の10日までに返却してください。"),
    ("機器は解約月の翌月10日までに返却してください。", "返却は任意です。"),
    ("機器は解約月の翌月10日までに返却してください。", "機器は当社が返却します。"),
    ("請求書は当月末に締め、翌月10日に発送します。", "請求書は当月10日に発送します。"),
    ("返品の送料はお客様の負担となります。", "返品の送料は弊社持ちです。"),
    ("修理は当社が行います。お客様による分解はご遠慮ください。", "修理はお客様に行っていただきます。"),
    ("当館は火曜日が休みです。年末年始も休みです。", "火曜日も受け付けています。"),
    ("当館は火曜日が休みです。年末年始も休みです。", "年始は開館しています。"),
    ("本館は月曜日が休館日です。別館は月曜日も開館しています。", "本館は月曜日も開館しています。"),
    ("氏名の入力は必須です。電話番号の入力は任意です。", "氏名の入力は任意です。"),
    ("普通車は屋根の下に停められます。大型車は屋外に停めてください。", "大型車は屋根の下に停められます。"),
    ("书面申请须在次月5日前提交。", "书面申请须在当月5日前提交。"),
    ("运费由买家承担，安装费由我们承担。", "运费由我们承担。"),
    ("图书馆周一闭馆，节假日照常开放。", "周一照常开放。"),
    ("工作日营业，周末休息。营业时间为9:00至18:00。", "周末也营业。"),
    ("紧急联系人必须填写，邮箱可选填。", "紧急联系人可选填。"),
    ("支持支付宝、微信支付、银联卡和信用卡。不支持货到付款。", "支持货到付款。"),
    ("支持支付宝、微信支付、银联卡和信用卡。不支持货到付款。", "不支持信用卡。"),
    ("生鲜食品、已拆封的贴身用品不支持七天无理由退货。", "生鲜食品支持七天无理由退货。"),
    ("香港、澳门可以配送，运费35元起。暂不支持配送到台湾。", "香港、澳门暂不支持配送。"),
    ("每天16:00前付款的订单当天发货，16:00以后付款的订单次日发货。", "16:00以后付款的订单当天发货。"),
    ("展厅内禁止拍照。常设展可拍照。", "展厅内可以拍照。"),
    ("租房提取只能在窗口申请。", "租房提取在网上申请。"),
    ("Invoices are due on the 5th of the following month.", "Invoices are due on the 5th of the same month."),
    ("The customer pays for return shipping.", "We pay for return shipping, so it costs you nothing."),
    ("The pool is closed on Mondays. The sauna is open on Mondays.", "The pool is open on Mondays."),
    ("A passport is required; a visa is optional for short stays.", "A visa is mandatory for short stays."),
]
RIGHT = [
    ("特展厅内可拍照，但禁止使用闪光灯。", "特展厅内可以拍照。"),
    ("租房提取可通过公积金中心官网或窗口申请；购房提取只能在窗口申请。", "租房提取可以在公积金中心官网上申请。"),
    ("機器は解約月の翌月10日までに返却してください。", "機器は解約した次の月の10日までにお返しください。"),
    ("請求書は当月末に締め、翌月10日に発送します。", "当月末で締めます。"),
    ("予約は前日までにお願いします。当日の予約は受け付けていません。", "当日の予約はできません。"),
    ("ごみは収集日当日の朝8時までに出してください。前日の夜に出さないでください。", "収集日の朝8時までに出してください。"),
    ("返品の送料はお客様の負担となります。", "返品の送料はご負担ください。"),
    ("お客様が破損させた場合はお客様の負担、自然故障の場合は当社が負担します。", "自然故障なら当社が負担します。"),
    ("修理は当社が行います。", "修理は当社が行うので、お客様のお手を煩わせません。"),
    ("当館は火曜日が休みです。", "火曜以外の日に営業しています。"),
    ("当館は火曜日が休みです。", "水曜日は開いています。"),
    ("店舗Aは月曜定休、店舗Bは火曜定休です。", "店舗Bは月曜日に営業しています。"),
    ("相談窓口は平日に開いています。土日は電話のみ受け付けています。", "土日は窓口が閉まっています。"),
    ("本館は月曜日が休館日です。別館は月曜日も開館しています。", "別館なら月曜日も開いています。"),
    ("会員の方は会員証をご提示ください。", "会員証を提示する必要があります。"),
    ("运费由买家承担，安装费由我们承担。", "安装费不用您出，由我们承担。"),
    ("图书馆周一闭馆，节假日照常开放。", "除周一外，图书馆照常开放。"),
    ("工作日营业，周末休息。营业时间为9:00至18:00。", "工作日9:00开始营业。"),
    ("支持支付宝、微信支付、银联卡和信用卡。不支持货到付款。", "可以用信用卡付款，但不能货到付款。"),
    ("香港、澳门可以配送，运费35元起。暂不支持配送到台湾。", "目前不能寄到台湾。"),
    ("每天16:00前付款的订单当天发货，16:00以后付款的订单次日发货。", "下午四点后付款的话，次日发货。"),
    ("客户请在当天确认收货，我们将在次日开具发票。", "收货要当天确认。"),
    ("The customer pays return shipping. We pay return shipping for faulty items.", "If the item is faulty, we pay return shipping."),
    ("We accept returns within 30 days.", "You can return items within 30 days."),
    ("The museum is closed on Mondays except public holidays.", "The museum is open on public holidays that fall on a Monday."),
    ("Keys are returned the day after departure. On the day of departure, leave by 10:00.", "Leave by 10:00 on the day of departure."),
    ("No doctor's note is required.", "You don't need to bring a doctor's note."),
]  # fmt: skip
TURNED = [
    ("电影院周一休息。", "电影院周一不营业。"),
    ("電話番号の入力は任意です。", "電話番号の入力は必須ではありません。"),
    ("A visa is optional for short stays.", "A visa is not required for short stays."),
]


def _found(passage: str, statement: str) -> tuple[tuple[str, str], ...]:
    return alternatives(said(statement, ""), Passages([passage]).lines)


@pytest.mark.parametrize(("passage", "statement"), WRONG)
def test_the_other_side_of_the_same_thing_contradicts(passage: str, statement: str) -> None:
    assert _found(passage, statement)
    assert Contexts([passage]).evidence(statement).features.contradicted


@pytest.mark.parametrize(("passage", "statement"), RIGHT)
def test_the_same_side_another_thing_or_another_day_does_not(passage: str, statement: str) -> None:
    assert not _found(passage, statement)


@pytest.mark.parametrize(("passage", "statement"), TURNED)
def test_what_is_denied_may_be_the_same_in_other_words(passage: str, statement: str) -> None:
    assert not Contexts([passage]).evidence(statement).features.contradicted


def test_the_question_says_on_which_day_it_is_open() -> None:
    lines = Passages(["水曜日は定休日です。祝日は営業しています。"]).lines
    assert alternatives(said("はい、営業しています。", "水曜日に行けますか。"), lines)
    assert not alternatives(said("はい、営業しています。", "祝日に行けますか。"), lines)


def test_one_day_ahead_is_no_new_number_where_the_day_before_stands() -> None:
    found = Contexts(["Changes are possible until the day before dispatch."])
    assert not found.evidence("You can make changes up to one day ahead of dispatch.").features.new_numbers
    assert found.evidence("You can make changes up to two days ahead of dispatch.").features.new_numbers
