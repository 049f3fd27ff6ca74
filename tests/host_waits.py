"""Fails where a function that gives a GPU its work reads from it: the host would wait.

    python3 tests/host_waits.py ROOT

These folders and files have what runs in every update and in every step of the search. It reads text alone, so it also
finds what leaves no trace on a CPU, like a copy of a tensor to the CPU.
"""
import pathlib
import re
import sys

WAITS = re.compile(r"\.item(<|\()|\.cpu\(|\.to\((at|torch)::kCPU|nonzero|masked_select|\.tolist\(|\.equal\(|allclose\("
                   r"|\.is_nonzero\(|\.unique\(|synchronize\(")

FOLDERS = ("inference/device", "model", "model/ops", "training/loss")
FILES = ("inference/torch/torch_device_model.cpp", "training/device_loss.cpp", "training/optimizer.cpp",
         "training/spike_limits.cpp", "training/training_model.cpp")
# They read results where the host asks for them, or read from the CPU alone.
MAY_WAIT = {
    "inference/device/device_search_sentences.cpp": ("ends",),
    "inference/device/hypothesis_tree.cpp": ("trace",),
    "model/ops/embedding.cpp": ("embed_reference",),
    "training/device_loss.cpp": ("read",),
    "training/loss/exponential_loss.cpp": ("succeeded",),
    "training/loss/loss.cpp": ("is_one",),
    "training/training_model.cpp": ("evaluate",),
}


def functions(text):
    """(name, line number, line) of each line in a function's body."""
    name = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r"[A-Za-z].*?(\w+)\(", line)  # a definition begins at the line's first column
        if found:
            name = found[1]
        yield name, number, line


def main():
    root = pathlib.Path(sys.argv[1])
    paths = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.cpp"))]
    paths += [root / name for name in FILES]
    faults, waiting = [], set()
    for path in paths:
        where = path.relative_to(root).as_posix()
        for name, number, line in functions(path.read_text()):
            if not WAITS.search(line.split("//")[0]):
                continue
            waiting.add((where, name))
            if name not in MAY_WAIT.get(where, ()):
                faults.append(f"{where}:{number}: {name}() waits for the device: {line.strip()}")
    for where, names in MAY_WAIT.items():
        faults += [f"{where}: {name}() does not wait; take it off the list" for name in names
                   if (where, name) not in waiting]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
