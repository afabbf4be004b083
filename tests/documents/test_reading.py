from __future__ import annotations

import os
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import Workbook

from gateway.documents.reading import RefusedFile, SourceDocument, read_documents
from gateway.errors import ConfigurationError


def read(*roots: Path) -> tuple[dict[str, SourceDocument], dict[str, str]]:
    found = list(read_documents(roots))
    documents = {one.path: one for one in found if isinstance(one, SourceDocument)}
    return documents, {
        str(one).partition(": ")[0]: one.reason for one in found if isinstance(one, RefusedFile)
    }


PAGE = """<html><head><title>Bus pass</title><style>p {color: red}</style></head><body>
<nav>Home | Contact</nav><h1>Bus pass</h1><p>It costs <b>1,000 yen</b> a year.</p>
<ul><li>from age 70</li><li>for residents</li></ul><script>alert("x")</script></body></html>"""


def test_a_folder_of_all_kinds_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "bus.html").write_text(PAGE)
    (tmp_path / "en" / "moving.md").write_text(
        "---\ntitle: Moving house\n---\n# Moving\n\nTell us within 14 days.\n"
    )
    (tmp_path / "notice.txt").write_text("図書館は月曜日に休館します。\n", encoding="utf-8")
    (tmp_path / "zh.jsonl").write_text(
        '{"title": "图书馆", "text": "图书馆星期一闭馆。"}\n\n', encoding="utf-8-sig"
    )
    (tmp_path / ".hidden.md").write_text("nobody reads this")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("nor this")
    documents, refused = read(tmp_path)
    assert refused == {}
    assert [(d.path, d.title, d.language) for d in documents.values()] == [
        ("en/bus.html", "Bus pass", "en"),
        ("en/moving.md", "Moving house", "en"),
        ("notice.txt", "notice", "ja"),
        ("zh.jsonl#1", "图书馆", "zh"),
    ]
    assert [c.text for c in documents["en/bus.html"].chunks] == [
        "It costs 1,000 yen a year.\n- from age 70\n- for residents"
    ]


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "binary": ("logo.md", b"\x89PNG\r\n\x1a\n\0\0\0", "a binary file"),
    "control characters": ("dump.txt", b"abc\x01\x02", "a binary file"),
    "invalid UTF-8": ("latin.txt", "Müller".encode("latin-1"), "not UTF-8: byte 0xfc at position 1"),
    "Shift JIS": ("sjis.txt", "図書館".encode("shift_jis"), "not UTF-8: byte 0x90 at position 0"),
    "another kind": ("photo.jpg", b"x", "a kind of file we can't read; expected one of .md"),
    "empty": ("empty.md", b" \n", "no text in it"),
    "broken PDF": ("broken.pdf", b"%PDF-1.7\nnonsense", "could not be converted"),
    "page of parts in parts": ("deep.html", b"<font>x" * 3_000, "its parts lie in each other too deeply"),
    "broken Word file": ("broken.docx", b"PK\x03\x04nonsense", "could not be converted"),
}


