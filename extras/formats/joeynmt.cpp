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
    {"embedding.", "src_embed.lut."},
    {"embedding.source.", "src_embed.lut."},
    {"embedding.target.", "trg_embed.lut."},
    {"output.", "decoder.output_layer."},
    {"encoder.layers.#.self_attention.query.", "encoder.layers.#.src_src_att.q_layer."},
    {"encoder.layers.#.self_attention.key.", "encoder.layers.#.src_src_att.k_layer."},
    {"encoder.layers.#.self_attention.value.", "encoder.layers.#.src_src_att.v_layer."},
    {"encoder.layers.#.self_attention.output.", "encoder.layers.#.src_src_att.output_layer."},
    {"encoder.layers.#.self_attention_norm.", "encoder.layers.#.layer_norm."},
    {"encoder.layers.#.feed_forward.inner.", "encoder.layers.#.feed_forward.pwff_layer.0."},
    {"encoder.layers.#.feed_forward.outer.", "encoder.layers.#.feed_forward.pwff_layer.3."},
    {"encoder.layers.#.feed_forward_norm.", "encoder.layers.#.feed_forward.layer_norm."},
    {"encoder.norm.", "encoder.layer_norm."},
    {"decoder.layers.#.self_attention.query.", "decoder.layers.#.trg_trg_att.q_layer."},
    {"decoder.layers.#.self_attention.key.", "decoder.layers.#.trg_trg_att.k_layer."},
    {"decoder.layers.#.self_attention.value.", "decoder.layers.#.trg_trg_att.v_layer."},
    {"decoder.layers.#.self_attention.output.", "decoder.layers.#.trg_trg_att.output_layer."},
    {"decoder.layers.#.self_attention_norm.", "decoder.layers.#.x_layer_norm."},
    {"decoder.layers.#.cross_attention.query.", "decoder.layers.#.src_trg_att.q_layer."},
    {"decoder.layers.#.cross_attention.key.", "decoder.layers.#.src_trg_att.k_layer."},
    {"decoder.layers.#.cross_attention.value.", "decoder.layers.#.src_trg_att.v_layer."},
    {"decoder.layers.#.cross_attention.output.", "decoder.layers.#.src_trg_att.output_layer."},
    {"decoder.layers.#.cross_attention_norm.", "decoder.layers.#.dec_layer_norm."},
    {"decoder.layers.#.feed_forward.inner.", "decoder.layers.#.feed_forward.pwff_layer.0."},
    {"decoder.layers.#.feed_forward.outer.", "decoder.layers.#.feed_forward.pwff_layer.3."},
    {"decoder.layers.#.feed_forward_norm.", "decoder.layers.#.feed_forward.layer_norm."},
    {"decoder.norm.", "decoder.layer_norm."},
};

constexpr NamePair kJoeyNmtKeys[] = {{"d-model", "model.encoder.hidden_size"},
                                     {"heads", "model.encoder.num_heads"},
                                     {"d-ff", "model.encoder.ff_size"},
                                     {"encoder-layers", "model.encoder.num_layers"},
                                     {"decoder-layers", "model.decoder.num_layers"},
                                     {"attention-dropout", "model.encoder.dropout"},
                                     {"activation-dropout", "model.encoder.dropout"},
                                     {"dropout", "model.encoder.dropout"}};

/// The first pieces of a vocabulary, in this order.
constexpr std::array<const char*, 4> kJoeyNmtSpecials = {"<unk>", "<pad>", "<s>", "</s>"};
constexpr std::int64_t kStart = 2;

class Settings {
 public:
  explicit Settings(const fs::path& path)
      : options_(yaml_settings(path.string(), read_file(path))) {
    check_model();
    check_special_symbols();
    for (const char* side : {"src", "trg"}) check_text(std::string("data.") + side);
  }

  const ForeignOptions& options() const { return options_; }

  /// `has_last_norm`: the model has a normalisation at the end, as all of version 1 have. That
  /// version had no option for the place of normalisation.
  ModelConfig config(bool has_last_norm) const {
    ModelConfig config;
    config.d_model = of_both_integer("hidden_size", 512);
    need_width("encoder", config.d_model);
    need_width("decoder", config.d_model);
    config.d_ff = of_both_integer("ff_size", 2048);
    config.heads = of_both_integer("num_heads", 0);
    config.encoder_layers = options_.integer("model.encoder.num_layers", 0);
    config.decoder_layers = options_.integer("model.decoder.num_layers", 0);
    config.norm = norm(has_last_norm);
    config.activation = activation();
    config.norm_epsilon = kJoeyNmtNormEpsilon;
    config.dropout = config.attention_dropout = config.activation_dropout =
        options_.number("model.encoder.dropout", 0);
    config.tying = tying();
    return config;
  }

