"""Fails on an #include that docs/design.md, section 2, does not allow, on a folder that it does not name, and on two types
of one name.

Usage: include_directions.py SOURCE_FOLDER
"""

import fnmatch
import pathlib
import re
import sys


def rooms_of(design):
    """The rooms whose headers a room may include besides its own: the list of the design's page.

    A line of it is "room, room -> room, room"; "all but FOLDER and FOLDER" stands for all rooms outside of them."""
    begin = design.index("```", design.index("Who may include whom")) + 3
    rules = re.sub(r",\n +", ", ", design[begin : design.index("```", begin)])
    allowed = {"base": []}
    for line in rules.strip().splitlines():
        rooms, others = line.split(" -> ")
        for room in rooms.split(", "):
            allowed[room] = others.split(", ")
    for room, others in allowed.items():
        if others and others[0].startswith("all but "):
            left_out = (room, *others[0][8:].split(" and "))
            allowed[room] = [other for other in allowed if not other.startswith(left_out)]
    return allowed


DESIGN = pathlib.Path(__file__).parent.parent / "docs" / "design.md"
ALLOWED = rooms_of(DESIGN.read_text(encoding="utf-8"))


def levels_of(contributing):
    """The rooms in the order of the levels of CONTRIBUTING.md: [[rooms of level 1], ...]."""
    begin = contributing.index("\n1. `base`")
    lines = contributing[begin : contributing.index("\n\n", begin)].strip().splitlines()
    return [re.findall(r"`([a-z/]+)`", line) for line in lines]


def complaints_of_levels(levels):
    """A room comes after all rooms that it may include."""
    order = [room for level in levels for room in level]
    for room in ALLOWED:
        if room not in order:
            yield f"CONTRIBUTING.md: {room} is missing among the levels"
        elif late := [other for other in ALLOWED[room] if other in order and order.index(other) > order.index(room)]:
            yield f"CONTRIBUTING.md: {room} stands before {', '.join(late)}, which it may include"


LIBTORCH = r"(torch|ATen|c10)/.*"
# The only files that see a library: the headers' pattern -> the files' patterns.
LIBRARIES = {
    LIBTORCH: ["model/*", "training/*", "inference/device/*", "inference/torch/*", "app/torch/*"],
    r".*c10d/.*": ["training/ranks/rendezvous.cpp"],
    r"sentencepiece.*": ["tokenizer/*.cpp"],
    r"re2/.*": ["inference/demands.cpp", "extras/formats/numpy.cpp", "extras/markup/format_directives.cpp", "extras/markup/icu_messages.cpp",
                "extras/markup/markdown_masks.cpp", "tokenizer/translatable.cpp"],
    r"zlib.h": ["base/compressed_text.cpp", "extras/formats/numpy.cpp"],
    r"lzma.h": ["base/compressed_text.cpp"],
    r"zip.h": ["data/pair_files.cpp", "extras/formats/zip_archive.cpp"],
    r"yaml-cpp/.*": ["extras/formats/json_yaml.cpp"],
    r"gumbo.h": ["extras/markup/html_tree.h"],
    r"expat.h": ["data/bilingual_xml.cpp", "extras/markup/xml_tokens.cpp"],
    r"iconv.h": ["extras/markup/charset.cpp"],
    r"md4c.h": ["extras/markup/markdown_syntax.cpp"],
    r"boost/.*": ["extras/server/coroutines.h", "extras/server/http_server.cpp", "extras/server/request_parser.*"],
    r"cld2/.*": ["data/languages.cpp"],
    r"nettle/.*": ["extras/server/access.cpp"],
    r"nanobind/.*": ["extras/python/*"],
    r"CLI/.*": ["app/frame/command_line.cpp"],
    r"toml\+\+/.*": ["app/frame/config_file.cpp"],
    r"(spdlog|fmt)/.*": ["app/frame/log.cpp"],
    r"(cuda|cublas|nvrtc|curand).*": [],
}
# Inside model/ and training/, yet without LibTorch (and without any other library of the list).
TORCH_FREE = ["model/file", "training/settings"]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def room_of(path):
    """The longest room whose folder holds the file: model/file before model."""
    rooms = [room for room in ALLOWED if path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def sees(path, library):
    return room_of(path) not in TORCH_FREE and matches(path, LIBRARIES[library])


def complaints(path, text, headers):
    room = room_of(path)
    for quote, header in INCLUDE.findall(text):
        if quote == '"':
            other = room_of(header)
            if other is None:
                yield f'{path}: "{header}" names no room'
            elif header not in headers:
                yield f'{path}: "{header}" does not exist'
            elif other != room and other not in ALLOWED[room]:
                yield f'{path}: {room} may not include {other} ("{header}")'
            elif other.startswith("extras/") and not room.startswith("extras/"):
                yield f'{path}: the core may not include an extra ("{header}")'
            continue
        for library, users in LIBRARIES.items():
            if re.fullmatch(library, header) and not sees(path, library):
                yield f"{path}: <{header}> is seen by {' '.join(users)} alone"
    if path.endswith(".h") and "<torch/torch.h>" in text:
        yield f"{path}: <torch/torch.h> stands in no header"


TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;{]*)?\s*\{", re.MULTILINE)


def complaints_of_types(sources):
    """There is one namespace: a second type of a name would be another definition of the first."""
    first = {}
    for path, text in sorted(sources.items()):
        if not path.endswith(".h") or path.startswith("kernels/isa_"):  # each in a namespace of its own
            continue
        for name in TYPE.findall(text):
            if name in first:
                yield f"{path}: {name} is a type of {first[name]}, too"
            first[name] = path


def product_sources(root):
    """Path and text of every source in the folders of the rooms and below them."""
    for folder in sorted({room.split("/")[0] for room in ALLOWED}):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def complaints_of_folders(sources):
    for folder in sorted({path.rsplit("/", 1)[0] for path in sources} - set(ALLOWED)):
        yield f"{folder}: docs/design.md does not say what this folder may include"


def main():
    root = pathlib.Path(sys.argv[1])
    sources = dict(product_sources(root))
    if not sources:
        sys.exit(f"{root}: no sources found")
    contributing = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = list(complaints_of_levels(levels_of(contributing)))
    found += complaints_of_folders(sources)
    rooms = {path: text for path, text in sorted(sources.items()) if room_of(path)}
    found += [line for path, text in rooms.items() for line in complaints(path, text, sources)]
    found += complaints_of_types(sources)
    print("\n".join(found) or f"{len(sources)} files include only what they may")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
