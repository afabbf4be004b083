"""Which questions can stand alone. The wrong way round replays another conversation's answer."""

from __future__ import annotations

import pytest

from gateway.understanding import Understanding
from tests.understanding.asking import conversation

FEE = ("How much is a residence card?", ("assistant", "It is 300 yen. Anything else?"))
RYOUKIN = ("住民票の写しの手数料はいくらですか", ("assistant", "300円です。ほかにご質問はありますか？"))
FEIYONG = ("补办身份证的费用是多少？", ("assistant", "20元。还有别的问题吗？"))


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        (FEE, "And for children?"),
        (FEE, "and how long does it take?"),
        (FEE, "What about my son?"),
        (FEE, "Why?"),
        (FEE, "How long?"),
        (FEE, "Can I pay for it by card?"),
        (FEE, "Does he need one too?"),
        (FEE, "Is that the same for foreigners?"),
        (FEE, "What are the requirements?"),
        (FEE, "Tell me more."),
        (FEE, "Can you explain?"),
        (FEE, "I meant the other one."),
        (FEE, "Is there a cheaper one?"),
        (FEE, "yes"),
        (FEE, "the second one"),
        (FEE, "2"),
        (RYOUKIN, "じゃあ子供は？"),
        (RYOUKIN, "それはいくらですか"),
        (RYOUKIN, "郵送の場合は？"),
        (RYOUKIN, "いつ届きますか？"),
        (RYOUKIN, "なぜですか？"),
        (RYOUKIN, "もっと詳しく教えてください"),
        (RYOUKIN, "他に必要なものは？"),
        (RYOUKIN, "手数料はいくらですか"),
        (RYOUKIN, "はい"),
        (RYOUKIN, "2番"),
        (FEIYONG, "那儿童呢?"),
        (FEIYONG, "儿童呢？"),
        (FEIYONG, "为什么？"),
        (FEIYONG, "它需要多长时间？"),
        (FEIYONG, "这个怎么申请？"),
        (FEIYONG, "需要什么材料？"),
        (FEIYONG, "具体怎么办理？"),
        (FEIYONG, "是的"),
    ],
)
async def test_a_follow_up_leans_on_its_conversation(earlier: tuple[str, ...], text: str) -> None:
    [question] = (await Understanding().understand(conversation(*earlier, text))).questions
    assert (question.text, question.self_contained) == (text, False)


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        (FEE, "How do I register my bicycle with the police?"),
        (FEE, "What is a residence card?"),
        (FEE, "If I lose my card, how do I block it?"),
        (FEE, "My card was stolen. What should I do about it?"),
        (FEE, "Is it possible to renew a passport online?"),
        (FEE, "Are there any English books in the Sakura city library?"),
        (FEE, "Where is Shinjuku's main office?"),
        (RYOUKIN, "印鑑登録証を紛失しました。それを再発行するにはどうすればいいですか？"),
        (RYOUKIN, "粗大ごみの収集を予約する方法を教えてください"),
        (RYOUKIN, "この窓口で国民健康保険に加入できますか"),
        (RYOUKIN, "マイナンバーカードとは何ですか"),
        (FEIYONG, "如何申请残疾人停车证？"),
        (FEIYONG, "市立图书馆几点开门？"),
        (FEIYONG, "应该去哪里办理护照延期？"),
    ],
)
async def test_a_question_that_names_its_subject_stands_alone(earlier: tuple[str, ...], text: str) -> None:
    [question] = (await Understanding().understand(conversation(*earlier, text))).questions
    assert question.self_contained


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("What are your opening hours?", True),
        ("opening hours", True),
        ("営業時間は？", True),
        ("手数料は？", True),
        ("费用是多少？", True),
        ("Is it open on Sundays in August?", True),
        ("How much is it?", False),
        ("And then?", False),
        ("それはいくらですか？", False),
        ("那呢？", False),
    ],
)
async def test_the_first_message_leans_only_if_nobody_could_answer_it(text: str, alone: bool) -> None:
    [question] = (await Understanding().understand(conversation(text))).questions
    assert question.self_contained is alone


@pytest.mark.parametrize("text", ["yes", "2", "はい", "是的"])
async def test_a_short_reply_to_nothing_is_small_talk(text: str) -> None:
    stated = conversation("How much is it?", ("assistant", "It is 300 yen."), text)
    assert (await Understanding().understand(stated)).questions == ()


async def test_an_instruction_of_the_operator_is_no_earlier_turn() -> None:
    asked = conversation(("system", "You are a helpdesk."), "opening hours")
    [question] = (await Understanding().understand(asked)).questions
    assert question.self_contained


async def test_a_bare_name_takes_the_language_of_the_conversation() -> None:
    understood = await Understanding().understand(conversation(*RYOUKIN, "Wi-Fi"))
    assert understood.language == "ja"
