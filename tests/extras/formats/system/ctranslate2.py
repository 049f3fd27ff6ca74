"""The same weights in CTranslate2: trains small models on the sample corpus, and on Multi30k if the folder that
DRAGOMAN_DATA names has it. Exports them, and translates the same lines with both programs in float32, greedy and with
beam 4. At least 995 of 1,000 lines must be equal, and scores of equal lines must differ by less than 1e-3. A folder that
is imported again must translate as before. Exits with 77 (skipped) if CTranslate2 cannot be installed.

Usage: ctranslate2.py PROGRAM PACKAGES
"""

import os
import pathlib
import statistics
import sys
import tempfile

import fine_tuning
from fine_tuning import run

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import packages

ARCHITECTURES = {
    "paper": [],
    "other": ["--norm", "before", "--activation", "gated-gelu", "--positions", "learned", "--tying", "none",
              "--output-bias"],
}

LONGEST = 60  # pieces of a translation, </s> included


def train(program, folder, corpus, flags):
    run(program, "train", "-o", folder / "run", "--preset", "tiny", "--train-src", corpus / "train.en",
        "--train-tgt", corpus / "train.de", "--valid-src", corpus / "valid.en", "--valid-tgt", corpus / "valid.de",
        "--valid-every", 600, "--vocab-size", 500, "--d-model", 64, "--heads", 4, "--d-ff", 128,
        "--encoder-layers", 2, "--decoder-layers", 2, "--max-tokens", 1500, "--update-freq", 1, "--max-updates", 600,
        "--warmup-updates", 50, "--lr", "4e-3", "--threads", 1, "--average-last", 0, "--dropout", 0.05, "--attention-dropout", 0,
        "--activation-dropout", 0, *flags)


def ours(program, model, lines, beam):
    output = run(program, "translate", "-m", model, "-b", beam, "--length-penalty", 1, "--with-scores",
                 "--stop", "full", "--max-length", LONGEST, "--max-length-ratio", 60, text="\n".join(lines) + "\n")
    parts = (line.split(" ||| ") for line in output.splitlines())  # number, text, F0= log-probability, score
    return [(text, float(score)) for _, text, _, score in parts]


def theirs(folder, export, lines, beam):
    import ctranslate2
    import sentencepiece
    source = sentencepiece.SentencePieceProcessor(model_file=str(export / "source.spm"))
    target = sentencepiece.SentencePieceProcessor(model_file=str(export / "target.spm"))
    translator = ctranslate2.Translator(str(export), device="cpu", compute_type="float32", intra_threads=1)
    sources = [source.encode(line, out_type=str) for line in lines]
    results = translator.translate_batch(sources, beam_size=beam, length_penalty=1, return_scores=True,
                                         max_decoding_length=LONGEST)
    pieces = [result.hypotheses[0] for result in results]
    # Its search may report a score that differs by 1e-3 from the one that it gives to the same pieces.
    scores = [statistics.mean(scored.log_probs) if len(translation) < LONGEST else result.scores[0]
              for scored, translation, result in zip(translator.score_batch(sources, pieces), pieces, results)]
    return list(zip(map(target.decode, pieces), scores))


def compare(program, work, corpus, test, flags):
    """Of a corpus with the files train, valid and `test`."""
    work.mkdir()
    train(program, work, corpus, flags)
    name, lines = work.name, (corpus / f"{test}.en").read_text().splitlines()
    assert len(lines) >= 1000
    for export_type in ("float32", "float16", "int8"):
        run(program, "export", "--format", "ctranslate2", work / "run", work / export_type, "--type", export_type)
    of_beam = {beam: ours(program, work / "run", lines, beam) for beam in (1, 4)}
    for beam, mine in of_beam.items():
        other = theirs(work, work / "float32", lines, beam)
        equal = [(a[1], b[1]) for a, b in zip(mine, other) if a[0] == b[0]]
        largest = max(abs(a - b) for a, b in equal)
        print(f"{name}, beam {beam}: {len(equal)} of {len(lines)} lines equal, scores within {largest:.1e}")
        assert len(equal) >= 0.995 * len(lines)
        assert largest < 1e-3
    run(program, "import", work / "float32", "-o", work / "again.safetensors")
    assert ours(program, work / "again.safetensors", lines, 4) == of_beam[4]
    if test == "test":  # the sample corpus
        fine_tuning.fine_tune(program, work / "again.safetensors", corpus, work / "fine-tuned")
        fine_tuning.use(program, work / "again.safetensors", corpus, work / "use")
    for export_type in ("float16", "int8"):  # rounded weights translate about as well
        mine, other = (list(zip(*results))[1] for results in (of_beam[1], theirs(work, work / export_type, lines, 1)))
        again = work / f"{export_type}.safetensors"
        run(program, "import", work / export_type, "-o", again)
        imported = [score for _, score in ours(program, again, lines, 1)]
        print(f"{name}, {export_type}, imported again: mean score {statistics.mean(imported):.4f}")
        assert abs(statistics.mean(imported) - statistics.mean(other)) < 0.01
        print(f"{name}, {export_type}: mean score {statistics.mean(other):.4f}, {statistics.mean(mine):.4f} of float32")
        assert abs(statistics.mean(mine) - statistics.mean(other)) < 0.01


def main():
    program, packages_folder = sys.argv[1], pathlib.Path(sys.argv[2])
    packages.install(packages_folder, "ctranslate2==4.8.5", "sentencepiece")
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        run(program, "sample", "-o", folder / "sample", "--train-size", 8000, "--valid-size", 50, "--test-size", 1000)
        for name, flags in ARCHITECTURES.items():
            compare(program, folder / name, folder / "sample", "test", flags)
        multi30k = pathlib.Path(os.environ.get("DRAGOMAN_DATA", "/nowhere")) / "multi30k"
        if multi30k.is_dir():
            compare(program, folder / "multi30k", multi30k, "test_2016_flickr", [])


main()
