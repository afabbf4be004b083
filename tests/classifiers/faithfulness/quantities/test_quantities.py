"""Numbers are compared by what they mean, not by how they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.faithfulness.quantities import quantities
from classifiers.faithfulness.quantities.pool import QuantityPool
from classifiers.faithfulness.quantities.units import UNITS

SAME = [
    ("1,200円", "千二百円"), ("¥1200", "１，２００円"), ("3.5万円", "35,000円"), ("1億2000万人", "120,000,000人"), ("八百元", "800元"),
    ("令和6年", "2024年"), ("平成元年", "1989年"), ("二〇二四年", "2024年"), ("March 5, 2024", "2024年3月5日"), ("2024-03-05", "5th of March 2024"),
    ("5:30 p.m.", "17:30"), ("午後5時半", "17:30"), ("下午5点半", "5:30 pm"), ("9 a.m.", "午前9時"), ("two weeks", "14 days"), ("12 months", "one year or 1 year"),
    ("30%", "30 percent"), ("三十パーセント", "30%"), ("twenty-five days", "25 days"), ("three hundred and five", "305"), ("$3.5 million", "3,500,000 dollars"),
    ("about 5,000 people", "5,021 people"), ("約5,000人", "5021人"), ("twice", "two times"), ("3个月", "三个月"), ("23-year-old", "23 years old"), ("5 km", "5000 m"),
    ("half an hour", "30分"), ("24小时", "二十四小时"), ("二十四小时", "1天"), ("valid for a year", "12か月間"), ("1時間半", "90 minutes"), ("两个半小时", "150分钟"),
    ("半年", "6 months"), ("two and a half hours", "150 min"), ("90 seconds", "1.5 minutes"), ("a fortnight or 1 fortnight", "2 weeks"), ("半額", "50%"), ("half of it", "50 percent"),
    ("74 °C", "165 °F"), ("350 degrees", "350°F"), ("2 hours", "2 or 3 hours"), ("1.5 kg", "1500グラム"), ("one month", "1か月"), ("3トン", "3,000 kg"), ("5営業日", "5 working days"),
    ("ten in the evening", "22:00"), ("half past eight", "8:30"), ("quarter to five", "4:45 pm"), ("5 o'clock", "17:00"), ("正午", "12時"), ("noon", "12:00"),
    ("晚上6:00", "18点整"), ("from seven", "7:00"), ("3 am", "from 3 to 5 am"), ("1小时20分钟", "八十分钟"), ("一个小时二十分钟", "80 minutes"),
    ("nearly three and a half hours", "3 hours 25 minutes"), ("30 cents", "€0.30"), ("45p", "£0.45"), ("五百块", "500元"), ("16岁", "16周岁"), ("23 kilos", "23 kg"),
    ("37度5分", "37.5度"), ("4 to 12 people", "between four and twelve people"), ("under eighteen", "Under-18s"), ("第二年", "次年"), ("23", "23 kg"),
    ("两块八", "2.8元"), ("二元八角", "2.80元"), ("打九五折", "优惠5%"), ("9.5折", "九五折"), ("三个工作日", "3工作日"), ("八折", "优惠20%"), ("三百五", "350元"), ("a quarter of the fare", "25 per cent"),
    ("three quarters of an hour", "45 minutes"), ("90 minutes", "an hour and a half"), ("75 minutes", "an hour and a quarter"), ("14 days", "a fortnight"),
    ("80 %", "four fifths of the price"), ("a third of it", "33 %"), ("90 %", "nine out of ten"), ("12 months", "84 pounds a year"),
    ("£4.20", "4 pounds 20"), ("a hundred euros", "100 euros"), ("a hundred and twenty", "120"), ("500 grams", "half a kilo"), ("3 hours 25 minutes", "3 h 25 min"),
    ("1 May 2025", "01.05.2025"), ("31 March", "the end of March"), ("28 February", "the last day of February"), ("12 eggs", "a dozen eggs"), ("twice", "doubled"),
    ("three calendar months", "3 months"), ("5 consecutive days", "five days"), ("ten more minutes", "10 minutes"),
    ("七角九分", "0.79元"), ("5角", "0.5元"), ("10キロ", "10 kg"), ("10キロ", "10キロメートル"), ("2泊", "2 nights"), ("3个", "3盒"), ("一晚", "1泊"),
    ("v2.1", "version 2.1"), ("Ver.3以降", "バージョン3以降"), ("时间：7:00", "早上7点"),
    ("三针", "3次"), ("两只", "2个"), ("四份", "4支"), ("三包", "3袋"), ("五滴", "5滴"), ("二足", "2足"), ("三通", "3枚"), ("三轮", "3次"), ("3 doses", "三针"),
    ("下午4点之前付款", "16:00前"), ("16点前", "下午4点"), ("晚上十一点关门", "23:00"), ("下午五點", "17:00"), ("早上八點半", "8:30"), ("从九点开放", "9:00"), ("傍晚6点", "18:00"),
    ("每度五點二元", "每度5.2元"), ("二点一元", "2.1元"), ("十五点六公里", "15.6 km"), ("一点五小时", "90分钟"), ("1万6,300円", "16,300円"),
    ("下午一點、三點、五點", "13:00、15:00、17:00"), ("上午9点和11点", "9:00, 11:00"), ("第三、四周", "第三周和第四周"), ("第3週と第4週", "第3、4週"), ("第3条", "第三条"),
    ("第2・4土曜", "第2土曜と第4土曜"), ("每月第一、三个周六", "第一个周六和第三个周六"), ("兩個月", "2个月"), ("一千兩百元", "1200元"), ("未滿十六歲", "16岁"), ("三個工作日", "3个工作日"),
    ("三個小時", "180分鐘"), ("三個半小時", "3.5小时"), ("半個月", "半个月"), ("五張", "5张"), ("八樓", "8楼"), ("週六", "周六"), ("1点1,650円", "1点につき1,650円"),
]  # fmt: skip
DIFFERENT = [
    ("1,200円", "1,300円"), ("30%", "31%"), ("令和5年", "2024年"), ("14 weeks", "14 days"), ("5:30 p.m.", "17:00"), ("version 2.3.1", "version 2.3.2"),
    ("about 5,000 people", "6,000 people"), ("010-1234-5678", "010-1234-5679"), ("https://a.example/1", "https://a.example/2"),
    ("76 °C", "165 °F"), ("half an hour", "half a day"), ("25 hours", "1 day"), ("一个月", "两个月"), ("半年", "半日"), ("half past eight", "9:30"), ("ten in the evening", "21:00"), ("31 cents", "€0.30"), ("16", "between four and twelve"),
    ("four weeks", "four working days"), ("two full weeks", "two business days"), ("0.49角", "0.49元"), ("10グラム", "10キロ"),
    ("v1.2", "v2.1"), ("はver2.0が", "version 2.1"),
    ("三针", "四针"), ("三支", "四支"), ("三间", "四间"), ("二足", "三足"), ("三通", "四通"), ("三滴", "四滴"),
    ("下午4点之前", "15:00"), ("每度五點二元", "17:00"), ("五点二元", "5:00"),
    ("每度五點二元", "2元"), ("五元", "每度四点五元"), ("1万6,300円", "300円"), ("下午三点", "上午一点、两点"), ("第三、四周", "四周"), ("第3周", "3周"), ("兩個月", "3個月"),
    ("第2・4土曜", "第1・3土曜"), ("五点十分", "5.1元"), ("1点1,650円", "1:00"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_ways_of_writing_one_quantity_agree(one: str, other: str) -> None:
    pool = QuantityPool(quantities(other))
    assert quantities(one)
    assert {pool.find(q) for q in quantities(one)} == {"same"}


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_quantities_are_new(one: str, other: str) -> None:
    pool = QuantityPool(quantities(other))
    assert "new" in {pool.find(q) for q in quantities(one)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10 USD", "10 EUR"),
        ("180 hours", "10800 EUR"),
        ("5営業日", "5日"),
        ("1,000ドル", "1,000円"),
        ("2箱", "2錠"),
        ("三袋", "3片"),
    ],
)
def test_the_same_number_of_something_else_is_told_apart(one: str, other: str) -> None:
    assert {QuantityPool(quantities(other)).find(q) for q in quantities(one)} == {"other unit"}


@pytest.mark.parametrize(
    "text",
    [
        "一般に十分な九州の一部",
        "one of them",
        "COVID-19 and IPv6",
        "千葉県",
        "万一の場合",
        "no number",
        "once a day",
        "in the afternoon",
    ],
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert quantities(text) == ()


@pytest.mark.parametrize(
    "text", ["Step 6: stir", "the two of them", "ステップ3", "第2步", "a third party", "a day", "double"]
)
def test_what_numbers_the_answer_itself_is_a_label(text: str) -> None:
    assert [q.is_count for q in quantities(text)] == [True]


def test_about_so_many_is_not_near_a_telephone_number() -> None:
    pool = QuantityPool(quantities("Call 000-555-0130 or see https://a.example/50."))
    assert pool.find(quantities("about 50")[0]) == "new"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for quantity in quantities(text):
        assert QuantityPool([quantity]).find(quantity) == "same"


@given(st.integers(min_value=0, max_value=10**9))
def test_thousands_separators_change_nothing(number: int) -> None:
    assert {q.value for q in quantities(f"{number:,} EUR")} == {q.value for q in quantities(f"{number} EUR")}


@pytest.mark.parametrize("form", [form for forms in UNITS.values() for form in forms.split("|")])
def test_each_form_of_a_unit_is_whole_by_itself(form: str) -> None:
    re.compile(form)  # all forms are put together again, the longest first


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The museum is open Tue–Sun from 10:00.", ["tue", "sun"]),
        ("Mon. to Thurs., 9 am", ["mon", "thu"]),
        ("Mon – Friday", ["mon", "fri"]),
        ("**Sat:** closed", ["sat"]),
        ("Sat 9:00–12:00", ["sat"]),
        ("We sat 9 hours in the sun.", []),
        ("月〜金 9:00〜20:00", ["mon", "fri"]),
        ("火・木は18:00まで", ["tue", "thu"]),
        ("木・土の実験", []),
    ],
)
def test_short_names_of_days_count_where_they_can_be_nothing_else(text: str, days: list[str]) -> None:
    found = (one for one in quantities(text) if one.unit == "weekday" and not one.is_label)
    assert [one.value for one in found] == days


def test_working_days_are_days_of_the_week_where_they_are_not_counted() -> None:
    days = [[q.value for q in quantities(text)] for text in ("工作日20:00关门", "三个工作日内")]
    assert days == [["mon", "tue", "wed", "thu", "fri", "1200"], ["3"]]


@pytest.mark.parametrize(
    "text",
    ["三支行均可办理", "三轮车不能进入", "家电享受三包服务", "满一百包邮", "年满十六只需登记", "十足的信心", "三支店", "双十一双节"],
)  # fmt: skip
def test_a_character_that_also_counts_is_no_counter_in_another_word(text: str) -> None:
    assert quantities(text) == ()


def test_one_of_a_thing_only_says_of_how_many_a_price_is() -> None:
    assert [q.is_count for q in quantities("1通200円")] == [True, False]
