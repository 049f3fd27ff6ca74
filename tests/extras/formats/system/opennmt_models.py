"""Random models of OpenNMT-py, made by the onmt package, for checkpoints.py."""

import logging
import math
import sys
import types
import warnings

KIND = "OpenNMT-py"
PACKAGES = ("numpy", "sentencepiece==0.2.0", "pyyaml", "configargparse", "pyonmttok", "sacrebleu", "six", "rapidfuzz",
            "tensorboard", "flask", "waitress", "ctranslate2")
ALONE = ("OpenNMT-py==3.5.1",)
# Width, heads, layers of encoder and decoder, and further options.
MODELS = {
    "joint": (48, 4, 2, 3, dict(share_vocab=True, share_embeddings=True, share_decoder_embeddings=True)),
    "halves": (60, 5, 1, 2, dict(position_encoding_type="SinusoidalConcat", pos_ffn_activation_fn="gated-gelu",
                                 add_qkvbias=True, add_ffnbias=True, share_decoder_embeddings=True, norm_eps="1e-5")),
    "apart": (36, 2, 2, 1, dict(pos_ffn_activation_fn="silu", add_ffnbias=True)),
}
# What the package imports for transforms of text that these models do not use.
UNUSED = ("spacy", "ahocorasick", "fasttext")


def import_onmt():
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)
    for name in UNUSED:
        sys.modules.setdefault(name, types.ModuleType(name))
    import onmt.inputters.inputter
    import onmt.model_builder
    import onmt.models.model_saver
    import onmt.opts
    import onmt.translate.beam_search
    import onmt.translate.greedy_search
    import onmt.translate.translator
    import onmt.utils.parse  # noqa: F401
    return onmt


def options_of(onmt, width, heads, encoder_layers, decoder_layers, options):
    """As a training has them, with the defaults of the package."""
    words = {"data": "{}", "src_vocab": "none", "save_model": "none", "encoder_type": "transformer",
             "decoder_type": "transformer", "hidden_size": width, "word_vec_size": width, "heads": heads,
             "enc_layers": encoder_layers, "dec_layers": decoder_layers, "transformer_ff": 3 * width + 1,
             "position_encoding": True, "self_attn_type": "scaled-dot", **options}
    line = [str(word) for name, value in words.items() for word in ([f"-{name}"] if value is True else [f"-{name}", value])]
    parser = onmt.utils.parse.ArgumentParser()
    onmt.opts.train_opts(parser)
    opt = parser.parse_known_args(line)[0]
    parser.update_model_opts(opt)
    opt.transforms = ["sentencepiece", "filtertoolong"]
    opt.src_subword_model, opt.tgt_subword_model = "/elsewhere/en.model", "/elsewhere/de.model"
    return opt


class Model:
    """A model in a folder, which has the SentencePiece models en.model and de.model."""

    def __init__(self, folder, name):
        import pyonmttok
        import sentencepiece
        import torch
        self.onmt = onmt = import_onmt()
        width, heads, encoder_layers, decoder_layers, options = MODELS[name]
        opt = options_of(onmt, width, heads, encoder_layers, decoder_layers, options)
        self.tokenizers = {language: sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{language}.model"))
                           for language in ("en", "de")}
        self.vocabs = {"data_task": "seq2seq", "decoder_start_token": opt.decoder_start_token}
        for side, language in (("src", "en"), ("tgt", "de")):
            tokens = list(opt.default_specials)
            for other in ("en", "de") if opt.share_vocab else (language,):
                model = self.tokenizers[other]
                tokens += [model.id_to_piece(i) for i in range(3, len(model)) if i % 7 != 3]  # rare ones are not there
            tokens = list(dict.fromkeys(tokens))
            self.vocabs[side] = pyonmttok.build_vocab_from_tokens(tokens)
            self.vocabs[side].default_id = self.vocabs[side]["<unk>"]
        if opt.share_vocab:
            self.vocabs["tgt"] = self.vocabs["src"]
        torch.manual_seed(width)
        self.model = onmt.model_builder.build_base_model(opt, self.vocabs)
        self.fill(width)
        self.model.eval()
        saver = onmt.models.model_saver.ModelSaver(str(folder / "model"), self.model, opt, self.vocabs,
                                                   torch.optim.Adam(self.model.parameters()))
        self.path = saver._save(50, self.model)[0]
        for module in self.model.modules():
            if hasattr(module, "dropout_p"):
                module.dropout_p = 0.0
        scorer = onmt.translate.GNMTGlobalScorer(0.0, 0.0, "none", "none")
        self.translator = onmt.translate.translator.Translator(self.model, self.vocabs, global_scorer=scorer,
                                                               dump_beam="", beam_size=1)

    def fill(self, width):
        import torch
        for name, parameter in self.model.named_parameters():
            if "emb_luts" in name:
                parameter.normal_(std=1 / math.sqrt(width))
            elif "layer_norm" in name:
                parameter.add_(0.2 * torch.randn_like(parameter))
            elif name.endswith("bias"):
                parameter.normal_(std=0.2)
            elif "generator" in name:
                parameter.normal_(std=1 / math.sqrt(width))
            else:
                torch.nn.init.xavier_uniform_(parameter, gain=2)
        for piece in ("<blank>", "<s>"):  # so that they are never the best
            self.model.generator.bias[self.vocabs["tgt"][piece]] = -20

    def source(self, line):
        import torch
        pieces = self.tokenizers["en"].encode(line, out_type=str)
        ids = torch.tensor(self.vocabs["src"](pieces))[None, :, None]
        return ids, torch.tensor([ids.shape[1]])

    def log_probabilities(self, source, target):
        """Of each piece of the target, and of its end."""
        import torch
        pieces = self.tokenizers["de"].encode(target, out_type=str)
        ids = torch.tensor(self.vocabs["tgt"](["<s>", *pieces, "</s>"]))[None, :, None]
        src, length = self.source(source)
        output = self.model(src, ids, length)[0]
        log_probabilities = self.model.generator(output).double().log_softmax(-1)
        return log_probabilities.gather(-1, ids[:, 1:])[0, :, 0].tolist()

    def translate(self, line, longest, beam):
        src, length = self.source(line)
        vocabulary = self.vocabs["tgt"]
        options = dict(
            pad=vocabulary["<blank>"], bos=vocabulary["<s>"], eos=vocabulary["</s>"], unk=vocabulary["<unk>"],
            start=vocabulary[self.vocabs["decoder_start_token"]], n_best=1, batch_size=1, beam_size=beam,
            global_scorer=self.translator.global_scorer, min_length=0, block_ngram_repeat=0, exclusion_tokens=set(),
            return_attention=False, max_length=longest, ban_unk_token=True)
        if beam == 1:
            search = self.onmt.translate.greedy_search.GreedySearch(**options, sampling_temp=1.0, keep_topk=1, keep_topp=0.0)
        else:
            search = self.onmt.translate.beam_search.BeamSearch(**options, stepwise_penalty=False, ratio=0.0)
        results = self.translator._translate_batch_with_strategy({"src": src, "srclen": length}, search)
        pieces = [vocabulary.ids_to_tokens[i] for i in results["predictions"][0][0].tolist()]
        pieces = pieces[:-1] if pieces[-1:] == ["</s>"] else pieces
        return self.tokenizers["de"].decode(pieces) if pieces else ""


def make(folder, name):
    return Model(folder, name)
