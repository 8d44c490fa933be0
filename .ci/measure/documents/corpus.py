"""Makes documents in many formats, and expected.json with what a reader must find in each:
words, rows of tables, texts in their order, and texts that must not appear.

Usage: corpus.py DIRECTORY COUNT, where COUNT is how many documents of each kind are made.
"""
import base64
import datetime
import json
import os
import random
import subprocess
import sys
import zipfile
from email.message import EmailMessage

import docx
import openpyxl
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

out, count = sys.argv[1], int(sys.argv[2])
expected = {}
stems = ("river stone lantern meadow harbour winter copper thistle velvet orchard granite willow "
         "compass anchor marble ribbon candle timber saddle pebble kettle ladder mirror needle "
         "élan naïve Größe smörgås señor čaj łódź").split()


class Source:
    """The content of one document, made of a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.title = "The " + self.words(3)
        self.sections = []
        for n in range(3):
            rows = [["Item", "Price", "Stock"]]
            for _ in range(self.random.randint(2, 6)):
                rows.append([self.words(2), "%.2f" % self.random.uniform(1, 900), str(self.random.randint(1, 9999))])
            self.sections.append({
                "heading": "Part %d %s" % (n + 1, self.words(2)),
                "text": [self.sentence() for _ in range(2)],
                "items": [self.words(4) for _ in range(3)],
                "rows": rows,
            })

    def words(self, n):
        return " ".join(self.random.choice(stems) + str(self.random.randint(10, 99)) for _ in range(n))

    def sentence(self):
        return " ".join(self.words(9) for _ in range(4)).capitalize() + "."

    def expect(self, forbidden=(), tables=True):
        order, words, rows = [self.title], self.title, []
        for s in self.sections:
            order += [s["heading"], s["text"][0], s["items"][0]]
            words += "\n" + "\n".join([s["heading"], *s["text"], *s["items"], *map(" ".join, s["rows"])])
            rows += s["rows"]
        return {"words": words, "rows": rows if tables else [], "order": order, "forbidden": list(forbidden)}

    def markdown(self):
        lines = ["# " + self.title, ""]
        for s in self.sections:
            lines += ["## " + s["heading"], "", s["text"][0], "", s["text"][1], ""]
            lines += ["- " + i for i in s["items"]] + [""]
            lines += ["| %s | %s | %s |" % tuple(s["rows"][0]), "|---|---|---|"]
            lines += ["| %s | %s | %s |" % tuple(r) for r in s["rows"][1:]] + [""]
        return "\n".join(lines)


def at(name):
    return os.path.join(out, name)


def write(name, text, encoding="utf-8"):
    with open(at(name), "w", encoding=encoding, newline="") as f:
        f.write(text)


def pandoc(source, name, *flags):
    subprocess.run(["pandoc", "-f", "markdown", "-s", "-M", "title=x", "-o", at(name), *flags], input=source, text=True, check=True, stderr=subprocess.DEVNULL)


def office(kind, names, before):
    """Converts files, and expects of each what its source expects."""
    made = subprocess.run(["soffice", "-env:UserInstallation=file://" + os.path.abspath(at("profile")), "--headless", "--convert-to", kind, "--outdir", out, *map(at, names)], capture_output=True, text=True)
    end = kind.split(":")[0]
    for name in names:
        new = name.rsplit(".", 1)[0] + "." + end
        if not os.path.exists(at(new)):
            sys.exit("soffice made no %s: %s" % (new, made.stderr))
        expected[new] = dict(expected[name], forbidden=before)


def word(source, name):
    """A DOCX with a merged cell, a tracked change and a running header."""
    d = docx.Document()
    d.add_heading(source.title, 0)
    d.sections[0].header.paragraphs[0].text = ""
    for s in source.sections:
        d.add_heading(s["heading"], 1)
        p = d.add_paragraph(s["text"][0])
        gone = OxmlElement("w:del")
        gone.set(qn("w:id"), "1")
        gone.set(qn("w:author"), "x")
        run, text = OxmlElement("w:r"), OxmlElement("w:delText")
        text.text = "forbidden deleted"
        run.append(text)
        gone.append(run)
        p._p.append(gone)
        d.add_paragraph(s["text"][1])
        for i in s["items"]:
            d.add_paragraph(i, style="List Bullet")
        t = d.add_table(rows=0, cols=3, style="Table Grid")
        for r in s["rows"]:
            for cell, text in zip(t.add_row().cells, r):
                cell.text = text
    d.save(at(name))
    expected[name] = source.expect(["forbidden deleted"])


def sheet(source, name):
    """An XLSX with dates, a formula, an empty column and a hidden sheet."""
    book = openpyxl.Workbook()
    page, rows, words = book.active, [], ""
    page.title = "Prices"
    page.append(["Item", "Price", None, "When", "Ready"])
    rows.append(["Item", "Price", "", "When", "Ready"])
    forbidden = []
    for n, r in enumerate(source.sections[0]["rows"][1:] + source.sections[1]["rows"][1:]):
        day = datetime.date(2023, 1 + n % 12, 3 + n)
        page.append([r[0], float(r[1]), None, day, n % 2 == 0])
        page.cell(page.max_row, 2).number_format = "0.00"
        page.cell(page.max_row, 4).number_format = "yyyy-mm-dd"
        rows.append([r[0], r[1], "", day.isoformat(), "TRUE" if n % 2 == 0 else "FALSE"])
        forbidden.append(str((day - datetime.date(1899, 12, 30)).days))
    hidden = book.create_sheet("Notes")
    hidden.sheet_state = "hidden"
    for r in source.sections[2]["rows"]:
        hidden.append(r[:1] + [float(v) if v[0].isdigit() else v for v in r[1:]])
        for cell in hidden[hidden.max_row][1:2]:
            cell.number_format = "0.00"
        rows.append(r)
    book.save(at(name))
    expected[name] = {"words": "\n".join(" ".join(r) for r in rows), "rows": rows, "order": [r[0] for r in rows[1:4]], "forbidden": forbidden}


def slides(source, name):
    text = ""
    for s in source.sections:
        text += "# %s\n\n" % s["heading"] + "\n".join("- " + i for i in s["items"]) + "\n\n"
    pandoc(text, name)
    words = "\n".join("\n".join([s["heading"], *s["items"]]) for s in source.sections)
    expected[name] = {"words": words, "rows": [], "order": [s["heading"] for s in source.sections], "forbidden": []}


os.makedirs(out, exist_ok=True)
texts = []
for n in range(count):
    s = Source(n)
    md = s.markdown()
    for end, flags in (("docx", []), ("odt", []), ("epub", []), ("rtf", []), ("ipynb", [])):
        name = "pandoc%d.%s" % (n, end)
        pandoc(md, name, *flags)
        expected[name] = s.expect(tables=end != "ipynb")
    expected["pandoc%d.ipynb" % n]["rows"] = []
    page = subprocess.run(["pandoc", "-f", "markdown", "-t", "html"], input=md, text=True, check=True, capture_output=True).stdout
    write("page%d.html" % n, "<!doctype html><html><head><meta charset=utf-8><title>%s</title><style>.forbidden{}</style><script>forbiddenScript()</script></head><body>%s</body></html>" % (s.title, page))
    expected["page%d.html" % n] = s.expect(["forbidden"])
    word(Source(1000 + n), "word%d.docx" % n)
    sheet(Source(2000 + n), "sheet%d.xlsx" % n)
    slides(Source(3000 + n), "slides%d.pptx" % n)
    texts.append("word%d.docx" % n)

    mail = EmailMessage()
    m = Source(4000 + n)
    mail["Subject"], mail["From"], mail["To"] = m.title, "ann@example.org", "bo@example.org"
    mail.set_content(m.sections[0]["text"][0])
    if n % 2:
        mail.add_alternative("<h2>%s</h2><p>%s</p>" % (m.sections[0]["heading"], m.sections[0]["text"][0]), subtype="html")
    secret = b"forbidden attachment " * 20
    mail.add_attachment(secret, maintype="application", subtype="octet-stream", filename="data.bin")
    with open(at("mail%d.eml" % n), "wb") as f:
        f.write(bytes(mail))
    expected["mail%d.eml" % n] = {"words": "\n".join([m.title, m.sections[0]["text"][0], "data bin"]), "rows": [], "order": [m.title, m.sections[0]["text"][0]], "forbidden": [base64.b64encode(secret)[:40].decode()]}

    table = Source(5000 + n).sections[0]["rows"]
    end, mark, encoding = [("csv", ",", "utf-8"), ("csv", ";", "cp1252"), ("tsv", "\t", "utf-16"), ("csv", "|", "utf-8-sig")][n % 4]
    clean = [[v.replace("čaj", "tea").replace("łódź", "boat") for v in r] for r in table]
    write("table%d.%s" % (n, end), "\r\n".join(mark.join('"%s"' % v if i else v for i, v in enumerate(r)) for r in clean), encoding)
    expected["table%d.%s" % (n, end)] = {"words": "\n".join(map(" ".join, clean)), "rows": clean, "order": [clean[1][0]], "forbidden": []}

    feed = Source(6000 + n)
    entries = "".join("<item><title>%s</title><link>https://example.org/%d</link><description>&lt;p&gt;%s&lt;/p&gt;</description></item>" % (s["heading"], i, s["text"][0]) for i, s in enumerate(feed.sections))
    write("feed%d.rss" % n, '<?xml version="1.0"?><rss version="2.0"><channel><title>%s</title>%s</channel></rss>' % (feed.title, entries))
    expected["feed%d.rss" % n] = {"words": "\n".join([feed.title] + [s["heading"] + "\n" + s["text"][0] for s in feed.sections]), "rows": [], "order": [s["heading"] for s in feed.sections], "forbidden": ["<p>", "&lt;"]}

    with zipfile.ZipFile(at("all%d.zip" % n), "w") as z:
        z.write(at("page%d.html" % n), "a/page.html")
        z.write(at("word%d.docx" % n), "word.docx")
    one, two = expected["page%d.html" % n], expected["word%d.docx" % n]
    expected["all%d.zip" % n] = {"words": one["words"] + "\n" + two["words"], "rows": one["rows"] + two["rows"], "order": one["order"], "forbidden": ["forbidden"]}

office("doc:MS Word 97", texts, ["forbidden deleted"])
office("pdf", texts, [])  # it shows what is deleted
office("rtf", texts, ["forbidden deleted"])
office("odt", texts, ["forbidden deleted"])
books = [n for n in expected if n.endswith(".xlsx")]
office("xls:MS Excel 97", books, [])
office("ods", books, [])
for n in books:
    for end in ("xls", "ods"):
        expected[n[:-4] + end]["forbidden"] = expected[n]["forbidden"]
shows = [n for n in expected if n.endswith(".pptx")]
office("ppt:MS PowerPoint 97", shows, [])
office("odp", shows, [])
with open(at("expected.json"), "w", encoding="utf-8") as f:
    json.dump(expected, f)
