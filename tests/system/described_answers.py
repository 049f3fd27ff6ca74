"""Whether dragoman serve answers as openapi.json says. Schemathesis reads the description, makes up requests, sound ones and
others, and compares statuses, types and bodies. Trains two models for a moment first. Exits with 77 (skipped) if pip cannot
install Schemathesis.

Usage: described_answers.py PROGRAM PACKAGES
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import packages
import serving

# The server also takes what the description does not name: other fields, and numbers for texts. So negative_data_rejection is
# none of these.
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
          "response_headers_conformance", "unsupported_method", "use_after_free", "ensure_resource_availability")


def main():
    program = sys.argv[1]
    folder = pathlib.Path(sys.argv[2])
    packages.install(folder, "schemathesis==4.32.5")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        with serving.Server(program, "-m", *serving.train_both_ways(program, work), "--glossaries", work / "glossaries",
                            "--suggestions", work / "suggestions") as server:
            command = [sys.executable, str(folder / "bin" / "schemathesis"), "run", f"{server.url}/openapi.json", "--checks",
                       ",".join(CHECKS), "--max-examples", "10", "--seed", "1", "--no-shrink", "--continue-on-failure",
                       "--warnings", "off", *sys.argv[3:]]
            environment = {**os.environ, "PYTHONPATH": str(folder)}
            result = subprocess.run(command, env=environment, cwd=work)
    assert result.returncode == 0, "answers differ from openapi.json"
    print("the answers are those of openapi.json")


main()
