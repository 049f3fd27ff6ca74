# A class that the stub lacks: an exception type is not a class of nanobind's.
_native.__suffix__:
    class Error(RuntimeError):
        """A file, the data or the machine is at fault; the text says which and how."""
