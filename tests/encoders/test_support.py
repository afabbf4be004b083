"""The support model that ships."""

from __future__ import annotations

import numpy as np
import pytest

from encoders.support import EAST_ASIAN, ENGLISH, OnnxSupportModel

LOANS = (
    "Registered readers may borrow up to 12 items at a time for three weeks. "
    "Reference works and newspapers cannot be taken out of the building."
)
TRUE = "Registered readers can borrow at most 12 items at a time."
TWINS = [
    (TRUE, "Registered readers can borrow at most 20 items at a time."),
    ("You may keep items for three weeks.", "You may keep items for three months."),
    ("Reference works cannot be taken out.", "Reference works can be taken out."),
    ("Newspapers cannot be taken out of the building.", "Novels cannot be taken out of the building."),
    ("Registered readers may borrow items.", "Unregistered readers may borrow items."),
]
EAST_ASIAN_TWINS = [
    ("図書は12冊まで3週間借りられます。", "本は12冊まで借りられる。", "本は20冊まで借りられる。"),
    ("窓口は月曜日に開いています。", "窓口は月曜日に開いている。", "窓口は土曜日に開いている。"),
    ("新聞は館外に持ち出せません。", "新聞は持ち出せない。", "辞書は持ち出せない。"),
    (
        "返品は商品到着から30日以内に限ります。送料はお客様の負担です。",
        "返品できるのは30日以内です。",
        "返品できるのは60日以内です。",
    ),
    (
        "返品は商品到着から30日以内に限ります。送料はお客様の負担です。",
        "送料は客が負担します。",
        "送料は店が負担します。",
    ),
    ("田中は2010年に東京で会社を設立した。", "会社は2010年に設立された。", "会社は2012年に設立された。"),
    ("田中は2010年に東京で会社を設立した。", "田中は東京で会社を設立した。", "田中は大阪で会社を設立した。"),
    ("年会費は無料ですが、発行手数料が500円かかります。", "年会費は無料です。", "年会費は有料です。"),
    ("东京是日本的首都，人口约为1400万。", "日本的首都是东京。", "日本的首都是大阪。"),
    ("图书最多可借12本，期限三周。", "最多可以借12本。", "最多可以借20本。"),
    ("报纸不能带出馆外。", "报纸不可以带出馆外。", "报纸可以带出馆外。"),
    ("他于1998年毕业于北京大学。", "他1998年从北京大学毕业。", "他1998年从清华大学毕业。"),
    ("他于1998年毕业于北京大学。", "他1998年毕业。", "他1996年毕业。"),
    ("退货须在收到商品后30天内申请，运费由顾客承担。", "运费由顾客支付。", "运费由商家支付。"),
    ("退货须在收到商品后30天内申请，运费由顾客承担。", "30天内可以申请退货。", "60天内可以申请退货。"),
    ("该药每日服用两次，饭后服用。", "每天饭后服药两次。", "每天饭前服药两次。"),
]
ELSEWHERE = "A late return costs a fee, which is charged to the reader's account every Friday."


@pytest.fixture(scope="module")
def model() -> OnnxSupportModel:
    return OnnxSupportModel.load(ENGLISH)


@pytest.mark.parametrize(("true", "false"), TWINS)
async def test_one_wrong_word_makes_a_statement_less_supported(
    model: OnnxSupportModel, true: str, false: str
) -> None:
    right, wrong = (await model.readings([(LOANS, true), (LOANS, false)]))[:, 1]
    assert right > wrong + 0.5


async def test_what_the_window_does_not_speak_of_has_the_least_share(model: OnnxSupportModel) -> None:
    said = [text for twins in TWINS for text in twins]
    shares = (await model.readings([(LOANS, text) for text in (*said, ELSEWHERE)]))[:, 0]
    assert shares.argmin() == len(said)


@pytest.fixture(scope="module")
def east_asian() -> OnnxSupportModel:
    return OnnxSupportModel.load(EAST_ASIAN)


async def test_japanese_and_chinese_are_told_from_their_twins_mostly(east_asian: OnnxSupportModel) -> None:
    """13 of 16; an agent exchanged for another (客, 店) is what it misses."""
    true = (await east_asian.readings([(window, text) for window, text, _ in EAST_ASIAN_TWINS]))[:, 1]
    false = (await east_asian.readings([(window, text) for window, _, text in EAST_ASIAN_TWINS]))[:, 1]
    assert (true > false).sum() >= 12


async def test_the_same_statement_is_judged_by_its_window(model: OnnxSupportModel) -> None:
    """A model that read the statement alone would not move."""
    here, there = await model.readings([(LOANS, TRUE), (LOANS.replace("12", "20"), TRUE)])
    assert (here > there).all()


async def test_readings_do_not_depend_on_their_company(model: OnnxSupportModel) -> None:
    pairs = [(LOANS, TRUE), ("", ""), (LOANS * 200, TRUE * 200), ("カード", "\ud83d x")]
    together = await model.readings(pairs)
    alone = np.concatenate([await model.readings([pair]) for pair in pairs])
    assert np.isfinite(together).all()
    assert np.allclose(together, alone, atol=0.1)
    assert (await model.readings([])).shape == (0, 2)


def test_the_model_is_light_and_says_whose_work_it_is(model: OnnxSupportModel) -> None:
    assert (ENGLISH / "model.onnx").stat().st_size <= 25_000_000
    assert "Apache License" in (ENGLISH / "LICENSE").read_text("utf-8")
    notice = (ENGLISH / "NOTICE").read_text("utf-8")
    for name in ("SQuAD", "FactCG", "RAGTruth", "BEGIN", "RAGChecker", "HaluEval", "WordNet"):
        assert name in notice
    assert model.languages == ("en",)


def test_the_east_asian_model_is_light_and_says_whose_work_it_is(east_asian: OnnxSupportModel) -> None:
    assert (EAST_ASIAN / "model.onnx").stat().st_size <= 25_000_000
    assert "MIT License" in (EAST_ASIAN / "LICENSE").read_text("utf-8")
    notice = (EAST_ASIAN / "NOTICE").read_text("utf-8")
    assert "JaQuAD" in notice
    assert "CMRC 2018" in notice
    assert east_asian.languages == ("ja", "zh")
