"""Threads, signals and processes around one Translator."""

import os
import signal
import subprocess
import sys
import threading
import time

import dragoman
import pytest

SHORT = {"max_length": 8, "max_length_ratio": 0.1, "beam_size": 2}

INTERRUPTED = """
import os, signal, sys, threading, time, dragoman
from dragoman import metrics
translator = dragoman.Translator(sys.argv[1], threads=1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 10)
print(translator.translate("still there", max_length=5, max_length_ratio=0.1, beam_size=1).text != "")
"""


def test_many_threads_share_a_translator(translator, lines):
    expected = [t.text for t in translator.translate(lines, **SHORT)]
    results = {}
    def work(number):
        results[number] = [t.text for t in translator.translate(lines[number:], **SHORT)]
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: expected[i:] for i in range(8)}


def test_other_threads_run_meanwhile(model):
    translator = dragoman.Translator(model, threads=1)
    counts = []
    done = threading.Event()
    def count():
        while not done.is_set():
            counts.append(1)
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    begin = len(counts)
    translator.translate(["some words that take a while"] * 60, beam_size=4, max_length=20)
    counted = len(counts) - begin
    done.set()
    thread.join()
    assert counted > 20


@pytest.mark.parametrize("call", [
    'translator.translate(["a line of words"] * 100_000, beam_size=20)',
    'translator.translate("a line of words " * 60, beam_size=50, max_length=2000, max_length_ratio=50)',
    'translator.translate("some words " * 1_500_000)',
    'translator.score(["a line of words"] * 200_000, ["another line of words"] * 200_000)',
    'metrics.bleu(["a line"] * 50_000, ["a line"] * 50_000, confidence=True, confidence_n=1_000_000)',
    'metrics.compare({"a": ["a line"] * 50_000, "b": ["a"] * 50_000}, ["a line"] * 50_000, samples=1_000_000)'])
def test_ctrl_c_interrupts(model, call):
    run = subprocess.run([sys.executable, "-c", INTERRUPTED.format(call=call), model], capture_output=True, text=True,
                         timeout=120)
    assert run.stdout.split() == ["interrupted", "True", "True"], run.stderr
    assert run.returncode == 0


def test_a_stream_that_is_left_stops_its_work(model):
    translator = dragoman.Translator(model, threads=1)
    stream = translator.translate_iter(["some words"] * 20_000, read_ahead=20_000, **SHORT)
    next(stream)
    stream.close()
    begin = time.monotonic()
    assert translator.translate("another", **SHORT).text
    assert time.monotonic() - begin < 10  # all the others would take a minute


def test_answers_outlive_the_translator(model):
    stream = dragoman.Translator(model, threads=1).translate_iter(["some words"] * 20, **SHORT)
    assert len(list(stream)) == 20


def test_a_forked_process_says_that_it_has_no_threads(translator):
    begin, end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            translator.translate("a", **SHORT)
        except dragoman.Error as error:
            os.write(end, str(error).encode())
        finally:
            os._exit(0)
    os.close(end)
    assert os.waitpid(child, 0)[1] == 0
    assert b"made in another process" in os.read(begin, 1000)


def test_a_forked_process_ends(model):
    code = ("import os, sys, dragoman\ntranslator = dragoman.Translator(sys.argv[1])\n"
            "child = os.fork()\nif child: sys.exit(os.waitpid(child, 0)[1])\n")
    assert subprocess.run([sys.executable, "-c", code, model], timeout=60).returncode == 0


def test_python_ends_while_translations_are_under_way(model):
    code = ("import sys, dragoman\nstream = dragoman.Translator(sys.argv[1]).translate_iter(['some words'] * 9999)\n"
            "next(stream)\n")
    assert subprocess.run([sys.executable, "-c", code, model], timeout=60).returncode == 0


def test_the_handler_of_python_gets_the_signal(translator):
    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        while not seen:
            translator.translate(["some words"] * 20, **SHORT)
    finally:
        signal.signal(signal.SIGUSR1, old)
