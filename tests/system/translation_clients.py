"""What clients of LibreTranslate and DeepL see of dragoman serve: the packages libretranslatepy and deepl translate, detect,
list languages and read errors. Trains two models for a moment first. Exits with 77 (skipped) if pip cannot install the
packages.

Usage: translation_clients.py PROGRAM PACKAGES
"""

import io
import json
import pathlib
import re
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import packages
import serving


def status_of(call):
    try:
        call()
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def check_libretranslate(server, texts):
    from libretranslatepy import LibreTranslateAPI
    client = LibreTranslateAPI(server.url, api_key="alpha")
    assert client.languages() == [{"code": "de", "name": "German", "targets": ["de", "en"]},
                                  {"code": "en", "name": "English", "targets": ["de", "en"]}]
    found = client.detect(texts[0])
    assert found[0]["language"] == "en" and 0 < found[0]["confidence"] <= 100, found
    single = [client.translate(text, "en", "de") for text in texts]
    assert all(isinstance(text, str) for text in single)
    assert client.translate("\n".join(texts), "en", "de") == "\n".join(single)
    assert client.translate(texts[0], "auto", "de") == single[0]
    assert status_of(lambda: client.translate(texts[0], "en", "xx")) == 400
    client.api_key = "beta"
    assert status_of(lambda: client.translate(texts[0], "en", "de")) == 403
    return single


def check_deepl(server, texts, expected):
    import deepl
    client = deepl.Translator("alpha", server_url=server.url)
    results = client.translate_text(texts, target_lang="DE")
    assert [result.text for result in results] == expected, (results, expected)
    assert {result.detected_source_lang for result in results} == {"EN"}
    assert [result.billed_characters for result in results] == [len(text) for text in texts]
    assert client.translate_text(texts[0], source_lang="EN", target_lang="DE").text == expected[0]
    assert isinstance(client.translate_text("Ein Hund.", source_lang="DE", target_lang="EN-US").text, str)
    assert [language.code for language in client.get_source_languages()] == ["DE", "EN"]
    assert [language.code for language in client.get_target_languages()] == ["DE", "EN-GB", "EN-US"]
    used = client.get_usage().character
    assert used.valid and 0 < used.count <= used.limit == 2000
    for error, call in [(deepl.AuthorizationException, deepl.Translator("beta", server_url=server.url).get_usage),
                        (deepl.DeepLException, lambda: client.translate_text("a", target_lang="FR")),
                        (deepl.QuotaExceededException, lambda: client.translate_text("a" * 1999, target_lang="DE"))]:
        try:
            call()
        except error:
            continue
        raise AssertionError(f"no {error}")


def check_deepl_options(server, texts, expected):
    import deepl
    client = deepl.Translator("gamma", server_url=server.url)

    def text_of(text, **options):
        return client.translate_text(text, source_lang="EN", target_lang="DE", **options).text

    html = text_of(f"<p>{texts[0]}</p>\n<p>A <b>dog</b> is running. <code>x  =  1</code></p>", tag_handling="html")
    # The model decides about the order of the two.
    bold, code = "<b>[^<]*</b>", "<code>x  =  1</code>"
    both = f"({bold}[^<]*{code}|{code}[^<]*{bold})"
    assert re.fullmatch(rf"<p>{re.escape(expected[0])}</p>\n<p>[^<]*{both}[^<]*</p>", html), html
    ignored = "<x>The  garden</x>"
    xml = text_of(f"<d><t>{texts[0]}</t> {ignored} The dog.</d>", tag_handling="xml", ignore_tags=["x"], splitting_tags="t")
    assert xml.startswith(f"<d><t>{expected[0]}</t>") and xml.endswith("</d>") and xml.count(ignored) == 1, xml
    lines, line = "\n".join(texts), " ".join(texts)
    assert text_of(lines, split_sentences=deepl.SplitSentences.ALL) == "\n".join(expected)
    for split in (deepl.SplitSentences.OFF, deepl.SplitSentences.NO_NEWLINES):
        assert text_of(lines, split_sentences=split) == text_of(line, split_sentences=split)
    assert text_of(texts[0], preserve_formatting=True) == expected[0]
    for message, call in [("parsing failed", lambda: text_of("<a>dog", tag_handling="xml")),
                          ("formality", lambda: text_of("dog", formality="less")),
                          ("/translate_file", lambda: client.translate_document(
                              io.BytesIO(b"A dog."), io.BytesIO(), target_lang="DE", filename="dog.txt"))]:
        try:
            call()
        except deepl.DeepLException as error:
            assert message in str(error), error
            continue
        raise AssertionError(f"no fault that says {message}")


def check_glossaries(server):
    import deepl
    client, other = (deepl.Translator(key, server_url=server.url) for key in ("alpha", "gamma"))
    entries = {"garden": "Lustgarten", "old man": "Alte"}
    made = client.create_glossary("mine", "en", "de", entries)
    assert (made.name, made.ready, made.source_lang, made.target_lang, made.entry_count) == ("mine", True, "EN", "DE", 2)
    assert client.get_glossary_entries(made) == entries
    assert [found.glossary_id for found in client.list_glossaries()] == [made.glossary_id]
    assert client.get_glossary(made.glossary_id).creation_time == made.creation_time
    assert other.list_glossaries() == []
    text = "The old man reads a book in the garden."
    # A model that knows nothing may not find room for a term, so the other interface says what is right.
    terms = {"q": text, "source": "en", "target": "de", "terms": "garden=Lustgarten\nold man=Alte", "api_key": "gamma"}
    with urllib.request.urlopen(f"{server.url}/translate", urllib.parse.urlencode(terms).encode()) as response:
        expected = json.load(response)["translatedText"]
    assert client.translate_text(text, source_lang="EN", target_lang="DE", glossary=made).text == expected
    assert client.translate_text_with_glossary(text, made).text == expected
    assert [result.text for result in client.translate_text_with_glossary([text, text], made)] == [expected, expected]
    pairs = [(pair.source_lang, pair.target_lang) for pair in client.get_glossary_languages()]
    assert sorted(pairs) == [("de", "en"), ("en", "de")], pairs
    client.delete_glossary(made)
    for call in (lambda: client.get_glossary(made.glossary_id), lambda: client.delete_glossary(made)):
        try:
            call()
        except deepl.GlossaryNotFoundException:
            continue
        raise AssertionError("a glossary that is deleted is there")
    from_csv = client.create_glossary_from_csv("csv", "EN", "DE", 'garden,"Lust, Garten",en,de\n')
    assert client.get_glossary_entries(from_csv) == {"garden": "Lust, Garten"}


def main():
    program = sys.argv[1]
    packages.install(pathlib.Path(sys.argv[2]), "libretranslatepy", "deepl")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = serving.train_both_ways(program, folder)
        (folder / "keys.txt").write_text("# for the test\nalpha 2000\ngamma\n")
        texts = ["The old man reads a book in the garden.", "Two children are playing with the dog."]
        with serving.Server(program, "-m", *models, "--api-keys", folder / "keys.txt",
                            "--glossaries", folder / "glossaries") as server:
            expected = check_libretranslate(server, texts)
            check_deepl(server, texts, expected)
            check_deepl_options(server, texts, expected)
            check_glossaries(server)
    print("libretranslatepy and deepl are served")


main()
