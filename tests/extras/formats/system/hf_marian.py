"""Models of Hugging Face's MarianMTModel in both directions, beside the transformers package: random models of odd shapes
whose vocabularies lack pieces of the tokenizers and the other way round, with one vocabulary and with two, and models of
ours, trained on the sample corpus. Pieces and log-probabilities must be theirs, translations in 999 of 1,000 lines of all
models together, and a model that goes out and in again must have the same bits. Exits with 77 (skipped) if pip cannot
install the package.

Usage: hf_marian.py PROGRAM PACKAGES PRINT_PIECES
"""

import functools
import io
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import fine_tuning
from fine_tuning import run

sys.path.append(str(pathlib.Path(__file__).parents[3] / "system"))
import packages

sys.path.append(str(pathlib.Path(__file__).parents[3]))
from names import names  # noqa: E402

LONGEST = 60
BATCH = 50  # lines that transformers translates at a time


@functools.cache
def sentencepiece_model(text, size, character_coverage):
    import sentencepiece
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(input=str(text), vocab_size=size, minloglevel=2, model_writer=model,
                                             character_coverage=character_coverage)
    return model.getvalue()


def train_sentencepiece(path, text, size, character_coverage=0.99):
    """Returns its pieces without the marks."""
    import sentencepiece
    path.with_suffix(".spm").write_bytes(sentencepiece_model(text, size, character_coverage))
    model = sentencepiece.SentencePieceProcessor(model_file=str(path.with_suffix(".spm")))
    return {model.id_to_piece(i) for i in range(3, len(model))}


def make_vocabulary(folder, corpus, size, is_joint):
    """SentencePiece models of both sides, and a vocabulary in another order that has most of their pieces, and a tag; or one
    for each side."""
    source, target = (train_sentencepiece(folder / side, corpus / f"train.{language}", size)
                      for side, language in (("source", "en"), ("target", "de")))
    vocabularies = {"vocab.json": source | target} if is_joint else {"vocab.json": source, "target_vocab.json": target}
    for name, pieces in vocabularies.items():
        pieces = sorted(pieces)
        random.Random(size).shuffle(pieces)
        pieces = ["</s>", "<unk>", *pieces[20:], ">>deu<<", "<pad>"]
        (folder / name).write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"separate_vocabs": not is_joint}))
    return len(pieces)


