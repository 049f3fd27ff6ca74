"""Documents of each format, translated by a model that writes what the formats read as their own (**, </p>, |, %d), keep
their structure, as bench/check_documents finds it with the parsers of others. Trains the model for a moment first.
Exits with 77 (skipped) if pip, gettext or cmark-gfm is missing.

Usage: documents.py PROGRAM SOURCES PACKAGES
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "system"))
import packages  # noqa: E402

PIECES = """** * _ ` ``` ~~ </p> <b> </i> | |-| %d %s % {0} { } {{ }} {% %} <% %> <? $ $$ \\ " --> [ ]( ] [^1] # --- === 1. - > ::: :
& &amp; <!-- WEBVTT NOTE ♪ 00:00:01,000 <br> ' @string/x ? \\n ]]> <g> </target> eins zwei drei vier""".split()
WORDS = "a man is sleeping on the green bench two dogs run download file now and read it with children".split()

MARKDOWN = """# A man is *sleeping* {#man}

A man is **sleeping on a [green bench](https://example.org/a "Two dogs")** with `code`[^1],
and two dogs are running. See https://example.org/b?c=1 or <https://example.org/c>.
Two dogs: "https://example.org/d", <a@example.org, b@example.org>.
| A man | dogs |
|-------|:----:|
| `a` | *sleeping* on a bench $x_1$ |

A man is sleeping
-----------------

- A man
  is sleeping
  - {{ name }} is sleeping :tada:
1. Two dogs

:::note
A man is sleeping.
:::

$$
a_1 + b
$$

{{< figure src="a.png" title="A man" >}}

> [!NOTE]
> Two dogs ![a man](a.png 'two dogs') are running  
> on a bench.

```
A man
```

export const Dog = ({name}) => (
  <p style={{
    color: name,
  }}>{name}</p>
);

*[HTML]: two dogs
*[CSS]: a man

[^1]: A man is sleeping.
"""

HTML = """<!doctype html><html><head><meta charset="iso-8859-1"><title>A man is sleeping</title><script>var a = "A man";</script>
</head><body><h1>Two dogs ✓</h1><p><b>http://a.b/c</b></p><table><tr><td>12.50</td><td>A man</td></tr></table>
<p>A man is <b>sleeping <i>on</i></b> a <a href="x" title="A man">green bench</a> <code>a.b()</code>.</p>
<ul><li>A <em>man</em><li>Two dogs<img src="a" alt="two dogs"></ul>
<p>A man <b>is <i>sleeping</b> on</i> a bench.</p>
<p>{{ user.name }} is <b>sleeping</b> {% if x %}on a bench{% endif %} <%= y %></p></body></html>
""".replace("✓", "&#10003;")

RSS = """<rss version="2.0"><channel><title>A man is sleeping</title><link>http://a.b/a man</link><item><guid>a man</guid>
<pubDate>Mon, 06 Sep 2021 00:01:00 +0000</pubDate><description>&lt;p&gt;A man is &lt;b&gt;sleeping&lt;/b&gt;&lt;/p&gt;</description>
</item><item><title><![CDATA[A man & two dogs]]></title>
<description>A man is on {{ site.bench }} &amp; {% if x %}sleeping{% endif %}</description></item></channel></rss>
"""

ANDROID = """<resources><string name="a">A man is sleeping on %1$s and %2$d</string><string name="b" translatable="false">A man</string>
<string name="c">@string/a</string><string name="d">A man is <b>sleeping</b>.\\nTwo dogs</string>
<string name="f">{n, plural, one {# dog of {name}} other {# dogs of \'{x}\'}}</string>
<plurals name="e"><item quantity="one">%d dog</item><item quantity="other">%d dogs</item></plurals></resources>
"""

XLIFF1 = """<xliff version="1.2"><file original="a" source-language="en" datatype="plaintext"><body>
<trans-unit id="1"><source>A man is <g id="1">sleeping</g> on <x id="2"/>a bench<ph id="3">&lt;br/></ph></source></trans-unit>
<trans-unit id="2"><source>A man</source><target>Ein Mann</target></trans-unit>
<trans-unit id="4"><source>{VAR_PLURAL, plural, =0 {no dogs} other {two dogs}}</source></trans-unit>
<trans-unit id="5"><source>A man has {n, plural, one {a dog} other {# dogs}}</source></trans-unit>
<trans-unit id="6"><source>A man is on %s with {0}</source></trans-unit>
<trans-unit id="7"><source><![CDATA[A man is <b>sleeping</b> & on {{ site.bench }}]]></source></trans-unit>
<trans-unit id="3" translate="no"><source>Two dogs</source></trans-unit></body></file></xliff>
"""

