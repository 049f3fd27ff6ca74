"""Chromium, and packages of Node.js. Exits with 77 (skipped) if they are missing."""

import shutil
import subprocess
import sys

SKIPPED = 77
BROWSER = ("playwright-core", "axe-core")


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    skip("there is no Chromium (apt-get install chromium)")


def modules(folder, *names):
    """The folder of these packages of Node.js, installed once into a folder of the build."""
    if not shutil.which("node") or not shutil.which("npm"):
        skip("there is no Node.js (apt-get install nodejs npm)")
    if not all((folder / "node_modules" / name).exists() for name in names):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *names]
        if subprocess.run(command).returncode != 0:
            skip("npm cannot install " + ", ".join(names))
    return folder / "node_modules"
