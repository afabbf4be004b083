"""What is told of an introduction, a list or a pronoun is held back where the contexts tell it of another."""

from __future__ import annotations

import pytest

from classifiers.faithfulness import Checked
from classifiers.faithfulness.local import LocalJudge
from encoders.shipped import load_shipped_support

PLANS = {
    "en": "The Basic plan costs ¥980 per month and includes 5 GB. "
    "The Premium plan costs ¥2,980 per month and includes 50 GB.",
    "ja": "ベーシックプランは月額980円で、5GBまで使えます。プレミアムプランは月額2,980円で、50GBまで使えます。",
    "zh": "基础套餐每月29元，含10GB流量。高级套餐每月59元，含40GB流量。",
}
FEES = "| 種類 | 手数料 | 受付 |\n|---|---|---|\n| 住民票 | 300円 | 1階 |\n| 印鑑証明 | 350円 | 2階 |"
ROWS = "- 犬の登録; 手数料: 2,800円\n- 注射済票の交付（毎年）; 手数料: 500円"
LIBRARY = "The main library is open from 9 am to 8 pm. The branch in Harwell is open from 10 am to 5 pm."
ANSWERS = {  # context, right, wrong
    "under a bold line": (
        PLANS["en"],
        "**Premium plan**\n- Price: ¥2,980 per month\n- Data: 50 GB",
        "**Premium plan**\n- Price: ¥980 per month\n- Data: 5 GB",
    ),
    "under a heading": (
        PLANS["en"],
        "## Premium plan\n- ¥2,980 per month",
        "## Premium plan\n- ¥980 per month",
    ),
    "after a colon": (
        PLANS["en"],
        "Premium plan:\n- costs ¥2,980 per month\n- includes 50 GB",
        "Premium plan:\n- costs ¥980 per month\n- includes 50 GB",
    ),
    "below an item": (
        PLANS["en"],
        "Here are the plans:\n\n- **Basic plan**\n  - ¥980 per month\n- **Premium plan**\n  - ¥2,980 per month",
        "Here are the plans:\n\n- **Basic plan**\n  - ¥2,980 per month\n- **Premium plan**\n  - ¥980 per month",
    ),
    "lines below a heading": (
        PLANS["en"],
        "**Premium plan**\n\nPrice: ¥2,980 per month\nData: 50 GB",
        "**Premium plan**\n\nPrice: ¥980 per month\nData: 5 GB",
    ),
    "hours of another branch": (
        LIBRARY,
        "Harwell branch:\n- Hours: 10 am to 5 pm",
        "Harwell branch:\n- Hours: 9 am to 8 pm",
    ),
    "Japanese, after a sentence": (
        PLANS["ja"],
        "プレミアムプランの内容は次のとおりです。\n- 月額2,980円\n- 50GB",
        "プレミアムプランの内容は次のとおりです。\n- 月額980円\n- 50GB",
    ),
    "Japanese, below another mark": (
        PLANS["ja"],
        "■ プレミアムプラン\n・月額：2,980円\n・容量：50GB",
        "■ プレミアムプラン\n・月額：980円\n・容量：5GB",
    ),
    "Japanese, in brackets": (
        PLANS["ja"],
        "【プレミアムプラン】\n月額：2,980円\n容量：50GB",
        "【プレミアムプラン】\n月額：980円\n容量：5GB",
    ),
    "Japanese, of a table": (
        FEES,
        "印鑑証明は次のとおりです。\n- 手数料：350円\n- 受付：2階",
        "印鑑証明は次のとおりです。\n- 手数料：350円\n- 受付：1階",
    ),
    "a row in one line": (ROWS, "- 犬の登録; 手数料: 2,800円", "- 犬の登録; 手数料: 500円"),
    "a pronoun": (
        PLANS["en"],
        "The Premium plan includes 50 GB. It costs ¥2,980 per month.",
        "The Premium plan includes 50 GB. It costs ¥980 per month.",
    ),
    "a pronoun below a heading": (
        PLANS["en"],
        "**Premium plan**\n\nIt costs ¥2,980 per month.",
        "**Premium plan**\n\nIt costs ¥980 per month.",
    ),
    "Japanese, a pronoun": (
        PLANS["ja"],
        "プレミアムプランは50GBまで使えます。こちらは月額2,980円です。",
        "プレミアムプランは50GBまで使えます。こちらは月額980円です。",
    ),
    "Chinese": (
        PLANS["zh"],
        "**高级套餐**\n1. 价格：每月59元\n2. 流量：40GB",
        "**高级套餐**\n1. 价格：每月29元\n2. 流量：40GB",
    ),
}


@pytest.fixture(scope="module")
def judge() -> LocalJudge:
    return LocalJudge(load_shipped_support())


@pytest.mark.parametrize(("context", "right", "wrong"), ANSWERS.values(), ids=ANSWERS)
async def test_what_is_told_of_another_does_not_pass(
    judge: LocalJudge, context: str, right: str, wrong: str
) -> None:
    for answer, passes in ((right, True), (wrong, False)):
        verdict = await judge.judge(answer, [context])
        assert isinstance(verdict, Checked)
        assert verdict.passed is passes
    assert "another subject" in verdict.reason
