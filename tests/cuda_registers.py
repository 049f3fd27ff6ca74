"""Fails if a kernel for GPUs keeps numbers in memory that belong in registers (spills, a stack), has more registers than it
may, or loads or stores its elements one by one only. Exits with 77 (skipped) if nvcc is missing.

Usage: cuda_registers.py SOURCE_FOLDER
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ARCHITECTURES = ("sm_80", "sm_90")  # A100; H100, H200
MOST_REGISTERS = 32  # of 65,536 for 2,048 threads, the most of a multiprocessor
OF_WARPS = {"step_attention": 64, "search_step": 96}  # whose blocks are single warps, at most 32 on a multiprocessor
# Which hold a row, sums, or a part of four buffers.
OF_ROWS = {"adam": 48, "add_norm": 40, "add_norm_gradient": 64, "column_sums": 40, "embedding_gradient": 40}
OF_ONE_THREAD = {"decide": 64}
# Neighbouring threads take neighbouring numbers, or one thread takes some scalars.
BY_LANE = ("stretch_sums", "best_tokens", "step_attention", "search_step", "decide")
REPORT = re.compile(r"Compiling entry function '(\w+)' for '\w+'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                    r"(\d+) bytes spill loads.*?Used (\d+) registers", re.DOTALL)


def nvcc(root, source, *options):
    done = subprocess.run(["nvcc", "--std=c++17", "-Werror=all-warnings", f"-I{root}", *options, source], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout + done.stderr


def base_name(kernel):
    """Without the type of its elements."""
    return kernel.rsplit("_", 1)[0]


def faults_of(root, source, folder):
    for architecture in ARCHITECTURES:
        output = nvcc(root, source, f"-arch={architecture}", "-Xptxas=-v", "-cubin", "-o", f"{folder}/kernels.cubin")
        kernels = REPORT.findall(output)
        if len(kernels) != len(re.findall(r"^__global__", source.read_text(encoding="utf-8"), re.MULTILINE)):
            yield f"{source.name}: ptxas reports {len(kernels)} kernels\n{output}"
        for name, *numbers in kernels:
            stack, stores, loads, registers = map(int, numbers)
            print(f"{architecture} {name}: {registers} registers")
            if stack or stores or loads:
                yield f"{architecture} {name}: {stack} bytes of stack, {stores} and {loads} bytes of spills"
            if registers > (most := (OF_ROWS | OF_WARPS | OF_ONE_THREAD).get(base_name(name), MOST_REGISTERS)):
                yield f"{architecture} {name}: {registers} registers, more than {most}"
    ptx = pathlib.Path(folder, "kernels.ptx")
    nvcc(root, source, "-arch=compute_80", "-ptx", "-o", ptx)
    for kernel in ptx.read_text(encoding="utf-8").split(".entry ")[1:]:
        name = kernel[: kernel.index("(")]
        for access in ("ld.global.v4", "st.global.v4"):
            if access not in kernel and base_name(name) not in BY_LANE:
                yield f"{name}: no {access}, so elements are not loaded or stored 16 bytes at a time"


def main():
    if not shutil.which("nvcc"):
        print("skipped: nvcc is missing")
        sys.exit(SKIPPED)
    root = pathlib.Path(sys.argv[1])
    sources = sorted(root.glob("kernels/cuda/*.cu"))
    with tempfile.TemporaryDirectory() as folder:
        faults = [fault for source in sources for fault in faults_of(root, source, folder)]
    print("\n".join(faults) or f"{len(sources)} sources have their numbers in registers")
    sys.exit(1 if faults or not sources else 0)


main()
