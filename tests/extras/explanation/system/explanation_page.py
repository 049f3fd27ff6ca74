"""Opens pages of dragoman explain in Chromium and works with them as a reader does (explanation_page.js): one of 40 words
and 48 heads, and one of an unusual model (explanation_sample.py). Or measures how fast the first one answers. Exits with 77
(skipped) if there is no Chromium or Node.js, or npm cannot install playwright-core and axe-core.

Usage: explanation_page.py PRINT_EXPLANATION_PAGE FOLDER work|speed [FOLDER for screenshots]
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import explanation_sample

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import node_packages

HERE = pathlib.Path(__file__).parent


def written(program, folder, name, explanation):
    numbers, page = folder / f"{name}.json", folder / f"{name}.html"
    numbers.write_text(json.dumps(explanation), encoding="utf-8")
    with open(page, "wb") as file:
        subprocess.run([program, numbers], stdout=file, check=True)
    return page


def main():
    program, chromium = sys.argv[1], node_packages.browser()
    packages = node_packages.modules(pathlib.Path(sys.argv[2]).resolve(), *node_packages.BROWSER)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        pages = [written(program, folder, "large", explanation_sample.large()),
                 written(program, folder, "unusual", explanation_sample.unusual())]
        command = ["node", HERE / "explanation_page.js", packages, chromium, *pages, *sys.argv[3:]]
        sys.exit(subprocess.run(command).returncode)


main()
