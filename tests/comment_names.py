"""Fails if a comment or a page of docs/ names something that the code does not have: Class::member, a
function(), or a path such as model/ops/dropout.h. So a renamed thing is renamed everywhere.

A name in capitals stands for several (kernels/isa_NAME.h). Names of other projects are written without ().

Usage: comment_names.py SOURCE_FOLDER
"""

import pathlib
import re
import sys

from format import sources_below

COMMENT = re.compile(r"//[^\n]*")
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINED = re.compile(r"\b(?:class|struct|enum|namespace|union) (?:class )?(?:\w+::)*([A-Za-z_]\w*)")
MEMBER = re.compile(r"\b([A-Z]\w*)::(~?[A-Za-z_]\w*)")
FUNCTION = re.compile(r"(?<![\w:.>])([a-z_]\w*)\(\)")


class Names:
    def __init__(self, root, sources):
        self.root = root
        # A folder such as run/, which somebody has made by the README's commands, is none of them.
        folders = {source.relative_to(root).parts[0] for source in sources} | {"cmake", "configs", "deploy", "docs", "scripts"}
        self.path = re.compile(rf"(?<![\w./-])((?:{'|'.join(sorted(folders))})/[\w./-]*\w)")
        self.words, self.defined, self.of_files = set(), set(), []
        for source in sources:
            code = COMMENT.sub("", source.read_text(encoding="utf-8"))
            self.of_files.append(set(WORD.findall(code)))
            self.words |= self.of_files[-1]
            self.defined |= set(DEFINED.findall(code))

    def lacks_member(self, name, member):
        """Of a class that is not ours, such as a library's, the name alone is known."""
        if name not in self.defined:
            return name not in self.words
        return not any(name in words and member.lstrip("~") in words for words in self.of_files)

    def lacks_path(self, path):
        if any(part.isupper() for part in re.split(r"[/_.-]", path) if len(part) > 1):
            return False
        folder = (self.root / path).parent
        return not folder.is_dir() or not any(folder.glob(f"{(self.root / path).name}*"))

    def unknown(self, text):
        for name, member in MEMBER.findall(text):
            if self.lacks_member(name, member):
                yield f"{name}::{member}"
        yield from (f"{name}()" for name in FUNCTION.findall(text) if name not in self.words)
        yield from (path for path in self.path.findall(text) if self.lacks_path(path))


def comments_of(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md":
            yield number, line
        elif comment := COMMENT.search(line):
            yield number, comment.group()


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    sources = sorted(pathlib.Path(path) for path in sources_below(root))
    names = Names(root, sources)
    faults = [f"{path.relative_to(root)}:{number}: there is no {name}"
              for path in sources + sorted((root / "docs").glob("*.md"))
              for number, text in comments_of(path) for name in names.unknown(text)]
    print("\n".join(faults) or f"{len(sources)} sources and the pages of docs/ name what there is")
    sys.exit(1 if faults else 0)


main()
