"""A run and translations on the stand-in for CUDA (tests/cuda_stand_in/stand_in.h).

    python3 cuda_stand_in.py DRAGOMAN LIBRARY FOLDER CHECK

CHECK is a function of this file; tests/CMakeLists.txt lists them. Trains, is killed and resumes, and ends with the bits of a
run that nobody killed; has little memory; translates as the CPU does; works as well when the device is given updates and
steps as graphs.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from names import names  # noqa: E402

PROGRAM, LIBRARY, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SMALL = ["--preset", "tiny", "--d-model", "64", "--heads", "4", "--d-ff", "128", "--encoder-layers", "1",
         "--decoder-layers", "1", "--vocab-size", "400", "--threads", "1"]


def on_device(**variables):
    return os.environ | {"LD_PRELOAD": LIBRARY} | {f"CUDA_STAND_IN_{name}": str(value) for name, value in variables.items()}


def train_command(run, updates, *flags, text="sample"):
    sample = FOLDER / text
    return [PROGRAM, "train", "-o", run, "--train-src", sample / "train.en", "--train-tgt", sample / "train.de",
            "--max-updates", str(updates), *SMALL, *map(str, flags)]


def call(command, environment=None, **options):
    done = subprocess.run(list(map(str, command)), env=environment, text=True, capture_output=True, **options)
    assert done.returncode == 0, (command, done.returncode, done.stderr[-3000:])
    return done


def data_of(path):
    """The tensors of a safetensors file, without its metadata, which has the time."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    begin = 8 + length
    return {name: content[begin + tensor["data_offsets"][0]:begin + tensor["data_offsets"][1]]
            for name, tensor in header.items() if name != "__metadata__"}


def wait_for(path, process):
    end = time.monotonic() + 100
    while not path.exists():
        assert process.poll() is None and time.monotonic() < end, "the run has made no checkpoint"
        time.sleep(0.02)


def kill_and_resume():
    """In bf16 with flash attention, and in fp32, whose dropout on the attention weights makes it take the formula."""
    for name, flags in [("bf16", []), ("fp32", ["--precision", "fp32", "--attention-dropout", "0.1"])]:
        flags = [*flags, "--device", "cuda", "--max-tokens", "400", "--save-every", "5", "--valid-fraction", "0"]
        whole, killed = FOLDER / f"whole-{name}", FOLDER / f"killed-{name}"
        report = FOLDER / f"{name}.json"
        call(train_command(whole, 15, *flags), on_device(REPORT=report))
        command = list(map(str, train_command(killed, 15, *flags)))
        process = subprocess.Popen(command, env=on_device(), stderr=subprocess.DEVNULL)
        wait_for(killed / "checkpoints/update-00000005.safetensors", process)
        process.kill()
        process.wait()
        resumed = call(command, on_device())
        assert "resumed from" in resumed.stderr, resumed.stderr
        last = "checkpoints/update-00000015.safetensors"
        assert data_of(whole / last) == data_of(killed / last), f"{name}: a resumed run has other bits"
        launches = json.loads(report.read_text())["launches"]
        assert ("aten::_flash_attention_backward" in launches) == (name == "bf16"), launches.keys()


def expect_launches_of_graphs(report):
    counts = json.loads(report.read_text())
    # The short translations are a few steps, and their encoder has no graph.
    assert 4 * counts["host_launches"] < 3 * counts["launch_count"], counts


def train_by_graph():
    flags = ["--device", "cuda", "--max-tokens", "400", "--valid-fraction", "0"]
    plain, graph, report = FOLDER / "plain", FOLDER / "graph", FOLDER / "graph.json"
    call(train_command(plain, 12, *flags), on_device())
    call(train_command(graph, 12, *flags, "--device-graph"), on_device(REPORT=report))
    last = "checkpoints/update-00000012.safetensors"
    assert data_of(plain / last) == data_of(graph / last), "updates as a graph leave other bits"
    expect_launches_of_graphs(report)


