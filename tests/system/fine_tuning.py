"""An imported model is trained on by a few updates, for hf_marian.py and checkpoints.py."""

import subprocess

KEPT = ("tying", "unk-id", "bos-id", "eos-id", "source-vocabulary", "target-vocabulary", "positions", "source-eos")


def run(*words, text=None):
    result = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True)
    assert result.returncode == 0, (words, result.stderr)
    return result.stdout


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
