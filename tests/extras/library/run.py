"""Builds and installs libdragoman as docs/library.md says, then the example beside it, whose two programs translate as
dragoman-lite does.

Usage: run.py SOURCES BUILD RANDOM_MODEL DRAGOMAN_LITE    (BUILD: a folder of its own; programs)
"""

import os
import pathlib
import shutil
import subprocess
import sys

LINES = "A man walks.\n\n42\nThe dog sleeps, and the cat does not.\n"
STRICT = "-Wall -Wextra -Wpedantic -Werror"


def run(*command, **more):
    result = subprocess.run([str(part) for part in command], text=True, capture_output=True, **more)
    if result.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def build(sources, folder, *definitions):
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    run("cmake", "-S", sources, "-B", folder, *generator, "-D", "CMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_CXX_COMPILER={os.environ.get('CXX', 'c++')}", *definitions)
    run("cmake", "--build", folder, "--parallel", "2")


def expect_nothing_else_shows(library):
    symbols = run("nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", library).splitlines()
    # A line of it: name, type, address and size.
    names = [line.rsplit(" ", 3)[0] if line.count(" ") > 2 else line for line in symbols]
    foreign = [name for name in names if not name.startswith(("dragoman_", "dragoman::Translator::"))]
    assert len(names) > 9 and not foreign, foreign


def expect_failure(program, *arguments, names):
    result = subprocess.run([program, *arguments], input=LINES, text=True, capture_output=True)
    assert result.returncode == 1 and result.stdout == "" and names in result.stderr, (program, arguments, result)


def main():
    sources, folder, random_model, lite = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    prefix, example, model = folder / "prefix", folder / "example", folder / "model"
    # In the units of the preset release and of the wheel, whose objects ccache has.
    build(sources, folder / "cmake", "-D", "DRAGOMAN_LIBRARY=ON", "-D", "DRAGOMAN_TOGETHER=8")
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", folder / "cmake", "--prefix", prefix)
    expect_nothing_else_shows(next(prefix.glob("lib*/libdragoman.so")))

    build(sources / "extras/library/example", example, f"-DCMAKE_PREFIX_PATH={prefix}",
          f"-DCMAKE_C_FLAGS={STRICT}", f"-DCMAKE_CXX_FLAGS={STRICT} -std=c++17")
    if not (model / "model.safetensors").exists():
        run(random_model, "--preset", "tiny", "--vocab-size", "600", "-o", model)
    terms, avoided = folder / "terms.tsv", folder / "avoided.txt"
    terms.write_text("dog\tHund\ncat\tKatze\n")
    avoided.write_text("a\ne\n")
    for options, flags in (([], []), (["beam-size=1", "max-length=9"], ["--beam-size=1", "--max-length=9"]),
                           (["beam-size=2", f"terms={terms}", "terms-force"], ["--beam-size=2", f"--terms={terms}", "--terms-force"]),
                           (["avoid=a", "avoid=e"], [f"--avoid={avoided}"])):
        expected = run(lite, "translate", "--quiet", "-m", model, *flags, input=LINES)
        for program in ("translate", "translate_c"):
            assert run(example / program, model, *options, input=LINES) == expected, (program, options)
    for program in (example / "translate", example / "translate_c"):
        expect_failure(program, folder / "none", names="none")
        expect_failure(program, model, "beam-size=0", names="beam-size")
        expect_failure(program, model, "beem-size=1", names="--beam-size")


if __name__ == "__main__":
    main()