def train_with_largest_batches():
    """The text would do with more pieces in a batch than the memory has room for."""
    call([PROGRAM, "sample", "-o", FOLDER / "more", "--train-size", "20000", "--valid-size", "10", "--test-size", "10"])
    flags = ["--device", "cuda", "--max-tokens", "auto", "--valid-fraction", "0"]
    chosen = []
    for mib in (11, 15):
        run = FOLDER / f"largest-{mib}"
        said = call(train_command(run, 4, *flags, text="more"), on_device(MIB=mib)).stderr
        found = re.search(r"--max-tokens auto: ([0-9,]+) \(", said)
        assert found and "in parts" not in said, said
        chosen.append(int(found[1].replace(",", "")))
        assert f'max-tokens = "auto"  # {chosen[-1]}: ' in (run / "config.toml").read_text()
    assert 1024 <= chosen[0] < chosen[1], chosen


def train_with_little_memory():
    """Updates are made in parts, and the validation in fewer rows."""
    call([PROGRAM, "sample", "-o", FOLDER / "few", "--train-size", "1", "--valid-size", "30", "--test-size", "1"])
    valid, run = FOLDER / "few", FOLDER / "little"
    flags = ["--device", "cuda", "--max-tokens", "3000", "--valid-src", valid / "valid.en", "--valid-tgt", valid / "valid.de",
             "--valid-every", "1", "--valid-beam-size", "4"]
    said = call(train_command(run, 1, *flags), on_device(MIB=12)).stderr
    assert re.search(names("trained ... parts"), said) and re.search(names("validation's translations ... again"), said), said


def translate():
    sample = FOLDER / "sample"
    run = FOLDER / "model"
    call(train_command(run, 500, "--device", "cpu", "--max-tokens", "1000", "--lr", "0.01", "--warmup", "50",
                       "--save-every", "100", "--average-last", "0", "--valid-fraction", "0"))
    models = [run, run / "checkpoints/update-00000400.safetensors"]
    (FOLDER / "terms.tsv").write_text("children\tJungen\nmeat\tFisch\ncat\tHund\n")
    (FOLDER / "lines").write_text("".join((sample / "test.en").read_text().splitlines(keepends=True)[:12]))
    for flags in (["-m", models[0], "-b", "1"], ["-m", models[0], "-b", "4"],
                  ["-m", models[0], "-b", "4", "--terms", FOLDER / "terms.tsv"], ["-m", *models, "-b", "2"]):
        command = [PROGRAM, "translate", *flags, "-i", FOLDER / "lines", "--max-length", "30", "--threads", "1"]
        expected = call([*command, "--device", "cpu"]).stdout
        there = call([*command, "--device", "cuda", "--batch-size", "32", "--compute-type", "float32"], on_device())
        assert there.stdout == expected, (flags, expected, there.stdout)
        assert len(set(expected.splitlines())) > 6, expected
        report = FOLDER / "steps.json"
        by_graph = call([*command, "--device", "cuda", "--batch-size", "32", "--compute-type", "float32", "--device-graph"],
                        on_device(REPORT=report))
        assert by_graph.stdout == there.stdout, (flags, there.stdout, by_graph.stdout)
        expect_launches_of_graphs(report)
        for half in ("auto", "float16"):  # the first is bfloat16
            there = call([*command, "--device", "cuda", "--compute-type", half], on_device())
            same = sum(a == b for a, b in zip(there.stdout.splitlines(), expected.splitlines(), strict=True))
            assert same >= 9, (flags, half, expected, there.stdout)
    refused = subprocess.run(list(map(str, [*command, "--device", "cuda", "--compute-type", "int8"])), env=on_device(),
                             text=True, capture_output=True)
    assert refused.returncode == 2 and "--compute-type int8" in refused.stderr, refused.stderr
    refused = subprocess.run(list(map(str, [*command, "--device", "cpu", "--device-graph"])), text=True, capture_output=True)
    assert refused.returncode == 2 and re.search(names("--device-graph ... GPU"), refused.stderr), refused.stderr
    command = [PROGRAM, "translate", "-m", models[0], "-i", sample / "test.en", "--max-length", "30", "-b", "4", "--compute-type", "float32"]
    little = call([*command, "--device", "cuda"], on_device(MIB=12))
    assert little.stdout == call(command).stdout and re.search(names("GPU's memory"), little.stderr), little.stderr
    # The program itself looks for a driver, which the stand-in does not have.
    auto = call([f"{PROGRAM}-torch", *command[1:]], on_device()).stderr
    assert re.search(names("CPU ... --device cuda ... GPU"), auto), auto


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    call([PROGRAM, "sample", "-o", FOLDER / "sample", "--train-size", "2000", "--valid-size", "200", "--test-size", "200"])
    globals()[sys.argv[4]]()


main()
