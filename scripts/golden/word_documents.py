#!/usr/bin/env python3
"""DOCX files of three programs, and what Pandoc reads in them.

    pip install pypandoc_binary==1.17 python-docx==1.2.0
    apt-get install libreoffice-writer-nogui
    python3 scripts/golden/word_documents.py tests/fixtures/docx

Writes pandoc.docx, python_docx.docx and libreoffice.docx (the first, opened and saved by
LibreOffice), and golden.json: of each file its paragraphs with changes accepted and
rejected, and its comments with author, text and the words that they cover, all as Pandoc's
reader sees them.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile

import docx
import pypandoc

DATE = 'date="2024-01-15T12:00:00Z"'
TEXT = f"""
# A title *in part* cursive

A “quoted” sentence with a [link](http://example.org)[^1] and [What do you mean
by this?]{{.comment-start id="0" author="Ada" {DATE}}}words that **bear** a
comment[]{{.comment-end id="0"}} -- and more.

It was [very]{{.deletion author="Bob" {DATE}}}[quite]{{.insertion author="Bob"
{DATE}}} plain, and ~~struck words~~ came before [marked ones]{{.mark}}.

[^1]: A note with *emphasis*.

left | right
-----|------
one  | two
[Here?]{{.comment-start id="1" author="Cy" {DATE}}}three[]{{.comment-end id="1"}} | four

- first item
- second item, Straße, žluťoučký, 漢字, שלום
"""


def text_of(inlines):
    out = []
    for it in inlines:
        kind, content = it["t"], it.get("c")
        if kind == "Str":
            out.append(content)
        elif kind in ("Space", "SoftBreak", "LineBreak"):
            out.append(" ")
        elif kind == "Quoted":
            left, right = ("‘", "’") if content[0]["t"] == "SingleQuote" else ("“", "”")
            out.append(left + text_of(content[1]) + right)
        elif kind == "Span":
            if "comment-start" not in content[0][1]:
                out.append(text_of(content[1]))
        elif kind == "Link":
            out.append(text_of(content[1]))
        elif kind in ("Strong", "Emph", "Strikeout", "Superscript", "Subscript", "Underline"):
            out.append(text_of(content))
        elif kind != "Note":
            raise ValueError(kind)
    return "".join(out)


def blocks_of(value):
    """The inlines of every paragraph, in reading order."""
    if isinstance(value, dict) and value.get("t") in ("Para", "Plain"):
        yield value["c"]
    elif isinstance(value, dict) and value.get("t") == "Header":
        yield value["c"][2]
    elif isinstance(value, dict):
        for part in value.values():
            yield from blocks_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from blocks_of(part)


def read(path, changes):
    ast = json.loads(pypandoc.convert_file(path, "json", extra_args=[f"--track-changes={changes}"]))
    texts = [" ".join(text_of(it).split()) for it in blocks_of(ast["blocks"])]
    return ast, [text for text in texts if text]


def comments(path):
    ast, _ = read(path, "all")
    found, covered = {}, {}

    def walk(inlines, is_deleted=False):
        for it in inlines:
            kind, content = it["t"], it.get("c")
            if kind == "Span":
                classes, fields = content[0][1], dict(content[0][2])
                if "comment-start" in classes:
                    found[fields["id"]] = {"author": fields["author"], "text": text_of(content[1])}
                    covered[fields["id"]] = []
                elif "comment-end" in classes:
                    found[fields["id"]]["words"] = "".join(covered.pop(fields["id"]))
                elif "deletion" not in classes:
                    walk(content[1])
            elif kind in ("Strong", "Emph", "Strikeout"):
                walk(content)
            else:
                for words in covered.values():
                    words.append(text_of([it]))

    for inlines in blocks_of(ast["blocks"]):
        walk(inlines)
    return [found[key] for key in sorted(found)]


def main():
    out = sys.argv[1]
    paths = {name: os.path.join(out, f"{name}.docx") for name in ("pandoc", "python_docx", "libreoffice")}
    pypandoc.convert_text(TEXT, "docx", format="markdown", outputfile=paths["pandoc"])
    document = docx.Document()
    paragraph = document.add_paragraph("Hello ")
    run = paragraph.add_run("world")
    paragraph.add_run(" again, with a\ttab and a\nbreak.")
    comment = document.add_comment(run, text="Which one?", author="Dee", initials="D")
    comment._comment_elm.date = datetime.datetime(2024, 1, 15, 12, tzinfo=datetime.timezone.utc)
    table = document.add_table(2, 2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "merged"
    table.cell(1, 1).text = "single"
    document.sections[0].header.paragraphs[0].text = "Doe 1"
    document.save(paths["python_docx"])
    with tempfile.TemporaryDirectory() as profile:
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{profile}", "--convert-to",
                   "docx:MS Word 2007 XML", "--outdir", os.path.join(profile, "out"), paths["pandoc"]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.replace(os.path.join(profile, "out", "pandoc.docx"), paths["libreoffice"])
    golden = {
        name: {"accepted": read(path, "accept")[1], "rejected": read(path, "reject")[1],
               "comments": comments(path)}
        for name, path in paths.items()
    }
    with open(os.path.join(out, "golden.json"), "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
