// The layout of Marian's tensors, its decoder.yml, and its reader.
#include "extras/formats/marian.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/numpy.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

/// Layers are counted from 1: "encoder.layers.0.self_attention.query.weight" is
/// "encoder_l1_self_Wq".
constexpr NamePair kMarianNames[] = {{"embedding.source.weight", "encoder_Wemb"},
                                     {"embedding.target.weight", "decoder_Wemb"},
                                     {"output.weight", "decoder_ff_logit_out_Wt"},
                                     {"output.bias", "decoder_ff_logit_out_b"},
                                     {".embedding_norm", "_emb_ln"},
                                     {".norm", "_top_ln"},
                                     {".layers.#", "_l#"},
                                     {".self_attention", "_self"},
                                     {".self_attention_norm", "_self_Wo_ln"},
                                     {".cross_attention", "_context"},
                                     {".cross_attention_norm", "_context_Wo_ln"},
                                     {".query.weight", "_Wq"},
                                     {".query.bias", "_bq"},
                                     {".key.weight", "_Wk"},
                                     {".key.bias", "_bk"},
                                     {".value.weight", "_Wv"},
                                     {".value.bias", "_bv"},
                                     {".output.weight", "_Wo"},
                                     {".output.bias", "_bo"},
                                     {".feed_forward.inner.weight", "_ffn_W1"},
                                     {".feed_forward.inner.bias", "_ffn_b1"},
                                     {".feed_forward.outer.weight", "_ffn_W2"},
                                     {".feed_forward.outer.bias", "_ffn_b2"},
                                     {".feed_forward_norm", "_ffn_ffn_ln"},
                                     {".weight", "_scale"},
                                     {".bias", "_bias"}};

std::string marian_name(const std::string& ours, const ModelConfig& config, MarianTying tying) {
  const bool has_one_embedding = tying == MarianTying::All || tying == MarianTying::Source;
  if (has_one_embedding && ours.starts_with("embedding.")) return "Wemb";
  const auto has = [&ours](std::string_view part) { return ours.find(part) != ours.npos; };
  const bool is_before_layer = has(".embedding_norm.") || (is_before(config.norm) && has("_norm."));
  return their_name(kMarianNames, ours, 1) + (is_before_layer ? "_pre" : "");
}

}  // namespace

std::vector<std::int64_t> NpzTensor::their_shape() const {
  if (ours.shape.size() == 1) return {1, ours.shape[0]};
  if (is_transposed) return {ours.shape[1], ours.shape[0]};
  return ours.shape;
}

std::vector<NpzTensor> npz_tensors(const ModelConfig& config, MarianTying tying) {
  std::vector<NpzTensor> tensors;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    const bool is_of_pieces =
        parameter.name.starts_with("embedding.") || parameter.name == "output.weight";
    tensors.push_back({.theirs = marian_name(parameter.name, config, tying),
                       .ours = parameter,
                       .is_transposed = parameter.shape.size() == 2 && !is_of_pieces});
  }
  return tensors;
}

std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows,
                              std::int64_t columns) {
  std::vector<float> result(values.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t c = 0; c < columns; ++c)
      result[static_cast<std::size_t>(c * rows + row)] =
          values[static_cast<std::size_t>(row * columns + c)];
  return result;
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSettings = "decoder.yml";

/// The path of decoder.yml, which Marian's training calls model.npz.decoder.yml. Nothing if there
/// is no such file, or if there are several.
std::optional<fs::path> settings_of(const fs::path& path) {
  if (!fs::is_directory(path)) {
    if (path.filename().string().ends_with(kSettings)) return path;
    for (const fs::path& beside :
         {fs::path(path.string() + ".decoder.yml"), path.parent_path() / kSettings})
      if (fs::exists(beside)) return beside;
    return std::nullopt;
  }
  if (fs::exists(path / kSettings)) return path / kSettings;
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (!entry.path().filename().string().ends_with(".decoder.yml")) continue;
    if (found) return std::nullopt;
    found = entry.path();
  }
  return found;
}

