"""Translation with the models of Dragoman on the CPU, and sacreBLEU's metrics.

    import dragoman

    translator = dragoman.Translator("run/")
    print(translator.translate("A man walks.").text)
"""

from . import metrics
from ._native import Error
from ._native import version as __version__
from .model_facts import ModelFacts, inspect, load_file
from .options import TranslateOptions
from .translation import Candidate, Score, Translation, Word
from .translator import Translator

__all__ = ["Candidate", "Error", "ModelFacts", "Score", "TranslateOptions", "Translation", "Translator", "Word",
           "inspect", "load_file", "metrics", "__version__"]
