"""Opens the pages of evaluate --html and plot in Chromium, works with them as a reader does
(evaluation_page.js, training_page.js) and fails if something is not as it should be or the browser reports
an error. Exits with 77 (skipped) if there is no Chromium.

Usage: pages.py PROGRAM
"""

import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import node_packages

DESKTOP, PHONE = 1280, 390  # px; Chromium makes its windows 500 px wide at least
HERE = pathlib.Path(__file__).parent


def results_in_browser(page, script, width, profile):
    """What the script, run at the end of the page, has left in <html data-results>."""
    driven = page.with_suffix(".driven.html")
    text = page.read_text(encoding="utf-8")
    code = (HERE / "page_checks.js").read_text() + (HERE / script).read_text()
    driven.write_text(text.replace("</body>", f"<script>{code}</script></body>"), encoding="utf-8")
    command = [node_packages.browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
               f"--window-size={width},900", "--virtual-time-budget=20000", "--enable-logging=stderr", "--dump-dom",
               driven.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    errors = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not errors, "\n".join(errors)
    results = re.search(r'<html[^>]* data-results="([^"]*)"', done.stdout)
    assert results, f"{script} has not finished"
    return json.loads(html.unescape(results.group(1)))


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def texts(folder):
    """45 lines, three systems; the third is the reference except for a line of markup."""
    numbers = range(1, 46)
    reference = [f"the cat {n} sat on a mat" for n in numbers]
    first = [f"the dog {n} sat on a mat" if n % 3 else line for n, line in zip(numbers, reference)]
    second = [f"the cat {n} lay there" if n % 2 else line for n, line in zip(numbers, reference)]
    third = reference[:-1] + ["<b onclick=alert(1)>the cat</b> & </script> 猫だ"]
    source = [f"die Katze {n} sitzt" for n in numbers]
    systems = [write_lines(folder / f"out.{name}.en", lines)
               for name, lines in (("first", first), ("second", second), ("third", third))]
    return systems, write_lines(folder / "ref", reference), write_lines(folder / "src", source)


def evaluation_pages(program, folder):
    systems, reference, source = texts(folder)
    several, alone = folder / "several.html", folder / "alone.html"
    command = [program, "evaluate", "--ref", reference, "--src", source, "--metrics", "bleu", "chrf", "ter", "--html"]
    subprocess.run([*command, several, "--hyp", *systems, "--paired-bs"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, alone, "--hyp", systems[0]], check=True, stdout=subprocess.DEVNULL)
    return several, alone


def page_of_a_model(page):
    """The page of one system, as if it were a model whose second line is explained."""
    text = page.read_text(encoding="utf-8")
    for old, new in (('"model":false', '"model":true'),
                     ('"explanations":[]', '"explanations":[{"system":0,"line":1,"page":"a b.explanations/1-2.html"}]')):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    changed = page.with_name("model.html")
    changed.write_text(text, encoding="utf-8")
    return changed


def page_of_nothing(program, folder):
    """One line, of which one system has nothing and the other nothing right."""
    page = folder / "nothing.html"
    systems = [write_lines(folder / name, lines) for name, lines in (("empty", [""]), ("wrong", ["b c d"]))]
    subprocess.run([program, "evaluate", "--ref", write_lines(folder / "line", ["a"]), "--html", page, "--hyp", *systems],
                   check=True, stdout=subprocess.DEVNULL)
    return page


def training_page(program, folder):
    run = folder / "run"
    run.mkdir()
    lines = []
    for update in range(10, 60, 10):
        lines.append({"type": "update", "update": update, "loss": 9 / update, "negative_log_likelihood": 8 / update,
                      "target_tokens": 100 * update, "elapsed": update})
        lines.append({"type": "validation", "update": update, "loss": 7 / update, "bleu": update, "chrf": update,
                      "target_tokens": 100 * update, "elapsed": update,
                      "attention": {"source": ["a", "</s>"], "target": ["b"], "weights": [[update / 100, 1 - update / 100]]},
                      "samples": [{"source": "s", "translation": f"t {update}", "reference": "r"}]})
    write_lines(run / "log.jsonl", map(json.dumps, lines))
    page = folder / "run.html"
    subprocess.run([program, "plot", str(run), "-o", str(page), "--quiet"], check=True)
    return page


def main():
    program = sys.argv[1]
    node_packages.browser()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        several, alone = evaluation_pages(program, folder)
        training = training_page(program, folder)
        pages = [(several, "evaluation_page.js", DESKTOP), (several, "evaluation_page_on_a_phone.js", PHONE),
                 (alone, "evaluation_page_of_one.js", DESKTOP),
                 (page_of_a_model(alone), "evaluation_page_of_a_model.js", DESKTOP),
                 (page_of_nothing(program, folder), "evaluation_page_of_nothing.js", DESKTOP),
                 (training, "training_page.js", DESKTOP), (training, "training_page.js", PHONE)]
        failed = 0
        for page, script, width in pages:
            results = results_in_browser(page, script, width, os.path.join(name, "profile"))
            for result in results:
                if result["found"] != result["expected"]:
                    failed += 1
                    print(f"{script}: {result['name']}: {result['found']}, not {result['expected']}")
            print(f"{script}: {len(results)} checks")
        assert not failed, f"{failed} checks failed"


main()
