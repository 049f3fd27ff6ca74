#include "extras/formats/import_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSystem = "checkpoint of OpenNMT-py";
constexpr const char* kGenerator = "generator.";

/// Source: encoders/transformer.py, decoders/transformer.py and modules/.
constexpr NamePair kOpenNmtNames[] = {
    {"embedding", "encoder.embeddings.make_embedding.emb_luts.0"},
    {"embedding.source", "encoder.embeddings.make_embedding.emb_luts.0"},
    {"embedding.target", "decoder.embeddings.make_embedding.emb_luts.0"},
    {"output.", kGenerator},
    {"encoder.layers.#", "encoder.transformer.#"},
    {"encoder.layers.#.self_attention_norm", "encoder.transformer.#.layer_norm"},
    {"decoder.layers.#", "decoder.transformer_layers.#"},
    {"decoder.layers.#.self_attention_norm", "decoder.transformer_layers.#.layer_norm_1"},
    {".self_attention", ".self_attn"},
    {".cross_attention", ".context_attn"},
    {".cross_attention_norm", ".layer_norm_2"},
    {".query", ".linear_query"},
    {".key", ".linear_keys"},
    {".value", ".linear_values"},
    {".output", ".final_linear"},
    {".feed_forward.inner", ".feed_forward.w_1"},
    {".feed_forward.outer", ".feed_forward.w_2"},
    {".feed_forward_norm", ".feed_forward.layer_norm"},
    {".norm", ".layer_norm"},
};

/// The activation function is applied to a gated network's w_1, and its result is multiplied by
/// w_3.
constexpr NamePair kGatedNames[] = {{".feed_forward.gate", ".feed_forward.w_1"},
                                    {".feed_forward.inner", ".feed_forward.w_3"}};

constexpr const char* kRelative = "relative positions";
constexpr Feature kOpenNmtFeatures[] = {
    {"copy_attn", "a decoder that copies pieces of the source"},
    {"lora_embedding", "embeddings with LoRA"},
    {"lora_layers", "layers with LoRA"},
    {"max_relative_positions", kRelative},
    {"multiquery", "attention with one head for all keys"},
    {"n_src_feats", "features of words"},
    {"num_experts", "layers with experts"},
    {"parallel_residual", "attention and feed-forward network side by side"},
    {"quant_layers", "layers of quantised weights"},
    {"relative_positions_buckets", kRelative},
    {"sliding_window", "attention within a window"},
};

/// The options in "opt" of a checkpoint. Checkpoints of older versions lack some of them; these
/// have the defaults of opts.py. A schedule of several rates is dropped.
std::vector<ConfigOption> opennmt_table(const ForeignOptions& options) {
  const auto rate = [&](const char* name) { return options.list(name).size() > 1 ? "" : name; };
  const bool both = options.integer("layers", -1) > 0;
  return {{"d-model", options.has("enc_hid_size") ? "enc_hid_size" : "hidden_size", 512},
          {"heads", "heads", 8},
          {"d-ff", "transformer_ff", 2048},
          {"encoder-layers", both ? "layers" : "enc_layers", 2},
          {"decoder-layers", both ? "layers" : "dec_layers", 2},
          {"attention-dropout", rate("attention_dropout"), 0.1},
          {"activation-dropout", rate("dropout"), 0.3},
          {"dropout", rate("dropout"), 0.3}};
}

void check_opennmt(const ForeignOptions& options) {
  options.choice("model_task", "seq2seq", {"seq2seq"});
  options.choice("model_type", "text", {"text"});
  options.choice("encoder_type", "rnn", {"transformer"});
  options.choice("decoder_type", "rnn", {"transformer"});
  options.choice("self_attn_type", "scaled-dot", {"scaled-dot", "scaled-dot-flash"});
  options.choice("layer_norm", "standard", {"standard"});
  options.choice("generator_function", "softmax", {"softmax"});
  options.require("position_encoding", options.flag("position_encoding", false),
                  "a model without positions cannot be imported");
  options.require_off(kOpenNmtFeatures);
  for (const std::string& transform : options.list("transforms"))
    options.require(
        "transforms",
        transform != "bpe" && transform != "onmt_tokenize" && transform != "huggingface_tokenize",
        join_text("\"", transform, "\": only pieces of SentencePiece can be made here"));
  for (const char* side : {"src", "tgt"}) {
    const std::string name = join_text(side, "_subword_vocab");
    options.require(
        name, options.text(name, "").empty() || options.is_off(join_text(side, "_vocab_threshold")),
        "a list of the pieces that SentencePiece may make cannot be imported");
  }
}

/// Whether positions have all sines before all cosines, and Marian's frequencies.
bool has_halves(const ForeignOptions& options) {
  return options.choice("position_encoding_type", "SinusoidalInterleaved",
                        {"SinusoidalInterleaved", "SinusoidalConcat"}) == 1;
}

