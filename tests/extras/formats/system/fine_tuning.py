"""An imported model does what one of ours does, for hf_marian.py, marian.py, ctranslate2.py and checkpoints.py: it is
trained for a few more updates, rounded, averaged, evaluated and explained. Its run() and the comparison of log-probabilities
are theirs, too."""

import json
import subprocess

KEPT = ("norm", "embedding-norm", "tying", "unk-id", "bos-id", "eos-id", "source-vocabulary", "target-vocabulary", "positions",
        "source-eos")


def completed(*words, text=None):
    result = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True)
    assert result.returncode == 0, (words, result.stderr)
    return result


def run(*words, text=None):
    """Its standard output."""
    return completed(*words, text=text).stdout


def same_log_probabilities(program, folder, model_file, sources, targets, log_probabilities):
    """log_probabilities(source, target) of each target piece, and `dragoman score`'s: as many pieces, and the same numbers.
    The lines are written into the folder."""
    (folder / "s").write_text("\n".join(sources) + "\n")
    (folder / "t").write_text("\n".join(targets) + "\n")
    scores = run(program, "score", "-m", model_file, "--src", folder / "s", "--tgt", folder / "t", "--per-token",
                 "--split-sentences", "never", "--threads", 1).splitlines()
    assert len(scores) == len(sources)
    largest = 0
    for source, target, line in zip(sources, targets, scores):
        theirs = log_probabilities(source, target)
        ours = [float(number) for number in line.split("\t")[1].split()]
        assert len(ours) == len(theirs), (source, target, len(ours), len(theirs))
        largest = max(largest, max(abs(a - b) for a, b in zip(ours, theirs)))
    print(f"{folder.name}: {len(sources)} lines, log-probabilities within {largest:.1e}", flush=True)
    assert largest < 1e-4


def architecture(program, model):
    lines = [line.split(maxsplit=1) for line in run(program, "inspect", model).splitlines()]
    return {words[0]: words[1] for words in lines if len(words) == 2 and words[0] in KEPT}


def fine_tune(program, model_file, corpus, folder):
    """The model of the run has the same architecture, and translates."""
    texts = [word for flag, name in (("train-src", "train.en"), ("train-tgt", "train.de"), ("valid-src", "valid.en"),
                                     ("valid-tgt", "valid.de")) for word in (f"--{flag}", corpus / name)]
    run(program, "train", "-o", folder, "--init-from", model_file, *texts, "--max-updates", 2, "--valid-every", 2, "--max-tokens",
        400, "--max-length", 60, "--threads", 1)
    assert architecture(program, folder) == architecture(program, model_file) != {}
    lines = run(program, "translate", "-m", folder, "--max-length", 9, text="A man walks.\nThe dog sleeps.\n").splitlines()
    assert len(lines) == 2
    print(f"  fine-tuned: {folder.name}", flush=True)


def use(program, model_file, corpus, folder):
    """Its rounded model and its mean with itself translate, the mean to the same lines; it gets a score, and an explanation
    of each layer."""
    folder.mkdir()
    kept = architecture(program, model_file)
    lines = (corpus / "test.en").read_text().splitlines()[:8]
    (folder / "src").write_text("\n".join(lines) + "\n")
    (folder / "ref").write_text("\n".join((corpus / "test.de").read_text().splitlines()[:8]) + "\n")
    run(program, "quantize", model_file, "-o", folder / "int8.safetensors")
    run(program, "average", model_file, model_file, "-o", folder / "mean.safetensors")
    translated = {}
    for model in (model_file, folder / "int8.safetensors", folder / "mean.safetensors"):
        translated[model] = run(program, "translate", "-m", model, "-i", folder / "src", "--max-length", 20, "--threads", 1)
        assert translated[model].count("\n") == len(lines)
        assert architecture(program, model) == kept != {}
    assert translated[folder / "mean.safetensors"] == translated[model_file]
    assert (folder / "int8.safetensors").stat().st_size < model_file.stat().st_size
    score = run(program, "evaluate", "-m", model_file, "--src", folder / "src", "--ref", folder / "ref", "--max-length", 20,
                "--metrics", "chrf", "--threads", 1)
    assert "chrF" in score, score
    run(program, "explain", "-m", model_file, lines[0], "-o", folder / "page.json", "--max-length", 20)
    assert json.loads((folder / "page.json").read_text())
    print(f"  rounded, averaged, evaluated, explained: {folder.name}", flush=True)
