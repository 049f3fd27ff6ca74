"""Files that NumPy and PyTorch themselves write, as our readers see them. Exits with 77 (skipped) if pip cannot install
them.

Usage: real_files.py PRINT_CONTENTS PACKAGES
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "system"))
import packages  # noqa: E402


def read(program, kind, path):
    result = subprocess.run([program, kind, str(path)], capture_output=True, text=True)
    assert result.returncode == 0, (path, result.stderr)
    return json.loads(result.stdout)


def refused(program, kind, path, text):
    result = subprocess.run([program, kind, str(path)], capture_output=True, text=True)
    assert result.returncode == 1 and text in result.stderr, (path, result)
    assert result.stderr.startswith(str(path)) or kind == "npy", result.stderr
    assert result.stderr.count("\n") == 1, result.stderr


def check_array(found, array, numpy):
    assert found["dtype"] == str(array.dtype), (found, array.dtype)
    assert found["shape"] == list(array.shape)
    assert found["bytes"] == numpy.ascontiguousarray(array).tobytes().hex()
    assert numpy.array_equal(numpy.array(found["floats"], "f4"), array.astype("f4").reshape(-1))


def check_numpy(program, folder, numpy):
    arrays = {"scalar": numpy.float32(7), "empty": numpy.zeros((0, 3)), "truth": numpy.array([True, False])}
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        arrays[kind] = numpy.arange(24).reshape(2, 3, 4).astype(kind)
        arrays[kind + " Fortran"] = numpy.asfortranarray(arrays[kind])
        arrays[kind + " cut"] = arrays[kind][:, ::2, 1:3]
    for name, array in arrays.items():
        array = numpy.asarray(array)
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(folder / "one.npy", "wb") as file:
                numpy.lib.format.write_array(file, array, version=version)
            check_array(read(program, "npy", folder / "one.npy"), array, numpy)
    for save in (numpy.savez, numpy.savez_compressed):
        save(folder / "all.npz", **arrays)
        found = read(program, "npz", folder / "all.npz")
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            check_array(found[name], numpy.asarray(array), numpy)
    for name, array in {"big endian": numpy.arange(3, dtype=">f4"), "|O": numpy.array([{}], dtype=object),
                        "<U1": numpy.array(["a"]), "records": numpy.zeros(2, "f4,i4")}.items():
        numpy.save(folder / "other.npy", array)
        refused(program, "npy", folder / "other.npy", name)
    print(f"NumPy {numpy.__version__}: {len(arrays)} arrays in .npy (versions 1 to 3) and .npz")


def check_tensor(found, tensor, torch):
    assert found["dtype"] == str(tensor.dtype).removeprefix("torch."), (found, tensor.dtype)
    assert found["shape"] == list(tensor.shape)
    data = tensor.detach().contiguous().reshape(-1)
    assert bytes.fromhex(found["bytes"]) == bytes(data.view(torch.uint8).tolist() if data.numel() else [])
    assert torch.equal(torch.tensor(found["floats"], dtype=torch.float32), data.to(torch.float32))


def tensors_for(torch):
    base = torch.arange(24).reshape(2, 3, 4)
    tensors = {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "parameter": torch.nn.Parameter(torch.ones(3))}
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
                 "uint16", "uint32", "uint64"):
        typed = base.to(getattr(torch, name))
        tensors |= {name: typed, name + " transposed": typed.permute(2, 0, 1), name + " cut": typed[1:, ::2, 1:3],
                    name + " last": typed[1, 2]}
    return tensors


class Other:
    def __init__(self):
        self.size = 3


class Calls:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        import os
        return os.system, (f"touch {self.marker}",)


def check_torch(program, folder, torch):
    tensors = tensors_for(torch)
    layer = torch.nn.Linear(3, 2)
    options = argparse.Namespace(arch="transformer", layers=6, dropout=0.5, share=True, none=None, langs=["en", "de"])
    checkpoint = {"model": collections.OrderedDict(tensors), "layer": layer.state_dict(), "args": options, "epoch": 3,
                  "big": 2**40, "negative": -5, "pair": (1, "two"), "vocab": {f"piece{i}": i for i in range(1000)},
                  "size": torch.Size([3, 4]), "other": Other(), "call": Calls(folder / "owned")}
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    checkpoint["optimizer"] = optimizer.state_dict()
    read_count = 0
    for legacy in (False, True):
        for protocol in (2, 3, 4, 5):
            path = folder / "model.pt"
            torch.save(checkpoint, path, pickle_protocol=protocol, _use_new_zipfile_serialization=not legacy)
            found = read(program, "pytorch", path)
            for name, tensor in tensors.items():
                check_tensor(found["model"][name], tensor, torch)
            for name, tensor in layer.state_dict().items():
                check_tensor(found["layer"][name], tensor, torch)
            check_tensor(found["optimizer"]["state"]["0"]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"], torch)
            assert found["args"]["type"] == {"global": "argparse.Namespace"}
            assert found["args"]["state"] == vars(options)
            for name in ("epoch", "big", "negative", "vocab"):
                assert found[name] == checkpoint[name]
            assert found["pair"] == [1, "two"] and found["size"] == [3, 4]
            assert found["other"]["state"] == {"size": 3}
            assert not (folder / "owned").exists()
            read_count += 1
    torch.jit.script(layer).save(folder / "script.pt")
    refused(program, "pytorch", folder / "script.pt", "TorchScript")
    torch.save(layer.state_dict(), folder / "model.pt")
    whole = (folder / "model.pt").read_bytes()
    (folder / "cut.pt").write_bytes(whole[:-100])
    refused(program, "pytorch", folder / "cut.pt", "ZIP archive")
    print(f"PyTorch {torch.__version__}: {len(tensors)} tensors in {read_count} kinds of checkpoint")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    packages.install(folder, *packages.TORCH)
    import numpy
    import torch
    with tempfile.TemporaryDirectory() as work:
        check_numpy(program, pathlib.Path(work), numpy)
        check_torch(program, pathlib.Path(work), torch)


main()