/// Without vocabularies.
ModelConfig opennmt_config(const ForeignOptions& options) {
  ModelConfig config;
  read_numbers(config, options, opennmt_table(options));
  options.require_integer("dec_hid_size", config.d_model, "is not enc_hid_size");
  if (!options.is_off("num_kv"))
    options.require_integer("num_kv", config.heads,
                            "fewer heads for keys than for queries cannot be imported");
  constexpr Activation kActivations[] = {Activation::Relu, Activation::Gelu, Activation::GatedGelu,
                                         Activation::GatedSwish};
  config.activation = kActivations[options.choice("pos_ffn_activation_fn", "relu",
                                                  {"relu", "gelu", "gated-gelu", "silu"})];
  config.norm = NormPosition::Before;
  config.norm_epsilon = options.number("norm_eps", 1e-6);
  config.positions = has_halves(options) ? Positions::Marian : Positions::Sinusoidal;
  config.tying = !options.flag("share_decoder_embeddings", false) ? Tying::None
                 : options.flag("share_embeddings", false)        ? Tying::ThreeWay
                                                                  : Tying::TwoWay;
  config.output_bias = true;
  config.source_eos = false;
  return config;
}

/// The pieces of a side: "src" or "tgt".
std::vector<std::string> opennmt_pieces(const CheckpointFile& file, const char* side) {
  const PickleValue* list = file.get("vocab", kSystem).find(side);
  std::vector<std::string> pieces;
  if (list != nullptr)
    for (const PickleValue* item : list->items())
      if (const std::string* piece = item->text()) pieces.push_back(*piece);
  if (list == nullptr || pieces.empty() || pieces.size() != list->items().size())
    throw Error(file.name(), ": vocab: has no list of the pieces of ", side,
                ", as OpenNMT-py has it since version 3");
  return pieces;
}

/// The piece that the decoder begins with.
std::string opennmt_start(const CheckpointFile& file) {
  const PickleValue* value = file.get("vocab", kSystem).find("decoder_start_token");
  const std::string* piece = value == nullptr ? nullptr : value->text();
  if (piece != nullptr && piece->empty())
    throw Error(file.name(),
                ": vocab: decoder_start_token: a decoder that begins with the first piece "
                "of the translation cannot be imported");
  return piece == nullptr ? "<s>" : *piece;
}

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

/// Whether the layer of this parameter (our name) may have no bias.
bool may_lack(const ForeignOptions& options, const std::string& bias) {
  const auto is_of = [&bias](const char* part) { return bias.find(part) != std::string::npos; };
  return (is_of("_attention.") && !options.flag("add_qkvbias", false)) ||
         (is_of(".feed_forward.") && !options.flag("add_ffnbias", false));
}

/// Adds zeros for the biases that a model leaves out. `zeros` owns the bytes.
void add_missing_biases(Views& views, const ModelConfig& config, const ForeignOptions& options,
                        std::span<const NamePair> names, std::string& zeros) {
  zeros.assign(static_cast<std::size_t>(std::max(config.d_model, config.d_ff)) * sizeof(float), 0);
  for (const ParameterShape& parameter : parameter_shapes(config))
    if (parameter.name.ends_with(".bias") && may_lack(options, parameter.name))
      views.try_emplace(their_name(names, parameter.name),
                        strided_tensor(ForeignDtype::F32, parameter.shape, {1}, zeros));
}

void read_opennmt_weights(ForeignModel& model, const ForeignOptions& options,
                          const CheckpointFile& file) {
  std::vector<NamePair> names;
  if (is_gated(model.config.activation))
    names.assign(std::begin(kGatedNames), std::end(kGatedNames));
  names.insert(names.end(), std::begin(kOpenNmtNames), std::end(kOpenNmtNames));
  Views views = views_of(file);
  std::string zeros;
  add_missing_biases(views, model.config, options, names, zeros);
  ForeignTensors tensors(file.name(), views);
  tensors.ignore({"encoder.embeddings.make_embedding.pe.pe",
                  "decoder.embeddings.make_embedding.pe.pe"});  // the sinusoids
  take_parameters(model, tensors, names);
}

}  // namespace

bool is_opennmt(const CheckpointFile& file) {
  return file.find("opt") != nullptr && file.find("vocab") != nullptr &&
         (file.find("generator") != nullptr || file.find("model") == nullptr);
}

ForeignModel read_opennmt(const CheckpointFile& file) {
  const ForeignOptions options = pickled_options(file.name() + " (opt)", file.get("opt", kSystem));
  check_opennmt(options);
  const fs::path folder = fs::path(file.name()).parent_path();
  ForeignModel model;
  model.kind = "OpenNMT-py";
  model.config = opennmt_config(options);
  check_config(model.config, options, opennmt_table(options));
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  if (has_halves(options)) model.columns = ColumnOrder::Halves;
  // Paths on the machine that trained it.
  const std::string of_source = options.text("src_subword_model", "");
  const bool is_shared = options.flag("share_vocab", false);
  model.source = vocabulary_beside(folder, Side::Source, opennmt_pieces(file, "src"), of_source);
  model.target = vocabulary_beside(folder, Side::Target, opennmt_pieces(file, "tgt"),
                                   options.text("tgt_subword_model", is_shared ? of_source : ""));
  settle_vocabularies(model, file.name());
  // A checkpoint does not say how to search, so these are the defaults of onmt_translate.
  model.search.defaults = {{"beam-size", "5"}, {"length-penalty", "0"}, {"stop", "opennmt"}};
  read_opennmt_weights(model, options, file);
  start_with(model, piece_id(model.target.pieces, opennmt_start(file), file.name()));
  return model;
}

}  // namespace dragoman
