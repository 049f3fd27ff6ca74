"""Fails if a header of kernels/ does not include what it uses: each is compiled alone. The headers of kernels are
compiled for a set that has all of them. Exits with 77 (skipped) if the architecture has no such set.

Usage: kernel_headers.py COMPILER SOURCE_FOLDER ISA_HEADER...     # the headers of this architecture's sets
"""

import concurrent.futures
import pathlib
import subprocess
import sys

SKIPPED = 77
HAS_ALL_KERNELS = "#define DRAGOMAN_BF16_PRODUCTS"


def compiles(compiler, root, headers):
    text = "".join(f'#include "{header}"\n' for header in headers)
    return not subprocess.run(
        [compiler, "-std=c++20", "-fopenmp", "-Wno-psabi", "-fsyntax-only", "-I.", "-x", "c++", "-"],
        input=text, text=True, cwd=root).returncode


def belongs_to_another_architecture(path, sets):
    """NEON's headers include one that only ARM's compilers have."""
    if path.name.startswith("isa_"):
        return f"kernels/{path.name}" not in sets
    return "<arm_neon.h>" in path.read_text(encoding="utf-8") and not any("neon" in name for name in sets)


def main():
    compiler, root, *sets = sys.argv[1:]
    full = [name for name in sets if HAS_ALL_KERNELS in pathlib.Path(root, name).read_text(encoding="utf-8")]
    if not full:
        print("skipped: no instruction set of this architecture has all kernels")
        sys.exit(SKIPPED)
    headers = [f"kernels/{path.name}" for path in sorted(pathlib.Path(root, "kernels").glob("*.h"))
               if not belongs_to_another_architecture(path, sets)]
    units = [[name] if name in sets else [full[0], name] for name in headers]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        sound = list(pool.map(lambda unit: compiles(compiler, root, unit), units))
    failed = [name for name, good in zip(headers, sound) if not good]
    print("\n".join(f"{name} cannot be compiled alone" for name in failed) or f"{len(headers)} headers stand alone")
    sys.exit(1 if failed or not headers else 0)


main()