  bool has_scale() const {
    const bool encoder = options_.flag("model.encoder.embeddings.scale", false);
    // If embeddings are tied, the decoder uses the encoder's.
    if (is_tied() || options_.flag("model.decoder.embeddings.scale", false) == encoder)
      return encoder;
    throw Error(options_.file(), ": model.decoder.embeddings.scale: is not that of the encoder");
  }

  DecodeDefaults decode_defaults() const {
    DecodeDefaults defaults;
    const auto whole = [&](const char* flag, const char* key, std::int64_t otherwise) {
      const std::string name = join_text("testing.", key);
      defaults[flag] = setting_text(flag, options_.integer(name, otherwise), options_.place(name));
    };
    whole("beam-size", "beam_size", 1);
    const char* alpha = options_.has("testing.beam_alpha") ? "testing.beam_alpha" : "testing.alpha";
    const double penalty = options_.number(alpha, -1);
    defaults["length-penalty"] =
        setting_text("length-penalty", penalty == -1 ? 0 : penalty, options_.place(alpha));
    defaults["length-penalty-kind"] = "gnmt";
    if (options_.integer("testing.max_output_length", -1) > 0)
      whole("max-length", "max_output_length", 0);
    if (options_.integer("testing.no_repeat_ngram_size", -1) > 0)
      whole("no-repeat-ngram-size", "no_repeat_ngram_size", 0);
    return defaults;
  }

 private:
  void check_model() const {
    for (const char* side : {"encoder", "decoder"}) {
      const std::string name = join_text("model.", side, ".");
      const std::string type = options_.text(name + "type", "recurrent");
      options_.require(name + "type", type == "transformer",
                       join_text("\"", type, "\" cannot be imported; transformer can"));
      options_.require(name + "alpha", options_.number(name + "alpha", 1) == 1,
                       "residual connections with a factor cannot be imported");
    }
    options_.require("model.initializer",
                     options_.text("model.initializer", "xavier_uniform") != "xavier_normal",
                     "xavier_normal gives residual connections a factor (DeepNet), which cannot be "
                     "imported");
  }

  void check_special_symbols() const {
    const std::string name = "data.special_symbols.";
    options_.require(name + "lang_tags", options_.list(name + "lang_tags").empty(),
                     "models of several languages, chosen by tags, cannot be imported");
    options_.require(name + "sep_token", options_.text(name + "sep_token", "").empty(),
                     "models with prompts cannot be imported");
  }

  /// Refuses changes to a text before SentencePiece.
  void check_text(const std::string& side) const {
    const std::string level = options_.text(side + ".level", options_.text("data.level", "bpe"));
    options_.require(side + ".level", level == "bpe",
                     join_text("\"", level, "\": only pieces of SentencePiece can be made here"));
    const std::string type =
        options_.text(side + ".tokenizer_type", options_.text(side + ".bpe_type", "sentencepiece"));
    options_.require(side + ".tokenizer_type", type == "sentencepiece",
                     join_text("\"", type, "\": only pieces of SentencePiece can be made here"));
    const bool is_lower =
        options_.flag(side + ".lowercase", false) || options_.flag("data.lowercase", false);
    options_.require(side + ".lowercase", !is_lower,
                     "a text that is lowercased before SentencePiece cannot be imported");
    options_.require(side + ".normalize", !options_.flag(side + ".normalize", false),
                     "a text that is normalised before SentencePiece cannot be imported");
    const std::string name = side + ".tokenizer_cfg.pretokenizer";
    options_.require(name, options_.text(name, "none") == "none",
                     "words that another program has cut cannot be imported");
  }

  std::int64_t of_both_integer(const std::string& name, std::int64_t otherwise) const {
    const std::int64_t value = options_.integer("model.encoder." + name, otherwise);
    options_.require("model.decoder." + name,
                     options_.integer("model.decoder." + name, otherwise) == value,
                     "is not that of the encoder");
    return value;
  }

  void need_width(const std::string& side, std::int64_t d_model) const {
    const std::string name = "model." + side + ".embeddings.embedding_dim";
    options_.require(name, options_.integer(name, d_model) == d_model, "is not hidden_size");
  }

