"""What askers tell of themselves may be taken up and reckoned with; what they only ask for proves nothing."""

from __future__ import annotations

import pytest

from classifiers.faithfulness.evidence import Contexts
from classifiers.faithfulness.told import told_numbers


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("I bought it on May 3 for $300. Can I return it after 20 days?", ["5", "3", "300"]),
        ("How much is it for 2 children at 8 am?", ["480", "2"]),
        ("I'm 67, is it free for me?", ["67"]),
        ("Can I hand it back if I bought it 12 days ago?", ["12"]),
        ("I study law and will do a 10-week internship, may I take leave?", ["70"]),
        ("I paid $30 and would like to know if it is $20", ["30"]),
        ("Is it 50 dollars?", []),
        ("So it costs $50, right?", []),
        ("The website says it costs $50, what do I pay?", []),
        ("3年使っていて、あと14か月残っていますが、違約金はいくらですか", ["36", "14"]),
        ("コート(7,800円)だけ返したいです。いくら戻りますか。", ["7800"]),
        ("6月8日に東支所へ行けば手続きできますか。", ["6", "8"]),
        ("手数料は300円ですか", []),
        ("手数料は300円ですよね？", []),
        ("手数料は300円と聞きました。", []),
        ("我年初花300块买了年费，用了4个月，能退多少？", ["300", "4"]),
        ("自己还花了1万6，能赔多少？", ["16000"]),
        ("费用是50元吗？", []),
        ("今年能退50元，对吗？", []),
        ("听说要交50元，怎么交？", []),
    ],
)  # fmt: skip
def test_what_an_asker_states_is_told_and_what_is_asked_or_heard_is_not(
    question: str, told: list[str]
) -> None:
    assert [number.value for number in told_numbers(question)] == told


TAKEN_UP = [
    ("Cash of more than $5,000 has to be ordered a day ahead.", "I need 6,000 dollars in cash.", "Order the 6,000 dollars a day ahead."),
    ("怀孕满28周须提供证明。", "我怀孕29周了，要证明吗？", "您29周，需要提供证明。"),
    ("65歳以上の方は無料です。", "父は67歳です。料金はいくらですか。", "67歳の方は無料です。"),
]  # fmt: skip
WORKED_OUT = [
    ("Each month that is left costs 20 dollars, at most 200.", "There are 14 months left. What do I pay?", "14 months make 280 dollars, so you pay 200."),
    ("80 % of the fee is paid back.", "I paid 50 dollars. What do I get?", "You get 40 dollars back."),
    ("Claims are accepted for 30 days.", "I sent it on April 2. When is it too late?", "You have until May 2."),
    ("専門医の予約は80%を返金します。", "5,000円払いました。いくら戻りますか。", "4,000円が戻ります。"),
    ("減額は漏れた水量の2分の1です。", "12,000円高くなりました。いくら安くなりますか。", "6,000円安くなります。"),
    ("返金では振込手数料330円と送料550円を差し引きます。", "コートは7,800円でした。いくら戻りますか。", "330円と550円を引いて6,920円です。"),
    ("保管期間は7日間です。", "荷物は5月12日に届きました。いつまでですか。", "5月18日までです。"),
    ("会計は退院前日に分かります。", "金曜に退院します。会計はいつですか。", "木曜に分かります。"),
    ("按运费的7倍以内赔偿。", "运费18元，丢了，赔多少？", "最多126元。"),
    ("违约金减半。", "月租3000元，押一付一，要扣多少？", "扣1500元。"),
    ("起步价280元，含2米管材，超出部分每米75元。", "总共要5米管子，多少钱？", "超出3米，就是225元，加起来505元。"),
    ("居住登记满六个月可以申领。", "我去年11月5号登记的，什么时候能办？", "到今年5月5日就满了。"),
]  # fmt: skip
WRITTEN_OUT = [
    ("The fee is €90; children pay €45.", "What do the three of us pay?", "€225: 90 + 90 + 45."),
    ("The plan costs €8 per user and month, for 12 months.", "We are 10 users.", "10 × €8 × 12 = €960 a year."),
    ("普通班2980元，周末班另加600元，退役军人减免500元。", "我是退役军人，上周末班。", "2980＋600－500＝3080元。"),
    ("已使用的整月每月扣30元。", "年费300元，用了4个月。", "能退180元（300－4×30）。"),
    ("Each day costs €10, both days count.", "I stay from 3 May to 8 May.", "That is six days, so you pay €60."),
]  # fmt: skip
STAYS_NEW = [
    ("The fee is €90; children pay €45.", "What do the three of us pay?", "€235: 90 + 90 + 45."),
    ("Each month costs 20 dollars.", "I stayed " + ", ".join(f"{n} months" for n in range(2, 60)) + ". What do I pay?", "You pay 280 dollars."),
    ("80 % of the fee is paid back.", "I paid 50 dollars. What do I get?", "You get 45 dollars back."),
    ("Claims are accepted for 30 days.", "I sent it on April 2. When is it too late?", "You have until June 2."),
    ("The fee is paid back.", "Do I get 40 dollars back?", "You get 40 dollars back."),
    ("按运费的7倍以内赔偿。", "运费18元，丢了，赔多少？", "最多136元。"),
    ("減額は漏れた水量の2分の1です。", "いくら安くなりますか。", "6,000円安くなります。"),
    ("会計は退院前日に分かります。", "金曜に退院します。会計はいつですか。", "火曜に分かります。"),
]  # fmt: skip


def new_numbers(context: str, question: str, answer: str) -> tuple[str, ...]:
    known = Contexts([context])
    evidence = known.evidence(answer, question, worked_out=known.worked_out([answer], question))
    return evidence.novelty.numbers + evidence.novelty.other_units


@pytest.mark.parametrize(("context", "question", "answer"), [*TAKEN_UP, *WORKED_OUT, *WRITTEN_OUT])
def test_a_number_of_the_askers_own_and_what_follows_from_it_are_not_new(
    context: str, question: str, answer: str
) -> None:
    assert new_numbers(context, question, answer) == ()


@pytest.mark.parametrize(("context", "question", "answer"), STAYS_NEW)
def test_a_number_that_does_not_follow_or_was_only_asked_for_stays_new(
    context: str, question: str, answer: str
) -> None:
    assert new_numbers(context, question, answer)


@pytest.mark.parametrize(("lasting", "new"), [("四个小时", ()), ("六个小时", ("六个小时",))])
def test_how_long_lasts_what_the_answer_told_before_is_not_new(lasting: str, new: tuple[str, ...]) -> None:
    when, how_long = "维护定在凌晨1点到5点。", f"团队版在这{lasting}里只能查看。"
    known = Contexts(["定于凌晨一点至五点进行系统维护。", "团队版可只读访问。"])
    numbers = known.worked_out([when, how_long], "")
    assert known.evidence(how_long, worked_out=numbers).novelty.numbers == new


@pytest.mark.parametrize("day", ["1月1日", "2月28日", "12月31日", "1.5月3日", "13月40日"])
@pytest.mark.parametrize("step", ["1日以内", "306日以内", "400日以内", "13か月前", "11か月後"])
def test_any_day_and_any_step_can_be_reckoned(day: str, step: str) -> None:
    assert isinstance(
        new_numbers(f"届出は{step}です。", f"{day}に引っ越しました。いつまでですか。", "2月29日までです。"),
        tuple,
    )
