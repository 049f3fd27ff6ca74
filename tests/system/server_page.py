"""Opens the page of dragoman serve in Chromium and works with it as a reader does (server_page.js). Trains two models for a
moment first. Exits with 77 (skipped) if there is no Chromium or Node.js, or npm cannot install playwright-core and
axe-core.

Usage: server_page.py PROGRAM FOLDER [FOLDER for screenshots]
"""

import pathlib
import subprocess
import sys
import tempfile

import node_packages
import serving

HERE = pathlib.Path(__file__).parent


def main():
    program, chromium = sys.argv[1], node_packages.browser()
    packages = node_packages.modules(pathlib.Path(sys.argv[2]).resolve(), *node_packages.BROWSER)
    with tempfile.TemporaryDirectory() as work:
        models = serving.train_both_ways(program, pathlib.Path(work))
        with serving.Server(program, "-m", *models) as server:
            command = ["node", HERE / "server_page.js", packages, chromium, server.url, *sys.argv[3:]]
            sys.exit(subprocess.run(command).returncode)


main()
