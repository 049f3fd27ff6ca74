"""What independent parsers read in documents that dragoman translates: html5lib in pages, lxml in feeds, and Translate Toolkit in
strings for Android, XLIFF and TMX. A server has to give the same bytes. Exits with 77 (skipped) if pip cannot install the
packages.

Usage: formats.py PROGRAM PACKAGES
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import packages
import serving

PAGE = """<!DOCTYPE html><html lang=en><head><meta charset="{charset}"><title>the cat {{{{ page.title }}}}</title>
<meta name=description content="the dog sees the cat"></head><body {{% if wide %}}class="wide"{{% endif %}}>
<h1>the <em>cat</em> sees</h1><p>the <b>dog</b> and <i>the <u>cat</u></i> see {{{{ user.name }}}} {{% if a > b %}}the
<a href="{{{{ url }}}}" title="the cat {{{{ x }}}}">old</a> house{{% endif %}}.<p>the <span><b>c</b>at</span>, <% if (a < b) {{ %>
the <s>dog</s> <% }} %> and <?php echo $a->b; ?> the <code>mat</code> <img src=x alt="the dog">
<table><tr><td>the <b>cat</b><td><a href=y>the dog</a></table><ul><li>the dog<li>the <b>old cat</b></ul>
<input type=submit value="see the cat"><button aria-label="the cat">the dog</button><code>{letters}</code></body></html>"""

MARKS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|<\?php.*?\?>", re.DOTALL)

ANDROID = r"""<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <string name="app" translatable="false">the cat</string>
    <string name="a">the dog\'s cat is <b>old</b>.\nthe cat sees the \"dog\".</string>
    <string name="b">the %1$d cats see the %2$s.</string>
    <string name="c">the <xliff:g id="x" example="old">%s</xliff:g> cat</string>
    <plurals name="d"><item quantity="one">%d cat</item><item quantity="other">%d cats see</item></plurals>
    <string-array name="e"><item>the cat</item><item>the dog &amp; the cat</item></string-array>
</resources>
"""

XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a" source-language="en" target-language="de" datatype="plaintext"><body>
    <trans-unit id="1"><source>the <g id="1">old cat</g> sees <x id="2"/> the dog.</source><note>the cat</note></trans-unit>
    <trans-unit id="2"><source>the dog</source><target state="new"/></trans-unit>
    <trans-unit id="3"><source>the dog</source><target>der Hund</target></trans-unit>
  </body></file>
</xliff>
"""

XLIFF2 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de">
  <file id="f"><unit id="u"><segment id="s"><source>the <pc id="1">old cat</pc> sees <ph id="2"/> the dog.</source></segment>
    <segment id="t" state="initial"><source>the dog</source><target></target></segment></unit></file>
</xliff>
"""

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x" adminlang="en" srclang="en"
 datatype="plaintext"/><body>
<tu><tuv xml:lang="en"><seg>the old cat</seg></tuv><tuv xml:lang="de"><seg/></tuv></tu>
<tu><tuv xml:lang="en"><seg>the dog</seg></tuv><tuv xml:lang="de"><seg>der Hund</seg></tuv></tu>
</body></tmx>
"""

