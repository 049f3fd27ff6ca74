"""Models of Marian in both directions, beside the pymarian package, which is Marian itself: models of several kinds that
Marian has trained on the sample corpus for a moment become ours, and a model of ours, trained with its positions, becomes
Marian's. Greedy translations and those with beam 6 and length normalisation must be equal in 99 of 100 lines. The last
validation of each training gives the text the cross-entropy that our scores add up to. That alone is checked for a model
that is normalised before the sub-layers: Marian 1.12 does not translate with it as it trains it. Exits with 77 (skipped) if pip
cannot install the package.

Usage: marian.py PROGRAM PACKAGES
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import fine_tuning
from fine_tuning import completed, run

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import packages

BEFORE = "before"  # normalised before the sub-layers
# Marian's flags; if the vocabularies differ, one for each side.
KINDS = {
    "paper": ("--tied-embeddings-all --transformer-ffn-activation swish", True),
    "gelu": ("--tied-embeddings --transformer-ffn-activation gelu", True),
    "apart": ("--transformer-ffn-activation relu --output-omit-bias", False),
    BEFORE: ("--tied-embeddings-all --transformer-ffn-activation relu --transformer-preprocess n "
             "--transformer-postprocess da --transformer-postprocess-top n", True),
    "embeddings": ("--tied-embeddings-all --transformer-ffn-activation relu --transformer-postprocess-emb dn", True),
}
SIZES = "--dim-emb 64 --transformer-heads 4 --transformer-dim-ffn 128 --enc-depth 2 --dec-depth 2"


def in_marian(packages_folder, folder, code, *words):
    """Marian ends the caller's process if it fails, so each call has a process of its own."""
    script = f"import sys; sys.path.insert(0, {str(packages_folder)!r}); import pymarian; words = sys.argv[1:]\n{code}"
    result = subprocess.run([sys.executable, "-c", script, *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def train(packages_folder, folder, corpus, flags, is_joint):
    folder.mkdir()
    updates = 50 if folder.name == BEFORE else 150  # that model does not translate
    vocabularies = "vocab.spm vocab.spm" if is_joint else "source.spm target.spm"
    in_marian(packages_folder, folder, "pymarian.Trainer(words[0]).train()",
              f"--type transformer --model model.npz --train-sets {corpus}/train.en {corpus}/train.de --vocabs {vocabularies} "
              f"--dim-vocabs 400 400 {SIZES} {flags} --mini-batch 32 --after {updates}u --learn-rate 0.003 --lr-warmup 30 "
              "--cpu-threads 1 --workspace 300 --seed 7 --quiet --beam-size 6 --normalize 1 --transformer-dropout 0 "
              f"--valid-sets {corpus}/test.en {corpus}/test.de --valid-metrics ce-sum --valid-freq {updates}u "
              "--valid-log valid.log")


def same_cross_entropy(program, folder, model_file, corpus):
    theirs = float(re.findall(r"ce-sum : ([\d.]+)", (folder / "valid.log").read_text())[-1])
    scores = run(program, "score", "-m", model_file, "--src", corpus / "test.en", "--tgt", corpus / "test.de",
                 "--split-sentences", "never").split()
    ours = -sum(map(float, scores))
    print(f"{folder.name}: cross-entropy {ours:.2f}, Marian's {theirs:.2f}", flush=True)
    assert abs(ours - theirs) < 1e-5 * theirs


def theirs(packages_folder, folder, settings, lines, beam):
    (folder / "lines").write_text("\n".join(lines) + "\n")
    code = "import pathlib; lines = pathlib.Path('lines').read_text().split('\\n')[:-1]\n" \
           "translator = pymarian.Translator(words[0])\n" \
           "sys.stdout.write('\\n'.join(translator.translate(line) for line in lines) + '\\n')"
    return in_marian(packages_folder, folder, code,
                     f"--config {settings} --relative-paths false --beam-size {beam} --normalize 1 --cpu-threads 1 "
                     "--max-length-factor 20 --quiet").split("\n")[:-1]


def compare(program, packages_folder, folder, settings, model_file, lines, beams=(1, 6)):
    for beam in beams:
        mine = run(program, "translate", "-m", model_file, "--beam-size", beam, "--length-penalty", 1, "--stop", "marian",
                   "--max-length-ratio", 20, "--split-sentences", "never", "--threads", 1,
                   text="\n".join(lines) + "\n").split("\n")[:-1]
        other = theirs(packages_folder, folder, settings, lines, beam)
        assert len(mine) == len(other) == len(lines)
        # A translation that is cut was cut at another length, because Marian counts </s> of the source.
        pairs = [(a, b) for a, b in zip(mine, other) if len(a) < 400 and len(b) < 400]
        equal = sum(a == b for a, b in pairs)
        print(f"{folder.name}, beam {beam}: {equal} of {len(pairs)} translations equal", flush=True)
        assert len(pairs) > 0.8 * len(lines) and equal >= 0.99 * len(pairs)


def main():
    program, packages_folder = sys.argv[1], pathlib.Path(sys.argv[2])
    packages.install(packages_folder, "pymarian==1.12.42")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        corpus = folder / "sample"
        run(program, "sample", "-o", corpus, "--train-size", 5000, "--valid-size", 50, "--test-size", 100)
        lines = (corpus / "test.en").read_text().splitlines()
        for name, (flags, is_joint) in KINDS.items():
            train(packages_folder, folder / name, corpus, flags, is_joint)
            settings = "model.npz.decoder.yml"
            model_file = folder / f"{name}.safetensors"
            print(completed(program, "import", folder / name / "model.npz", "-o", model_file).stderr.splitlines()[-1])
            same_cross_entropy(program, folder / name, model_file, corpus)
            if name != BEFORE:
                compare(program, packages_folder, folder / name, settings, model_file, lines)
            fine_tuning.use(program, model_file, corpus, folder / f"use-{name}")
            if "dragoman-lite" not in pathlib.Path(program).name:
                fine_tuning.fine_tune(program, model_file, corpus, folder / f"fine-tuned-{name}")
            if name == BEFORE:
                continue
            run(program, "export", "--format", "marian", model_file, folder / f"{name}-again")
            # The search is told to Marian, so greedy search shows whether the weights are the same.
            compare(program, packages_folder, folder / f"{name}-again", "decoder.yml", model_file, lines, beams=(1,))
        if "dragoman-lite" not in pathlib.Path(program).name:
            run(program, "train", "-o", folder / "run", "--preset", "tiny", "--train-src", corpus / "train.en", "--train-tgt",
                corpus / "train.de", "--vocab-size", 400, "--d-model", 64, "--heads", 4, "--d-ff", 128, "--encoder-layers", 2,
                "--decoder-layers", 2, "--norm", "after", "--positions", "marian", "--max-updates", 300,
                "--warmup-updates", 50, "--lr", "2e-3", "--threads", 1)
            run(program, "export", "--format", "marian", folder / "run", folder / "ours")
            compare(program, packages_folder, folder / "ours", "decoder.yml", folder / "run", lines)


main()
