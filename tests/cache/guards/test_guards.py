from __future__ import annotations

import pytest

from cache.guards import Compared, Guard, default_guards
from cache.guards.aspects import AspectsGuard
from cache.guards.classes import ClassesGuard
from cache.guards.identifiers import IdentifierGuard
from cache.guards.numbers import NumberGuard
from cache.guards.polarity import PolarityGuard
from cache.guards.qualifiers import QualifiersGuard
from cache.guards.undoing import UndoingGuard
from cache.matching import objection

NUMBERS, POLARITY = NumberGuard.load(), PolarityGuard.load()
IDENTIFIERS, DATES = IdentifierGuard.load(), ClassesGuard.load("dates")
OPPOSITES = ClassesGuard.load("opposites", turned_by_negation=True)


def seen(guard: Guard, language: str, question: str, *phrasings: str) -> str | None:
    return guard.veto(Compared(question, phrasings[0], phrasings, language))


@pytest.mark.parametrize(
    ("guard", "language", "question", "phrasing", "saw"),
    [
        (NUMBERS, "en", "Is a refund made in 5 days?", "Is a refund made in 7 days?", "5 day"),
        (NUMBERS, "en", "A refund in five weeks", "A refund in 5 days", "5 week"),
        (NUMBERS, "en", "type 1 diabetes", "type 2 diabetes", "1"),
        (IDENTIFIERS, "en", "error KB5021", "error KB5022", "kb5021"),
        (IDENTIFIERS, "en", "error KB5021", "error", "kb5021"),
        (IDENTIFIERS, "en", "play my mp3", "play my mp4", "mp3"),
        (DATES, "en", "open on Monday", "open on Tuesday", "monday"),
        (DATES, "en", "Are you open on Monday?", "Are you open?", "monday"),
        (NUMBERS, "en", "It costs $5", "It costs €5", "5 dollar"),
        (NUMBERS, "ja", "犬が二頭います", "犬が3頭います", "2"),
        (NUMBERS, "ja", "10月5日まで", "10月6日まで", "5 day"),
        (DATES, "ja", "今日は開いていますか", "明日は開いていますか", "今日"),
        (NUMBERS, "zh", "两个账户", "三个账户", "2"),
        (DATES, "zh", "星期一营业吗", "星期二营业吗", "星期一"),
        (POLARITY, "en", "Why can't I pay abroad?", "Can I pay abroad?", "can't"),
        (POLARITY, "en", "countries where I pay no fee", "countries where I pay a fee", "no"),
        (POLARITY, "ja", "ログインできません", "ログインできますか", "ません"),
        (POLARITY, "ja", "通知が届かない", "通知が届く", "ない"),
        (POLARITY, "ja", "返品不可の商品", "返品できる商品", "不可"),
        (POLARITY, "zh", "不能退款", "可以退款吗", "不"),
        (POLARITY, "zh", "没有收到短信", "收到短信", "没"),
        (OPPOSITES, "en", "How do I enable 2FA?", "How do I disable 2FA?", "enable"),
        (OPPOSITES, "en", "Turn my alerts off", "Turn on my alerts", "turn my alerts off"),
        (OPPOSITES, "en", "unlock my account", "lock my account", "unlock"),
        (OPPOSITES, "en", "Lost list: export it", "import the list", "export"),
        (OPPOSITES, "ja", "二段階認証を有効にしたい", "二段階認証を無効にしたい", "有効"),
        (OPPOSITES, "ja", "記事を非公開にする", "記事を公開する", "非公開"),
        (OPPOSITES, "ja", "プランをアップグレードしたい", "プランをダウングレードしたい", "アップグレード"),
        (OPPOSITES, "ja", "2FAをenableする", "2FAをdisableする", "enable"),
        (OPPOSITES, "zh", "怎么开通服务", "怎么关闭服务", "开通"),
        (OPPOSITES, "zh", "如何绑定手机", "如何解绑手机", "绑定"),
    ],
)
def test_a_guard_names_the_difference(
    guard: Guard, language: str, question: str, phrasing: str, saw: str
) -> None:
    reason = seen(guard, language, question, phrasing)
    assert reason is not None
    assert saw in reason


