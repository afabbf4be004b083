"""What of an answer tells where it comes from and claims nothing: [1], [doc2], 【4:0†fees.pdf】, "Source: …".

Only marks and titles are left out; the words of a link stay, since they may claim something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from classifiers.faithfulness.statements.segmentation import Sentence

__all__ = ["CITATION", "MARK", "NUMBERED", "without_sources"]

KIND: Final = (
    r"(?:docs?|documents?|passages?|sources?|refs?|references?|citations?|cites?|chunks?|contexts?"
    r"|文書|資料|出典|参考|来源|文档|资料|段落)"
)
NUMBER: Final = r"\d{1,3}(?:[\s,、:–-]{1,3}\d{1,3}){0,20}"
INSIDE: Final = r"[^\[\]()（）【】［］\n]"
FILE: Final = r"\.(?:md|pdf|docx?|xlsx?|pptx?|txt|html?|csv|json)\b"
LABEL: Final = (
    r"(?:sources?|references?|citations?|further reading|see also"
    r"|(?:出典|参考|参照|引用|情報源|来源|來源|资料|信息|資料)(?:資料|文献|文書|リンク|元|先|来源|资料|链接)?)"
)
# [1], [^1], [doc2], (source 3), {1}; 【4:0†fees.pdf】; (source: fees.pdf), [fees.pdf], [Handbook, p. 3]; ¹.
MARK: Final = re.compile(
    rf"[\[［【]\s*\^?{KIND}?[\s:#_-]?{NUMBER}\s*[\]］】]|[(（]{KIND}\.?[\s:#_-]?{NUMBER}[)）]|\{{{NUMBER}\}}"
    rf"|【[^【】\n]{{1,80}}†[^【】\n]{{0,80}}】"
    rf"|[\[［【(（]\s*(?:{LABEL}\s*[:：]\s*{INSIDE}{{1,100}}|{INSIDE}{{1,100}}?{FILE}{INSIDE}{{0,30}})[\]］】)）]"
    rf"|\[{INSIDE}{{1,80}}?[,、]?\s(?:pp?\.|pages?|sec(?:tion|\.)|§)\s?\d{{1,4}}(?:[-–]\d{{1,4}})?\]"
    r"|<sup>[^<\n]{1,20}</sup>|(?<=[^\W\d][^\W\d][^\W\d])[¹²³⁰⁴-⁹]+|(?<=[\s.。!?！？])[¹²³⁰⁴-⁹]+",
    re.IGNORECASE,
)
NUMBERED: Final = (
    r"\(?\b(?:passages?|sources?|documents?)\s*\d+(?:\s*(?:,|&|and)\s*\d+)*\)?"  # passages 1 and 2
)
# The same, and what else stands in a sentence without being said: addresses, emphasis, whom it speaks to.
CITATION: Final = re.compile(
    rf"{MARK.pattern}|{NUMBERED}"
    r"|(?:出典|来源|資料|文書|资料|文档|段落)\s*\d+|https?://\S+(?<![.,)])|[*`#>|]+"
    r"|^\s*(?-i:(?:Hi|Hello|Dear|Hey)\s(?:(?:Mrs?|Ms|Dr|Prof)\.?\s)?[A-Z][\w'’-]{1,20}[,!]\s)",
    re.IGNORECASE,
)
LABELLED: Final = re.compile(rf"^[\s*_#•・—–-]*{LABEL}\s*(?:[:：][\s*_]*|$)", re.IGNORECASE)
LINK: Final = re.compile(
    rf"\[[^\[\]\n]{{1,120}}\]\([^()\s]{{1,300}}\)|https?://\S+|[^\s\[\]()（）【】]{{1,80}}{FILE}",
    re.IGNORECASE,
)
SAYS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|can|must|costs?|may|will|needs?|pays?)\b|です|ます|ません|した|[是须可应不]|[。!?！？]"
)
TITLE_WORDS: Final = 8
TITLE_CHARACTERS: Final = 30


def without_sources(found: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences of an answer but those that only name its sources, under a heading or by themselves."""
    listing = False
    for sentence in found:
        label = LABELLED.match(sentence.text)
        named = _name_alone(sentence.text[label.end() :] if label else sentence.text)
        listing = bool(label) or (listing and sentence.kind == "item")
        if not ((listing and named) or _links_alone(sentence.text)):
            yield sentence


def _name_alone(text: str) -> bool:
    """Whether it is empty, or the title of something."""
    rest = LINK.sub(" ", MARK.sub(" ", text))
    short = len(rest.split()) <= TITLE_WORDS and sum(ord(c) > 0x2E7F for c in rest) <= TITLE_CHARACTERS
    return short and not SAYS.search(rest)


def _links_alone(text: str) -> bool:
    """Whether nothing is left of it without links and names of files."""
    rest = LINK.sub(" ", MARK.sub(" ", text))
    return rest != text and not any(c.isalpha() for c in rest)
