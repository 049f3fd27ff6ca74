"""Fails where a header of kernels/ does not include what it uses: each is compiled alone, for the instruction set
whose kernels need all of them.

Usage: kernel_headers.py COMPILER SOURCE_FOLDER
"""

import pathlib
import subprocess
import sys

INSTRUCTION_SET = "kernels/isa_avx512_bf16.h"


def compiles(compiler, root, header):
    return not subprocess.run(
        [compiler, "-std=c++20", "-fopenmp", "-Wno-psabi", "-fsyntax-only", "-I.", "-x", "c++", "-"],
        input=f'#include "{INSTRUCTION_SET}"\n#include "{header}"\n', text=True, cwd=root).returncode


def main():
    compiler, root = sys.argv[1:]
    headers = sorted(path.relative_to(root).as_posix() for path in pathlib.Path(root, "kernels").glob("*.h"))
    headers = [name for name in headers if not name.startswith("kernels/isa_")]
    failed = [name for name in headers if not compiles(compiler, root, name)]
    print("\n".join(f"{name} cannot be compiled alone" for name in failed) or f"{len(headers)} headers stand alone")
    sys.exit(1 if failed or not headers else 0)


main()
