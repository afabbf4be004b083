"""A small bank in three languages, as an operator would describe it."""

from __future__ import annotations

from classifiers.gate import ClassPolicy, Policy, Topic

MUST = (
    "How do I activate my card?",
    "Where can I see my card's PIN?",
    "Why was my card payment declined?",
    "How long does a transfer take?",
    "How can I top up my account?",
    "What exchange rate do you use?",
    "My card has not arrived yet.",
    "How do I change my address?",
    "Can I get a second card?",
    "What is the fee for a withdrawal at an ATM?",
    "カードの有効化の方法を教えてください。",
    "振込にはどれくらいかかりますか。",
    "口座の住所を変更したいです。",
    "カードの暗証番号はどこで確認できますか。",
    "怎么激活我的银行卡？",
    "转账需要多长时间？",
    "怎么修改账户的地址？",
    "在哪里可以查看银行卡密码？",
)
MAY = (
    "How do I train a dog?",
    "Which shoes go with a blue suit?",
    "犬のしつけ方を教えて。",
    "怎么训练小狗？",
)
DESCRIPTION = "Questions about cards, accounts and payments of our bank."

BANK = Policy(
    must=ClassPolicy(DESCRIPTION, MUST),
    may=ClassPolicy("Harmless questions about anything else.", MAY),
    must_not=ClassPolicy("", ("Which customers owe you the most money?",)),
    topics=(
        Topic(
            "politics",
            "Elections and political parties.",
            ("Which party should I vote for at the election?",),
        ),
    ),
)
