"""Models that are trained for a moment, and a server of them, for the tests of dragoman serve.

Usage: serving.py PROGRAM FOLDER

Trains the models of both directions in the folder. If DRAGOMAN_SERVED_MODELS names it, train() copies them from there.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading


def train(program, folder, source, target):
    """A model that has learned to write words; what it says means little."""
    sample, run = folder / "sample", folder / f"{source}-{target}"
    trained = os.environ.get("DRAGOMAN_SERVED_MODELS")
    if trained:
        for part in (sample, run):
            shutil.copytree(pathlib.Path(trained) / part.name, part, dirs_exist_ok=True)
        return run
    if not sample.exists():
        subprocess.run([program, "sample", "-o", sample, "--train-size", "500", "--valid-size", "20", "--test-size", "20"],
                       check=True, capture_output=True)
    subprocess.run([program, "train", "-o", run, "--preset", "tiny", "--train-src", sample / f"train.{source}",
                    "--train-tgt", sample / f"train.{target}", "--valid-src", sample / f"valid.{source}", "--valid-tgt",
                    sample / f"valid.{target}", "--vocab-size", "300", "--d-model", "32", "--heads", "2", "--d-ff", "64",
                    "--encoder-layers", "1", "--decoder-layers", "1", "--max-updates", "250"],
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
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return
        raise AssertionError("the server has not begun")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        assert self.process.returncode == 0, self.process.returncode


def train_both_ways(program, folder):
    """What --model is given: English to German and back."""
    return [f"{source}-{target}={train(program, folder, source, target)}" for source, target in [("en", "de"), ("de", "en")]]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    train_both_ways(program, folder)


if __name__ == "__main__":
    main()
