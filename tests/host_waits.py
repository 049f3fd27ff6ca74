"""Fails where code that gives a GPU its work reads from it: the host would wait.

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
FILES = ("inference/torch/torch_device_model.cpp", "training/device_loss.cpp", "training/flat_parameters.cpp",
         "training/gradient_slices.cpp", "training/optimizer.cpp", "training/spike_limits.cpp",
         "training/split_update.cpp", "training/training_model.cpp")
# Lines that read results where the host asks for them, or read from the CPU alone.
MAY_WAIT = {
    "inference/device/device_search_sentences.cpp": ("const auto ends = end_.cpu();",),
    "inference/device/hypothesis_tree.cpp": ("return tensor.index_select(0, groups).cpu().contiguous();",),
    "model/ops/embedding.cpp": ("TORCH_CHECK_INDEX(tokens.numel() == 0 || tokens.max().item<std::int64_t>() < "
                                "weight.size(0),",),
    "training/device_loss.cpp": ("const auto here = values.cpu().contiguous();",),
    "training/loss/exponential_loss.cpp": ("bool ExponentialLoss::succeeded() const { return "
                                           "!losses_.smoothed.isnan().any().item<bool>(); }",),
    "training/loss/loss.cpp": ("return has_kernel_for(scalar) && scalar.item<float>() == 1;",),
    "training/training_model.cpp": ("return {sums.smoothed.item<double>(), "
                                    "sums.negative_log_likelihood.item<double>(),",),
}


def main():
    root = pathlib.Path(sys.argv[1])
    paths = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.cpp"))]
    paths += [root / name for name in FILES]
    faults, found = [], set()
    for path in paths:
        where = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if not WAITS.search(line.split("//")[0]):
                continue
            found.add((where, line.strip()))
            if line.strip() not in MAY_WAIT.get(where, ()):
                faults.append(f"{where}:{number}: waits for the device: {line.strip()}")
    for where, lines in MAY_WAIT.items():
        faults += [f"{where}: is not there any more: {line}" for line in lines if (where, line) not in found]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
