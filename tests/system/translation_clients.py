"""What clients of LibreTranslate and DeepL see of dragoman serve: the packages libretranslatepy and deepl translate, detect,
list languages and read errors. Trains two models for a moment first. Exits with 77 (skipped) where pip cannot install the
packages.

Usage: translation_clients.py PROGRAM PACKAGES
"""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error

import packages


def train(program, folder, source, target):
    """A model that has seen a few updates; what it says means little."""
    sample, run = folder / "sample", folder / f"{source}-{target}"
    if not sample.exists():
        subprocess.run([program, "sample", "-o", sample, "--train-size", "500", "--valid-size", "20", "--test-size", "20"],
                       check=True, capture_output=True)
    subprocess.run([program, "train", "-o", run, "--preset", "tiny", "--train-src", sample / f"train.{source}",
                    "--train-tgt", sample / f"train.{target}", "--valid-src", sample / f"valid.{source}", "--valid-tgt",
                    sample / f"valid.{target}", "--vocab-size", "300", "--d-model", "32", "--heads", "2", "--d-ff", "64",
                    "--encoder-layers", "1", "--decoder-layers", "1", "--max-updates", "20"],
                   check=True, capture_output=True)
    return run


class Server:
    def __init__(self, program, *flags):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--max-length", "20", *map(str, flags)],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"serving at (http://\S+),", line)
            if found:
                self.url = found.group(1)
                return
        raise AssertionError("the server has not begun")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0, self.process.returncode


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


def main():
    program = sys.argv[1]
    packages.install(pathlib.Path(sys.argv[2]), "libretranslatepy", "deepl")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = [f"{source}-{target}={train(program, folder, source, target)}"
                  for source, target in [("en", "de"), ("de", "en")]]
        (folder / "keys.txt").write_text("# for the test\nalpha 2000\n")
        texts = ["The old man reads a book in the garden.", "Two children are playing with the dog."]
        with Server(program, "-m", *models, "--api-keys", folder / "keys.txt") as server:
            check_deepl(server, texts, check_libretranslate(server, texts))
    print("libretranslatepy and deepl are served")


main()
