"""cmake/embed.cmake makes a source that compiles, of a file that is larger than the compiler's limit for loops in constants.

Usage: embed.py CMAKE COMPILER SOURCES FOLDER
"""

import pathlib
import shutil
import subprocess
import sys


def main():
    cmake, compiler, sources = sys.argv[1:4]
    folder = pathlib.Path(sys.argv[4])
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    (folder / "files/large").write_text("0123456789abcde\n" * 50000, encoding="utf-8")
    (folder / "embedded.h").write_text(
        "#include <string>\n#include <string_view>\nnamespace dragoman { std::string_view embedded(std::string_view name); }\n", encoding="utf-8")
    (folder / "main.cpp").write_text(
        '#include "embedded.h"\nint main() { return dragoman::embedded("large").size() == 800000 ? 0 : 1; }\n', encoding="utf-8")
    source = folder / "embedded.cpp"
    subprocess.run([cmake, f"-DFOLDER={folder / 'files'}", f"-DOUTPUT={source}", "-DHEADER=embedded.h", "-DFUNCTION=embedded", "-P",
                    f"{sources}/cmake/embed.cmake"], check=True)
    compiled = subprocess.run([compiler, "-std=c++20", "-I", folder, folder / "main.cpp", source, "-o", folder / "main"],
                              capture_output=True, text=True, check=False)
    if compiled.returncode != 0:
        sys.exit(compiled.stderr[-2000:])
    subprocess.run([folder / "main"], check=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
