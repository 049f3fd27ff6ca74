"""Random models of fairseq, made by fairseq's own modules, for checkpoints.py. fairseq 0.12.2 has no wheel, and its sources
are not for Python 3.11: they are imported with dataclasses whose defaults may be objects."""

import argparse
import dataclasses
import math

KIND = "fairseq"
PACKAGES = ("numpy", "sentencepiece", "omegaconf==2.3.0", "hydra-core==1.3.2", "regex", "bitarray", "sacrebleu", "cython",
            "packaging", "cffi", "tqdm", "requests")
ALONE = ("fairseq==0.12.2",)
# Width, heads, layers of encoder and decoder, and further options.
MODELS = {
    "post": (48, 4, 2, 3, dict(share_all_embeddings=True)),
    "pre": (60, 5, 1, 2, dict(encoder_normalize_before=True, decoder_normalize_before=True, activation_fn="gelu",
                              share_decoder_input_output_embed=True, no_scale_embedding=True)),
    "learned": (36, 2, 2, 1, dict(encoder_learned_pos=True, decoder_learned_pos=True, max_source_positions=90,
                                  max_target_positions=70)),
}


def import_fairseq():
    import torch  # noqa: F401 (before dataclasses change)
    dataclass = dataclasses.dataclass

    def with_hash(cls=None, /, **options):
        options["unsafe_hash"] = True
        return dataclass(**options) if cls is None else dataclass(cls, **options)

    dataclasses.dataclass = with_hash
    try:
        import fairseq.models.transformer
        import fairseq.sequence_generator  # noqa: F401
    finally:
        dataclasses.dataclass = dataclass
    return fairseq


def options_of(width, heads, encoder_layers, decoder_layers, options):
    from fairseq.models.transformer import base_architecture
    sizes = {}
    for side, layers in (("encoder", encoder_layers), ("decoder", decoder_layers)):
        sizes |= {f"{side}_embed_dim": width, f"{side}_attention_heads": heads, f"{side}_ffn_embed_dim": 3 * width + 1,
                  f"{side}_layers": layers}
    args = argparse.Namespace(arch="transformer", _name="transformer", source_lang="en", target_lang="de", task="translation",
                              **sizes, **options)
    base_architecture(args)
    return args


class Model:
    """A model in a folder, which has the SentencePiece models en.model and de.model."""

    def __init__(self, folder, name):
        import sentencepiece
        import torch
        fairseq = import_fairseq()
        width, heads, encoder_layers, decoder_layers, options = MODELS[name]
        args = options_of(width, heads, encoder_layers, decoder_layers, options)
        args.max_source_positions = options.get("max_source_positions", 1024)
        args.max_target_positions = options.get("max_target_positions", 1024)
        self.tokenizers = {language: sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{language}.model"))
                           for language in ("en", "de")}
        self.dictionaries = {}
        for language in ("en", "de"):
            dictionary = fairseq.data.Dictionary()
            for other in ("en", "de") if args.share_all_embeddings else (language,):
                model = self.tokenizers[other]
                for i in range(3, len(model)):
                    if i % 7 != 3:  # pieces that the training text did not have
                        dictionary.add_symbol(model.id_to_piece(i), 1000 - i)
            dictionary.finalize(padding_factor=8)
            dictionary.save(str(folder / f"dict.{language}.txt"))
            self.dictionaries[language] = fairseq.data.Dictionary.load(str(folder / f"dict.{language}.txt"))
        torch.manual_seed(width)
        task = argparse.Namespace(source_dictionary=self.dictionaries["en"], target_dictionary=self.dictionaries["de"])
        self.model = fairseq.models.transformer.TransformerModel.build_model(args, task)
        self.fill(args, width)
        self.model.eval()
        self.generator = fairseq.sequence_generator.SequenceGenerator(
            [self.model], self.dictionaries["de"], beam_size=1, max_len_a=0, max_len_b=40, unk_penalty=1e9,
            symbols_to_strip_from_output=set())
        self.generator.len_penalty = 1.0 if name == "pre" else 0.6  # "pre" says nothing of its search
        self.path = folder if name != "pre" else folder / "averaged.pt"
        cfg = {"model": args, "task": {"_name": "translation", "source_lang": "en", "target_lang": "de"},
               "bpe": {"_name": "sentencepiece", "sentencepiece_model": "/elsewhere/spm.model"}, "tokenizer": None,
               "generation": {"beam": 4, "lenpen": 0.6}}
        # "pre" is as version 0.9 saves it.
        options = {"args": args} if name == "pre" else {"args": None, "cfg": cfg}
        torch.save({**options, "model": self.model.state_dict(), "extra_state": {"epoch": 1}},
                   folder / ("averaged.pt" if name == "pre" else "checkpoint_best.pt"))

    def fill(self, args, width):
        import torch
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                if name.endswith("bias") or "layer_norm" in name:
                    parameter += 0.2 * torch.randn_like(parameter)
                elif "embed_positions" in name:
                    parameter.normal_(std=0.5)
                elif "embed" not in name:
                    is_strong = "q_proj" in name or "encoder_attn" in name  # so that translations differ
                    parameter *= 4 if is_strong and not args.encoder_normalize_before else 2
            for stack in (self.model.encoder, self.model.decoder):
                stack.embed_tokens.weight.normal_(std=1 if args.no_scale_embedding else 1 / math.sqrt(width))
                stack.embed_tokens.weight[1] = 0
            self.model.decoder.output_projection.weight[0] = 0  # so that <s> is never the best

    def ids(self, language, line):
        pieces = self.tokenizers[language].encode(line, out_type=str)
        return self.dictionaries[language].encode_line(" ".join(pieces), add_if_not_exist=False).long()[None]

    def log_probabilities(self, source, target):
        """Of each piece of the target, and of its end."""
        import torch
        source, ids = self.ids("en", source), self.ids("de", target)
        given = torch.cat([torch.tensor([[2]]), ids[:, :-1]], 1)
        logits = self.model(source, torch.tensor([source.shape[1]]), given)[0]
        return logits.double().log_softmax(-1).gather(-1, ids[..., None])[0, :, 0].tolist()

    def translate(self, line, longest, beam):
        import torch
        source = self.ids("en", line)
        sample = {"net_input": {"src_tokens": source, "src_lengths": torch.tensor([source.shape[1]])}}
        self.generator.max_len_b, self.generator.beam_size = longest - 1, beam  # without </s>
        ids = self.generator.generate([self.model], sample)[0][0]["tokens"]
        pieces = self.dictionaries["de"].string(ids).split()
        return self.tokenizers["de"].decode(pieces) if pieces else ""


def make(folder, name):
    return Model(folder, name)