  /// If config.yaml does not say it, encoders of version 2 normalise before their sub-layers, but
  /// not at the end, and decoders normalise after theirs.
  NormPosition norm(bool has_last_norm) const {
    const char* otherwise = has_last_norm ? "pre" : "";
    const std::string encoder = options_.text("model.encoder.layer_norm", otherwise),
                      decoder = options_.text("model.decoder.layer_norm", otherwise);
    options_.require("model.encoder.layer_norm",
                     encoder == decoder && (encoder == "pre" || encoder == "post"),
                     "is not \"pre\" or \"post\" for both encoder and decoder");
    return encoder == "pre" ? NormPosition::Before : NormPosition::After;
  }

  Activation activation() const {
    const std::string encoder = options_.text("model.encoder.activation", "relu");
    options_.require("model.decoder.activation",
                     options_.text("model.decoder.activation", "relu") == encoder,
                     "is not that of the encoder");
    if (encoder == "relu") return Activation::Relu;
    if (encoder == "gelu") return Activation::Gelu;
    if (encoder == "swish") return Activation::Swish;
    throw Error(options_.file(), ": model.encoder.activation: \"", encoder,
                "\" cannot be imported; relu, gelu and swish can");
  }

  bool is_tied() const { return options_.flag("model.tied_embeddings", false); }
  Tying tying() const {
    if (!options_.flag("model.tied_softmax", false)) return Tying::None;
    return is_tied() ? Tying::ThreeWay : Tying::TwoWay;
  }

  ForeignOptions options_;
};

struct Files {
  fs::path folder, checkpoint;
};

Files find_files(const fs::path& path) {
  if (!fs::is_directory(path)) return {path.parent_path(), path};
  for (const char* name : {"best.ckpt", "latest.ckpt"})
    if (fs::exists(path / name)) return {path, path / name};
  throw Error(path.string(), ": has neither best.ckpt nor latest.ckpt; name the checkpoint");
}

ForeignVocabulary read_side(const Settings& settings, const fs::path& folder, Side side) {
  const char* name = side == Side::Source ? "src" : "trg";
  const fs::path path = folder / (std::string(name) + "_vocab.txt");
  std::vector<std::string> pieces = read_vocabulary(path);
  for (std::size_t id = 0; id < kJoeyNmtSpecials.size(); ++id)
    if (pieces.size() <= id || pieces[id] != kJoeyNmtSpecials[id])
      throw Error(path.string(), ": line ", id + 1, " is not ", kJoeyNmtSpecials[id],
                  "; other special_symbols cannot be imported");
  const std::string model =
      settings.options().text(join_text("data.", name, ".tokenizer_cfg.model_file"), "");
  ForeignVocabulary vocabulary = vocabulary_beside(folder, side, std::move(pieces), model);
  // JoeyNMT restricts SentencePiece to its vocabulary (tokenizers.py, set_vocab).
  vocabulary.sentencepiece =
      restricted_tokenizer(vocabulary.sentencepiece, vocabulary.pieces, vocabulary.file);
  return vocabulary;
}

void read_weights(ForeignModel& model, const CheckpointFile& file,
                  const std::map<std::string, StridedTensor>& views) {
  ForeignTensors tensors(file.name(), views);
  for (const char* sinusoids : {"encoder.pe.pe", "decoder.pe.pe"}) tensors.ignore(sinusoids);
  take_parameters(model, tensors, kJoeyNmtNames);
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
  const Settings settings(files.folder / "config.yaml");
  const CheckpointFile file(files.checkpoint);
  auto views = file.tensors(file.get("model_state", "checkpoint of JoeyNMT"));
  ForeignModel model;
  model.kind = "JoeyNMT";
  model.config = settings.config(views.contains("encoder.layer_norm.weight"));
  model.embedding_scale =
      settings.has_scale() ? std::sqrt(static_cast<double>(model.config.d_model)) : 1;
  model.source = read_side(settings, files.folder, Side::Source);
  model.target = read_side(settings, files.folder, Side::Target);
  settle_vocabularies(model, settings.options().file());
  check_config(model.config, settings.options().file(), kJoeyNmtKeys);
  model.search.defaults = settings.decode_defaults();
  read_weights(model, file, views);
  start_with(model, kStart);
  return model;
}

}  // namespace dragoman