def make_random_model(folder, corpus, d_model, heads, activation, layers, is_lively, is_joint=True):
    """If it is lively, its pieces change and some translations end, but its numbers are large, and so is their rounding."""
    import torch
    import transformers
    folder.mkdir()
    size = make_vocabulary(folder, corpus, 300 + d_model, is_joint)
    torch.manual_seed(d_model)
    config = transformers.MarianConfig(
        vocab_size=size, d_model=d_model, share_encoder_decoder_embeddings=is_joint, encoder_layers=layers,
        decoder_layers=1, encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=3 * d_model + 1, decoder_ffn_dim=3 * d_model + 1,
        activation_function=activation, scale_embedding=True, pad_token_id=size - 1, decoder_start_token_id=size - 1,
        eos_token_id=0, bos_token_id=0, forced_eos_token_id=0, max_position_embeddings=512,
        static_position_embeddings=True, init_std=0.08)
    model = transformers.MarianMTModel(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias") or "layer_norm" in name:
                parameter += 0.1 * torch.randn_like(parameter)
            elif is_lively and "embed_positions" not in name:
                parameter *= 2 if "shared" in name or "embed_tokens" in name else 8
        model.final_logits_bias[:, :-1] += 0.5 * torch.randn_like(model.final_logits_bias[:, :-1])
        model.final_logits_bias[:, 0] += 2.5
        model.final_logits_bias[:, 1] = -30  # <unk>, which we never produce
        model.get_decoder().embed_tokens.weight[-1] = 0
    # <pad>, and the tag, which transformers joins to the text
    model.generation_config.bad_words_ids = [[size - 1], [size - 2]]
    model.save_pretrained(folder)


def load(folder):
    """In float64: the rounding of float32 turns beams of transformers, too, which then differ from its own of float64."""
    import transformers
    return (transformers.MarianTokenizer.from_pretrained(folder),
            transformers.MarianMTModel.from_pretrained(folder).double().eval())


def random_lines(vocabulary, count):
    """Of pieces, letters of several scripts, signs and spaces; some begin with a tag. Neither </s> nor <unk>, which transformers
    takes for the pieces if a text has them; Marian takes them for text."""
    draw = random.Random(len(vocabulary))
    signs = [*(piece for piece in vocabulary if "<" not in piece), *map(chr, range(33, 127)),
             *"\u00e4\u00df\u0416\u4f60\u597d\u0639\u0651\u0301\ufb01\uff21\u2026\u00bd\U0001f600 \u00a0\u3000\u200b\t\u2581", "  "]
    lines = ["".join(draw.choice(signs) for _ in range(draw.randint(1, 12))).replace("\u2581", draw.choice((" ", "\u2581")))
             for _ in range(count)]
    return [(">>deu<< " if i % 9 == 0 else "") + line for i, line in enumerate(lines)]


def same_pieces(print_pieces, folder, model_file, lines):
    """The tokenizer in our model file gives each line the numbers that MarianTokenizer gives it."""
    import transformers
    from safetensors import safe_open
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    with safe_open(model_file, "np") as file:
        (folder / "ours.spm").write_bytes(file.get_tensor("tokenizer.source").tobytes())
    ours = run(print_pieces, folder / "ours.spm", text="\n".join(lines) + "\n").split("\n")[:-1]
    assert len(ours) == len(lines)
    unlike = [(line, numbers) for line, numbers in zip(lines, ours)
              if list(map(int, numbers.split())) != theirs(line).input_ids[:-1]]
    print(f"{folder.name}: {len(lines) - len(unlike)} of {len(lines)} lines have the same pieces", flush=True)
    assert not unlike, [(line, numbers, theirs(line).input_ids, theirs.tokenize(line)) for line, numbers in unlike[:3]]


def same_log_probabilities(program, folder, model_file, sources, targets):
    import torch
    tokenizer, model = load(folder)
    pad = model.config.pad_token_id

    def log_probabilities(source, target):
        given = tokenizer([source], return_tensors="pt")
        ids = tokenizer(text_target=[target], return_tensors="pt").input_ids
        with torch.no_grad():
            logits = model(**given, decoder_input_ids=torch.cat([torch.tensor([[pad]]), ids[:, :-1]], 1)).logits.double()
        logits[..., pad] = -1e9  # never produced
        return logits.log_softmax(-1).gather(-1, ids[..., None])[0, :, 0].tolist()

    fine_tuning.same_log_probabilities(program, folder, model_file, sources, targets, log_probabilities)


class Tally:
    """Of the translations of all models. A line that only rounding decides may differ."""
    equal = lines = 0

    @classmethod
    def add(cls, name, ours, theirs):
        assert len(ours) == len(theirs)
        equal = sum(a.strip() == b.strip() for a, b in zip(ours, theirs))
        print(f"{name}: {equal} of {len(theirs)} translations equal", flush=True)
        assert equal >= 0.99 * len(theirs)
        cls.equal, cls.lines = cls.equal + equal, cls.lines + len(theirs)


def same_translations(program, folder, model_file, lines, length_penalty=1.0):
    """With beam 1, 4 and 6."""
    import torch
    tokenizer, model = load(folder)
    for beam in (1, 4, 6):
        theirs = []
        with torch.no_grad():
            for i in range(0, len(lines), BATCH):
                ids = model.generate(**tokenizer(lines[i:i + BATCH], return_tensors="pt", padding=True), num_beams=beam,
                                     max_length=LONGEST, early_stopping=False, length_penalty=length_penalty)
                theirs += tokenizer.batch_decode(ids, skip_special_tokens=True)
        ours = run(program, "translate", "-m", model_file, "--beam-size", beam, "--stop", "hf", "--max-length", LONGEST - 1,
                   "--max-length-ratio", 100, "--split-sentences", "never", "--length-penalty", length_penalty,
                   text="\n".join(lines) + "\n").split("\n")[:-1]
        Tally.add(f"{folder.name}, beam {beam}", ours, theirs)


def same_search_by_default(program, folder, lines):
    """The folder says how to search, and neither program is told."""
    import torch
    settings = json.loads((folder / "generation_config.json").read_text())
    padding = settings["pad_token_id"]
    settings |= {"num_beams": 4, "length_penalty": 0.7, "repetition_penalty": 1.3, "min_length": 7, "max_new_tokens": 30,
                 "no_repeat_ngram_size": 3, "early_stopping": False, "max_time": 1e6, "suppress_tokens": [10, 11, 12, padding]}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    tokenizer, model = load(folder)
    theirs = []
    with torch.no_grad():
        for i in range(0, len(lines), BATCH):
            ids = model.generate(**tokenizer(lines[i:i + BATCH], return_tensors="pt", padding=True))
            theirs += tokenizer.batch_decode(ids, skip_special_tokens=True)
    model_file = folder.with_suffix(".by-default.safetensors")
    imported = subprocess.run([program, "import", folder, "-o", model_file], capture_output=True, text=True)
    assert imported.returncode == 0 and re.search(names("generation_config.json ... max_time"), imported.stderr), imported
    ours = run(program, "translate", "-m", model_file, "--split-sentences", "never",
               text="\n".join(lines) + "\n").split("\n")[:-1]
    Tally.add(f"{folder.name}, as the folder says", ours, theirs)


def same_bits_of_older_files(program, folder, model_file):
    """pytorch_model.bin as torch.save writes it, in both forms, and in float16."""
    import torch
    _, model = load(folder)
    weights = folder / "model.safetensors"
    run(program, "import", folder, "-o", model_file)
    for name, is_half, is_zip in (("zip", False, True), ("old", False, False), ("half", True, True), ("old half", True, False)):
        state = (model.half() if is_half else model).state_dict()
        if is_half:
            model.save_pretrained(folder)  # its float16 in safetensors
            run(program, "import", folder, "-o", model_file)
        hidden = weights.rename(folder / "hidden")
        torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=is_zip)
        again = folder / "again.safetensors"
        run(program, "import", folder, "-o", again)
        same_bits(model_file, again)
        hidden.rename(weights)
        (folder / "pytorch_model.bin").unlink()
        print(f"{folder.name}: the same bits from pytorch_model.bin ({name})", flush=True)


