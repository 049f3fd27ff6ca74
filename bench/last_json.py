"""Reads the result of a benchmark's program."""
import json
import pathlib
import subprocess
import sys


def last_json(command):
    """Runs the command and returns its last line of standard output that is a JSON object."""
    name = pathlib.Path(sys.argv[0]).name
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: exit code {run.returncode} from: {' '.join(command)}")
    for line in reversed(run.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    sys.exit(f"{name}: no JSON line from: {' '.join(command)}")
