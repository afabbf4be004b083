"""Documents into passages: along headings, then blocks, then sentences. Pure functions.

A passage is plain text under the path of its headings. It is long enough to answer and short enough
for the embedding model, which reads 256 tokens: 400 to 900 characters of English, 200 to 450 of
Japanese or Chinese, where a character says about twice as much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, pairwise

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from classifiers.faithfulness.statements.segmentation import LIST_MARK, announces, sentences
from classifiers.faithfulness.tables import named
from classifiers.retrieval import PATH_SEPARATOR
from classifiers.retrieval.pieces import GOES_ON

__all__ = ["Chunk", "chunks", "heading_of"]

_SIZES = {"en": (400, 900), "ja": (200, 450), "zh": (200, 450)}
_CJK = r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]"
_WRAPPED_CJK = re.compile(rf"(?<={_CJK})\n|\n(?={_CJK})")
_PARAGRAPHS = re.compile(r"\n[ \t\u3000]*\n+")
_SPACES = re.compile(r"[ \t\u00a0]+")
_DIGIT = re.compile(r"\d")
_BREAKS = ("\n", "。", "，", "、", "; ", ", ", " ")  # where to cut what has no sentences


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it has an id."""

    heading: str  # title and headings above it, joined by PATH_SEPARATOR
    text: str


@dataclass(frozen=True, slots=True)
class _Block:
    headings: tuple[str, ...]
    text: str


@dataclass(slots=True)
class _Outline:
    """The headings that are open while a document is read from top to bottom."""

    levels: list[int] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def open(self, level: int, title: str) -> None:
        while self.levels and self.levels[-1] >= level:
            self.levels.pop()
            self.titles.pop()
        self.levels.append(level)
        self.titles.append(title)


def chunks(text: str, *, title: str, language: str, markdown: bool) -> list[Chunk]:
    """The passages of a document, in order. Every word of its text is in exactly one of them."""
    blocks = _markdown_blocks(text) if markdown else _plain_blocks(text)
    least, most = _SIZES.get(language, _SIZES["en"])
    found: list[Chunk] = []
    for headings, section in groupby(blocks, key=lambda block: block.headings):
        path = headings if headings[:1] == (title,) or not title else (title, *headings)
        pieces = [piece for block in section for piece in _pieces(block.text, most)]
        parts = _marked_where_cut(list(_packed(pieces, least, most)))
        found += [Chunk(PATH_SEPARATOR.join(path), text) for text in parts]
    return found


def heading_of(text: str) -> str:
    """The first heading of a Markdown text, if it opens with one of the highest level."""
    first = next((node for node in _tree(text).children), None)
    return _inline(first.children) if first and first.type == "heading" and first.tag == "h1" else ""


def _plain_blocks(text: str) -> Iterator[_Block]:
    for paragraph in _PARAGRAPHS.split(text):
        if tidy := _tidy(paragraph):
            yield _Block((), tidy)


