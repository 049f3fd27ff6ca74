#include "extras/formats/marian.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/beside_checkpoint.h"
#include "extras/formats/check_config.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/foreign_tensors.h"
#include "extras/formats/marian_layout.h"
#include "extras/formats/marian_settings.h"
#include "extras/formats/numpy.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = "special:model.yml";
constexpr double kMarianNormEpsilon = 1e-6;  // layers: layerNorm(x, scale, bias, 1e-6f)
constexpr double kGeluFactor = 1.702;        // before 1.12 its GELU is x sigmoid(1.702 x)

constexpr NamePair kMarianKeys[] = {{"d-model", "dim-emb"},
                                    {"heads", "transformer-heads"},
                                    {"d-ff", "transformer-dim-ffn"},
                                    {"encoder-layers", "enc-depth"},
                                    {"decoder-layers", "dec-depth"}};

/// Options that must have this value, which is also that of models that do not have the option.
constexpr std::pair<const char*, const char*> kOnlyKnown[] = {
    {"transformer-ffn-depth", "2"},
    {"transformer-no-projection", "false"},
    {"transformer-no-bias", "false"},
    {"transformer-no-affine", "false"},
    {"transformer-train-position-embeddings", "false"},
    {"transformer-train-positions", "false"},
    {"transformer-disable-position-embeddings", "false"},
    {"transformer-pool", "false"},
    {"transformer-rnn-projection", "false"},
    {"right-left", "false"},
    {"ulr", "false"},
    {"lemma-dim-emb", "0"},
    {"factors-combine", "sum"},
    {"transformer-attention-mask", "default"},
    {"input-types", ""}};

/// Without dropout, which changes no translation.
std::string steps_of(const ForeignOptions& options, const char* name, const char* otherwise) {
  std::string steps = options.text(name, otherwise);
  std::erase(steps, 'd');
  return steps;
}

/// Version 1.12 also normalises keys and values of self-attention, wherever it has them whole: in
/// training and in the encoder. Versions 1.9 and 1.10 leave them as they are (LayerAttention in
/// models/transformer.h).
NormPosition norm_before(const ForeignOptions& options) {
  const std::string version = options.text("version", "");
  if (version.starts_with("v1.12.")) return NormPosition::Before;
  options.require("version", version.starts_with("v1.9.") || version.starts_with("v1.10."),
                  join_text("\"", version,
                            "\": it is not known whether this version normalises keys and values "
                            "(transformer-preprocess)"));
  return NormPosition::BeforeQueries;
}

NormPosition norm_of(const ForeignOptions& options) {
  const std::string before = steps_of(options, "transformer-preprocess", ""),
                    behind = steps_of(options, "transformer-postprocess", "dan"),
                    top = steps_of(options, "transformer-postprocess-top", "");
  if (before.empty() && behind == "an" && top.empty()) return NormPosition::After;
  if (before == "n" && behind == "a" && top == "n") return norm_before(options);
  throw Error(options.file(), ": transformer-preprocess \"",
              options.text("transformer-preprocess", ""), "\", transformer-postprocess \"",
              options.text("transformer-postprocess", "dan"), "\", transformer-postprocess-top \"",
              options.text("transformer-postprocess-top", ""),
              "\": only \"\", \"dan\", \"\" and \"n\", \"da\", \"n\" are known");
}

void check_type(const ForeignOptions& options) {
  const std::string type = options.text("type", "");
  options.require(
      "type", type == "transformer",
      join_text("\"", type, "\" is not known; only the type \"transformer\" can be imported"));
  const std::string layers = options.text("transformer-decoder-autoreg", "self-attention");
  const bool is_ssru = layers == "rnn";
  options.require(
      "transformer-decoder-autoreg", layers == "self-attention",
      is_ssru ? join_text("the decoder has recurrent layers (", options.text("dec-cell", "ssru"),
                          ", as in student models), which are not known")
              : join_text("\"", layers, "\" is not known; self-attention is"));
  for (const auto& [name, value] : kOnlyKnown)
    options.require(name, options.text(name, value) == value,
                    join_text("\"", options.text(name, value), "\" is not known"));
  const std::string steps = steps_of(options, "transformer-postprocess-emb", "d");
  options.require("transformer-postprocess-emb", steps.empty() || steps == "n",
                  join_text("\"", steps, "\" is not known; d and dn are"));
  options.require("transformer-tied-layers", options.list("transformer-tied-layers").empty(),
                  "layers with the same weights are not known");
}

MarianTying tying_of(const ForeignOptions& options) {
  if (options.flag("tied-embeddings-all", false)) return MarianTying::All;
  const bool source = options.flag("tied-embeddings-src", false),
             output = options.flag("tied-embeddings", false);
  if (source && output) return MarianTying::All;
  return source ? MarianTying::Source : output ? MarianTying::Output : MarianTying::None;
}

/// As measured with 1.12.42; the sources before have the approximation.
bool has_exact_gelu(const ForeignOptions& options) {
  return options.text("version", "").starts_with("v1.12");
}

Activation activation_of(const ForeignOptions& options) {
  const std::string name = options.text("transformer-ffn-activation", "swish");
  options.require("transformer-ffn-activation", name == "relu" || name == "swish" || name == "gelu",
                  join_text("\"", name, "\" is not known; relu, swish and gelu are"));
  if (name == "relu") return Activation::Relu;
  return name == "gelu" && has_exact_gelu(options) ? Activation::Gelu : Activation::Swish;
}

