"""Builds the Python package as pip does, and runs mypy and the tests beside it, and the examples of docs/python.md.
Exits with 77 (skipped) if the packages for that are missing; scripts/setup --python installs them into .python/.

Usage: run.py SOURCES BUILD RANDOM_MODEL DRAGOMAN_LITE [DRAGOMAN]    (BUILD: a folder of its own; programs)
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
PACKAGES = ["nanobind", "scikit_build_core", "pytest", "mypy"]


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


def main():
    sources, build, random_model, *programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    use_own_python(sources)
    packages, model = build / "packages", build / "model"
    expect_setup_is_named(sources, build)
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--upgrade",
        "--disable-pip-version-check", "--target", packages, f"--config-settings=build-dir={build / 'cmake'}", sources,
        CXX=os.environ.get("CXX", "c++"))  # CMake's own choice, whose objects ccache has
    if not (model / "model.safetensors").exists():
        run(random_model, "--preset", "tiny", "--vocab-size", "600", "-o", model)
    environment = {"PYTHONPATH": str(packages), "DRAGOMAN_MODEL": str(model),
                   "DRAGOMAN_PROGRAMS": os.pathsep.join(map(str, programs))}
    run(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={build / 'mypy'}",
        packages / "dragoman", sources / "tests/extras/python/typed_use.py", **environment)
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", sources / "tests/extras/python", **environment)


main()
