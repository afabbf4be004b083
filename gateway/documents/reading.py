"""Files into documents. What can't be read is named with its reason, and the rest is read."""

from __future__ import annotations

import json
import logging
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup
from markdownify import MarkdownConverter

from gateway.documents.chunking import Chunk, chunks, heading_of
from gateway.errors import ConfigurationError
from languages.identification import script_language
from storage.texts import storable

__all__ = ["RefusedFile", "SourceDocument", "read_documents"]

LARGEST_FILE_BYTES = 64 * 1024 * 1024
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_NOT_CONTENT = ("script", "style", "nav", "template", "noscript", "svg", "form", "head")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # text has none of these; binary files soon do
_SAMPLE = 20_000  # characters that tell a document's language
# Fonts draw a radical and the character of its shape alike, and a PDF often names the radical: ⽇ for 日.
# NFKC knows those of Kangxi; of the supplement it knows two.
_SUPPLEMENT = (
    "⺠民⻁虎⻄西⻅见⻆角⻉贝⻋车⻑長⻓长⻔门⻘青⻙韦⻚页⻛风⻜飞⻝食"
    "⻢马⻤鬼⻥鱼⻦鸟⻨麦⻩黄⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻲亀"
)
_RADICALS = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0x2F00, 0x2FD6), 0x2E9F, 0x2EF3)},
    **str.maketrans(dict(zip(_SUPPLEMENT[::2], _SUPPLEMENT[1::2], strict=True))),
}


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as it stands in its file, and the passages it makes."""

    path: str
    title: str
    language: str
    text: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class RefusedFile:
    """A file, or a line of one, that could not be read."""

    path: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.path}{f', line {self.line}' if self.line else ''}: {self.reason}"


class _Unreadable(Exception):  # noqa: N818 - errors are named as facts
    """Why a file is refused."""


def read_documents(roots: Sequence[Path]) -> Iterator[SourceDocument | RefusedFile]:
    """Every document under folders and files, in the order of their paths. Hidden files are left out.

    Raises:
        ConfigurationError: a folder or file of the configuration does not exist.
    """
    for root in roots:
        if not root.exists():
            raise ConfigurationError(
                f"documents: there is no file or folder {str(root)!r}", param="documents"
            )
    office, above = _Office(), _common_folder(roots)
    files = dict.fromkeys(file for root in roots for file in _files(root.absolute()))
    for file in files:  # a file inside two of the folders is one document
        path = file.relative_to(above).as_posix()
        if (shown := path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")) != path:
            yield RefusedFile(shown, "its name is not UTF-8")  # which no store can hold, and no page show
        else:
            yield from _documents(file, path, office)


def _common_folder(roots: Sequence[Path]) -> Path:
    """What paths are relative to: the folder, or the one that holds all folders and files."""
    folders = [str(root.absolute() if root.is_dir() else root.absolute().parent) for root in roots]
    return Path(os.path.commonpath(folders)) if folders else Path()


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for file in sorted(root.rglob("*")):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(root).parts):
            yield file


def _documents(file: Path, path: str, office: _Office) -> Iterator[SourceDocument | RefusedFile]:
    suffix = file.suffix.lower()
    try:
        if file.stat().st_size > LARGEST_FILE_BYTES:
            raise _Unreadable(f"larger than {LARGEST_FILE_BYTES // 1024 // 1024} MiB")
        if suffix == ".jsonl":
            yield from _rows(_text(file), path)
        elif suffix in _OFFICE:
            yield _document(path, file.stem, office.markdown(file), markdown=True)
        elif read := _READERS.get(suffix):
            title, text = read(_text(file))
            yield _document(path, title or file.stem, text, markdown=suffix not in _PLAIN)
        else:
            raise _Unreadable(f"a kind of file we can't read; expected one of {' '.join(_KNOWN)}")
    except OSError as exc:
        yield RefusedFile(path, exc.strerror or type(exc).__name__)
    except RecursionError:
        yield RefusedFile(path, "its parts lie in each other too deeply")
    except _Unreadable as exc:
        yield RefusedFile(path, str(exc))


def _document(path: str, title: str, text: str, *, markdown: bool) -> SourceDocument:
    title, text = storable(title), storable(text)
    if not text.strip():
        raise _Unreadable("no text in it")
    language = script_language(text[:_SAMPLE])
    found = chunks(text, title=title, language=language, markdown=markdown)
    return SourceDocument(path, title, language, text, tuple(found))


def _text(file: Path) -> str:
    content = file.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        if b"\0" in content[:8192]:
            raise _Unreadable("a binary file") from None
        raise _Unreadable(f"not UTF-8: byte 0x{content[exc.start]:02x} at position {exc.start}") from None
    if _CONTROL.search(text):
        raise _Unreadable("a binary file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _markdown(text: str) -> tuple[str, str]:
    title = ""
    if front := _FRONT_MATTER.match(text):
        text, title = text[front.end() :], _title_of(front[1])
    return title or heading_of(text), text


def _title_of(front_matter: str) -> str:
    try:
        said = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError):  # a date that is none is a ValueError
        return ""  # three dashes that meant something else
    title = said.get("title") if isinstance(said, dict) else None
    return title.strip() if isinstance(title, str) else ""


def _plain(text: str) -> tuple[str, str]:
    return "", text


def _html(text: str) -> tuple[str, str]:
    page = BeautifulSoup(text, "lxml")  # which closes what a page may leave open, as browsers do
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for part in page.find_all(_NOT_CONTENT):
        part.decompose()
    markdown = MarkdownConverter(heading_style="ATX", strip=["a", "img"]).convert_soup(page)
    return title or heading_of(markdown), markdown


def _rows(text: str, path: str) -> Iterator[SourceDocument | RefusedFile]:
    """A document per line with "title" and "text"; its path is that of the file, # and the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            title, body = _row(line)
            yield _document(f"{path}#{number}", title, body, markdown=False)
        except _Unreadable as exc:
            yield RefusedFile(path, str(exc), number)


