"""Two questions, beside each other word by word."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cache.reading.wording import WORDED, agreement, agreements, terms

SAME = [
    pytest.param(
        "ja", "引越しの手続きを教えてください", "転居したときはどうすればいいですか", id="moving house"
    ),
    pytest.param(
        "ja", "領収書を発行してもらえますか", "領収証の発行は可能ですか", id="two names of a receipt"
    ),
    pytest.param(
        "ja",
        "保育園の申し込みはいつまでですか",
        "保育所の申込期限を教えてください",
        id="until when, and deadline",
    ),
    pytest.param("zh", "我要修改订单", "订单能不能更改", id="change an order"),
    pytest.param("zh", "發票遺失了可以補開嗎", "发票丢了能重新开吗", id="traditional characters"),
]

TRAPS = [
    pytest.param(
        "ja", "東京支店の住所はどこですか", "大阪支店の住所はどこですか", {"東京", "大阪"}, id="place"
    ),
    pytest.param("ja", "定期便を解約したい", "定期便を休止したい", {"解約", "休止"}, id="action"),
    pytest.param(
        "ja", "住民票の写しがほしい", "印鑑証明がほしい", {"住民", "写し", "印鑑", "証明"}, id="thing"
    ),
    pytest.param(
        "ja", "申し込みはどこでできますか", "申し込みはいつできますか", {"どこ", "いつ"}, id="facet"
    ),
    pytest.param("zh", "怎么退货", "怎么换货", {"退货", "换货"}, id="action in Chinese"),
    pytest.param(
        "zh",
        "北京分店的电话",
        "上海分店的电话",
        {"北京", "上海", "北京分店", "上海分店"},
        id="place in Chinese",
    ),
]


@pytest.mark.parametrize(("language", "question", "phrasing"), SAME)
def test_other_words_for_the_same_thing_find_their_partners(
    language: str, question: str, phrasing: str
) -> None:
    wording = agreement(question, phrasing, language)

    assert wording.aligned > 0.7
    assert wording.unaligned < 0.5


@pytest.mark.parametrize(("language", "question", "phrasing", "told_apart_by"), TRAPS)
def test_the_word_that_makes_a_trap_is_left_over_and_named(
    language: str, question: str, phrasing: str, told_apart_by: set[str]
) -> None:
    wording = agreement(question, phrasing, language)

    assert wording.unaligned >= 0.7
    assert wording.heaviest in told_apart_by


@pytest.mark.parametrize(("language", "question", "phrasing", "_"), TRAPS)
def test_the_order_of_two_texts_changes_no_figure(
    language: str, question: str, phrasing: str, _: set[str]
) -> None:
    one, other = agreement(question, phrasing, language), agreement(phrasing, question, language)

    assert (one.aligned, one.unaligned) == pytest.approx((other.aligned, other.unaligned))


@pytest.mark.parametrize("language", WORDED)
def test_a_table_of_texts_says_what_each_pair_says(language: str) -> None:
    pairs = [case.values[1:3] for case in (*SAME, *TRAPS) if case.values[0] == language]
    questions = [str(one) for one, _ in pairs] + ["？", ""]
    phrasings = [str(other) for _, other in pairs] + ["", "！"]

    aligned, unaligned = agreements(questions, phrasings, language)

    alone = [[agreement(question, phrasing, language) for phrasing in phrasings] for question in questions]
    np.testing.assert_allclose(aligned, [[one.aligned for one in row] for row in alone])
    np.testing.assert_allclose(unaligned, [[one.unaligned for one in row] for row in alone])


def test_politeness_says_nothing() -> None:
    asked = [term.surface for term in terms("恐れ入りますが、送料を教えていただけますでしょうか。", "ja")]

    assert "送料" in asked
    assert not {"教え", "いただけ", "ます"} & set(asked)


def test_texts_without_a_word_agree_with_each_other_and_with_nothing_else() -> None:
    assert agreement("？", "！", "ja").aligned == 1.0
    assert agreement("？", "送料はいくらですか", "ja").aligned == 0.0
    assert agreement("？", "送料はいくらですか", "ja").unaligned == 1.0


def test_a_language_without_tables_is_refused_by_name() -> None:
    with pytest.raises(LookupError, match="'fr'"):
        agreement("oui", "non", "fr")


def test_importing_reads_no_table() -> None:
    program = (
        "import sys, cache.reading.wording; sys.exit('sudachipy' in sys.modules or 'rjieba' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
