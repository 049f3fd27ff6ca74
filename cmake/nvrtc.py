"""Compiles CUDA C++ to PTX with NVRTC, NVIDIA's compiler as a library, which needs neither nvcc nor a GPU.

Usage: nvrtc.py LIBRARY SOURCE OUTPUT [OPTION...]
"""

import ctypes
import pathlib
import sys


def main():
    library, source, output, *options = sys.argv[1:]
    for part in sorted(pathlib.Path(library).parent.glob("libnvrtc-builtins.so*")):
        ctypes.CDLL(str(part))  # which NVRTC asks for by its name alone
    nvrtc = ctypes.CDLL(library)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = pathlib.Path(source).read_bytes()
    if code := nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None):
        sys.exit(f"{library}: error {code}")
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    code = nvrtc.nvrtcCompileProgram(program, len(options), arguments)
    kind = "ProgramLog" if code else "PTX"
    getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    result = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{kind}")(program, result)
    if code:
        sys.exit(result.value.decode(errors="replace"))
    pathlib.Path(output).write_bytes(result.value)


main()