/// The file that a name in decoder.yml means. The name is relative to decoder.yml, or is a path on
/// the machine that wrote it; then the file lies beside decoder.yml.
fs::path named_file(const ForeignOptions& options, const std::string& name) {
  const fs::path folder = fs::path(options.file()).parent_path();
  for (const fs::path& candidate : {folder / name, folder / fs::path(name).filename()})
    if (fs::is_regular_file(candidate)) return candidate;
  throw Error(options.file(), ": names ", name, ", which is not there");
}

void check_kind(const fs::path& model) {
  if (model.extension() == ".npz") return;
  const std::string kind =
      model.extension() == ".bin"
          ? "a binary model of Marian (.bin), as students with weights of 8 bits (intgemm) are"
          : "no .npz file";
  throw Error(model.string(), ": is ", kind, "; only Marian's model.npz can be imported");
}

/// Settings that change translations and that we lack; they are usually off.
constexpr Feature kUnsupportedMarian[] = {{"allow-unk"},       {"force-decode"},
                                          {"n-best"},          {"output-approx-knn"},
                                          {"output-sampling"}, {"shortlist"}};

ForeignSearch search_of(const ForeignOptions& options) {
  ForeignSearch search{.defaults = {{"stop", "marian"}}, .file = options.file()};
  search.defaults["beam-size"] = options.setting("beam-size", "beam-size", 12);
  const auto number = [&](const char* flag, const char* name, double otherwise) {
    search.defaults[flag] =
        setting_text(flag, options.number(name, otherwise), options.place(name));
  };
  number("length-penalty", "normalize", 0);
  number("max-length-ratio", "max-length-factor", 3);
  if (options.number("word-penalty", 0) != 0) number("word-penalty", "word-penalty", 0);
  search.left_out = options.those_on(kUnsupportedMarian);
  return search;
}

struct MarianFiles {
  fs::path model;                                 ///< .npz
  fs::path source_vocabulary, target_vocabulary;  ///< .spm or .yml
  ForeignSearch search;
};

/// Throws Error if decoder.yml or a file that it names is missing, or if it names several models or
/// one of another kind.
MarianFiles find_marian_files(const fs::path& path) {
  const auto settings = settings_of(path);
  if (!settings)
    throw Error(path.string(), ": needs Marian's decoder.yml beside it (or ",
                path.filename().string(), ".decoder.yml), which names the vocabularies");
  const ForeignOptions options = yaml_options(settings->string(), read_file(*settings));
  const std::vector<std::string> models = options.list("models"), names = options.list("vocabs");
  if (models.size() != 1)
    throw Error(options.file(), ": \"models\" names ", models.size(),
                " models; import each of an ensemble by itself");
  if (names.size() != 2)
    throw Error(options.file(), ": \"vocabs\" names ", names.size(),
                " vocabularies, not those of source and target");
  const fs::path named = named_file(options, models.front());
  check_kind(named);
  return {.model = path.extension() == ".npz" ? path : named,
          .source_vocabulary = named_file(options, names[0]),
          .target_vocabulary = named_file(options, names[1]),
          .search = search_of(options)};
}

constexpr const char* kConfigName = "special:model.yml";
constexpr double kMarianNormEpsilon = 1e-6;  // layers: layerNorm(x, scale, bias, 1e-6f)
constexpr double kGeluFactor = 1.702;        // before 1.12 its GELU is x sigmoid(1.702 x)

constexpr ConfigOption kMarianConfig[] = {{"d-model", "dim-emb", 512},
                                          {"heads", "transformer-heads", 8},
                                          {"d-ff", "transformer-dim-ffn", 2048},
                                          {"encoder-layers", "enc-depth", 6},
                                          {"decoder-layers", "dec-depth", 6}};

/// Options that must have this value, which models without the option have, too.
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