def same_bits(model_file, again):
    from safetensors import safe_open
    with safe_open(model_file, "np") as one, safe_open(again, "np") as other:
        names = [name for name in one.keys() if not name.startswith(("training.", "tokenizer."))]
        assert names and set(names) == {name for name in other.keys() if not name.startswith("tokenizer.")}
        for name in names:
            assert one.get_tensor(name).tobytes() == other.get_tensor(name).tobytes(), name


def same_bits_after_a_round_trip(program, model_file, folder):
    """Out and in again: every tensor, the configuration and the search."""
    run(program, "export", "--format", "hf-marian", model_file, folder)
    again = folder.with_suffix(".safetensors")
    run(program, "import", folder, "-o", again)
    same_bits(model_file, again)


def train(program, corpus, folder, *flags):
    run(program, "train", "-o", folder, "--preset", "tiny", "--train-src", corpus / "train.en", "--train-tgt",
        corpus / "train.de", "--d-model", 64, "--heads", 4, "--d-ff", 128, "--encoder-layers", 2, "--decoder-layers", 2,
        "--norm", "after", "--activation", "swish", "--output-bias", "--warmup-updates", 100, "--lr", "2e-3", "--threads", 1,
        "--max-tokens", 1000, "--valid-fraction", 0, *flags)
    return folder / "model.safetensors"


