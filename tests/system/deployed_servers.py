"""The servers of deploy/ and of docs/serving.md answer what the programs in front of them send: Caddy and nginx, which pass on the
name of the site; Kubernetes, which uses the address of a pod; and the probe of the image. Web pages of others change nothing.

Usage: deployed_servers.py PROGRAM SOURCES FOLDER [MODEL]
"""

import http.client
import json
import pathlib
import re
import shlex
import shutil
import sys
import urllib.parse

import serving

SITE = "mt.example.org"
FILE = ('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nA man.\r\n'
        '--b\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n'
        '--b\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n'
        '--b\r\nContent-Disposition: form-data; name="api_key"\r\n\r\nalpha\r\n--b--\r\n')


def words_of(sources):
    """The flags of serve in each example, as YAML's flow sequences or a line of a unit have them."""
    for name, key in [("deploy/compose.yaml", "command"), ("deploy/kubernetes.yaml", "args")]:
        text = (sources / name).read_text(encoding="utf-8").replace("${ADDRESS:-localhost}", SITE)
        [found] = re.findall(rf"{key}: \[serve, ([^]]*)\]", text)
        yield name, shlex.split(found.replace(",", " "))
    [found] = re.findall(r"ExecStart=\S+ serve (.*)", (sources / "docs/serving.md").read_text(encoding="utf-8"))
    yield "docs/serving.md", shlex.split(found)


def flags_of(words, folder, model):
    """With a model, keys and a folder that are there."""
    return [re.sub(r"(?<=-..=).*", str(model), word).replace("/keys/", f"{folder}/").replace("/home/dragoman/", f"{folder}/")
            for word in words]


def ask(url, host, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", urllib.parse.urlparse(url).port)
    connection.request("POST" if body else "GET", path, body, {"Host": host, **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


def check(url, name, listens_everywhere):
    """As the proxy in front asks, as a browser at the site does, and as a page of another site makes it ask."""
    proxied = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
    page = {"Content-Type": "application/x-www-form-urlencoded", **proxied}
    text = "q=A+man.&source=en&target=de&api_key=alpha"
    status, body = ask(url, SITE, "/translate", text, {"Origin": f"https://{SITE}", "Sec-Fetch-Site": "same-origin", **page})
    assert status == 200, (name, status, body)
    status, body = ask(url, SITE, "/translate_file", FILE, {"Content-Type": "multipart/form-data; boundary=b", **proxied})
    assert status == 200, (name, status, body)
    address = json.loads(body)["translatedFileUrl"]
    assert address.startswith(f"https://{SITE}/download_file/"), (name, address)
    assert ask(url, SITE, urllib.parse.urlparse(address).path)[0] == 200, name
    for host in ("127.0.0.1:5000", "localhost"):
        assert ask(url, host, "/health")[0] == 200, (name, host)
    for host in ("10.42.0.17:5000", "evil.example"):
        assert ask(url, host, "/health")[0] == (200 if listens_everywhere else 403), (name, host)
    status, body = ask(url, SITE, "/suggest", text + "&s=Ein", {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", **page})
    assert status == 403 and b"origin" in body, (name, status, body)


def main():
    program, sources, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "keys.txt").write_text("alpha\n")
    model = sys.argv[4] if len(sys.argv) > 4 else serving.train(program, folder, "en", "de")
    for name, words in words_of(sources):
        with serving.Server(program, *flags_of(words, folder, model)) as server:
            check(server.url, name, "0.0.0.0" in words)
        print(name, "is served as it says")


main()