@pytest.mark.parametrize(
    ("language", "question", "phrasing"),
    [
        ("en", "a refund in five days", "a refund in 5 days"),
        ("en", "it costs 5 dollars", "it costs $5"),
        ("en", "my 2nd card", "my second card"),
        ("en", "set up 2FA", "set up two-factor authentication for 2 devices"),
        ("en", "I don't know how to pay", "How do I pay?"),
        ("en", "Can I pay or not?", "Can I pay?"),
        ("en", "How do I activate my card?", "How is my card enabled?"),
        ("ja", "キャンセルできませんか", "キャンセルできますか"),
        ("ja", "教えていただけませんか、料金", "料金を教えてください"),
        ("ja", "申請しなければなりませんか", "申請が必要ですか"),
        ("ja", "すみません、料金は", "料金は"),
        ("ja", "一緒に使えますか", "あわせて使えますか"),
        ("ja", "二十三日まで", "23日まで"),
        ("ja", "二〇二六年", "2026年"),
        ("zh", "能不能退款", "可以退款吗"),
        ("zh", "三个月", "3个月"),
        ("zh", "有没有优惠", "有优惠吗"),
        ("zh", "特别服务", "服务"),
    ],
)
def test_the_same_question_in_other_words_passes_all_guards(
    language: str, question: str, phrasing: str
) -> None:
    assert [seen(guard, language, question, phrasing) for guard in default_guards()] == [None] * len(
        default_guards()
    )


def test_numbers_that_the_phrasings_vary_do_not_matter() -> None:
    phrasings = ("Set an alarm for 6 am", "Set an alarm for 7 am", "Wake me at 8 o'clock")
    assert seen(NUMBERS, "en", "Set an alarm for 9 am", *phrasings) is None
    assert seen(NUMBERS, "en", "Set an alarm for 9 am", *phrasings[:2]) is not None


def test_an_entry_that_names_both_sides_may_answer_either() -> None:
    phrasings = ("Lock my card", "Can I unlock my card again?")
    assert seen(OPPOSITES, "en", "unlock my card", *phrasings) is None
    assert seen(POLARITY, "en", "My card is not here", "Where is my card?", "My card did not come") is None


@pytest.mark.parametrize("guard", default_guards(), ids=lambda guard: guard.name)
def test_a_language_without_words_is_not_checked_and_says_so(guard: Guard) -> None:
    with pytest.raises(LookupError, match="fr"):
        seen(guard, "fr", "Je ne peux pas payer", "Je peux payer")


def test_what_one_side_leaves_out_counts_only_where_the_rest_is_the_same() -> None:
    aside = "I went abroad on Monday, the card failed in every shop; how do I get a replacement?"
    assert seen(DATES, "en", aside, "How do I get a replacement card?") is None
    assert seen(DATES, "en", "Do you replace cards on Monday?", "Do you replace cards?") is not None


def test_an_entry_whose_phrasings_name_three_classes_is_about_any() -> None:
    phrasings = ("Request leave for April", "Request leave for July", "Request leave for May 1st in May")
    assert seen(DATES, "en", "Request leave for June", *phrasings) is None
    assert seen(DATES, "en", "Request leave for June", *phrasings[:2]) is not None


def test_other_phrasings_say_the_act_that_the_nearest_one_only_means() -> None:
    verbs = ClassesGuard.load("verbs", least_overlap=0.5, spoken_for=("ja",), acts=True)
    phrasings = ("診察の日に行けなくなりました", "診察を取り消したい", "診察をキャンセルするには")
    assert seen(verbs, "ja", "診察の日を変更したい", *phrasings) is not None
    assert seen(verbs, "ja", "診察の日を変更したい", *phrasings[:2]) is None