/// Leaves out dropout, which changes no translation.
std::string steps_of(const ForeignOptions& options, const char* name, const char* otherwise) {
  std::string steps = options.text(name, otherwise);
  std::erase(steps, 'd');
  return steps;
}

/// Version 1.12 also normalises the keys and values of self-attention in training and in the
/// encoder, which have all of them at once. Versions 1.9 and 1.10 do not (LayerAttention in
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
                    after = steps_of(options, "transformer-postprocess", "dan"),
                    top = steps_of(options, "transformer-postprocess-top", "");
  if (before.empty() && after == "an" && top.empty()) return NormPosition::After;
  if (before == "n" && after == "a" && top == "n") return norm_before(options);
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

MarianTying marian_tying_of(const ForeignOptions& options) {
  if (options.flag("tied-embeddings-all", false)) return MarianTying::All;
  const bool source = options.flag("tied-embeddings-src", false),
             output = options.flag("tied-embeddings", false);
  if (source && output) return MarianTying::All;
  return source ? MarianTying::Source : output ? MarianTying::Output : MarianTying::None;
}

/// Version 1.12 has the exact GELU, as measured with 1.12.42; earlier sources approximate it.
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

/// Reads a vocabulary file and the SentencePiece model that cuts text into its pieces: the file
/// itself, or one that lies beside it.
ForeignVocabulary read_vocabulary_of(const fs::path& path, const char* beside) {
  if (path.extension() == ".spm") {
    const Tokenizer tokenizer = Tokenizer::from_file(path.string());
    std::vector<std::string> pieces;
    for (TokenId id = 0; id < tokenizer.size(); ++id) pieces.push_back(tokenizer.piece(id));
    return {std::move(pieces), tokenizer.model_bytes(), path.string()};
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
  read_numbers(config, options, kMarianConfig);
  options.require("transformer-decoder-dim-ffn",
                  options.integer("transformer-decoder-dim-ffn", 0) == 0 ||
                      options.integer("transformer-decoder-dim-ffn", 0) == config.d_ff,
                  "encoder and decoder have feed-forward networks of different widths");
  options.require("transformer-decoder-ffn-depth",
                  options.integer("transformer-decoder-ffn-depth", 0) % 2 == 0,
                  "feed-forward networks of other than two layers are not known");
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
  // Old models have the output projection transposed.
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

bool is_marian(const fs::path& path) {
  if (fs::is_directory(path)) return settings_of(path).has_value();
  return path.extension() == ".npz" || path.filename().string().ends_with(kSettings);
}

ForeignModel read_marian(const fs::path& path) {
  const MarianFiles files = find_marian_files(path);
  const std::string name = files.model.string();
  const MappedFile mapped(files.model);
  NpzFile npz(name, mapped.bytes(), plausible_inflated(mapped.bytes().size()));
  if (!npz.contains(kConfigName))
    throw Error(name, ": has no ", kConfigName, ", so it is not a model of Marian");
  const ForeignOptions options =
      yaml_options(name + " (" + kConfigName + ")", text_in(npz.read(kConfigName), name));
  check_type(options);
  const MarianTying tying = marian_tying_of(options);
  ForeignModel model;
  model.kind = "Marian";
  model.columns = ColumnOrder::Halves;
  model.config = read_config(options, tying);
  check_config(model.config, options, kMarianConfig);
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  if (options.text("transformer-ffn-activation", "swish") == "gelu" && !has_exact_gelu(options))
    model.swish_factor = kGeluFactor;
  model.source = read_vocabulary_of(files.source_vocabulary, "source.spm");
  model.target = read_vocabulary_of(files.target_vocabulary, "target.spm");
  if (model.config.tying == Tying::ThreeWay && model.source.pieces != model.target.pieces)
    throw Error(options.file(),
                ": the embeddings are one matrix, but decoder.yml names two different "
                "vocabularies");
  set_sizes_and_ids(model, model.target.file);
  model.search = files.search;
  read_weights(model, npz, name, tying);
  return model;
}

}  // namespace dragoman
