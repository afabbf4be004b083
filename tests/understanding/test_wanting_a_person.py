"""Who asks for a person is told apart from who asks about people."""

from __future__ import annotations

from itertools import combinations

import pytest

from gateway.understanding import Understanding
from gateway.understanding.wording import wording
from languages.identification import Language
from tests.understanding.asking import conversation, follow_ups

WANTS: dict[Language, str] = {
    "en": "I want to die because of my debts|I lost my job and want to die|I can't go on like this|I'd like to talk to an advisor about a mortgage|I want to complain about the clerk in Leeds, she was rude|Complaint: nobody answers the phone|human|Human please|agent|talk to a human|I want to speak with support|let me talk to a real person|Can I speak to someone?|Hi, can I please talk to an agent?|connect me to an operator|transfer me to customer service|give me a human|I don't want to talk to a bot|is there a real person I can talk to?|I'd like to make a complaint|I need a human|get me your manager|speak to a representative please|Where can I complain, I want a human|this is no help, let me talk to a real person|This is useless. Let me talk to a human!|live chat|I want to die|I don't want to live anymore|I am suicidal",
    "ja": "借金が苦しくて死にたい|自殺を考えています|つらくて消えたい|ごみ収集の苦情を言いたい|ごみ収集のことで担当者と話したい|職員の態度について苦情があります|オペレーターにつないでください|担当者と話したい|人と話したいです|人間に代わって|人間と話せますか|有人チャット|オペレーター|担当の方をお願いします|もう人間と話させて|担当者につないでもらえますか|ロボットじゃなくて人間と話したい|苦情を言いたい|責任者を出して|全然役に立たない、人と話したい|スタッフと直接話したいのですが|担当者につないでくれますか|サポートの人とお話しできますか|人間の担当者に繋いで|人間に代わってください もう機械はいやです|オペレーターにつないでください、急いでいます|死にたいです|もう消えてしまいたい|生きているのがつらいです",
    "zh": "欠了花呗还不上，不想活了|我要投诉快递员|我要投诉你们的快递员，态度太差了|人工|转人工|我要找人工客服！|轉人工客服|人工客服|找人工|我要投诉|请转接人工|能不能转人工|我想跟真人说话|有没有人工客服|帮我转接客服|叫你们经理来|太差了，转人工|我不想和机器人说话|接人工服务|我要和客服聊|真人客服|转人工谢谢|我要找真人客服别给我机器人|别给我机器人|太差了 转人工|给我找个活人来跟我说|说了半天没用 叫你们经理来|转人工，我不想再等了|我不想活了|真的活不下去了|我想死",
}
ASKS: dict[Language, str] = {
    "en": "How do I kill a process?|I am thinking of ending my contract|How do I complain about a product?|How do I talk to my bank's agent about a loan?|Can I speak at the meeting?|How do I become an agent?|Do I need a representative to file taxes?|Can a person under 18 open an account?|What does customer service cost?|human resources|how to hand over the keys to an agent|How do I file a complaint against my landlord?|is there a person in charge of noise complaints?|talk to the doctor about pills|is this the person in charge?|I want a human rights lawyer, who can help|What do you sell, human food or dog food?|What happens to my pension when I die?|Is suicide covered by the insurance?",
    "ja": "画面の表示が消えたのですが|苦情はどこに言えばいいですか|担当者の変更方法を教えてください|人と話すのが苦手です|オペレーターの仕事に応募したい|窓口の営業時間は？|苦情の処理件数を知りたい|人材募集に応募したい|子育ての相談をしたい|サポートセンターの電話番号は？|担当者不在の場合は|近所の騒音の苦情はどこに言えばいいですか|責任者の資格は必要ですか|有人改札はありますか|人間ドックですか|担当者と話したいのですが、予約は必要ですか|死亡届を出したい|自殺は保険の対象ですか",
    "zh": "不想活动了怎么退票|电脑总是想死机|人工智能是什么|怎么投诉商家|人工费多少|客服工作时间|怎么联系客服|客服电话是多少|投诉的处理时间|找回密码|换人签收可以吗|找人代收可以吗|可以叫人代领吗|联系人怎么修改|转账|转让门票|更换负责人需要什么材料|你是什么公司|机器人客服怎么关掉|扫地机器人不要了怎么退|自杀能理赔吗|电脑卡死了怎么办",
}  # fmt: skip
CASES = [
    (text, one, wanted)
    for texts, wanted in ((WANTS, True), (ASKS, False))
    for one, several in texts.items()
    for text in several.split("|")
]


@pytest.mark.parametrize(("text", "language", "wanted"), CASES)
async def test_who_wants_a_person_is_known_by_a_whole_sentence(
    text: str, language: Language, wanted: bool
) -> None:
    understood = await Understanding(follow_ups(), default_language=language).understand(conversation(text))
    [question] = understood.questions
    assert (question.wants_person, question.language) == (wanted, language)


async def test_it_leans_on_nothing_said_before() -> None:
    understood = await Understanding(follow_ups()).understand(conversation("运费多少？", "十元。", "转人工"))
    [question] = understood.questions
    assert (question.wants_person, question.self_contained) == (True, True)


@pytest.mark.parametrize(
    "text",
    ["are you a bot?", "who are you", "Are you a real person?", "are you human or ai", "あなたはロボットですか", "AIですか", "あなたは誰ですか", "你是机器人吗", "您是真人吗", "你是谁"],
)  # fmt: skip
async def test_who_asks_what_answers_here_is_told(text: str) -> None:
    understood = await Understanding(follow_ups()).understand(conversation(text))
    assert (understood.questions, understood.small_talk) == ((), "identity")


@pytest.mark.parametrize("language", list(WANTS))
def test_no_part_of_a_call_said_very_often_is_one_that_never_ends(language: Language) -> None:
    """An expression that can read a part in two ways would try 2^40 of them."""
    said = wording(language).person
    for text in WANTS[language].split("|"):
        for start, end in combinations(range(len(text) + 1), 2):
            assert said.fullmatch(text[:start] + text[start:end] * 40 + "\x01") is None
