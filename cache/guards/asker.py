"""Who does it: "can I call you" is not "can you call me", nor "a friend invited me" how to invite one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from cache.reading.words import Text, overlap, present, read_text

__all__ = ["done_by_the_other"]

_ABOUT_THE_SAME = 0.6  # share of content in common from which it is the same that is done
_HELPS: Final = r"\b(?:can|could|may|might|do|will|would|should|must|shall)"
_POLITELY: Final = "(?:please |also |just |kindly )?"
_DUTY_EN: Final = r"\b(?:do|does|must|should|will|would|shall)"
_HAS_TO_EN: Final = "(?:(?:have|has|need|needs) to )?"
# What a shop does for its customers, or they do themselves; "can you cancel it" asks how to cancel it.
_SERVES_EN: Final = (
    "(repair|fix|install|assemble|collect|pick|fetch|pack|wrap|translate|wash|clean|iron|dispose|deliver)"
)
_SERVES_JA: Final = "(修理|設置|取り?付け|組み?立て|回収|掃除|清掃|交換|運搬|梱包|翻訳)"
_HANDLES_JA: Final = "(招待|紹介|推薦|通報|評価|誘)"
_WORKS_ZH: Final = "(修|装|洗|拆|搬|扫)"  # what a Chinese text speaks of is done for one unless it says 自己
_SERVES_ZH: Final = "(修|装|寄|送|洗|拆|搬|扫|运|取)"
# Who has to tell, give or pay: the notice that a customer gives is not the one that he is given.
_OWES_EN: Final = rf"{_HAS_TO_EN}(give|pay|notify|inform|warn|tell|send)\b"
_CUSTOMER_EN: Final = (
    "(?:(?:an?|the|your) (?:customer|client|tenant|member|guest|student|patient|renter|subscriber|buyer)"
    "|customers|clients|tenants|members|guests|students|patients|renters|subscribers|buyers)"
)
_HOUSE_EN: Final = "(?:the|my|our) (?:landlord|company|shop|store|club|owner|employer|provider)"
_TELLS_JA: Final = "(通知|予告|連絡|告知)"
_HOUSE_JA: Final = "(?:御社|貴社|貴店|そちら|会社|大家|貸主|店|店舗)(?:さん|側|様)?[はが]"
_CUSTOMER_JA: Final = "(?:客|お客|借主|借り手|会員|利用者|契約者|入居者|私|こちら)(?:さん|側|様)?[はが]"
_MUST_ZH: Final = "(?:需要|需|要|必须|得|应该|应|会)[^我你您贵]{0,8}?(通知|告知|告诉)"
# Japanese verbs whose plain form tells who does them; 証明書を郵送できますか may ask for either.
_CALLS: Final = "(電話|連絡|訪問)"
_BRINGS: Final = "(送|届け|電話|連絡|訪問)"
_GIVES: Final = "(送|贈|渡|譲|貸|払)"
# What the asker does, and what is done for him; what stands in one place of both excludes each other.
_BY_THE_ASKER: Final = {
    "en": (
        re.compile(
            rf"{_HELPS} (?:i|we) {_POLITELY}(\w+)\b[^.?!;]*\byou\b"
            rf"|(?<!how ){_HELPS} (?:i|we) {_POLITELY}{_SERVES_EN}\b"
        ),
        re.compile(rf"{_HELPS} (?:i|we) {_POLITELY}(\w+)\b|\bhow to (\w+)\b|\b(?:if|when) (?:i|we) (\w+)\b"),
        re.compile(rf"{_DUTY_EN} (?:i|we|{_CUSTOMER_EN}) {_OWES_EN}"),
    ),
    "ja": (
        re.compile(
            rf"{_CALLS}を?(?:する|し|かけ)?(?:こと)?[はが]?(?=でき|可能|られ)"
            rf"|{_BRINGS}[っし]?(?=ても?(?:い|良|よ|大丈夫|構|かま))"
        ),
        re.compile(
            rf"{_GIVES}[るすう](?=に|方法|こと|の|手)|{_GIVES}(?:[りしい](?=たい|方)|[れせえ](?=ます|る))"
            rf"|自分で{_SERVES_JA}|{_HANDLES_JA}[をすし](?!て(?:もら|くれ))"
        ),
        re.compile(
            rf"{_CUSTOMER_JA}.{{0,40}}?{_TELLS_JA}|^(?!.*{_HOUSE_JA}).*?{_TELLS_JA}を?[しすが]?る?(?:こと)?[はが]?"
            "(?=なければ|なくては|ないと|必要|べき|義務|れば(?:い|よ|良))"
        ),
    ),
    "zh": (
        re.compile(
            "(给|联系|通知|告诉|[到去来])(?=[你您贵])|(?:怎么|如何|怎样|我(?:可以|能|想|要))(给)(?=[^我你您贵])"
            "|^[^你您贵给]*(?:可以|能)[^给我你您贵]{0,6}(给)(?=[^我你您贵])"
        ),
        re.compile(rf"(?:^|[^给帮让替])我?(?:可以|能)?自己(?:可以|能)?(?:去|来)?[安维打清]?{_SERVES_ZH}"),
        re.compile(rf"(?:客户|顾客|客人|租户|租客|会员|用户|住户|业主|学员|家长|我们?){_MUST_ZH}"),
    ),
}
_FOR_THE_ASKER: Final = {
    "en": (
        re.compile(
            rf"{_HELPS} you {_POLITELY}(\w+)\b[^.?!;]*\b(?:me|us)\b"
            rf"|{_HELPS} you {_POLITELY}(?:{_SERVES_EN}|(send|mail|email|post))\b"
        ),
        re.compile(
            r"\b(?:an?|my|our|the|another|some) (?:\w+ )?\w+ (\w+) (?:me|us)\b"
            r"|\b(?:if|when) you (\w+) (?:my|me|our|us)\b"
            rf"|{_HELPS} you {_POLITELY}{_SERVES_EN}\b[^.?!;]*\bfor (?:me|us)\b"
        ),
        re.compile(
            rf"{_DUTY_EN} you {_OWES_EN} (?:notice )?(?:to )?(?:me|us|{_CUSTOMER_EN})\b"
            rf"|{_DUTY_EN} {_HOUSE_EN} {_OWES_EN}"
        ),
    ),
    "ja": (
        re.compile(rf"{_BRINGS}を?(?:かけ|[っし])?て?(?=もら|いただ|頂|くれ|くださ|下さ|ほし|欲し)"),
        re.compile(
            rf"{_GIVES}[っし]?て(?=もら|くれ)|{_SERVES_JA}(?:を?し)?て(?=もら|いただ|頂|くれ)"
            rf"|{_HANDLES_JA}(?:され|われ)(?=た|て|まし)"
        ),
        re.compile(
            rf"{_HOUSE_JA}.{{0,40}}?{_TELLS_JA}|{_TELLS_JA}を?(?:して|て)?(?=もらえ|いただけ|頂け|くれ)"
        ),
    ),
    "zh": (
        re.compile("(给)(?=我(?![爸妈家司店的儿女老朋孩]|们?公司))|(联系|通知|告诉|[到去来])(?=我)"),
        re.compile(
            rf"(?:你们?|您|贵[司店行])(?:可以|能|会|负责|帮忙|提供|是否|是不是|上门)*[安维打清]?{_SERVES_ZH}"
            rf"|^(?!.*(?:自己|怎么|如何|怎样|我)).*?[安维打清]?{_WORKS_ZH}"
        ),
        re.compile(rf"(?:你们?|您|贵[司店行]|商家|店家|房东|公司|店里){_MUST_ZH}"),
    ),
}
_COMES: Final = {"去": "到", "来": "到"}  # who goes to you comes to me


def done_by_the_other(asked: Text, stored: Text) -> frozenset[str]:
    """The asker, and what one of two texts has him do and the other has done for him; empty if nothing."""
    if overlap(asked, stored) < _ABOUT_THE_SAME:
        return frozenset()
    (mine, for_me), (theirs, for_them) = map(_acts, (asked, stored))
    if not (mine - for_me) & (for_them - theirs) | (for_me - mine) & (theirs - for_them):
        return frozenset()
    common = (word for word in asked.content if word in stored.content)
    return frozenset({"I", next(common, "I")})


def _acts(text: Text) -> tuple[frozenset[tuple[int, str]], frozenset[tuple[int, str]]]:
    """What the asker does, and what is done for him."""
    return frozenset(_told(_BY_THE_ASKER, text)), frozenset(_told(_FOR_THE_ASKER, text))


def _told(acts: Mapping[str, tuple[re.Pattern[str], ...]], text: Text) -> Iterator[tuple[int, str]]:
    for place, told in enumerate(acts[text.language]):
        for one in told.finditer(text.written):
            act = one[one.lastindex or 0]
            if text.language == "en":  # "invited", "sent": what one does
                act = next((present(word.base) for word in read_text(act, "en").words), act)
            yield place, _COMES.get(act, act)
