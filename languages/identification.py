"""Language identification: English, Japanese or Chinese, by script and by words of one country.

`language_of`       a question, however short: what it is looked up and answered in
`script_language`   a longer text, quickly: by which rules of writing it is read
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from languages.scripts import HAN, HIRAGANA, KATAKANA

__all__ = ["LANGUAGES", "Language", "language_of", "script_language"]

Language = Literal["en", "ja", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "ja", "zh")

_KANA = re.compile(f"[{HIRAGANA}{KATAKANA}]")
_HAN = re.compile(f"[{HAN}]")
_KANA_RUNS = re.compile(f"[{HIRAGANA}{KATAKANA}]+")
_HAN_RUNS = re.compile(f"[{HAN}]+")
_LATIN_RUNS = re.compile("[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z][\w'’.\-]*")
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|《[^《》]*》|\"[^\"]*\"")
_LOWER_WORD = re.compile(r"[A-Z]?[a-z'’]+\.?")
_ENGLISH = re.compile(
    "a|about|an|and|are|at|be|can|could|do|does|did|for|from|has|have|how|i|if|in|is|it|mean|me|my|of|on|or|"
    "say|should|the|this|to|was|were|what|when|where|which|who|why|will|with|would|you|your",
    re.IGNORECASE,
)
# Written with the same characters in Japanese and Chinese, but a word of only one of them.
_JAPANESE_WORDS = re.compile(
    "手数料|料金|口座|振込|申込|切手|郵便|返金|返品|名義|届出|届書|株式会社|支店|休日|祝日|平日|午前|午後|電話番号|住所|"
    "本人|家族|書類|印鑑|年会費|再発行|領収書|見積|都道府県|可否|有無|未成年|一覧|日数|期限"
)
_CHINESE_WORDS = re.compile(
    "如何|可以|多少|什|您|你|他|她|我|是|不|的|在|和|了|能否|是否|有没|哪|怎|吧|呢|啊|地址|手机|密|工作日|信用卡|"
    "公司|酒店|快速|最近|今天|明天|或者|需要|添加|取消|打印|地方|城市"
)

# Words of both countries that hold one of the Chinese ones: they say nothing of the language.
_EITHER = re.compile(
    "[終完満修校未]+了|了[解承]|不(?:要|可(?!以)|明|足|在|正(?!確)|便|備|良|審|安|満|能|通|当|法|服|調|着|定)|"
    "不(?:具合|動産|合格|参加|一致|成立)|"
    "[現存所滞健実内駐常]在|在[庫宅留学籍住職日中勤]|[目標]的|的[確中]|是[正非認]|他[社店行人者方国県校言]|[自排]他|"
    "和[室食式風解服暦紙牛訳文英]|和菓子|和歌山|[平令昭緩調飽温柔]和"
)


def language_of(text: str, *, default: Language, hint: str | None = None) -> Language:
    """The language of a text; `hint` decides where the text alone can't, then `default`.

    The default is the operator's, for every stage (`Stores.language_of`): on another shelf nothing is found.

    Kana is Japanese. Bare Han is told by characters that only one country writes, then by words. Other
    letters are English, the language of our replies to the rest of the world. 123, 😀 or ？？？ tell nothing.
    """
    folded = unicodedata.normalize("NFKC", text)
    plain = _QUOTED.sub(" ", folded)
    if not (_KANA.search(plain) or _HAN.search(plain) or _WORD.search(plain)):
        plain = folded
    hinted = next((known for known in LANGUAGES if known == hint), None)
    kana, han = len(_KANA.findall(plain)), _HAN.findall(plain)
    words = _WORD.findall(plain)
    if not kana and not han:
        return _without_han(plain, words, hinted, default)
    if _reads_as_english(plain, words, kana + len(han)):
        return "en"
    if kana and not _only_ornamental_kana(plain, han):
        return "ja"
    return _of_han(plain, han) or (hinted if hinted in ("ja", "zh") else default)


def script_language(text: str) -> Language:
    """Which of the three rules of writing a text follows, by its letters."""
    if text.isascii():
        return "en"
    kana, han = len("".join(_KANA_RUNS.findall(text))), len("".join(_HAN_RUNS.findall(text)))
    latin = len("".join(_LATIN_RUNS.findall(text)))
    if (kana + han) * 4 < latin:
        return "en"
    return "ja" if kana * 20 > han else "zh" if han else "en"


def _without_han(text: str, words: list[str], hinted: Language | None, default: Language) -> Language:
    """A word is English; so is a bare name ("OK", "Wi-Fi"), unless something else was said before."""
    if any(_LOWER_WORD.fullmatch(word) for word in words):
        return "en"
    return hinted or ("en" if any(map(str.isalpha, text)) else default)


def _reads_as_english(text: str, words: list[str], characters: int) -> bool:
    """English that quotes a foreign word ("What does 営業時間 mean?"), not Chinese about an English title."""
    if sum(_ENGLISH.fullmatch(word) is not None for word in words) < 2:
        return False
    opens_so = text.lstrip().startswith(words[0]) and _ENGLISH.fullmatch(words[0]) is not None
    return sum(map(len, words)) > (2 if opens_so else 20) * characters


def _only_ornamental_kana(text: str, han: list[str]) -> bool:
    """Chinese shops write の for 的; that alone does not make a text Japanese."""
    return set(_KANA.findall(text)) == {"の"} and _of_han("".join(han), han) == "zh"


def _of_han(text: str, han: list[str]) -> Language | None:
    votes = [_written_in(character) for character in han]
    japanese, chinese = votes.count("ja"), votes.count("zh")
    if japanese != chinese:
        return "ja" if japanese > chinese else "zh"
    if not all(_code(c, "gb2312") for c in han) and not all(_code(c, "big5") for c in han):
        return "ja"  # 会員: neither the mainland nor Taiwan writes both of them so
    telling = _EITHER.sub("、", text)
    japanese, chinese = len(_JAPANESE_WORDS.findall(telling)), len(_CHINESE_WORDS.findall(telling))
    if japanese != chinese:
        return "ja" if japanese > chinese else "zh"
    return None


@lru_cache(maxsize=8192)
def _written_in(character: str) -> Language | None:
    """The one country that writes this character, told by the national character sets.

    Level 1 of JIS X 0208 holds what Japan writes today; level 2 also holds old forms that only
    Taiwan and Hong Kong still write (國, 這), so Big5 decides there.
    """
    jis, simplified, traditional = (
        _code(character, "shift_jis"),
        _code(character, "gb2312"),
        _code(character, "big5"),
    )
    everyday_jis = jis is not None and jis <= _JIS_LEVEL_1_END
    if everyday_jis:
        return None if simplified or traditional else "ja"
    if simplified or (traditional and jis is None):
        return "zh"
    if traditional:
        return "zh" if traditional[0] < _BIG5_LEVEL_2 else None
    return "ja" if jis else None


_JIS_LEVEL_1_END = b"\x98\x72"  # 腕, in Shift JIS
_BIG5_LEVEL_2 = 0xC9  # lead byte; level 1 is what Taiwan's schools teach


def _code(character: str, encoding: str) -> bytes | None:
    try:
        return character.encode(encoding)
    except UnicodeEncodeError:
        return None