@pytest.mark.parametrize(("name", "content", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_read(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nRead me.")
    (tmp_path / name).write_bytes(content)
    documents, refused = read(tmp_path)
    assert list(documents) == ["good.md"]
    assert list(refused) == [name]
    assert refused[name].startswith(reason)


def test_a_name_that_is_not_utf8_is_told_so_that_it_can_be_written_down(tmp_path: Path) -> None:
    """As a zip file of Windows has them, unpacked on Linux; a folder's name counts, too."""
    (tmp_path / "good.md").write_text("# Good\n\nRead me.")
    folder, file = (tmp_path / os.fsdecode(name.encode("cp932")) for name in ("規則", "料金表.txt"))
    folder.mkdir()
    for made in (folder / "fees.md", file):
        made.write_text("A copy costs 10 yen.")
    documents, refused = read(tmp_path)
    assert list(documents) == ["good.md"]
    assert refused == {
        r"\x8bK\x91\xa5/fees.md": "its name is not UTF-8",
        r"\x97\xbf\x8b\xe0\x95\.txt": "its name is not UTF-8",
    }


def test_a_page_may_leave_open_what_browsers_close(tmp_path: Path) -> None:
    (tmp_path / "open.html").write_text("<ul>" + "".join(f"<li>Room {n}" for n in range(900)) + "</ul>")
    documents, refused = read(tmp_path)
    assert refused == {}
    assert documents["open.html"].text.split("\n")[:2] == ["* Room 0", "* Room 1"]


@pytest.mark.parametrize("front_matter", ["date: 2024-13-45", "title: " + "[" * 900], ids=["no date", "deep"])
def test_front_matter_that_cannot_be_read_costs_the_title_only(tmp_path: Path, front_matter: str) -> None:
    (tmp_path / "fees.md").write_text(f"---\n{front_matter}\n---\nA copy costs 10 yen.")
    documents, refused = read(tmp_path)
    assert refused == {}
    assert (documents["fees.md"].title, documents["fees.md"].text) == ("fees", "A copy costs 10 yen.")


def test_what_no_database_can_hold_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(r'{"title": "A\u0000", "text": "Half \ud83d a pair."}')
    documents, _ = read(tmp_path)
    assert documents["corpus.jsonl#1"].title == "A\ufffd"
    assert documents["corpus.jsonl#1"].text == "Half ? a pair."


def test_bad_rows_are_named_by_line_and_the_other_rows_are_read(tmp_path: Path) -> None:
    rows = [
        '{"title": "A", "text": "Fine."}',
        "{not json",
        "[]",
        '{"title": "B"}',
        '{"title": 3, "text": "x"}',
        '{"text": "  "}',
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows))
    documents, refused = read(tmp_path)
    assert list(documents) == ["corpus.jsonl#1"]
    assert refused == {
        "corpus.jsonl, line 2": "not JSON",
        "corpus.jsonl, line 3": 'expected an object with "title" and "text"',
        "corpus.jsonl, line 4": '"text": expected a string',
        "corpus.jsonl, line 5": '"title": expected a string',
        "corpus.jsonl, line 6": "no text in it",
    }


def test_the_paths_of_several_folders_start_where_the_folders_part(tmp_path: Path) -> None:
    for folder in ("en/documents", "ja/documents"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text(f"# A of {folder}\n\nText.")
    documents, refused = read(tmp_path / "en" / "documents", tmp_path / "ja" / "documents")
    assert (list(documents), refused) == (["en/documents/a.md", "ja/documents/a.md"], {})


def test_a_single_file_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.")
    assert list(read(tmp_path / "a.md")[0]) == ["a.md"]


def test_a_file_that_is_named_twice_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.")
    documents, refused = read(tmp_path, tmp_path / "a.md", tmp_path)
    assert (list(documents), refused) == (["a.md"], {})


def test_an_empty_folder_is_read_as_nothing(tmp_path: Path) -> None:
    assert read(tmp_path) == ({}, {})


def test_a_missing_folder_stops_the_start_up_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="manuals"):
        read(tmp_path / "manuals")


def test_a_word_file_is_read_with_its_headings(tmp_path: Path) -> None:
    pytest.importorskip("markitdown")
    write_docx(tmp_path / "rule.docx", heading="Overtime", text="Ask your manager before you stay.")
    documents, refused = read(tmp_path)
    assert refused == {}
    [chunk] = documents["rule.docx"].chunks
    assert (chunk.heading, chunk.text) == ("rule › Overtime", "Ask your manager before you stay.")


def test_radicals_that_a_font_put_for_characters_are_read_as_these(tmp_path: Path) -> None:
    pytest.importorskip("markitdown")
    write_docx(tmp_path / "tax.docx", heading="軽⾃動⾞税", text="4⽉1⽇に住⺠だった⼈が払います。")
    [chunk] = read(tmp_path)[0]["tax.docx"].chunks
    assert (chunk.heading, chunk.text) == ("tax › 軽自動車税", "4月1日に住民だった人が払います。")


def test_the_title_of_a_sheet_names_no_column(tmp_path: Path) -> None:
    pytest.importorskip("markitdown")
    book = Workbook()
    for row in (["Things we lend", None, None], ["thing", "days", "where"], ["projector", 3, "front desk"]):
        book.worksheets[0].append(row)
    book.save(tmp_path / "lending.xlsx")
    [chunk] = read(tmp_path)[0]["lending.xlsx"].chunks
    assert chunk.text == "Things we lend\n- thing: projector; days: 3; where: front desk"


def test_office_files_without_the_extra_are_refused_with_the_command_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "markitdown", None)
    (tmp_path / "rule.pdf").write_bytes(b"%PDF-1.7")
    assert read(tmp_path)[1] == {"rule.pdf": "needs the extra `documents`: pip install 'sekisho[documents]'"}


def write_docx(path: Path, *, heading: str, text: str) -> None:
    """The smallest Word file: a heading and a paragraph."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    to = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats"
    words = f"{kind}-officedocument.wordprocessingml"
    styled = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    parts = [(styled, heading), ("", text)]
    body = "".join(f"<w:p>{style}<w:r><w:t>{said}</w:t></w:r></w:p>" for style, said in parts)
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Default Extension="rels" ContentType="{kind}-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{words}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{words}.styles+xml"/></Types>',
        "_rels/.rels": relationship(package, f"{to}/officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": relationship(package, f"{to}/styles", "styles.xml"),
        "word/styles.xml": f'<w:styles xmlns:w="{word}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
    }
    with ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')


def relationship(package: str, kind: str, target: str) -> str:
    one = f'<Relationship Id="r1" Type="{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{package}/relationships">{one}</Relationships>'


def test_a_pdf_with_an_odd_font_is_read_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("markitdown")
    stream = b"BT /F 12 Tf 20 20 Td (The pool opens at nine.) Tj ET"
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 50]/Contents 6 0 R/Resources<</Font<</F 4 0 R>>>>>>",
        b"<</Type/Font/Subtype/TrueType/BaseFont/Odd/FontDescriptor 5 0 R>>",
        b"<</Type/FontDescriptor/FontName/Odd/Flags 32>>",  # no FontBBox
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    )
    objects = b"".join(b"%d 0 obj%s endobj\n" % numbered for numbered in enumerate(parts, 1))
    (tmp_path / "pool.pdf").write_bytes(b"%PDF-1.4\n" + objects + b"trailer<</Root 1 0 R>>\n%%EOF")
    documents, refused = read(tmp_path)
    assert refused == {}
    assert "".join(documents["pool.pdf"].chunks[0].text.split()) == "Thepoolopensatnine."
    assert not caplog.records