def _row(line: str) -> tuple[str, str]:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise _Unreadable("not JSON") from None
    if not isinstance(row, dict):
        raise _Unreadable('expected an object with "title" and "text"')
    title, text = row.get("title", ""), row.get("text")
    if not isinstance(text, str):
        raise _Unreadable('"text": expected a string')
    if not isinstance(title, str):
        raise _Unreadable('"title": expected a string')
    return title.strip(), text


class _Office:
    """PDF and Office files through markitdown, which is loaded when the first such file comes."""

    def __init__(self) -> None:
        self._convert: Callable[[Path], str] | None = None

    def markdown(self, file: Path) -> str:
        self._convert = self._convert or _converter()
        return self._convert(file)


def _converter() -> Callable[[Path], str]:
    try:
        from markitdown import DocumentConverter, MarkItDown, MarkItDownException
        from markitdown.converters import DocxConverter, PdfConverter, PptxConverter, XlsxConverter
    except ImportError:
        raise _Unreadable("needs the extra `documents`: pip install 'sekisho[documents]'") from None
    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of every odd font
    converter = MarkItDown(enable_builtins=False, enable_plugins=False)
    kinds: tuple[type[DocumentConverter], ...] = (DocxConverter, PdfConverter, PptxConverter, XlsxConverter)
    for kind in kinds:  # with all of its converters it would take a broken Word file for plain text
        converter.register_converter(kind())

    def convert(file: Path) -> str:
        try:
            return _TITLED.sub(r"\1\n\n\3\n\2", converter.convert_local(file).markdown.translate(_RADICALS))
        except MarkItDownException as exc:
            raise _Unreadable(f"could not be converted ({type(exc).__name__})") from exc

    return convert


# A sheet whose first row is its title: markitdown takes it for the names of the columns.
_TITLED = re.compile(r"^\| ([^|\n]+?) (?:\| Unnamed: \d+ )+\|\n(\|(?: --- \|)+)\n(\|.*\|)$", re.MULTILINE)
_READERS: dict[str, Callable[[str], tuple[str, str]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".text": _plain,
    ".html": _html,
    ".htm": _html,
}
_PLAIN = (".txt", ".text")
_OFFICE = (".pdf", ".docx", ".pptx", ".xlsx")
_KNOWN = (*_READERS, ".jsonl", *_OFFICE)