FEED = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>the cat</title>
<link>http://example.org/the-cat</link><description>the dog sees the cat</description>
<item><title><![CDATA[the dog & the cat]]></title><guid isPermaLink="false">the cat 7</guid>
<pubDate>Sat, 28 Nov 2026 10:00:00 GMT</pubDate>
<description>&lt;p&gt;the &lt;b&gt;old cat&lt;/b&gt; &amp;amp; the dog&lt;/p&gt;&lt;p&gt;&lt;a href="http://a.b/?x=1&amp;amp;y"&gt;see&lt;/a&gt;</description>
<content:encoded><![CDATA[<p>the <b>old cat</b> sees</p><img src="x" alt="the dog">]]></content:encoded></item></channel></rss>
"""


def served(url, name, document):
    """The document as a server translates it."""
    parts = [f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + document]
    parts += [f'--b\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}'.encode()
              for field, value in (("source", "en"), ("target", "de"))]
    request = urllib.request.Request(f"{url}/translate_file", b"\r\n".join([*parts, b"--b--\r\n"]),
                                     {"Content-Type": "multipart/form-data; boundary=b"})
    with urllib.request.urlopen(request) as answer:
        address = json.load(answer)["translatedFileUrl"]
    with urllib.request.urlopen(address) as file:
        return file.read()


class Translator:
    def __init__(self, program, model, folder, url):
        self.words = [program, "translate", "-m", model, "--threads", "1", "--max-length", "20"]
        self.folder, self.url = folder, url

    def __call__(self, markup, document, *flags):
        source, target = self.folder / "in", self.folder / "out"
        source.write_bytes(document)
        subprocess.run([*self.words, "--markup", markup, *flags, "-i", source, "-o", target], check=True,
                       capture_output=True)
        translated = target.read_bytes()
        assert translated != document, markup
        assert flags or served(self.url, f"a.{markup}", document) == translated, translated
        return translated


# ---- pages ---------------------------------------------------------------------------------------

INLINE = {"a", "b", "code", "em", "i", "img", "s", "span", "u"}


def plain(page):
    """Without the marks of templates, which no parser of HTML knows."""
    return MARKS.sub("x", page)


def blocks(element):
    """The tree of the elements that end sentences, each with the inline elements around it or in it."""
    inline = sorted(child.tag for child in element.iter() if isinstance(child.tag, str) and child.tag in INLINE)
    return (element.tag, inline, [blocks(child) for child in element if isinstance(child.tag, str) and child.tag not in INLINE])


def check_page(translate, charset):
    import html5lib
    letters = {"utf-8": "\u00e9", "iso-8859-1": "\u00e9", "shift_jis": "\u65e5\u672c"}[charset]
    page = PAGE.format(charset=charset, letters=letters)
    translate("html", page.encode(charset))
    written = translate("html", page.encode(charset), "--translate-attributes", "aria-label", "value", "content").decode(charset)
    assert sorted(MARKS.findall(page)) == sorted(MARKS.findall(written)), written
    assert f'charset="{charset}"' in written and letters in written
    trees = [html5lib.parse(plain(text), namespaceHTMLElements=False) for text in (page, written)]
    assert blocks(trees[0]) == blocks(trees[1]), written
    for element in trees[1].iter():
        if element.tag in INLINE - {"img"}:
            assert "".join(element.itertext()).strip(), (element.tag, written)
    for name in ("content", "value", "aria-label", "alt"):
        [source], [target] = ([e.get(name) for e in tree.iter() if isinstance(e.tag, str) and e.get(name)][:1] for tree in trees)
        assert source != target, name


# ---- XML -----------------------------------------------------------------------------------------

def same_elements(source, target, changed):
    """The same elements with the same attributes; texts may differ in those named."""
    from lxml import etree
    source, target = (etree.fromstring(document) for document in (source, target))
    a, b = list(source.iter()), list(target.iter())
    assert [(e.tag, dict(e.attrib)) for e in a] == [(e.tag, dict(e.attrib)) for e in b]
    for before, after in zip(a, b):
        assert before.tag in changed or before.text == after.text, after.text
    return a, b


def check_android(translate):
    from translate.storage import aresource
    written = translate("xml", ANDROID.encode())
    same_elements(ANDROID.encode(), written, {"string", "item", "b"})
    source, target = (aresource.AndroidResourceFile.parsestring(document) for document in (ANDROID.encode(), written))
    assert [unit.getid() for unit in source.units] == [unit.getid() for unit in target.units]
    for before, after in zip(source.units, target.units):
        signs = [sorted(re.findall(r"%\d?\$?[sd]|\n|</?b>|<xliff:g.*?>", str(unit.target))) for unit in (before, after)]
        assert signs[0] == signs[1], (before.target, after.target)
    assert target.findid("app").target == "the cat"


def check_xliff(translate):
    from translate.storage import xliff
    source, target = (xliff.xlifffile.parsestring(document) for document in (XLIFF.encode(), translate("xml", XLIFF.encode())))
    for before, after in zip(source.units, target.units, strict=True):
        assert before.source == after.source and before.getnotes() == after.getnotes()
        assert after.target, str(after)
    assert target.units[2].target == "der Hund"
    assert sorted(re.findall("<(?:g|x) .*?>", str(target.units[0]))) == sorted(2 * re.findall("<(?:g|x) .*?>", str(source.units[0])))
    assert b'state="translated"' in translate("xml", XLIFF2.encode())


def check_xliff2(translate):
    from lxml import etree
    names = {"x": "urn:oasis:names:tc:xliff:document:2.0"}
    source, target = (etree.fromstring(document) for document in (XLIFF2.encode(), translate("xml", XLIFF2.encode())))
    texts = [[etree.tostring(e, with_tail=False) for e in tree.iterfind(".//x:source", names)] for tree in (source, target)]
    assert texts[0] == texts[1]
    for segment in target.iterfind(".//x:segment", names):
        assert segment.get("state") == "translated" and [child.tag.split("}")[1] for child in segment] == ["source", "target"]
        codes = [sorted((code.tag, code.get("id")) for code in part if len(part)) for part in segment]
        assert codes[0] == codes[1] and "".join(segment[1].itertext()).strip()


def check_tmx(translate):
    from translate.storage import tmx
    source, target = (tmx.tmxfile.parsestring(document) for document in (TMX.encode(), translate("xml", TMX.encode())))
    assert [unit.source for unit in source.units] == [unit.source for unit in target.units]
    assert target.units[0].target and target.units[1].target == "der Hund"


def check_feed(translate):
    import html5lib
    encoded = "{http://purl.org/rss/1.0/modules/content/}encoded"
    a, b = same_elements(FEED.encode(), translate("xml", FEED.encode()), {"title", "description", encoded})
    for before, after in zip(a, b):
        if before.tag not in ("description", encoded):
            continue
        trees = [html5lib.parseFragment(element.text, namespaceHTMLElements=False) for element in (before, after)]
        assert blocks(trees[0]) == blocks(trees[1]) and before.text != after.text, after.text
        assert [e.get("href") for e in trees[0].iter("a")] == [e.get("href") for e in trees[1].iter("a")]


def check_all(translate):
    for charset in ("utf-8", "iso-8859-1", "shift_jis"):
        check_page(translate, charset)
    for check in (check_android, check_xliff, check_xliff2, check_tmx, check_feed):
        check(translate)
        print(check.__name__, "passed", flush=True)


def main():
    program, folder = map(pathlib.Path, sys.argv[1:3])
    packages.install(folder, "html5lib", "lxml", "translate-toolkit")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        model = sys.argv[3] if len(sys.argv) > 3 else serving.train(program, work, "en", "de")
        with serving.Server(program, "-m", f"en-de={model}") as server:
            check_all(Translator(program, model, work, server.url))


main()