def _markdown_blocks(text: str) -> Iterator[_Block]:
    outline = _Outline()
    for node in _tree(text).children:
        if node.type == "heading":
            outline.open(int(node.tag[1]), _inline(node.children))
        elif tidy := _tidy("\n".join(_lines(node))):
            yield _Block(tuple(outline.titles), tidy)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def _tree(text: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(_parser().parse(text))


def _lines(node: SyntaxTreeNode) -> Iterator[str]:
    """A block as lines of plain text."""
    match node.type:
        case "paragraph" | "heading":
            yield _inline(node.children)
        case "bullet_list" | "ordered_list":
            yield from _list(node)
        case "table":
            yield from _table(node)
        case "fence" | "code_block":
            yield node.content.rstrip("\n")
        case "html_block":
            yield BeautifulSoup(node.content, "lxml").get_text(" ")
        case "hr":
            return
        case _:
            for child in node.children:
                yield from _lines(child)


def _list(node: SyntaxTreeNode) -> Iterator[str]:
    start = int(node.attrs.get("start", 1))
    for number, item in enumerate(node.children, start):
        mark = f"{number}." if node.type == "ordered_list" else "-"
        lines = [line for child in item.children for line in _lines(child)]
        for position, line in enumerate(lines):
            yield f"{mark} {line}" if position == 0 else f"  {line}"


def _table(node: SyntaxTreeNode) -> Iterator[str]:
    """A line per row that says which column each cell stands in: a row is quoted without its head."""
    rows = [
        [_inline(cell.children) for cell in row.children] for part in node.children for row in part.children
    ]
    head, *body = rows[1:] if _headed_below(rows) else rows
    for row in body:
        yield f"- {named(row, head)}"
    if not body:
        yield f"- {'; '.join(head)}"


def _headed_below(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is the head of a table without one, as Word's are: words, with figures below.

    A table of two columns may be a list of names, each with what it names (desk, telephone), and have none.
    """
    if len(rows) < 3 or any(rows[0]) or not all(rows[1]) or any(map(_DIGIT.search, rows[1])):
        return False
    below = rows[2:]
    if len(rows[1]) == 2:
        return all(_DIGIT.search(row[0]) for row in below)
    return all(any(map(_DIGIT.search, row)) for row in below)


def _inline(nodes: Iterable[SyntaxTreeNode]) -> str:
    """Inline Markdown as the words a reader sees."""
    parts: list[str] = []
    for node in nodes:
        match node.type:
            case "text" | "code_inline" | "image":
                parts.append(node.content)
            case "softbreak":
                parts.append("\n")
            case "hardbreak":
                parts.append("\n\n")
            case "html_inline":
                parts.append("\n\n" if node.content.lower().startswith("<br") else "")
            case _:
                parts.append(_inline(node.children))
    return _unwrapped("".join(parts)).strip()


def _unwrapped(text: str) -> str:
    """Lines that were broken by their width become one; Japanese and Chinese without a space."""
    lines = [_WRAPPED_CJK.sub("", line).replace("\n", " ") for line in text.split("\n\n")]
    return "\n".join(lines)


def _tidy(text: str) -> str:
    lines = (_SPACES.sub(" ", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" -")).strip()


def _pieces(block: str, most: int) -> Iterator[str]:
    """A block, or its items, or its sentences, where it is too long for one passage."""
    if len(block) <= most:
        yield block
        return
    if LIST_MARK.match(block) and "\n" in block.strip():
        for line in block.splitlines(keepends=True):
            yield from _pieces(line, most)
        return
    at = 0
    for sentence in sentences(block):
        yield from _cut(block[at : sentence.end], most)
        at = sentence.end
    yield from _cut(block[at:], most)


def _cut(text: str, most: int) -> Iterator[str]:
    """Pieces of at most that size, cut at the last clause, word or, without any, character."""
    while len(text) > most:
        ends = [text.rfind(mark, most // 2, most - len(mark)) + len(mark) for mark in _BREAKS if mark in text]
        end = next((end for end in ends if end > most // 2), most)
        yield text[:end]
        text = text[end:]
    if text.strip():
        yield text


def _packed(pieces: Sequence[str], least: int, most: int) -> Iterator[str]:
    """Neighbouring pieces together, up to the size; a short rest goes to the passage before it."""
    packs: list[list[str]] = []
    for piece in pieces:
        if packs and len(_joined([*packs[-1], piece])) <= most:
            packs[-1].append(piece)
        elif packs and len(packs[-1]) > 1 and announces(packs[-1][-1]):
            packs.append([packs[-1].pop(), piece])
        else:
            packs.append([piece])
    if len(packs) > 1 and len(_joined(packs[-1])) < least // 2:
        rest = packs.pop()
        if len(_joined([*packs[-1], *rest])) <= most * 1.25:
            packs[-1] += rest
        else:
            packs.append(rest)
    yield from (_joined(pack) for pack in packs)


def _marked_where_cut(parts: Sequence[str]) -> Iterator[str]:
    """The parts of a section; where a list is cut, both sides say that it goes on."""
    listed = [[LIST_MARK.match(line) is not None for line in part.splitlines()] for part in parts]
    cut = [one[-1] and other[0] for one, other in pairwise(listed)]
    for part, before, after in zip(parts, [False, *cut], [*cut, False], strict=True):
        yield "\n".join([*[GOES_ON] * before, part, *[GOES_ON] * after])


def _joined(pieces: Sequence[str]) -> str:
    """Blocks stand on lines of their own; pieces of one block bring their own white space."""
    text = ""
    for piece in pieces:
        own_space = not text or text[-1].isspace() or piece[:1].isspace() or _same_line(text, piece)
        text += piece if own_space else f"\n{piece}"
    return text.strip()


def _same_line(text: str, piece: str) -> bool:
    return bool(re.match(_CJK, piece)) and text[-1] in "。！？」』，、"
