"""What clients of LibreTranslate, Google and DeepLX see of dragoman serve: the packages libretranslatepy,
google-cloud-translate and deeplx-tr translate, detect, list languages and read errors. Trains two models for a moment first.
Exits with 77 (skipped) if pip cannot install the packages.

Usage: translation_clients.py PROGRAM PACKAGES
"""

import pathlib
import sys
import tempfile
import urllib.error

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


def check_google(server, texts, expected):
    from google.api_core.exceptions import BadRequest
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import translate_v2
    client = translate_v2.Client(credentials=AnonymousCredentials(), client_options={"api_endpoint": server.url})
    client._http.headers["X-Goog-Api-Key"] = "gamma"
    results = client.translate(texts, target_language="de", format_="text")
    assert [result["translatedText"] for result in results] == expected, (results, expected)
    assert {result["detectedSourceLanguage"] for result in results} == {"en"}
    html = client.translate(f"<p>{texts[0]}</p>", source_language="en", target_language="de")["translatedText"]
    assert html == f"<p>{expected[0]}</p>", html
    assert client.detect_language(texts)[1]["language"] == "en"
    assert client.get_languages() == [{"language": "de", "name": "German"}, {"language": "en", "name": "English"}]
    try:
        client.translate("dog", target_language="fr")
    except BadRequest as error:
        assert "fr is not supported" in error.message, error
    else:
        raise AssertionError("a language that nobody has is translated into")


def check_deeplx(server, texts, expected):
    from deeplx_tr import deeplx_client
    address = f"{server.url}/deeplx/translate?token=gamma"
    assert [deeplx_client(text, "auto", "de", url=address) for text in texts] == expected


def main():
    program = sys.argv[1]
    packages.install(pathlib.Path(sys.argv[2]), "libretranslatepy", "google-cloud-translate", "deeplx-tr==0.1.0a1",
                     "marshmallow<4")  # which a package of deeplx-tr needs
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = serving.train_both_ways(program, folder)
        (folder / "keys.txt").write_text("# for the test\nalpha 2000\ngamma\n")
        texts = ["The old man reads a book in the garden.", "Two children are playing with the dog."]
        with serving.Server(program, "-m", *models, "--api-keys", folder / "keys.txt") as server:
            expected = check_libretranslate(server, texts)
            check_google(server, texts, expected)
            check_deeplx(server, texts, expected)
    print("libretranslatepy, google-cloud-translate and deeplx-tr are served")


main()
