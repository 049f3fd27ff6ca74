"""Prints how large the house is: for each room (a folder of C++ sources) its files and lines, the files of 60 lines
or fewer, its headers and those with one user, and its longest function.

A user of a header is a product file that includes it, other than the source of the same name; a header that only
its own source includes has that one user. Tests and benchmarks use headers, too, but do not count: a header that
stands for them alone has no user.

Usage: house.py SOURCE_FOLDER
"""

import collections
import pathlib
import re
import sys

SUFFIXES = (".h", ".cpp", ".cu")
NOT_OURS = ("build", "demo", "run", "sample", ".libtorch", ".python", ".git")
SMALL = 60  # lines

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# What is not code: raw strings, strings, characters, comments, lines of the preprocessor.
NO_CODE = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/'
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"(?:^|\s)(?:namespace|struct|class|union|enum|extern)\b")
NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def code_of(text):
    """The text, its strings, comments and directives replaced by as many ends of lines."""
    return NO_CODE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)


def without_parentheses(text):
    before = None
    while before != text:
        before, text = text, re.sub(r"\([^()]*\)", "<>", text)
    return text


def kind_of_brace(head):
    """What the brace after `head` opens outside of functions: "scope", "function", "member" (of a constructor's list
    of initialisers), or "value"."""
    bare = re.sub(r"operator\s*[^\s\w(]+", "operator", without_parentheses(head))
    if "<>" not in bare:
        return "scope" if SCOPE.search(bare) else "value"
    if re.search(r"(?<![=!<>])=(?!=)", bare):
        return "value"
    if re.search(r"<>[^:]*:(?!:)", bare) and re.search(r"[\w>]\s*$", bare) and not bare.rstrip().endswith("<>"):
        return "member"
    return "function"


def functions_of(text):
    """The lines and the name of each function that the text defines."""
    code = code_of(text)
    stack, head, begin, line = [], "", 1, 1
    for sign in code:
        line += sign == "\n"
        inside = stack and stack[-1][0] in ("function", "member", "value", "block")
        if sign == "{":
            kind = "block" if inside else kind_of_brace(head)
            stack.append((kind, begin, head))
            if kind in ("scope", "function", "value"):
                head = ""
        elif sign == "}" and stack:
            kind, first, its_head = stack.pop()
            if kind == "function":
                name = NAME.search(its_head)
                yield line - first + 1, name[1] if name else its_head.strip()
            if kind != "block":
                head = its_head + "<>" if kind == "member" else ""
        elif not inside:
            if sign == ";":
                head = ""
            elif head or not sign.isspace():
                begin = begin if head else line
                head += sign


def sources_of(root):
    sources = {}
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.suffix in SUFFIXES and relative.parts[0] not in NOT_OURS and path.is_file():
            sources[relative.as_posix()] = path.read_text(encoding="utf-8")
    return sources


def is_product(path):
    return path.split("/")[0] not in ("tests", "bench")


def room_of(path):
    return path.rpartition("/")[0] if is_product(path) else path.split("/")[0]


def headers_with_one_user(sources):
    users = collections.Counter()
    for path, text in sources.items():
        if is_product(path):
            users.update(header for header in set(INCLUDE.findall(text)) if path.rpartition(".")[0] + ".h" != header)
    headers = [path for path in sources if path.endswith(".h") and is_product(path)]
    return [path for path in headers if users[path] == 1 or users[path] == 0 and path[:-2] + ".cpp" in sources]


def row_of(paths, sources, lone):
    lines = [sources[path].count("\n") for path in paths]
    functions = [function for path in paths for function in functions_of(sources[path])]
    longest, name = max(functions, default=(0, ""))
    return (len(paths), sum(lines), sum(count <= SMALL for count in lines), sum(path.endswith(".h") for path in paths),
            sum(path in lone for path in paths), longest, name)


def main():
    sources = sources_of(pathlib.Path(sys.argv[1]))
    lone = set(headers_with_one_user(sources))
    rooms = collections.defaultdict(list)
    for path in sources:
        rooms[room_of(path)].append(path)
    form = "{:24}{:>7}{:>8}{:>8}{:>9}{:>10}{:>9}  {}"
    print(form.format("room", "files", "lines", "small", "headers", "one user", "longest", "function"))
    for room in sorted(rooms):
        print(form.format(room, *row_of(rooms[room], sources, lone)))
    print()
    groups = {"core": [], "extras": [], "tests and bench": []}
    for path in sources:
        product = "extras" if path.startswith("extras/") else "core"
        groups[product if is_product(path) else "tests and bench"].append(path)
    for group, paths in groups.items():
        print(form.format(group, *row_of(paths, sources, lone)))


if __name__ == "__main__":
    main()