def compare_ours(program, model_file, folder, sources, targets):
    """Our model as transformers loads it."""
    same_bits_after_a_round_trip(program, model_file, folder)
    same_log_probabilities(program, folder, model_file, sources[:200], targets[:200])
    same_translations(program, folder, folder.with_suffix(".safetensors"), sources)


def odd_lines(sources):
    lines = list(sources)
    lines[0] = ">>deu<< " + lines[0]
    lines[1] = "\u732b \u00dcn\u00ef " + lines[1]
    lines[2] = "  two  spaces \u2014 \u201cquotes\u201d "
    return lines


def main():
    program, packages_folder, print_pieces = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    packages.install_torch(packages_folder)
    packages.install(packages_folder, "transformers==5.24.0", "sentencepiece", "numpy")
    import torch
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        corpus = folder / "sample"
        run(program, "sample", "-o", corpus, "--train-size", 8000, "--valid-size", 50, "--test-size", 1000)
        sources = odd_lines((corpus / "test.en").read_text().splitlines())
        targets = (corpus / "test.de").read_text().splitlines()
        for d_model, heads, activation, layers in ((64, 4, "swish", 3), (50, 5, "relu", 1), (96, 2, "gelu", 2)):
            theirs = folder / f"quiet-{activation}"
            make_random_model(theirs, corpus, d_model, heads, activation, layers, False)
            run(program, "import", theirs, "-o", folder / "in.safetensors")
            same_log_probabilities(program, theirs, folder / "in.safetensors", sources[:200], targets[:200])
            fine_tuning.fine_tune(program, folder / "in.safetensors", corpus, folder / f"fine-tuned-{activation}")
            vocabulary = list(json.loads((theirs / "vocab.json").read_text()))
            lines = odd_lines((corpus / "train.en").read_text().splitlines()[:1000]) + random_lines(vocabulary, 5000)
            same_pieces(print_pieces, theirs, folder / "in.safetensors", lines)
            theirs = folder / f"lively-{activation}"
            make_random_model(theirs, corpus, d_model, heads, activation, layers, True)
            run(program, "import", theirs, "-o", folder / "in.safetensors")
            same_bits_after_a_round_trip(program, folder / "in.safetensors", folder / f"again-{activation}")
            same_translations(program, theirs, folder / "in.safetensors", sources[3:203], 0.6)
            same_search_by_default(program, theirs, sources[3:203])
        fine_tuning.use(program, folder / "in.safetensors", corpus, folder / "use")
        same_bits_of_older_files(program, folder / "quiet-relu", folder / "in.safetensors")
        for name, is_lively in (("quiet-two", False), ("lively-two", True)):
            make_random_model(folder / name, corpus, 64, 4, "swish", 1, is_lively, False)
            run(program, "import", folder / name, "-o", folder / "in.safetensors")
            if not is_lively:
                same_log_probabilities(program, folder / name, folder / "in.safetensors", sources[3:103], targets[3:103])
        same_bits_after_a_round_trip(program, folder / "in.safetensors", folder / "two-again")
        same_translations(program, folder / "lively-two", folder / "in.safetensors", sources[3:203], 0.6)
        model_file = train(program, corpus, folder / "run", "--vocab-size", 500, "--max-updates", 600)
        compare_ours(program, model_file, folder / "ours", sources[3:], targets[3:])
        for source, target, tying in ((300, 420, "two-way"), (420, 300, "none")):
            flags = []
            for side, language, size in (("tokenizer", "en", source), ("target-tokenizer", "de", target)):
                path = folder / f"{side}-{size}"
                train_sentencepiece(path, corpus / f"train.{language}", size, 1.0)  # we never produce <unk>
                flags += [f"--{side}", path.with_suffix(".spm")]
            model_file = train(program, corpus, folder / f"run-{tying}", *flags, "--tying", tying, "--max-updates", 200)
            compare_ours(program, model_file, folder / f"ours-{tying}", sources[3:103], targets[3:103])
    print(f"{Tally.equal} of {Tally.lines} translations of all models are equal")
    assert Tally.equal >= 0.999 * Tally.lines


main()
