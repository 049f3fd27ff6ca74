#include "extras/formats/import_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSystem = "checkpoint of OpenNMT-py";
constexpr const char* kGenerator = "generator.";

/// Source: encoders/transformer.py, decoders/transformer.py and modules/.
constexpr NamePair kOpenNmtNames[] = {
    {"embedding.", "encoder.embeddings.make_embedding.emb_luts.0."},
    {"embedding.source.", "encoder.embeddings.make_embedding.emb_luts.0."},
    {"embedding.target.", "decoder.embeddings.make_embedding.emb_luts.0."},
    {"output.", kGenerator},
    {"encoder.layers.#.self_attention.query.", "encoder.transformer.#.self_attn.linear_query."},
    {"encoder.layers.#.self_attention.key.", "encoder.transformer.#.self_attn.linear_keys."},
    {"encoder.layers.#.self_attention.value.", "encoder.transformer.#.self_attn.linear_values."},
    {"encoder.layers.#.self_attention.output.", "encoder.transformer.#.self_attn.final_linear."},
    {"encoder.layers.#.self_attention_norm.", "encoder.transformer.#.layer_norm."},
    {"encoder.layers.#.feed_forward.inner.", "encoder.transformer.#.feed_forward.w_1."},
    {"encoder.layers.#.feed_forward.outer.", "encoder.transformer.#.feed_forward.w_2."},
    {"encoder.layers.#.feed_forward_norm.", "encoder.transformer.#.feed_forward.layer_norm."},
    {"encoder.norm.", "encoder.layer_norm."},
    {"decoder.layers.#.self_attention.query.",
     "decoder.transformer_layers.#.self_attn.linear_query."},
    {"decoder.layers.#.self_attention.key.", "decoder.transformer_layers.#.self_attn.linear_keys."},
    {"decoder.layers.#.self_attention.value.",
     "decoder.transformer_layers.#.self_attn.linear_values."},
    {"decoder.layers.#.self_attention.output.",
     "decoder.transformer_layers.#.self_attn.final_linear."},
    {"decoder.layers.#.self_attention_norm.", "decoder.transformer_layers.#.layer_norm_1."},
    {"decoder.layers.#.cross_attention.query.",
     "decoder.transformer_layers.#.context_attn.linear_query."},
    {"decoder.layers.#.cross_attention.key.",
     "decoder.transformer_layers.#.context_attn.linear_keys."},
    {"decoder.layers.#.cross_attention.value.",
     "decoder.transformer_layers.#.context_attn.linear_values."},
    {"decoder.layers.#.cross_attention.output.",
     "decoder.transformer_layers.#.context_attn.final_linear."},
    {"decoder.layers.#.cross_attention_norm.", "decoder.transformer_layers.#.layer_norm_2."},
    {"decoder.layers.#.feed_forward.inner.", "decoder.transformer_layers.#.feed_forward.w_1."},
    {"decoder.layers.#.feed_forward.outer.", "decoder.transformer_layers.#.feed_forward.w_2."},
    {"decoder.layers.#.feed_forward_norm.",
     "decoder.transformer_layers.#.feed_forward.layer_norm."},
    {"decoder.norm.", "decoder.layer_norm."},
};

/// The activation function is applied to a gated network's w_1, and its result is multiplied by
/// w_3.
constexpr NamePair kGatedNames[] = {
    {"encoder.layers.#.feed_forward.gate.", "encoder.transformer.#.feed_forward.w_1."},
    {"encoder.layers.#.feed_forward.inner.", "encoder.transformer.#.feed_forward.w_3."},
    {"decoder.layers.#.feed_forward.gate.", "decoder.transformer_layers.#.feed_forward.w_1."},
    {"decoder.layers.#.feed_forward.inner.", "decoder.transformer_layers.#.feed_forward.w_3."},
};

