"""Fails on an #include that docs/design.md, section 2, does not allow.

Usage: include_directions.py SOURCE_FOLDER
"""

import fnmatch
import pathlib
import re
import sys

# The rooms whose headers a room may include besides its own.
ALLOWED = {
    "training": ["training/loss", "training/ranks", "inference/cpu", "inference/torch", "inference", "evaluation", "model",
                 "model/ops", "model/file", "data", "tokenizer", "kernels", "base"],
    "training/start": ["training", "training/loss", "inference", "model", "model/ops", "model/file", "data", "tokenizer",
                       "base"],
    "training/loss": ["model", "model/ops", "data", "kernels", "base"],
    "training/ranks": ["base"],
    "inference/torch": ["inference", "model", "model/ops", "model/file", "kernels", "base"],
    "inference/cpu": ["inference", "model/file", "kernels", "base"],
    "inference": ["model/file", "tokenizer", "base"],
    "model": ["model/ops", "model/file", "kernels", "base"],
    "model/ops": ["kernels", "base"],
    "server": ["inference", "tokenizer", "base"],
    "formats": ["model/file", "tokenizer", "base"],
    "data": ["tokenizer", "base"],
    "data/sample": ["base"],
    "evaluation": ["tokenizer", "base"],
    "model/file": ["base"],
    "tokenizer": ["base"],
    "kernels": ["base"],
    "report": ["base"],
    "base": [],
}
ALLOWED["app/frame"] = ["base"]
ALLOWED["app/commands"] = ["app/frame", "server", "report", "formats", "inference/cpu", "inference", "evaluation", "model/file",
                           "data", "data/sample", "tokenizer", "base"]
ALLOWED["app/lite"] = ["app/commands", "app/frame"]
ALLOWED["app/torch"] = [room for room in ALLOWED if room != "app/lite"]

LIBTORCH = r"(torch|ATen|c10)/.*"
# The only files that see a library: the headers' pattern -> the files' patterns.
LIBRARIES = {
    LIBTORCH: ["model/*", "training/*", "inference/torch/*", "app/torch/*"],
    r".*c10d/.*": ["training/ranks/c10d.cpp"],
    r"sentencepiece.*": ["tokenizer/*.cpp"],
    r"re2/.*": ["inference/demands.cpp"],
    r"zlib.h": ["base/compressed_text.cpp", "formats/zip_archive.cpp"],
    r"yaml-cpp/.*": ["formats/yaml_map.cpp"],
    r"microhttpd.h": ["server/http_server.cpp"],
    r"cld2/.*": ["server/language_detector.cpp"],
    r"nettle/.*": ["server/api_keys.cpp"],
    r"CLI/.*": ["app/frame/command_line.cpp"],
    r"toml\+\+/.*": ["app/frame/config_file.cpp"],
    r"(spdlog|fmt)/.*": ["app/frame/log.cpp"],
    r"(cuda|cublas|nvrtc|curand).*": [],
}
# Inside model/, yet without LibTorch (and without any other library of the list).
TORCH_FREE = ["model/file"]

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
            continue
        for library, users in LIBRARIES.items():
            if re.fullmatch(library, header) and not sees(path, library):
                yield f"{path}: <{header}> is seen by {' '.join(users)} alone"
    if path.endswith(".h") and "<torch/torch.h>" in text:
        yield f"{path}: <torch/torch.h> stands in no header"


def main():
    root = pathlib.Path(sys.argv[1])
    sources = {}
    for room in ALLOWED:
        for path in (root / room).glob("*"):
            if path.suffix in (".h", ".cpp", ".cu"):
                sources[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    if not sources:
        sys.exit(f"{root}: no sources found")
    found = [line for path, text in sorted(sources.items()) for line in complaints(path, text, sources)]
    print("\n".join(found) or f"{len(sources)} files include only what they may")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
