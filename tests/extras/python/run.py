"""Builds the Python package as a wheel with its C++ libraries, installs it without a compiler, and runs mypy and the tests
beside it, and the examples of docs/python.md.
Exits with 77 (skipped) if the packages for that are missing; scripts/setup --python installs them into .python/.

Usage: run.py SOURCES BUILD RANDOM_MODEL DRAGOMAN_LITE [DRAGOMAN]    (BUILD: a folder of its own; programs)
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

SKIPPED = 77
PACKAGES = ["nanobind", "scikit_build_core", "auditwheel", "pytest", "mypy"]


def use_own_python(sources):
    """Continues in the environment that scripts/setup has made, if there is one."""
    own = sources / ".python"
    if (own / "bin/python").exists() and pathlib.Path(sys.prefix) != own:
        os.execv(own / "bin/python", [str(own / "bin/python"), *sys.argv])
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        print("skipped:", *missing, "missing; scripts/setup --python installs what this test needs")
        sys.exit(SKIPPED)


def run(*command, **environment):
    result = subprocess.run([str(part) for part in command], env={**os.environ, **environment}).returncode
    if result != 0:
        sys.exit(f"failed: {' '.join(str(part) for part in command)}")


def expect_setup_is_named(sources, build):
    """A build without its libraries says what installs them."""
    result = subprocess.run(["cmake", "-S", sources, "-B", build / "without", "-D", "DRAGOMAN_PYTHON=ON"],
                            env={**os.environ, "PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""},
                            capture_output=True, text=True)
    if result.returncode == 0 or "scripts/setup --lite" not in result.stderr:
        sys.exit(f"failed: a build without libraries does not name scripts/setup --lite:\n{result.stderr}")


def made_wheel(sources, build):
    """The wheel that other machines can install, made as docs/python.md says."""
    for folder in (build / "wheels", build / "repaired"):
        shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--disable-pip-version-check",
        "-w", build / "wheels", f"--config-settings=build-dir={build / 'cmake'}", sources,
        CXX=os.environ.get("CXX", "c++"))  # CMake's own choice, whose objects ccache has
    patchelf = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    run(sys.executable, "-m", "auditwheel", "repair", "-w", build / "repaired", *(build / "wheels").iterdir(),
        PATH=patchelf)
    return next((build / "repaired").iterdir())


def expect_its_libraries_are_listed(wheel, spdx):
    """Each library in the wheel is in the list of its software, and its license in the wheel."""
    names, listed = zipfile.ZipFile(wheel).namelist(), spdx.read_text()
    libraries = {pathlib.Path(name).name.split("-")[0] for name in names if name.startswith("dragoman.libs/lib")}
    missing = [library for library in libraries if f"PackageName: {library}-dev\n" not in listed
               or f"dragoman/licenses/{library}-dev" not in names]
    if not libraries or missing:
        sys.exit(f"failed: libraries of the wheel without a license or a line in {spdx}: {missing} of {libraries}")


# Prints the libraries that a translation has brought into the process.
TRANSLATES = """
import sys
libraries = lambda: {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
before = libraries()
import dragoman
assert dragoman.Translator(sys.argv[1]).translate("A man walks.").text
print(*libraries() - before, sep="\\n")
"""


def expect_it_stands_alone(wheel, bare, model):
    """It installs and translates where no program can be found, with its own libraries and those that every Linux has."""
    run(sys.executable, "-m", "venv", "--clear", bare)
    python, nothing = bare / "bin/python", {"env": {"PATH": ""}, "check": True, "text": True, "stdout": subprocess.PIPE}
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], **nothing)
    libraries = subprocess.run([python, "-c", TRANSLATES, model], **nothing).stdout.split()
    common = ("libc.so", "libgcc_s.so", "libm.so", "libstdc++.so", "libz.so")
    foreign = [path for path in libraries if not path.startswith(str(bare)) and "/lib-dynload/" not in path
               and not pathlib.Path(path).name.startswith(common)]
    if foreign or not any("libsentencepiece" in path for path in libraries):
        sys.exit(f"failed: the wheel uses libraries of this machine: {foreign}, or not its own: {libraries}")


def main():
    sources, build, random_model, *programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    use_own_python(sources)
    packages, model = build / "packages", build / "model"
    expect_setup_is_named(sources, build)
    wheel = made_wheel(sources, build)
    expect_its_libraries_are_listed(wheel, build / "cmake/dragoman.spdx")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--no-index",
        "--disable-pip-version-check", "--target", packages, wheel)
    if not (model / "model.safetensors").exists():
        run(random_model, "--preset", "tiny", "--vocab-size", "600", "-o", model)
    expect_it_stands_alone(wheel, build / "bare", model)
    environment = {"PYTHONPATH": str(packages), "DRAGOMAN_MODEL": str(model),
                   "DRAGOMAN_PROGRAMS": os.pathsep.join(map(str, programs))}
    run(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={build / 'mypy'}",
        packages / "dragoman", sources / "tests/extras/python/typed_use.py", **environment)
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", sources / "tests/extras/python", **environment)


main()