/// Switches that must be off.
constexpr std::pair<const char*, const char*> kOpenNmtSwitches[] = {
    {"copy_attn", "a decoder that copies pieces of the source"},
    {"lora_embedding", "embeddings with LoRA"},
    {"multiquery", "attention with one head for all keys"},
    {"parallel_residual", "attention and feed-forward network side by side"},
};

/// Numbers that must be 0.
constexpr std::pair<const char*, const char*> kNumbers[] = {
    {"max_relative_positions", "relative positions"},
    {"relative_positions_buckets", "relative positions"},
    {"n_src_feats", "features of words"},
    {"num_experts", "layers with experts"},
    {"sliding_window", "attention within a window"},
};

constexpr std::pair<const char*, Activation> kOpenNmtActivations[] = {
    {"relu", Activation::Relu},
    {"gelu", Activation::Gelu},
    {"gated-gelu", Activation::GatedGelu},
    {"silu", Activation::GatedSwish},
};

/// The options in "opt" of a checkpoint. Checkpoints of older versions lack some of them; these
/// have the defaults of opts.py.
class Options {
 public:
  explicit Options(const CheckpointFile& file)
      : options_(pickled_options(file.name() + " (opt)", file.get("opt", kSystem))) {
    check_kind();
    for (const auto& [name, what] : kOpenNmtSwitches)
      options_.require(name, !options_.flag(name, false), join_text(what, " cannot be imported"));
    for (const auto& [name, what] : kNumbers)
      options_.require(name, options_.integer(name, 0) == 0,
                       join_text(what, " cannot be imported"));
    for (const char* name : {"lora_layers", "quant_layers"})
      options_.require(name, !options_.has(name) || options_.list(name).empty(),
                       "layers with LoRA or of quantised weights cannot be imported");
    check_text();
  }

  /// Without vocabularies.
  ModelConfig config() const {
    ModelConfig config;
    config.d_model = options_.integer("enc_hid_size", options_.integer("hidden_size", 512));
    options_.require("dec_hid_size",
                     options_.integer("dec_hid_size", config.d_model) == config.d_model,
                     "is not enc_hid_size");
    config.d_ff = options_.integer("transformer_ff", 2048);
    config.heads = options_.integer("heads", 8);
    const std::int64_t key_heads = options_.integer("num_kv", 0);
    options_.require("num_kv", key_heads == 0 || key_heads == config.heads,
                     "fewer heads for keys than for queries cannot be imported");
    const std::int64_t layers = options_.integer("layers", -1);
    config.encoder_layers = layers > 0 ? layers : options_.integer("enc_layers", 2);
    config.decoder_layers = layers > 0 ? layers : options_.integer("dec_layers", 2);
    config.norm = NormPosition::Before;
    config.norm_epsilon = options_.number("norm_eps", 1e-6);
    config.activation = activation();
    config.positions = has_halves() ? Positions::Marian : Positions::Sinusoidal;
    config.tying = tying();
    config.output_bias = true;
    config.source_eos = false;
    config.dropout = config.activation_dropout = rate("dropout", 0.3);
    config.attention_dropout = rate("attention_dropout", 0.1);
    return config;
  }

  void check(const ModelConfig& config) const {
    const bool both = options_.integer("layers", -1) > 0;
    const NamePair keys[] = {
        {"d-model", options_.has("enc_hid_size") ? "enc_hid_size" : "hidden_size"},
        {"heads", "heads"},
        {"d-ff", "transformer_ff"},
        {"encoder-layers", both ? "layers" : "enc_layers"},
        {"decoder-layers", both ? "layers" : "dec_layers"},
        {"attention-dropout", "attention_dropout"},
        {"activation-dropout", "dropout"},
        {"dropout", "dropout"}};
    check_config(config, options_.file(), keys);
  }