def test_an_entry_about_the_whole_matter_answers_how_and_no_further_aspect() -> None:
    aspects = AspectsGuard.load()
    phrasings = (
        "Where do I apply for a parking permit?",
        "parking permit deadline",
        "What does a parking permit cost?",
    )
    assert seen(aspects, "en", "How do I apply for a parking permit?", *phrasings) is None
    assert seen(aspects, "en", "Who can apply for a parking permit?", *phrasings) is not None
    assert seen(aspects, "en", "When must I apply for a parking permit?", *phrasings) is None


def test_a_kind_that_another_phrasing_names_is_the_entrys_own() -> None:
    qualifiers = QualifiersGuard.load()
    phrasings = ("How do I open an account?", "I want an account for a company", "An account for us two")
    assert seen(qualifiers, "en", "How do I open a business account?", phrasings[0]) is not None
    assert seen(qualifiers, "en", "How do I open a business account?", *phrasings) is None
    assert seen(qualifiers, "ja", "自動車税の期限", "軽自動車税の期限", "軽の税金はいつまで") is not None
    assert seen(qualifiers, "ja", "自動車税の期限", "軽自動車税の期限", "自動車税の期限") is None


def test_an_entry_that_tells_both_answers_who_takes_back() -> None:
    undoing = UndoingGuard.load()
    phrasings = ("How do I cancel my order?", "Can I undo the cancellation of my order?")
    assert seen(undoing, "en", "How do I reverse a cancellation?", phrasings[0]) is not None
    assert seen(undoing, "en", "How do I reverse a cancellation?", *phrasings) is None
    assert seen(undoing, "en", "How do I cancel my order?", *reversed(phrasings)) is None
    assert seen(undoing, "en", "How do I cancel my order?", phrasings[1], "Bring my order back") is not None


def test_a_negation_in_a_clause_of_its_own_denies_nothing_that_is_asked() -> None:
    assert seen(POLARITY, "zh", "东西不想要了，想退货，怎么申请", "退货怎么申请") is None
    assert (
        seen(POLARITY, "en", "I have no branch nearby, how do I pay in cash?", "How do I pay in cash?")
        is None
    )
    assert seen(POLARITY, "en", "Where can I not pay in cash?", "Where can I pay in cash?") is not None


def test_a_negation_takes_the_point_out_of_opposites() -> None:
    assert seen(OPPOSITES, "en", "Why was my card not accepted?", "Why was my card declined?") is None
    assert seen(OPPOSITES, "en", "My card was accepted", "My card was declined") is not None


def test_traditional_characters_are_read_as_simplified_ones() -> None:
    assert seen(OPPOSITES, "zh", "如何關閉服務", "怎么关闭服务") is None
    assert seen(OPPOSITES, "zh", "如何關閉服務", "怎么开通服务") is not None


BULKY = (
    "What is the fee for 2 bulky items?",
    "bulky waste fee two items",
    "a desk and a carpet picked up together",
)
OUT = ("moving out deadline", "I am moving away. When must I tell you?")
CHILD = ("What is the bus fare for a child?", "bus fare for my eight-year-old", "child bus fare")


@pytest.mark.parametrize(
    ("question", "phrasings", "objects"),
    [
        ("What is the fee for 1 bulky item?", BULKY, True),
        ("What is the fee for two bulky items?", BULKY, False),
        ("What is the bus fare for an adult?", CHILD, True),
        ("What is the bus fare for children?", CHILD, False),
        ("moving in deadline", ("moving out deadline", "When must I say that I leave?"), True),
        ("I moved into town. By when do I register?", ("By when must I tell you?", *OUT), True),
        ("I moved into town. By when do I register?", ("By when must I tell you?", OUT[0]), False),
        ("Must I tell you that I moved in?", (*OUT, "I moved out here, into a new flat. What now?"), True),
    ],
)
def test_a_phrasing_that_names_nothing_does_not_open_an_entry(
    question: str, phrasings: tuple[str, ...], objects: bool
) -> None:
    vetoed = objection(question, phrasings[0], phrasings, "en", default_guards())
    assert (vetoed is not None) == objects, vetoed
