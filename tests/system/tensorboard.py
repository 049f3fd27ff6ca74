"""Trains, stops, resumes, and reads the event files with the real TensorBoard: its scalars and texts are
those of log.jsonl, none of them twice. Exits with 77 (skipped) if TensorBoard cannot be installed.

Usage: tensorboard.py PROGRAM PACKAGES    (a folder in which pip installs TensorBoard, once)
"""

import html
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import packages

SETTINGS = """--preset tiny --vocab-size 300 --d-model 32 --heads 2 --d-ff 64 --encoder-layers 1 --decoder-layers 1
    --max-tokens 400 --valid-every 20 --save-every 20 --log-every 5 --warmup-updates 20 --threads 1
    --samples 2""".split()


def train(program, corpus, run, *more):
    return [program, "train", "--train-src", str(corpus / "train.en"), "--train-tgt", str(corpus / "train.de"),
            "--valid-src", str(corpus / "valid.en"), "--valid-tgt", str(corpus / "valid.de"), "-o", str(run),
            *SETTINGS, *more]


def kill_after_a_checkpoint(command, run, update):
    """SIGKILL when the log tells of an update that no checkpoint holds."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    log = run / "log.jsonl"
    while not log.exists() or f'"update":{update},' not in log.read_text(encoding="utf-8"):
        assert process.poll() is None, "training ended by itself"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def expected_of(log):
    """(tag, update) -> number or text, as log.jsonl has them."""
    expected = {}
    for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        group = {"update": "train", "validation": "valid"}.get(line["type"], line["type"])
        for name, value in line.items():
            if name == "samples":
                for number, sample in enumerate(value, 1):
                    lines = [f"    {part}: {text}" for part, text in sample.items()]
                    expected[f"samples/{number}", line["update"]] = "\n".join(lines) + "\n"
            elif "update" in line and name != "update" and type(value) in (int, float):
                expected[f"{group}/{name}", line["update"]] = struct.unpack("f", struct.pack("f", value))[0]
    return expected


def check(found, expected, reader):
    """`found`: (tag, update, value) of each point."""
    points = {(tag, update): value for tag, update, value in found}
    assert len(points) == len(found), f"{reader}: points are doubled"
    for key in sorted(points.keys() | expected.keys()):
        assert points.get(key) == expected.get(key), f"{reader}: {key}: {points.get(key)}, not {expected.get(key)}"


def read_in_process(folder):
    from tensorboard.backend.event_processing import event_accumulator
    events = event_accumulator.EventAccumulator(str(folder), size_guidance={"tensors": 0, "scalars": 0}).Reload()
    for tag in events.Tags()["scalars"]:
        for event in events.Scalars(tag):
            yield tag, event.step, event.value
    for tag in events.Tags()["tensors"]:
        for event in events.Tensors(tag):
            yield tag, event.step, event.tensor_proto.string_val[0].decode()


class Server:
    """`tensorboard --logdir`, whose default reader is a program of its own, apart from the one above."""

    def __init__(self, folder, installed):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        self.address = f"http://localhost:{port}/data/"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", str(port)],
            env={**os.environ, "PYTHONPATH": str(installed)}, stderr=subprocess.DEVNULL)

    def get(self, path, **query):
        with urllib.request.urlopen(self.address + path + "?" + urllib.parse.urlencode(query)) as answer:
            return json.load(answer)

    def points(self):
        for tag in self.get("plugin/scalars/tags").get(".", {}):
            for _, update, value in self.get("plugin/scalars/scalars", run=".", tag=tag):
                yield tag, update, value
        for tag in self.get("plugin/text/tags").get(".", []):
            for text in self.get("plugin/text/text", run=".", tag=tag):
                yield tag, text["step"], text["text"]

    def points_when_loaded(self, count):
        """It answers while it still loads."""
        deadline, found = time.monotonic() + 120, []
        while time.monotonic() < deadline and len(found) < count:
            time.sleep(0.5)
            try:
                found = list(self.points())
            except OSError:  # not yet listening
                assert self.process.poll() is None, "tensorboard has ended"
        return found


def read_by_server(folder, installed, count):
    server = Server(folder, installed)
    try:
        return server.points_when_loaded(count)
    finally:
        server.process.terminate()
        server.process.wait()


def without_markup(points):
    """The server gives texts as HTML."""
    for tag, update, value in points:
        if isinstance(value, str) and value.startswith("<"):
            lines = html.unescape(re.sub("<[^>]*>", "", value)).strip().splitlines()
            value = "".join(f"    {line}\n" for line in lines)
        yield tag, update, value


def main():
    program, installed = sys.argv[1], pathlib.Path(sys.argv[2])
    packages.install(installed, "tensorboard")
    with tempfile.TemporaryDirectory() as folder:
        corpus, run = pathlib.Path(folder) / "corpus", pathlib.Path(folder) / "run"
        subprocess.run([program, "sample", "-o", str(corpus), "--train-size", "1500", "--valid-size", "30",
                        "--test-size", "1", "--quiet"], check=True)
        kill_after_a_checkpoint(train(program, corpus, run, "--max-updates", "10000"), run, 35)
        subprocess.run(train(program, corpus, run, "--max-updates", "60", "--quiet"), check=True)
        events = run / "tensorboard"
        assert len(list(events.iterdir())) == 2, "a file for each start"
        expected = expected_of(run / "log.jsonl")
        assert ("train/loss", 60) in expected and ("samples/2", 40) in expected
        check(list(read_in_process(events)), expected, "EventAccumulator")
        served = read_by_server(events, installed, len(expected))
        check(list(without_markup(served)), expected, "tensorboard --logdir")
    print(f"{len(expected)} points read back")


main()
