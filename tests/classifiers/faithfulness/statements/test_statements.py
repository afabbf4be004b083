"""What of an answer can be true or false."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.faithfulness.statements import statements
from classifiers.faithfulness.statements.speech_acts import speech_act

NO_CLAIMS = {
    "greeting": [
        "Hello!", "Thank you for your question.", "Sure, I'd be happy to help!", "I hope this helps!", "Sure, I can help you with that!",
        "こんにちは。", "ご質問ありがとうございます。", "かしこまりました。", "您好！", "感谢您的咨询。", "希望以上信息对您有所帮助。",
    ],
    "refusal": [
        "I'm sorry, but the documents don't say how long shipping takes.", "The provided context does not mention a refund policy.",
        "I could not find any information about parking.", "Unable to answer based on given passages.", "None of the passages mention the colour.",
        "There is no information about fees in the given documents.", "Passage 2 does not provide any information about opening hours.",
        "提供された資料には返金について記載がありません。", "申し訳ありませんが、その質問にはお答えできません。", "該当する情報は見つかりませんでした。", "文書には送料に関する情報は含まれていません。", "わかりません。",
        "根据提供的资料，文档中没有提到退款政策。", "很抱歉，我无法回答这个问题。", "资料中未提及运费。", "我不知道。",
    ],
    "offer": [
        "Let me know if you have any other questions.", "If you need further assistance, feel free to contact us.", "Is there anything else I can help you with?",
        "他にご質問がございましたら、お気軽にお問い合わせください。", "如果您还有其他问题，请随时联系我们。", "还有什么可以帮您？",
    ],
    "lead_in": [
        "Based on the provided passages, here are some ways to reheat food:", "Here are the steps:", "To remove it from Windows 10, follow these steps:",
        "(Passage 1)", "以下の通りです。", "料理を美味しく仕上げるためには、以下の手段が効果的です。", "步骤如下：",
    ],
    "question": ["Would you like to see the opening hours?", "Which card do you have?", "どのカードをお持ちですか？", "您用的是哪张卡？"],
}  # fmt: skip
CLAIMS = [
    "The fee is 30 EUR.", "Unfortunately, refunds are not possible.",
    "Did you know that the card is free?", "You do not need a passport.", "If you need a new card, call 0800 1234.", "Hello, the office is closed.", "Please contact the office before Monday.",
    "There is no fee for students.", "Employees do not have access to the archive.", "Follow the blue line to the exit.", "The answer is no.", "No fees are charged.", "No information is stored on the card.",
    "返金はできません。", "手数料は無料です。", "以下の年齢の方は入場できません。", "申請は窓口で行ってください。", "資料は3日以内に提出してください。", "お問い合わせは平日のみ受け付けます。", "カードは再発行できません。",
    "このデータは保存されません。", "無料です。", "はい、利用できます。", "この情報は公開されていません。", "以下の場合は利用できません。",
    "不能退款。", "文件必须在三天内提交。", "如果您需要退款，请在7天内申请。", "会员不需要支付运费。", "该文件不能修改。", "好的，可以退款。",
]  # fmt: skip


@pytest.mark.parametrize(("act", "sentence"), [(act, s) for act, found in NO_CLAIMS.items() for s in found])
def test_what_claims_nothing_is_told_by_what_it_does(act: str, sentence: str) -> None:
    assert speech_act(sentence) != "claim"
    assert statements(sentence) == []


@pytest.mark.parametrize("sentence", CLAIMS)
def test_what_could_be_wrong_is_a_statement_however_politely_it_starts(sentence: str) -> None:
    assert [s.text for s in statements(sentence)] == [sentence]


ANSWERS = {
    "column names and titles claim nothing": (
        "# Fees\n\n| Name | Fee |\n|---|---|\n| Basic | 3 EUR |",
        ["| Basic | 3 EUR |"],
    ),
    "the only row of a table may be its head": (
        "プランは次のとおりです。\n\n| プラン | 戸建て | マンション |",
        [],
    ),
    "two rows are a table": (
        "| プラン | 料金 |\n| 戸建て | 500円 |",
        ["| プラン | 料金 |", "| 戸建て | 500円 |"],
    ),
    "a heading with a figure does": ("## Only 30 EUR\n\nPay now.", ["Only 30 EUR", "Pay now."]),
    "so does one that says something": (
        "**No deposit is needed**\n\nPay later.",
        ["**No deposit is needed**", "Pay later."],
    ),
    "without a verb": ("# Free for children\n\nPay now.", ["Free for children", "Pay now."]),
    "in Japanese": ("**予約は不要**\n\n受付は9時からです。", ["**予約は不要**", "受付は9時からです。"]),
    "in Chinese": ("**可以退款**\n\n试用期为30天。", ["**可以退款**", "试用期为30天。"]),
    "but what is asked or named does not": (
        "## Who can apply\n\nPay now.\n\n## Items that are excluded\n\nPay later.",
        ["Pay now.", "Pay later."],
    ),
    "nor what names a list": (
        "**不能带入**\n- 雨伞\n- 相机\n\n**Not allowed**\n- Dogs",
        ["雨伞", "相机", "Dogs"],
    ),
    "nor a case": ("**不能退款的情况**\n\n试用期为30天。", ["试用期为30天。"]),
    "items are statements, however short": ("You need:\n- Passport\n- Yes", ["Passport", "Yes"]),
    "clauses between semicolons": (
        "Students pay nothing at all; teachers pay half of it.",
        ["Students pay nothing at all;", "teachers pay half of it."],
    ),
    "short clauses stay together": ("Open; closed.", ["Open; closed."]),
    "Chinese clauses": ("学生可以免费入场；教师需要支付一半。", ["学生可以免费入场；", "教师需要支付一半。"]),
    "a refusal of a part leaves the other part": (
        "The documents don't mention parking, but the fee is 5 EUR. 資料には記載がありませんが、手数料は500円です。",
        ["but the fee is 5 EUR.", "手数料は500円です。"],
    ),
    "where the answer knows nothing, whom to ask is no claim": (
        "I'm sorry, but I couldn't find any information about this in our documents. Please contact our customer "
        "service. 資料には記載がありません。お手数ですが、市役所の窓口へお電話ください。 资料中没有提到这一点。您可以拨打客服热线咨询。",
        [],
    ),
    "where it knows something, it is": (
        "The fee is 5 EUR. Please contact our customer service.",
        ["The fee is 5 EUR.", "Please contact our customer service."],
    ),
    "whom to ask by when is one": (
        "The documents don't mention it. Please contact our desk within 3 days.",
        ["Please contact our desk within 3 days."],
    ),
    "a doubtful refusal is a claim": (
        "The documents don't say 30 EUR, but it is 20 EUR.",
        ["The documents don't say 30 EUR,", "but it is 20 EUR."],
    ),
    "an apology and its news": (
        "I'm sorry, but the card is not free.",
        ["but the card is not free."],
    ),
    "a lead-in, and a service": (
        "手続きの流れをご案内します。係員が会場までご案内いたします。",
        ["係員が会場までご案内いたします。"],
    ),
    "labels of items": ("- **Fees:**\n  - 5 EUR", ["5 EUR"]),
    "code": ("Run this:\n```\nrm -rf build\n```", ["rm -rf build"]),
    "a request, where nothing else is claimed": (
        "はい。内釜についている目盛りまで入れてください。",
        ["内釜についている目盛りまで入れてください。"],
    ),
    "a request, where something else is": (
        "料金は500円です。お客様番号をお知らせください。",
        ["料金は500円です。"],
    ),
    "all together": (
        "こんにちは。料金は500円です。他にご質問がございましたら、お気軽にお問い合わせください。",
        ["料金は500円です。"],
    ),
}


@pytest.mark.parametrize(("answer", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_cut_into_statements(answer: str, expected: list[str]) -> None:
    assert [s.text for s in statements(answer)] == expected


INTRODUCED = {
    "after a colon": (
        "To open an account you need:\n- a passport\n- a photo. It must be recent.\n\nThen call us.",
        [
            "To open an account you need: a passport",
            "To open an account you need: a photo.",
            "It must be recent.",
            "Then call us.",
        ],
    ),
    "after a stop, on one line": (
        "手順は次のとおりです。①申込書を書きます。②窓口に出します。",
        ["手順は次のとおりです: 申込書を書きます。", "手順は次のとおりです: 窓口に出します。"],
    ),
    "under a heading": ("**费用**\n1. 成人5元\n2. 儿童免费", ["费用: 成人5元", "费用: 儿童免费"]),
    "a list within a list": (
        "Our plans:\n- **Basic**\n  - 10 EUR\n  - 5 GB\n- **Premium**\n  1. 30 EUR\nAll include support.",
        [
            "Our plans: **Basic**",
            "Basic: 10 EUR",
            "Basic: 5 GB",
            "Our plans: **Premium**",
            "Premium: 30 EUR",
            "All include support.",
        ],
    ),
    "a list below another mark": (
        "■ 住民票\n・手数料：300円\n■ 印鑑証明\n・手数料：350円\n※ 現金のみ",
        ["住民票", "住民票: 手数料：300円", "印鑑証明", "印鑑証明: 手数料：350円", "現金のみ"],
    ),
    "another mark below what is no name": ("- 大人 800円\n・子ども 300円", ["大人 800円", "子ども 300円"]),
    "lines with labels below a heading": (
        "【プレミアムプラン】\n月額：2,980円\n容量：50GB\nお申し込みは店頭で承ります。",
        ["プレミアムプラン: 月額：2,980円", "プレミアムプラン: 容量：50GB", "お申し込みは店頭で承ります。"],
    ),
    "what begins with a pronoun": (
        "The Premium plan includes 50 GB. It costs 30 EUR. You pay by card.",
        [
            "The Premium plan includes 50 GB.",
            "The Premium plan includes 50 GB: It costs 30 EUR.",
            "You pay by card.",
        ],
    ),
    "no pronoun": (
        "登録は4月12日までです。その後の変更は19日までです。",
        ["登録は4月12日までです。", "その後の変更は19日までです。"],
    ),
    "a list that nothing introduces": ("- Mondays\n- Fridays", ["Mondays", "Fridays"]),
}


@pytest.mark.parametrize(("answer", "expected"), INTRODUCED.values(), ids=INTRODUCED)
def test_an_item_is_read_after_what_introduces_its_list(answer: str, expected: list[str]) -> None:
    assert [s.introduced for s in statements(answer)] == expected


@settings(deadline=None)  # the first text loads the dictionaries
@given(
    st.lists(
        st.sampled_from(
            [
                "Hello! ",
                "It costs 3 EUR; it is ready now. ",
                "無料です。",
                "The fee is 5 EUR and is due now. ",
                "料金は500円で、期限は1年です。",
                "费用为五元，有效期一年。",
                "\n- ",
                "好的。",
                "？",
                "| a | b |\n|--|\n",
                "; ",
            ]
        )
    ).map("".join)
)
def test_spans_point_into_the_answer(answer: str) -> None:
    found = statements(answer)
    assert all(answer[s.start : s.end] == s.text for s in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    "answer",
    [
        "**Yes, refunds are possible.**\n\nThe trial lasts 30 days.",
        "**はい、返金できます。**\n\nお試し期間は30日です。",
        "**可以退款。**\n\n试用期为30天。",
    ],
)
def test_a_headline_that_answers_is_a_statement(answer: str) -> None:
    assert len(statements(answer)) == 2
