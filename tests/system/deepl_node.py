"""What DeepL's own client for Node.js sees of dragoman serve. Trains two models for a moment first. Exits with 77 (skipped) if
npm cannot install the package.

Usage: deepl_node.py PROGRAM PACKAGES
"""

import pathlib
import subprocess
import sys
import tempfile

import node_packages
import serving


def main():
    program = sys.argv[1]
    modules = node_packages.modules(pathlib.Path(sys.argv[2]), "deepl-node")
    script = pathlib.Path(__file__).with_name("deepl_node.js")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = serving.train_both_ways(program, folder)
        (folder / "keys.txt").write_text("alpha\n")
        with serving.Server(program, "-m", *models, "--api-keys", folder / "keys.txt",
                            "--glossaries", folder / "glossaries") as server:
            subprocess.run(["node", str(script), str(modules), server.url, str(folder)], check=True, timeout=120)
    print("deepl-node is served")


main()
