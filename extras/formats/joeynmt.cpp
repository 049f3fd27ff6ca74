#include "extras/formats/import_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/pytorch_checkpoint.h"
#include "extras/formats/vocabulary_file.h"
#include "tokenizer/sentencepiece_model.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr double kJoeyNmtNormEpsilon = 1e-6;  // transformer_layers.py

/// Source: transformer_layers.py, decoders.py and embeddings.py.
constexpr NamePair kJoeyNmtNames[] = {
    {"embedding", "src_embed.lut"},
    {"embedding.source", "src_embed.lut"},
    {"embedding.target", "trg_embed.lut"},
    {"output", "decoder.output_layer"},
    {"encoder.layers.#.self_attention", "encoder.layers.#.src_src_att"},
    {"encoder.layers.#.self_attention_norm", "encoder.layers.#.layer_norm"},
    {"decoder.layers.#.self_attention", "decoder.layers.#.trg_trg_att"},
    {"decoder.layers.#.self_attention_norm", "decoder.layers.#.x_layer_norm"},
    {".cross_attention", ".src_trg_att"},
    {".cross_attention_norm", ".dec_layer_norm"},
    {".query", ".q_layer"},
    {".key", ".k_layer"},
    {".value", ".v_layer"},
    {".output", ".output_layer"},
    {".feed_forward.inner", ".feed_forward.pwff_layer.0"},
    {".feed_forward.outer", ".feed_forward.pwff_layer.3"},
    {".feed_forward_norm", ".feed_forward.layer_norm"},
    {".norm", ".layer_norm"},
};

constexpr ConfigOption kJoeyNmtConfig[] = {{"d-model", "model.*.hidden_size", 512},
                                           {"heads", "model.*.num_heads", 0},
                                           {"d-ff", "model.*.ff_size", 2048},
                                           {"encoder-layers", "model.encoder.num_layers", 0},
                                           {"decoder-layers", "model.decoder.num_layers", 0},
                                           {"attention-dropout", "model.encoder.dropout", 0},
                                           {"activation-dropout", "model.encoder.dropout", 0},
                                           {"dropout", "model.encoder.dropout", 0}};

constexpr const char* kFactor = "residual connections with a factor";
constexpr const char* kNormalised = "a text that is normalised before SentencePiece";
constexpr const char* kLowercased = "a text that is lowercased before SentencePiece";
constexpr Feature kJoeyNmtFeatures[] = {
    {"model.encoder.alpha", kFactor, 1},
    {"model.decoder.alpha", kFactor, 1},
    {"data.special_symbols.lang_tags", "a model of several languages, chosen by tags,"},
    {"data.special_symbols.sep_token", "a model with prompts"},
    {"data.src.lowercase", kLowercased},
    {"data.trg.lowercase", kLowercased},
    {"data.lowercase", kLowercased},
    {"data.src.normalize", kNormalised},
    {"data.trg.normalize", kNormalised},
};

/// The first pieces of a vocabulary, in this order.
constexpr std::array<const char*, 4> kJoeyNmtSpecials = {"<unk>", "<pad>", "<s>", "</s>"};
constexpr std::int64_t kStart = 2;

void check_joeynmt(const ForeignOptions& options) {
  for (const char* side : {"encoder", "decoder"})
    options.choice(join_text("model.", side, ".type"), "recurrent", {"transformer"});
  options.require("model.initializer",
                  options.text("model.initializer", "xavier_uniform") != "xavier_normal",
                  "xavier_normal gives residual connections a factor (DeepNet), which cannot be "
                  "imported");
  options.require_off(kJoeyNmtFeatures);
  for (const std::string side : {"data.src.", "data.trg."}) {
    options.choice(side + "level", options.text("data.level", "bpe"), {"bpe"});
    options.choice(side + "tokenizer_type", options.text(side + "bpe_type", "sentencepiece"),
                   {"sentencepiece"});
    options.choice(side + "tokenizer_cfg.pretokenizer", "none", {"none"});
  }
}

bool has_tied_embeddings(const ForeignOptions& options) {
  return options.flag("model.tied_embeddings", false);
}

/// `has_last_norm`: the model has a normalisation at the end, as all of version 1 have. That
/// version had no option for the place of normalisation.
ModelConfig joeynmt_config(const ForeignOptions& options, bool has_last_norm) {
  ModelConfig config;
  read_numbers(config, options, kJoeyNmtConfig);
  for (const char* side : {"encoder", "decoder"})
    options.require_integer(join_text("model.", side, ".embeddings.embedding_dim"), config.d_model,
                            "is not hidden_size");
  // If config.yaml does not say it, encoders of version 2 normalise before their sub-layers, but
  // not at the end, and decoders normalise after theirs.
  config.norm =
      options.choice("model.*.layer_norm", has_last_norm ? "pre" : "", {"pre", "post"}) == 0
          ? NormPosition::Before
          : NormPosition::After;
  constexpr Activation kActivations[] = {Activation::Relu, Activation::Gelu, Activation::Swish};
  config.activation =
      kActivations[options.choice("model.*.activation", "relu", {"relu", "gelu", "swish"})];
  config.norm_epsilon = kJoeyNmtNormEpsilon;
  config.tying = !options.flag("model.tied_softmax", false) ? Tying::None
                 : has_tied_embeddings(options)             ? Tying::ThreeWay
                                                            : Tying::TwoWay;
  return config;
}