/// A vocabulary file, and the SentencePiece model that cuts text into its pieces: the file itself,
/// or one that lies beside it.
ForeignVocabulary read_vocabulary_of(const fs::path& path, const char* beside) {
  if (path.extension() == ".spm") {
    const Tokenizer tokenizer = Tokenizer::from_file(path.string());
    ForeignVocabulary vocabulary{.pieces = {}, .sentencepiece = {}, .file = path.string()};
    for (TokenId id = 0; id < tokenizer.size(); ++id)
      vocabulary.pieces.push_back(tokenizer.piece(id));
    vocabulary.sentencepiece = tokenizer.model_bytes();
    return vocabulary;
  }
  const fs::path model = path.parent_path() / beside;
  if (!fs::exists(model))
    throw Error(path.string(), ": has no SentencePiece model ", beside,
                " beside it; pieces that another program has made cannot be made here");
  return {read_vocabulary(path), read_file(model), model.string()};
}

ModelConfig read_config(const ForeignOptions& options, MarianTying tying) {
  ModelConfig config;
  config.norm = norm_of(options);
  config.embedding_norm = steps_of(options, "transformer-postprocess-emb", "d") == "n";
  config.positions = Positions::Marian;
  config.activation = activation_of(options);
  config.tying = tying == MarianTying::All      ? Tying::ThreeWay
                 : tying == MarianTying::Output ? Tying::TwoWay
                                                : Tying::None;
  config.output_bias = !options.flag("output-omit-bias", false);
  config.d_model = options.integer("dim-emb", 512);
  config.heads = options.integer("transformer-heads", 8);
  config.d_ff = options.integer("transformer-dim-ffn", 2048);
  options.require("transformer-decoder-dim-ffn",
                  options.integer("transformer-decoder-dim-ffn", 0) == 0 ||
                      options.integer("transformer-decoder-dim-ffn", 0) == config.d_ff,
                  "encoder and decoder have feed-forward networks of unlike widths");
  options.require("transformer-decoder-ffn-depth",
                  options.integer("transformer-decoder-ffn-depth", 0) % 2 == 0,
                  "feed-forward networks of other than two layers are not known");
  config.encoder_layers = options.integer("enc-depth", 6);
  config.decoder_layers = options.integer("dec-depth", 6);
  config.norm_epsilon = kMarianNormEpsilon;
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  return config;
}

std::string text_in(const StridedTensor& tensor, const std::string& file) {
  if (tensor.type != ForeignDtype::I8 && tensor.type != ForeignDtype::U8)
    throw Error(file, ": ", kConfigName, " is not a text");
  std::string text = contiguous_bytes(tensor);
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

void read_weights(ForeignModel& model, NpzFile& npz, const std::string& file, MarianTying tying) {
  std::map<std::string, StridedTensor> views;
  for (const std::string& name : npz.names())
    if (name != kConfigName) views[name] = npz.read(name);
  ForeignTensors tensors(file, views);
  // Old models have the output projection the other way round.
  const bool is_old = views.contains("decoder_ff_logit_out_W");
  for (NpzTensor& tensor : npz_tensors(model.config, tying)) {
    if (is_old && tensor.ours.name == "output.weight")
      tensor.theirs = "decoder_ff_logit_out_W", tensor.is_transposed = true;
    std::vector<float> values = tensors.take(tensor.theirs, tensor.their_shape());
    if (tensor.is_transposed)
      values = transposed(values, tensor.ours.shape[1], tensor.ours.shape[0]);
    model.parameters[tensor.ours.name] = std::move(values);
  }
  tensors.check_all_taken();
}

}  // namespace

ForeignModel read_marian(const fs::path& path) {
  const MarianFiles files = find_marian_files(path);
  const std::string name = files.model.string();
  const MappedFile mapped(files.model);
  NpzFile npz(name, mapped.bytes(), plausible_inflated(mapped.bytes().size()));
  if (!npz.contains(kConfigName))
    throw Error(name, ": has no ", kConfigName, ", so it is no model of Marian");
  const ForeignOptions options =
      yaml_options(name + " (" + kConfigName + ")", text_in(npz.read(kConfigName), name));
  check_type(options);
  const MarianTying tying = tying_of(options);
  ForeignModel model;
  model.kind = "Marian";
  model.columns = ColumnOrder::Halves;
  model.config = read_config(options, tying);
  model.config.source_vocabulary = model.config.target_vocabulary = 1;
  check_config(model.config, options.file(), kMarianKeys);
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  if (options.text("transformer-ffn-activation", "swish") == "gelu" && !has_exact_gelu(options))
    model.swish_factor = kGeluFactor;
  model.source = read_vocabulary_of(files.source_vocabulary, "source.spm");
  model.target = read_vocabulary_of(files.target_vocabulary, "target.spm");
  model.config.source_vocabulary = static_cast<std::int64_t>(model.source.pieces.size());
  model.config.target_vocabulary = static_cast<std::int64_t>(model.target.pieces.size());
  if (model.config.tying == Tying::ThreeWay && model.source.pieces != model.target.pieces)
    throw Error(options.file(),
                ": the embeddings are one matrix, but decoder.yml names two unlike "
                "vocabularies");
  model.config.unk_id = piece_id(model.target.pieces, "<unk>", model.target.file);
  model.config.eos_id = model.config.bos_id =
      piece_id(model.target.pieces, "</s>", model.target.file);
  model.search = files.search;
  read_weights(model, npz, name, tying);
  return model;
}

}  // namespace dragoman
