"""Random models of JoeyNMT, made by the joeynmt package, for checkpoints.py."""

import json
import logging
import math
import pathlib

import yaml

KIND = "JoeyNMT"
PACKAGES = ("numpy", "sentencepiece==0.2.0", "pyyaml", "importlib_metadata", "subword-nmt", "sacrebleu", "tensorboard",
            "matplotlib", "pandas", "packaging", "six")
ALONE = ("joeynmt==2.3.0",)
# Width, heads, layers of encoder and decoder, and further options.
MODELS = {
    "pre": (48, 4, 2, 3, dict(layer_norm="pre", activation="relu", scale=True, tied_embeddings=True, tied_softmax=True)),
    "post": (50, 5, 1, 2, dict(layer_norm="post", activation="gelu", scale=False, tied_embeddings=False, tied_softmax=True)),
    "apart": (36, 2, 2, 1, dict(layer_norm="post", activation="swish", scale=True, tied_embeddings=False, tied_softmax=False)),
}


def config_of(folder, width, heads, encoder_layers, decoder_layers, options):
    stack = {"type": "transformer", "num_heads": heads, "hidden_size": width, "ff_size": 3 * width + 1, "dropout": 0.1,
             "embeddings": {"embedding_dim": width, "scale": options["scale"], "dropout": 0.1},
             "layer_norm": options["layer_norm"], "activation": options["activation"]}
    side = {"level": "bpe", "tokenizer_type": "sentencepiece", "lowercase": False, "normalize": False}
    return {
        "name": "test", "model_dir": str(folder), "joeynmt_version": "2.3.0", "use_cuda": False,
        "data": {"src": {"lang": "en", "tokenizer_cfg": {"model_file": str(folder / "en.model")}, **side},
                 "trg": {"lang": "de", "tokenizer_cfg": {"model_file": str(folder / "de.model")}, **side},
                 "special_symbols": {}},
        "testing": {"beam_size": 1, "beam_alpha": 1.0},
        "training": {"batch_size": 8},
        "model": {"initializer": "xavier_uniform", "tied_embeddings": options["tied_embeddings"],
                  "tied_softmax": options["tied_softmax"], "encoder": {**stack, "num_layers": encoder_layers},
                  "decoder": {**stack, "num_layers": decoder_layers}}}


def vocabulary_lines(path, is_joint, languages):
    """The pieces that JoeyNMT finds in the training text, without the rarest: the tokenizer must not cut text into those."""
    import sentencepiece
    pieces = set()
    for language in languages if is_joint else [path.stem]:
        model = sentencepiece.SentencePieceProcessor(model_file=str(path.parent / f"{language}.model"))
        pieces |= {model.id_to_piece(i) for i in range(3, len(model))}
    pieces = sorted(pieces)
    return ["<unk>", "<pad>", "<s>", "</s>", *(piece for i, piece in enumerate(pieces) if i % 7 != 3)]


class Model:
    """A model in a folder, which has the SentencePiece models en.model and de.model."""

    def __init__(self, folder, name):
        import torch
        logging.disable(logging.INFO)
        from joeynmt.config import parse_global_args
        from joeynmt.model import build_model
        from joeynmt.tokenizers import build_tokenizer
        from joeynmt.vocabulary import build_vocab
        width, heads, encoder_layers, decoder_layers, options = MODELS[name]
        config = config_of(folder, width, heads, encoder_layers, decoder_layers, options)
        (folder / "config.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(config))))  # without aliases
        for language, side in (("en", "src"), ("de", "trg")):
            lines = vocabulary_lines(folder / language, options["tied_embeddings"], ("en", "de"))
            (folder / f"{side}_vocab.txt").write_text("\n".join(lines) + "\n")
        settings = parse_global_args(config, rank=0, mode="translate")
        source, target = build_vocab(settings.data, model_dir=folder)
        torch.manual_seed(width)
        self.model = build_model(settings.model, src_vocab=source, trg_vocab=target)
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if name.endswith("bias") or "layer_norm" in name:
                    parameter += 0.2 * torch.randn_like(parameter)
                elif "lut" not in name:
                    parameter *= 2
            for embedding in (self.model.src_embed, self.model.trg_embed):
                embedding.lut.weight.normal_(std=1 / math.sqrt(width) if options["scale"] else 1)
                embedding.lut.weight[source.pad_index] = 0
            self.model.decoder.output_layer.weight[source.pad_index] = 0  # so that <pad> is never the best
        self.model.eval()
        torch.save({"model_state": self.model.state_dict()}, folder / "best.ckpt")
        self.path = folder
        tokenizers = build_tokenizer(settings.data)
        self.source, self.target = (tokenizers["en"], source), (tokenizers["de"], target)
        for tokenizer, vocabulary in (self.source, self.target):
            tokenizer.set_vocab(vocabulary)

    def ids(self, side, line):
        tokenizer, vocabulary = side
        return [vocabulary.lookup(piece) for piece in tokenizer(line)] + [vocabulary.eos_index]

    def encode(self, line):
        import torch
        source = torch.tensor([self.ids(self.source, line)])
        mask = torch.ones(1, 1, source.shape[1], dtype=torch.bool)
        output, hidden = self.model._encode(source, torch.tensor([source.shape[1]]), mask)
        return output, hidden, mask

    def log_probabilities(self, source, target):
        """Of each piece of the target, and of its end."""
        import torch
        ids = torch.tensor([self.ids(self.target, target)])
        output, hidden, mask = self.encode(source)
        given = torch.cat([torch.tensor([[self.target[1].bos_index]]), ids[:, :-1]], 1)
        logits = self.model._decode(output, hidden, mask, given, 0, None,
                                    trg_mask=torch.ones(1, 1, given.shape[1], dtype=torch.bool))[0]
        return logits.double().log_softmax(-1).gather(-1, ids[..., None])[0, :, 0].tolist()

    def translate(self, line, longest, beam):
        import torch
        from joeynmt.search import beam_search, greedy
        output, hidden, mask = self.encode(line)
        options = dict(src_mask=mask, max_output_length=longest, model=self.model, encoder_output=output, encoder_hidden=hidden,
                       generate_unk=False, return_prob="none", min_output_length=0)
        ids = greedy(**options)[0] if beam == 1 else beam_search(**options, beam_size=beam, alpha=1.0, n_best=1)[0]
        tokenizer, vocabulary = self.target
        pieces = vocabulary.arrays_to_sentences(ids, cut_at_eos=True)[0]
        ends = pieces[-1:] == ["</s>"]
        pieces = pieces[:-1] if ends else pieces
        return tokenizer.spm.decode(pieces) if pieces else ""


def make(folder, name):
    return Model(pathlib.Path(folder), name)
