"""scripts/check_gpu pack: the programs for a machine with a GPU, which has LibTorch and NVIDIA's libraries, in one archive."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from gpu_items import ROOMS, ROOT

FOLDER = ROOT / "build/check_gpu"  # of the preset check_gpu, too
ARCHIVE = FOLDER / "packed.tar.xz"
LIBTORCH = FOLDER / "libtorch"
PROGRAMS = ("dragoman", "dragoman-torch", "bench/train_speed", "bench/translate_speed", "bench/random_model", *(f"tests/{room}_test" for room in ROOMS))
MIB = 1 << 20
MOST_TO_COPY = 64 * MIB  # to the machine with the GPU: the archive and the tree


def call(*command, check=True, **options):
    return subprocess.run(list(map(str, command)), check=check, cwd=ROOT, **options)


def fetch(*wheels):
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in range(17, 29)] + ["--platform=manylinux2014_x86_64"]
    call(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--implementation=cp",
         "--python-version=3.12", *platforms, "--target", LIBTORCH, *wheels)


def fetch_libtorch():
    """LibTorch for CUDA, two of NVIDIA's libraries with which its part for the CPU can be loaded here, NVRTC for our kernels,
    and headers for LibTorch's graphs."""
    if (LIBTORCH / "complete").exists():
        return
    shutil.rmtree(LIBTORCH, ignore_errors=True)
    fetch("torch==2.11.0", "nvidia-cuda-runtime==13.0.*", "nvidia-cuda-cupti==13.0.*", "nvidia-cuda-nvrtc==13.0.*",
          "nvidia-cuda-crt==13.0.*")
    for path in LIBTORCH.iterdir():
        if path.name not in ("torch", "nvidia"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (LIBTORCH / "complete").touch()


def loadable_libtorch():
    """Folders with a LibTorch that can be loaded here: its part for CUDA is empty, and libtorch.so does without it."""
    folder = FOLDER / "without_cuda"
    folder.mkdir(exist_ok=True)
    for name in ("libtorch.so", "libtorch_cuda.so", "libc10_cuda.so"):
        call("g++", "-shared", "-x", "c++", "/dev/null", "-o", folder / name, f"-Wl,-soname,{name}")
    return f"{folder}:{LIBTORCH / 'torch/lib'}:{LIBTORCH / 'nvidia/cu13/lib'}"


def libraries_of(programs, torch):
    """The libraries that a Debian without our packages lacks."""
    there = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.", "libgomp.", "libtorch", "libc10",
             "libcudart.", "libcupti.")
    output = call("ldd", *programs, capture_output=True, text=True, env=dict(os.environ, LD_LIBRARY_PATH=torch)).stdout
    if "not found" in output:
        sys.exit(f"scripts/check_gpu: libraries are missing\n{output}")
    found = dict(re.findall(r"^\s+(\S+) => (/\S+)", output, re.MULTILINE))
    return [pathlib.Path(path) for name, path in sorted(found.items()) if not name.startswith(there)]


def collect(torch):
    """The folder that is packed: the programs without their symbols, and libraries."""
    packed = FOLDER / "packed"
    shutil.rmtree(packed, ignore_errors=True)
    (packed / "libraries").mkdir(parents=True)
    for program in PROGRAMS:
        (packed / program).parent.mkdir(exist_ok=True)
        call("strip", "-o", packed / program, FOLDER / program)
    for library in libraries_of([packed / program for program in PROGRAMS], torch):
        call("strip", "--strip-unneeded", "-o", packed / "libraries" / library.name, library)
    commit = call("git", "describe", "--always", "--abbrev=12", "--dirty", capture_output=True, text=True).stdout
    (packed / "commit").write_text(commit, encoding="utf-8")
    return packed


def archive_of(packed):
    call("tar", "-cf", ARCHIVE, "-I", "xz -9 -T1", "-C", packed, ".")
    tree = call("git", "ls-files", "-z", capture_output=True, text=True).stdout.split("\0")
    in_tree = sum((ROOT / name).stat().st_size for name in tree if (ROOT / name).is_file())
    size = ARCHIVE.stat().st_size
    print(f"{ARCHIVE.relative_to(ROOT)}: {size / MIB:.1f} MiB, with the tree {(size + in_tree) / MIB:.1f} MiB", flush=True)
    if size + in_tree >= MOST_TO_COPY:
        sys.exit(f"scripts/check_gpu: more than {MOST_TO_COPY // MIB} MiB are too much to copy")


def prove(torch):
    """Runs the archive's programs on the stand-in, with the LibTorch that they are for. Returns whether all items have passed."""
    proof = FOLDER / "proof"
    shutil.rmtree(proof, ignore_errors=True)
    (proof / "programs").mkdir(parents=True)
    call("tar", "-xJf", ARCHIVE, "-C", proof / "programs")
    stand_in, include = proof / "libcuda_stand_in.so", LIBTORCH / "torch/include"
    call("nice", "g++", "-std=c++20", "-O1", "-DNDEBUG", "-shared", "-fPIC", "-I", ROOT, "-isystem", include, "-isystem",
         include / "torch/csrc/api/include", "-isystem", LIBTORCH / "nvidia/cu13/include", *sorted(ROOT.glob("tests/cuda_stand_in/*.cpp")), "-o", stand_in)
    return call("scripts/check_gpu", "run", "--programs", proof / "programs", "--work", proof / "work", "--torch-libraries", torch,
                "--stand-in", stand_in, "--seconds", 3600, "--patience", 10, check=False).returncode == 0


def pack():
    call("scripts/setup")
    fetch_libtorch()
    call("cmake", "--preset", "check_gpu", "-G", "Ninja", stdout=subprocess.DEVNULL)
    targets = [pathlib.Path(program).name for program in PROGRAMS]
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count())
    call("nice", "cmake", "--build", FOLDER, "--parallel", jobs, "--target", *targets)
    torch = loadable_libtorch()
    archive_of(collect(torch))
    return prove(torch)
