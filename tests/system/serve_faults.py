"""The short form of bench/serve_faults, with a model that is trained for a moment.

Usage: python serve_faults.py PROGRAM FOLDER
"""

import pathlib
import shutil
import subprocess
import sys

from serving import train


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = train(program, folder, "en", "de")
    faults = pathlib.Path(__file__).parents[2] / "bench" / "serve_faults"
    with open(folder / "sample" / "train.en", encoding="utf-8") as texts:
        run = subprocess.run([sys.executable, faults, "--program", program, "--model", model, "--short", "--latency", "60",
                              "--flags=-b 1 --max-length 20"], stdin=texts, check=False)
    sys.exit(run.returncode)


main()