XLIFF2 = """<xliff version="2.0" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f"><unit id="1">
<segment><source>A man is <pc id="1">sleeping</pc> on <ph id="2"/>a bench.</source></segment></unit></file></xliff>
"""

TMX = """<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>A man is <bpt i="1">&lt;b></bpt>sleeping<ept
i="1">&lt;/b></ept>.</seg></tuv><tuv xml:lang="de"><seg/></tuv></tu><tu><note>A man</note><tuv xml:lang="en"><seg>Two dogs</seg>
</tuv><tuv xml:lang="de"><seg>Zwei Hunde</seg></tuv></tu></body></tmx>
"""

SRT = """1
00:00:01,000 --> 00:00:02,500
 - The man sleeps.
<i>- A man is sleeping</i>

2
00:00:02,600 --> 00:00:04,000
{\\an8}<i>A man is sleeping</i>

3
00:00:04,100 --> 00:00:05,000
<i>on a green bench.</i>
♪ Two dogs ♪
"""

VTT = """WEBVTT - A man

NOTE A man is sleeping

first
00:01.000 --> 00:02.500 align:start
- The man sleeps.
<v Roger>Two dogs &amp; a man</v>

00:03.000 --> 00:04.000
<00:03.100>A man <00:03.500>is <c.yellow>sleeping</c>
"""

PO = """msgid ""
msgstr ""
"Project-Id-Version: a\\n"
"Language: LANGUAGE\\n"
"Content-Type: text/plain; charset=CHARSET\\n"

#, c-format
msgid "%d dog on %s"
msgid_plural "%d dogs on %s"
msgstr[0] ""
msgstr[1] ""

#, java-format
msgid "A man with {0,number,integer} dogs\\n"
msgstr ""

msgid "A man {{ user.name }} is {% if x %}sleeping{% endif %}"
msgstr ""

msgid "A\\tman is <b>sleeping</b>\\non a bench"
msgstr ""

msgid "{n, plural, one {# dog on {bench}} other {# dogs on {bench}}}"
msgstr ""

msgid "{n, select, one {it''s '{'a dog'}' on {bench}} other {the man''s '{bench}' and {bench}}}"
msgstr ""
"""

DOCUMENTS = {"a.md": MARKDOWN, "a.html": HTML, "rss.xml": RSS, "strings.xml": ANDROID, "one.xlf": XLIFF1, "two.xlf": XLIFF2,
             "tmx.xml": TMX, "a.srt": SRT, "a.vtt": VTT, "a.pot": PO.replace("LANGUAGE", ""), "ru.po": PO.replace("LANGUAGE", "ru")}


def train(program, folder):
    """A model that has learned to write the pieces, in any order."""
    made = random.Random(1)
    for name, lines in (("train", 2000), ("valid", 50)):
        for side, words in (("en", WORDS), ("de", PIECES)):
            texts = [" ".join(made.choice(words) for _ in range(made.randint(1, 10))) for _ in range(lines)]
            (folder / f"{name}.{side}").write_text("\n".join(texts) + "\n")
    run = folder / "run"
    subprocess.run([program, "train", "-o", run, "--preset", "tiny", "--train-src", folder / "train.en", "--train-tgt",
                    folder / "train.de", "--valid-src", folder / "valid.en", "--valid-tgt", folder / "valid.de", "--vocab-size",
                    "400", "--d-model", "32", "--heads", "2", "--d-ff", "64", "--encoder-layers", "1", "--decoder-layers", "1",
                    "--max-updates", "100"], check=True, capture_output=True)
    return run


def main():
    program, sources, installed = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    for needed in ("cmark-gfm", "msgfmt"):
        if not shutil.which(needed):
            print("skipped:", needed, "is not installed")
            sys.exit(packages.SKIPPED)
    packages.install(installed, "html5lib", "markdown-it-py", "mdit-py-plugins", "polib", "srt", "webvtt-py")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = train(program, folder)
        documents = folder / "documents"
        documents.mkdir()
        for document, text in DOCUMENTS.items():
            (documents / document).write_text(text)
        for seed in range(1, 6):
            subprocess.run([sys.executable, sources / "bench/check_documents", "--model", run, "--program", program, documents,
                            "--", "--sampling", "--seed", str(seed), "--max-length", "30", "--quiet"],
                           check=True, env={**os.environ, "PYTHONPATH": str(installed)})


if __name__ == "__main__":
    main()