  /// Whether positions have all sines before all cosines, and Marian's frequencies.
  bool has_halves() const {
    const std::string type = options_.text("position_encoding_type", "SinusoidalInterleaved");
    options_.require("position_encoding_type",
                     type == "SinusoidalInterleaved" || type == "SinusoidalConcat",
                     join_text("\"", type, "\" cannot be imported"));
    return type == "SinusoidalConcat";
  }
  /// Whether the layer of this parameter (our name) may have no bias.
  bool may_lack(const std::string& bias) const {
    const auto is_of = [&bias](const char* part) { return bias.find(part) != std::string::npos; };
    return (is_of("_attention.") && !options_.flag("add_qkvbias", false)) ||
           (is_of(".feed_forward.") && !options_.flag("add_ffnbias", false));
  }
  /// A path of the machine that trained it, or empty.
  std::string sentencepiece(Side side) const {
    std::string of_source = options_.text("src_subword_model", "");
    if (side == Side::Source) return of_source;
    return options_.text("tgt_subword_model", options_.flag("share_vocab", false) ? of_source : "");
  }

 private:
  void check_kind() const {
    const auto need = [this](const char* name, const char* otherwise,
                             std::initializer_list<std::string_view> known) {
      const std::string value = options_.text(name, otherwise);
      options_.require(name, std::ranges::find(known, value) != known.end(),
                       join_text("\"", value, "\" cannot be imported; ", *known.begin(), " can"));
    };
    need("model_task", "seq2seq", {"seq2seq"});
    need("model_type", "text", {"text"});
    need("encoder_type", "rnn", {"transformer"});
    need("decoder_type", "rnn", {"transformer"});
    need("self_attn_type", "scaled-dot", {"scaled-dot", "scaled-dot-flash"});
    need("layer_norm", "standard", {"standard"});
    need("generator_function", "softmax", {"softmax"});
    options_.require("position_encoding", options_.flag("position_encoding", false),
                     "a model without positions cannot be imported");
  }

  /// Refuses transforms of a text other than SentencePiece.
  void check_text() const {
    for (const std::string& transform : options_.list("transforms"))
      options_.require(
          "transforms",
          transform != "bpe" && transform != "onmt_tokenize" && transform != "huggingface_tokenize",
          join_text("\"", transform, "\": only pieces of SentencePiece can be made here"));
    for (const char* side : {"src", "tgt"}) {
      const std::string name = join_text(side, "_subword_vocab");
      options_.require(name,
                       options_.text(name, "").empty() ||
                           options_.integer(join_text(side, "_vocab_threshold"), 0) == 0,
                       "a list of the pieces that SentencePiece may make cannot be imported");
    }
  }

  Activation activation() const {
    const std::string name = options_.text("pos_ffn_activation_fn", "relu");
    for (const auto& [theirs, ours] : kOpenNmtActivations)
      if (name == theirs) return ours;
    throw Error(options_.file(), ": pos_ffn_activation_fn: \"", name,
                "\" cannot be imported; relu, gelu, gated-gelu and silu can");
  }

  Tying tying() const {
    if (!options_.flag("share_decoder_embeddings", false)) return Tying::None;
    return options_.flag("share_embeddings", false) ? Tying::ThreeWay : Tying::TwoWay;
  }

  /// A schedule of several rates is dropped.
  double rate(const std::string& name, double otherwise) const {
    return options_.list(name).size() > 1 ? otherwise : options_.number(name, otherwise);
  }

  ForeignOptions options_;
};

class OpenNmtVocabulary {
 public:
  explicit OpenNmtVocabulary(const CheckpointFile& file)
      : file_(file.name()), value_(file.get("vocab", kSystem)) {}

  std::vector<std::string> pieces(const char* side) const {
    const PickleValue* list = value_.find(side);
    std::vector<std::string> pieces;
    if (list != nullptr)
      for (const PickleValue* item : list->items())
        if (const std::string* piece = item->text()) pieces.push_back(*piece);
    if (list == nullptr || pieces.empty() || pieces.size() != list->items().size())
      throw Error(file_, ": vocab: has no list of the pieces of ", side,
                  ", as OpenNMT-py has it since version 3");
    return pieces;
  }

