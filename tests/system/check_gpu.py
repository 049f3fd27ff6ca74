"""scripts/check_gpu run on the stand-in for CUDA: each item that needs no GPU passes, a run that is killed leaves its report, and
the next one does what is left. bench/train_speed waits for the device as seldom as a run does.

Usage: check_gpu.py PROGRAMS STAND_IN FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_gpu"


def command(*arguments):
    programs, stand_in, folder = sys.argv[1:]
    return [sys.executable, SCRIPT, "run", "--programs", programs, "--stand-in", stand_in, "--work", folder, "--seconds", "1500",
            "--patience", "20", *arguments]


def items_of(report):
    return json.loads(report.read_text(encoding="utf-8"))["items"]


def wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it does not come")


def waits_of_window(folder, updates, *options):
    """How often the host waits while train_speed makes a first window and one that is measured."""
    programs, stand_in, _ = sys.argv[1:]
    counts = folder / f"{updates}.json"
    environment = dict(os.environ, LD_PRELOAD=stand_in, CUDA_STAND_IN_REPORT=str(counts))
    subprocess.run([f"{programs}/bench/train_speed", "--device", "cuda", "--preset", "tiny", "--windows", "1", "--updates", str(updates),
                    "--max-tokens", "200", "--length", "10", *options], env=environment, check=True)
    return json.loads(counts.read_text(encoding="utf-8"))["waits"]


def main():
    folder = pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = folder / "report.json"

    for options in ((), ("--device-graph",)):
        few, many = waits_of_window(folder, 2, *options), waits_of_window(folder, 5, *options)
        assert few == many, (options, few, many)

    # Killed in its last item, with the others in the report.
    with subprocess.Popen(command("flash", "graph", "lines"), stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: report.exists() and items_of(report).get("lines", {}).get("status") == "running")
        process.kill()
    killed = items_of(report)
    assert killed["flash"]["status"] == "passed" and killed["flash"]["result"]["passed"] == 1, killed
    assert killed["graph"]["status"] == "passed" and all(of_room["passed"] for of_room in killed["graph"]["result"].values()), killed
    assert killed["lines"]["status"] == "running", killed

    # A limit is an item's own.
    slow = subprocess.run(command("--patience", "0.001", "losses"), capture_output=True, text=True, check=False)
    assert slow.returncode == 1 and items_of(report)["losses"]["status"] == "timed out", slow.stdout

    rest = subprocess.run(command("losses", "split", "lines"), capture_output=True, text=True, check=False)
    print(rest.stdout)
    items = items_of(report)
    assert rest.returncode == 0, rest.stderr
    assert items["flash"] == killed["flash"], "an item was done twice"
    for name in ("losses", "split", "lines"):
        assert items[name]["status"] == "passed", items[name]
    assert items["losses"]["result"]["largest_difference"] <= 1e-4
    assert items["split"]["result"]["messages"]
    assert items["lines"]["result"]["equal_lines_of_200_beam_4"] >= 199

    # A check that does not hold fails its item, and is reported.
    broken = folder / "broken/tests/model_ops_test"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\necho '[  FAILED  ] PackedAttention.FlashAttentionIsEquationOne (3 ms)'\nexit 1\n")
    broken.chmod(0o755)
    failed = subprocess.run(command("--programs", folder / "broken", "flash"), capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "FlashAttentionIsEquationOne" in items_of(report)["flash"]["output"], failed.stdout


main()