/// If embeddings are tied, the decoder uses the encoder's.
bool has_scaled_embeddings(const ForeignOptions& options) {
  const char* side = has_tied_embeddings(options) ? "encoder" : "*";
  return options.flag(join_text("model.", side, ".embeddings.scale"), false);
}

DecodeDefaults joeynmt_defaults(const ForeignOptions& options) {
  const std::string alpha =
                        options.has("testing.beam_alpha") ? "testing.beam_alpha" : "testing.alpha",
                    length = "testing.max_output_length", ngrams = "testing.no_repeat_ngram_size";
  const double penalty = options.number(alpha, -1);
  DecodeDefaults defaults = {
      {"beam-size", options.setting("beam-size", "testing.beam_size", 1)},
      {"length-penalty",
       setting_text("length-penalty", penalty == -1 ? 0 : penalty, options.place(alpha))},
      {"length-penalty-kind", "gnmt"}};
  if (options.integer(length, -1) > 0)
    defaults["max-length"] = options.setting("max-length", length, 0);
  if (options.integer(ngrams, -1) > 0)
    defaults["no-repeat-ngram-size"] = options.setting("no-repeat-ngram-size", ngrams, 0);
  return defaults;
}

struct Files {
  fs::path folder, checkpoint;
};

Files find_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path.parent_path(), path};
  for (const char* name : {"best.ckpt", "latest.ckpt"})
    if (fs::exists(path / name)) return {path, path / name};
  throw Error(path.string(), ": has neither best.ckpt nor latest.ckpt; name the checkpoint");
}

ForeignVocabulary joeynmt_side(const ForeignOptions& options, const fs::path& folder, Side side) {
  const char* name = side == Side::Source ? "src" : "trg";
  const fs::path path = folder / (std::string(name) + "_vocab.txt");
  std::vector<std::string> pieces = read_vocabulary(path);
  for (std::size_t id = 0; id < kJoeyNmtSpecials.size(); ++id)
    if (pieces.size() <= id || pieces[id] != kJoeyNmtSpecials[id])
      throw Error(path.string(), ": line ", id + 1, " is not ", kJoeyNmtSpecials[id],
                  "; other special_symbols cannot be imported");
  const std::string model = options.text(join_text("data.", name, ".tokenizer_cfg.model_file"), "");
  ForeignVocabulary vocabulary = vocabulary_beside(folder, side, std::move(pieces), model);
  // JoeyNMT restricts SentencePiece to its vocabulary (tokenizers.py, set_vocab).
  vocabulary.sentencepiece =
      restricted_tokenizer(vocabulary.sentencepiece, vocabulary.pieces, vocabulary.file);
  return vocabulary;
}

}  // namespace

bool is_joeynmt(const fs::path& path) {
  if (!fs::is_directory(path))
    return path.extension() == ".ckpt" && fs::exists(path.parent_path() / "config.yaml");
  if (!fs::exists(path / "config.yaml")) return false;
  return std::ranges::any_of(fs::directory_iterator(path), [](const fs::directory_entry& entry) {
    return entry.path().extension() == ".ckpt";
  });
}

ForeignModel read_joeynmt(const fs::path& path) {
  const Files files = find_files(path);
  const std::string settings = (files.folder / "config.yaml").string();
  const ForeignOptions options = yaml_settings(settings, read_file(settings));
  check_joeynmt(options);
  const CheckpointFile file(files.checkpoint);
  const auto views = file.tensors(file.get("model_state", "checkpoint of JoeyNMT"));
  ForeignModel model;
  model.kind = "JoeyNMT";
  model.config = joeynmt_config(options, views.contains("encoder.layer_norm.weight"));
  if (has_scaled_embeddings(options))
    model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  model.source = joeynmt_side(options, files.folder, Side::Source);
  model.target = joeynmt_side(options, files.folder, Side::Target);
  settle_vocabularies(model, settings);
  check_config(model.config, options, kJoeyNmtConfig);
  model.search.defaults = joeynmt_defaults(options);
  ForeignTensors tensors(file.name(), views);
  tensors.ignore({"encoder.pe.pe", "decoder.pe.pe"});  // the sinusoids
  take_parameters(model, tensors, kJoeyNmtNames);
  start_with(model, kStart);
  return model;
}

}  // namespace dragoman