  /// The id of the piece that the decoder begins with.
  std::string start() const {
    const PickleValue* value = value_.find("decoder_start_token");
    const std::string* piece = value == nullptr ? nullptr : value->text();
    if (piece != nullptr && piece->empty())
      throw Error(file_,
                  ": vocab: decoder_start_token: a decoder that begins with the first piece "
                  "of the translation cannot be imported");
    return piece == nullptr ? "<s>" : *piece;
  }

 private:
  std::string file_;
  const PickleValue& value_;
};

using Views = std::map<std::string, StridedTensor>;

Views views_of(const CheckpointFile& file) {
  if (file.find("model") == nullptr)
    throw Error(file.name(),
                ": has no weights; OpenNMT-py has written them into a file of their "
                "own (save_format safetensors), which cannot be imported");
  Views views = file.tensors(file.get("model", kSystem));
  for (auto& [name, tensor] : file.tensors(file.get("generator", kSystem)))
    views[kGenerator + name] = std::move(tensor);
  return views;
}

/// Adds zeros for the biases that a model leaves out. `zeros` owns the bytes.
void add_missing_biases(Views& views, const Options& options, std::span<const NamePair> names,
                        std::string& zeros) {
  const ModelConfig config = options.config();
  zeros.assign(static_cast<std::size_t>(std::max(config.d_model, config.d_ff)) * sizeof(float), 0);
  for (const ParameterShape& parameter : parameter_shapes(config))
    if (parameter.name.ends_with(".bias") && options.may_lack(parameter.name))
      views.try_emplace(their_name(names, parameter.name),
                        strided_tensor(ForeignDtype::F32, parameter.shape, {1}, zeros));
}

void read_weights(ForeignModel& model, const Options& options, const CheckpointFile& file) {
  std::vector<NamePair> names(std::begin(kOpenNmtNames), std::end(kOpenNmtNames));
  if (is_gated(model.config.activation)) {
    std::erase_if(names,
                  [](const NamePair& pair) { return pair.ours.ends_with(".feed_forward.inner."); });
    names.insert(names.end(), std::begin(kGatedNames), std::end(kGatedNames));
  }
  Views views = views_of(file);
  std::string zeros;
  add_missing_biases(views, options, names, zeros);
  ForeignTensors tensors(file.name(), views);
  for (const char* side : {"encoder", "decoder"})  // the sinusoids
    tensors.ignore(join_text(side, ".embeddings.make_embedding.pe.pe"));
  take_parameters(model, tensors, names);
}

}  // namespace

bool is_opennmt(const CheckpointFile& file) {
  return file.find("opt") != nullptr && file.find("vocab") != nullptr &&
         (file.find("generator") != nullptr || file.find("model") == nullptr);
}

ForeignModel read_opennmt(const CheckpointFile& file) {
  const Options options(file);
  const OpenNmtVocabulary vocabulary(file);
  const fs::path folder = fs::path(file.name()).parent_path();
  ForeignModel model;
  model.kind = "OpenNMT-py";
  model.config = options.config();
  options.check(model.config);
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  if (options.has_halves()) model.columns = ColumnOrder::Halves;
  model.source = vocabulary_beside(folder, Side::Source, vocabulary.pieces("src"),
                                   options.sentencepiece(Side::Source));
  model.target = vocabulary_beside(folder, Side::Target, vocabulary.pieces("tgt"),
                                   options.sentencepiece(Side::Target));
  settle_vocabularies(model, file.name());
  // A checkpoint does not say how to search, so these are the defaults of onmt_translate.
  model.search.defaults = {{"beam-size", "5"}, {"length-penalty", "0"}, {"stop", "opennmt"}};
  read_weights(model, options, file);
  start_with(model, piece_id(model.target.pieces, vocabulary.start(), file.name()));
  return model;
}

}  // namespace dragoman
