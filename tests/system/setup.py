"""scripts/setup names all packages that are missing in one command, if it may not install them itself. scripts/build and
scripts/test install nothing for a wrong name or for --help.

Usage: setup.py SOURCES FOLDER
"""

import os
import pathlib
import pty
import shutil
import subprocess
import sys

COMMAND = "apt-get update && apt-get install --no-install-recommends "


class Machine:
    """A PATH on which Debian's programs are stand-ins: nothing is installed, and apt-get cannot install anything."""

    def __init__(self, sources, folder):
        self.sources, self.folder = sources, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for program in ("bash", "cat", "dirname", "env", "grep", "mktemp", "python3", "rm", "sed", "tail"):
            (folder / program).symlink_to(shutil.which(program))
        self.has("id", "echo 1000")
        self.has("dpkg-query", "exit 1")
        self.has("apt-cache", "exit 0")
        self.has("apt-get", f"echo called >>{folder}/apt-get.log; exit 100")

    def has(self, program, script):
        (self.folder / program).write_text(f"#!{shutil.which('bash')}\n{script}\n", encoding="utf-8")
        (self.folder / program).chmod(0o755)

    def setup(self, *flags):
        """The packages that it asks for."""
        (self.folder / "apt-get.log").unlink(missing_ok=True)
        done = self.run("scripts/setup", "--lite", *flags)
        assert done.returncode == 1, (done.returncode, done.stderr)
        last = done.stderr.splitlines()[-1]
        assert "as root" in last and COMMAND in last, done.stderr
        return last.split(COMMAND)[1].split()

    def run(self, *command):
        return subprocess.run([self.sources / command[0], *command[1:]], capture_output=True, text=True, env={"PATH": str(self.folder)})

    def on_terminal(self, script, **variables):
        """What the script writes to a terminal."""
        ours, its = pty.openpty()
        subprocess.run([self.sources / script], stdin=subprocess.DEVNULL, stdout=its, stderr=its, env={"PATH": str(self.folder), **variables})
        os.close(its)
        with open(ours, "rb", buffering=0) as terminal:
            written = b""
            while part := self.part_of(terminal):
                written += part
        return written.decode()

    @staticmethod
    def part_of(terminal):
        try:
            return terminal.read(4096)
        except OSError:  # EIO is the end of a terminal
            return b""

    def called_apt_get(self):
        return (self.folder / "apt-get.log").exists()


def main():
    machine = Machine(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    wanted = {"g++", "cmake", "ninja-build", "libsentencepiece-dev", "zlib1g-dev"}
    packages = machine.setup()
    assert wanted <= set(packages), packages
    assert len(packages) == len(set(packages)), packages
    assert not machine.called_apt_get()
    more = set(machine.setup("--release", "--shells", "--fuzz", "--bench", "--aarch64")) - set(packages)
    assert more == {"dpkg-dev", "file", "lintian", "fish", "man-db", "zsh", "clang-16", "libclang-rt-16-dev", "libomp-16-dev", "wrk", "g++-aarch64-linux-gnu", "qemu-user",
                    "googletest"}, more

    machine.has("ninja", "exit 0")
    assert set(packages) - set(machine.setup()) == {"ninja-build"}

    # A user who is not allowed to.
    machine.has("sudo", "echo sorry >&2; exit 1")
    assert wanted - {"ninja-build"} <= set(machine.setup())
    assert not machine.called_apt_get()

    for script in ("scripts/setup", "scripts/demo"):
        assert "\x1b[1m" in machine.on_terminal(script), script
        assert "\x1b" not in machine.on_terminal(script, NO_COLOR="1"), script

    done = machine.run("scripts/build", "nonsense")
    assert done.returncode == 2 and '"nonsense"' in done.stderr and " lite " in done.stderr, (done.returncode, done.stderr)
    done = machine.run("scripts/test", "--help")
    assert done.returncode == 0 and "-R search" in done.stdout, (done.returncode, done.stderr)
    shutil.rmtree(machine.folder)


if __name__ == "__main__":
    main()
