"""The processes that a test has started, by their command lines."""

import pathlib
import time


def _parent_and_command(process):
    try:
        status = (process / "stat").read_text().rsplit(")", 1)[1].split()
        command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:  # it has ended meanwhile
        return None
    return (int(status[1]), command) if status[0] != "Z" else None


def descendants(of, text):
    """Ids of the living processes below a process whose command lines have the text."""
    found = {int(path.name): _parent_and_command(path) for path in pathlib.Path("/proc").glob("[0-9]*")}
    known = {number: facts for number, facts in found.items() if facts}
    below = {of}
    while True:
        more = {number for number, (parent, _) in known.items() if parent in below} - below
        if not more:
            return sorted(number for number in below - {of} if text in known[number][1])
        below |= more


def wait_for(condition, seconds=120):
    """The condition's value as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError(f"not true within {seconds} s")
