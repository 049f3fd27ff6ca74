"""What DeepL's own client for Python sees of dragoman serve, as a package and as a command line: texts, documents, glossaries
of both versions, languages, usage and errors. Trains two models for a moment first. Exits with 77 (skipped) if pip cannot
install the package.

Usage: deepl_clients.py PROGRAM PACKAGES
"""

import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import packages
import serving


def check_texts(server, texts):
    import deepl
    client = deepl.Translator("alpha", server_url=server.url)
    results = client.translate_text(texts, target_lang="DE")
    expected = [result.text for result in results]
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
    return expected


def check_options(server, texts, expected):
    import deepl
    client = deepl.DeepLClient("gamma", server_url=server.url)

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
    used = client.translate_text(texts[0], target_lang="DE", model_type=deepl.ModelType.QUALITY_OPTIMIZED).model_type_used
    assert used == "quality_optimized", used
    for message, call in [("parsing failed", lambda: text_of("<a>dog", tag_handling="xml")),
                          ("formality", lambda: text_of("dog", formality="less")),
                          ("/v2/write/rephrase", lambda: client.rephrase_text("A dog."))]:
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
    client.delete_glossary(from_csv)


def check_multilingual_glossaries(server):
    import deepl
    from deepl.api_data import MultilingualGlossaryDictionaryEntries as Entries
    client = deepl.DeepLClient("alpha", server_url=server.url)
    made = client.create_multilingual_glossary("both", [Entries("en", "de", {"garden": "Lustgarten"}),
                                                        Entries("de", "en", {"Hund": "hound"})])
    counts = {(known.source_lang, known.target_lang): known.entry_count for known in made.dictionaries}
    assert counts == {("EN", "DE"): 1, ("DE", "EN"): 1}, counts
    assert client.get_multilingual_glossary(made.glossary_id).name == "both"
    assert [found.glossary_id for found in client.list_multilingual_glossaries()] == [made.glossary_id]
    assert client.list_glossaries() == []

    def entries(source, target):
        [found] = client.get_multilingual_glossary_entries(made, source, target).dictionaries
        return deepl.convert_tsv_to_dict(found.entries)

    assert client.update_multilingual_glossary_name(made, "other").name == "other"
    client.update_multilingual_glossary_dictionary(made, Entries("en", "de", {"old man": "Alte"}))
    assert entries("EN", "DE") == {"garden": "Lustgarten", "old man": "Alte"}
    assert client.replace_multilingual_glossary_dictionary(made, Entries("en", "de", {"dog": "Hund"})).entry_count == 1
    assert entries("EN", "DE") == {"dog": "Hund"}
    text = "The dog is running."
    for chosen in ({"glossary": made}, {"glossary_ids": [made]}):
        assert client.translate_text(text, source_lang="EN", target_lang="DE", **chosen).text
    client.delete_multilingual_glossary_dictionary(made, source_lang="DE", target_lang="EN")
    for call in (lambda: entries("DE", "EN"), lambda: client.get_multilingual_glossary("x")):
        try:
            call()
        except deepl.GlossaryNotFoundException:
            continue
        raise AssertionError("there is a dictionary that was deleted")
    client.delete_multilingual_glossary(made)
    from_csv = client.create_multilingual_glossary_from_csv("csv", "EN", "DE", 'garden,"Lust, Garten"\n')
    assert from_csv.dictionaries[0].entry_count == 1
    client.delete_multilingual_glossary(from_csv)


def check_documents(server, texts, expected, folder):
    import deepl
    client = deepl.DeepLClient("gamma", server_url=server.url)
    (folder / "letter.html").write_text(f"<p>{texts[0]}</p>")
    status = client.translate_document_from_filepath(folder / "letter.html", folder / "brief.html", target_lang="DE")
    assert (folder / "brief.html").read_text() == f"<p>{expected[0]}</p>"
    assert status.done and status.billed_characters == len(texts[0]), status
    translated = io.BytesIO()
    handle = client.translate_document_upload(texts[0], source_lang="EN", target_lang="DE", filename="letter.txt")
    assert client.translate_document_wait_until_done(handle).done
    client.translate_document_download(handle, translated)
    assert translated.getvalue().decode() == expected[0]
    for call in (lambda: client.translate_document_download(handle), lambda: client.translate_document_get_status(handle),
                 lambda: client.translate_document_upload(b"A dog.", target_lang="DE", filename="dog.docx")):
        try:
            call()
        except deepl.DeepLException:
            continue
        raise AssertionError("a document that is not there")


def check_command_line(server, texts, expected, folder):
    environment = {**os.environ, "PYTHONPATH": sys.path[0], "DEEPL_AUTH_KEY": "gamma", "DEEPL_SERVER_URL": server.url}

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "deepl", *map(str, arguments)], env=environment, check=True,
                              capture_output=True, text=True).stdout

    assert run("text", "--to", "DE", *texts).splitlines() == expected
    shown = run("text", "--to", "DE", "--show-detected-source", "--show-billed-characters", "--show-model-type-used", texts[0])
    assert shown.splitlines() == ["Detected source language: EN", f"Billed characters: {len(texts[0])}",
                                  "Model type used: latency_optimized", expected[0]], shown
    assert "Characters:" in run("usage")
    assert "EN-US: English (American)" in run("languages")
    assert "en, de" in run("languages", "--glossary")
    (folder / "letter.txt").write_text("\n".join(texts))
    run("document", "--to", "DE", folder / "letter.txt", folder / "translated")
    assert (folder / "translated" / "letter.txt").read_text() == "\n".join(expected)
    glossary = re.search(r"\(([0-9a-f-]{36})\)",
                         run("glossary", "create", "--name", "mine", "--from", "EN", "--to", "DE", "dog=Hund")).group(1)
    assert glossary in run("glossary", "list") and glossary in run("glossary", "get", glossary)
    assert run("glossary", "entries", glossary).strip() == "dog\tHund"
    assert run("text", "--from", "EN", "--to", "DE", "--glossary-id", glossary, texts[1]).strip()
    run("glossary", "delete", glossary)
    assert glossary not in run("glossary", "list")


def main():
    program = sys.argv[1]
    packages.install(pathlib.Path(sys.argv[2]), "deepl")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = serving.train_both_ways(program, folder)
        (folder / "keys.txt").write_text("# for the test\nalpha 2000\ngamma\n")
        texts = ["The old man reads a book in the garden.", "Two children are playing with the dog."]
        with serving.Server(program, "-m", *models, "--api-keys", folder / "keys.txt",
                            "--glossaries", folder / "glossaries") as server:
            expected = check_texts(server, texts)
            check_options(server, texts, expected)
            check_glossaries(server)
            check_multilingual_glossaries(server)
            check_documents(server, texts, expected, folder)
            check_command_line(server, texts, expected, folder)
    print("deepl is served, as a package and as a command line")


main()
