// The layout of MarianMTModel's tensors, its search settings, and its reader.
#include "extras/formats/hf_marian.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/json_yaml.h"
#include "extras/formats/pytorch_checkpoint.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

constexpr std::string_view kUnused = "<no piece ";

std::string hf_name(const std::string& ours) {
  if (ours == "embedding.weight") return "model.shared.weight";
  if (ours == "output.weight") return "lm_head.weight";
  if (ours == "output.bias") return "final_logits_bias";
  return "model." + their_name(kFairseqNames, ours);
}

/// Whether it has a row for each piece.
bool is_of_pieces(const std::string& ours) {
  return ours.starts_with("embedding.") || ours.starts_with("output.");
}

}  // namespace

HfPadding hf_padding(const ModelConfig& config) {
  const std::int64_t size = std::max(config.source_vocabulary, config.target_vocabulary) + 1;
  return {.source = size - config.source_vocabulary, .target = size - config.target_vocabulary};
}

std::string unused_piece(std::int64_t number) { return join_text(kUnused, number, ">"); }

bool is_unused_piece(std::string_view piece) { return piece.starts_with(kUnused); }

std::vector<HfTensor> hf_tensors(const ModelConfig& config, const HfPadding& padding) {
  const auto refuse = [](bool is_other, const std::string& flag, const char* what,
                         const char* needed) {
    if (is_other)
      throw Error("MarianMTModel has no ", what, " (--", flag, "); a model for it is trained with ",
                  needed);
  };
  refuse(is_before(config.norm), join_text("norm ", name_of(config.norm)),
         "normalisation before the sub-layers", "--norm after");
  refuse(config.positions == Positions::Learned, "positions learned", "learned positions",
         "--positions sinusoidal");
  refuse(config.positions == Positions::Marian, "positions marian",
         "positions with Marian's frequencies: its own are the paper's", "--positions sinusoidal");
  refuse(is_gated(config.activation), "activation", "gated feed-forward networks",
         "--activation relu, gelu or swish");
  if (config.norm_epsilon != 1e-5)
    throw Error("MarianMTModel has no epsilon of normalisation other than 1e-5; the model has ",
                config.norm_epsilon);
  if (config.embedding_norm)
    throw Error("MarianMTModel has no normalised embeddings (embedding-norm)");
  if (!config.source_eos) throw Error("MarianMTModel has no sources without </s> (source-eos)");
  std::vector<HfTensor> tensors;
  const auto add = [&](const std::string& ours, std::vector<std::int64_t> shape) {
    tensors.push_back({.ours = ours, .theirs = hf_name(ours), .shape = std::move(shape)});
  };
  const std::vector<ParameterShape> parameters = parameter_shapes(config);
  for (const auto& [name, shape] : parameters) {
    if (!is_of_pieces(name)) continue;
    add(name, shape);
    tensors.back().padding_rows =
        name == "embedding.source.weight" ? padding.source : padding.target;
  }
  constexpr std::string_view kWeight = ".weight";
  for (const auto& [name, shape] : parameters) {
    if (is_of_pieces(name) || !name.ends_with(kWeight)) continue;
    add(name, shape);
    add(name.substr(0, name.size() - kWeight.size()) + ".bias", {shape.front()});
  }
  return tensors;
}

std::vector<std::int64_t> HfTensor::their_shape() const {
  std::vector<std::int64_t> theirs_shape = shape;
  theirs_shape.front() += padding_rows;
  if (padding_rows > 0 && shape.size() == 1) theirs_shape.insert(theirs_shape.begin(), 1);
  return theirs_shape;
}

std::size_t HfTensor::padding() const {
  return static_cast<std::size_t>(shape.size() == 1 ? padding_rows : padding_rows * shape[1]);
}

namespace {

namespace fs = std::filesystem;

/// Settings that change translations and that we lack.
constexpr Feature kUnsupportedHfMarian[] = {{"begin_suppress_tokens"},
                                            {"constraints"},
                                            {"diversity_penalty"},
                                            {"do_sample"},
                                            {"dola_layers"},
                                            {"encoder_no_repeat_ngram_size"},
                                            {"encoder_repetition_penalty", "", 1},
                                            {"exponential_decay_length_penalty"},
                                            {"force_words_ids"},
                                            {"forced_bos_token_id", "", -1},
                                            {"forced_decoder_ids"},
                                            {"guidance_scale", "", 1},
                                            {"max_time", "", -1},
                                            {"num_beam_groups", "", 1},
                                            {"num_return_sequences", "", 1},
                                            {"penalty_alpha"},
                                            {"sequence_bias"},
                                            {"stop_strings"},
                                            {"watermarking_config"}};

struct HfPieces {
  std::int64_t all = 0;      ///< ids of the target, padding included
  std::int64_t padding = 0;  ///< the first id of padding
  std::int64_t unk = 0, eos = 0;
};

/// The search that a folder asks for: transformers' GenerationConfig
/// (generation/configuration_utils.py). Throws Error that names file and key for a setting of
/// another type or beyond the range of ours.
class GenerationConfigReader {
 public:
  GenerationConfigReader(const fs::path& path, const HfPieces& pieces)
      : json_(read_json_object(path)),
        options_(json_options(path.string(), json_)),
        pieces_(pieces) {}

  ForeignSearch run() {
    search_.file = options_.file();
    search_.left_out = options_.those_on(kUnsupportedHfMarian);
    whole("beam-size", "num_beams", 1);
    number("length-penalty", "length_penalty");
    if (!options_.is_off("repetition_penalty", 1))
      number("repetition-penalty", "repetition_penalty");
    if (!options_.is_off("no_repeat_ngram_size"))
      whole("no-repeat-ngram-size", "no_repeat_ngram_size", 0);
    lengths();
    if (options_.text("early_stopping", "") == "never")
      search_.defaults["stop"] = "exact";
    else
      search_.defaults["stop"] = options_.flag("early_stopping", false) ? "full" : "hf";
    bad_words();
    suppressed_tokens();
    search_.suppressed.assign(suppressed_.begin(), suppressed_.end());
    return std::move(search_);
  }

 private:
  void leave_out(const char* key) {
    if (std::ranges::find(search_.left_out, key) == search_.left_out.end())
      search_.left_out.emplace_back(key);
  }
  void whole(const char* flag, const char* key, std::int64_t otherwise, std::int64_t more = 0) {
    search_.defaults[flag] =
        setting_text(flag, options_.integer(key, otherwise), options_.place(key), more);
  }
  void number(const char* flag, const char* key) {
    search_.defaults[flag] = setting_text(flag, options_.number(key, 1), options_.place(key));
  }

  /// `max_length` and `min_length` also count the token that the decoder begins with. The numbers
  /// of new tokens take precedence over them.
  void lengths() {
    if (options_.has("max_new_tokens"))
      whole("max-length", "max_new_tokens", 0);
    else
      whole("max-length", "max_length", 512, 1);
    const std::int64_t longest = std::stoll(search_.defaults["max-length"]);
    search_.defaults["max-length-ratio"] = std::to_string(std::min<std::int64_t>(longest, 1000));
    const bool is_new = options_.has("min_new_tokens");
    const char* key = is_new ? "min_new_tokens" : "min_length";
    if (options_.is_off(key)) return;
    whole("min-length", key, 0, is_new ? 0 : 1);
    options_.require(key, std::stoll(search_.defaults["min-length"]) <= longest,
                     "is more than the longest translation may have");
  }

  std::int64_t token(const nlohmann::json& value, const char* key) const {
    options_.require(key, value.is_number_integer(), "has an id that is not a whole number");
    const auto id = value.get<std::int64_t>();  // 2^63 and more become negative
    options_.require(key, id >= 0 && id < pieces_.all,
                     join_text("has the id ", json_text(value), ", which no piece has"));
    return id;
  }
  /// Our search never produces <unk> and padding, so they need no setting.
  void suppress(std::int64_t id) {
    if (id < pieces_.padding && id != pieces_.unk) suppressed_.insert(id);
  }

  /// The items of a list; none if there is no such key.
  nlohmann::json list(const char* key) const {
    if (!json_.contains(key) || json_[key].is_null()) return nlohmann::json::array();
    options_.require(key, json_[key].is_array(), "is not a list");
    return json_[key];
  }
  /// Sequences of tokens. We have a setting for those of one token. transformers ignores </s> here.
  void bad_words() {
    constexpr const char* kKey = "bad_words_ids";
    for (const nlohmann::json& sequence : list(kKey)) {
      options_.require(kKey, sequence.is_array() && !sequence.empty(),
                       "has an item that is not a list of ids");
      for (const nlohmann::json& id : sequence) token(id, kKey);
      const std::int64_t first = token(sequence.front(), kKey);
      if (sequence.size() > 1)
        leave_out(kKey);
      else if (first != pieces_.eos)
        suppress(first);
    }
  }
  void suppressed_tokens() {
    constexpr const char* kKey = "suppress_tokens";
    for (const nlohmann::json& id : list(kKey)) {
      if (token(id, kKey) == pieces_.eos)
        leave_out(kKey);
      else
        suppress(token(id, kKey));
    }
  }

  const nlohmann::json json_;
  const ForeignOptions options_;
  HfPieces pieces_;
  ForeignSearch search_;
  std::set<std::int64_t> suppressed_;
};

/// config.json's keys of sizes and rates, with the values of MarianConfig, which its writer may
/// leave out.
constexpr ConfigOption kHfMarianConfig[] = {{"d-model", "d_model", 1024},
                                            {"heads", "*_attention_heads", 16},
                                            {"d-ff", "*_ffn_dim", 4096},
                                            {"encoder-layers", "encoder_layers", 12},
                                            {"decoder-layers", "decoder_layers", 12},
                                            {"attention-dropout", "attention_dropout", 0},
                                            {"activation-dropout", "activation_dropout", 0},
                                            {"dropout", "dropout", 0.1}};

constexpr Feature kHfMarianFeatures[] = {
    {"normalize_before", "normalisation before each sub-layer"},
    {"normalize_embedding", "normalised embeddings"},
    {"add_final_layer_norm", "a last normalisation"},
};

Tying tying_of(const ForeignOptions& options) {
  const bool two = options.flag("tie_word_embeddings", true);
  const bool three = options.flag("share_encoder_decoder_embeddings", true);
  options.require("tie_word_embeddings", two || !three,
                  "embeddings of both sides that are one, with an output apart, are not known");
  return three ? Tying::ThreeWay : two ? Tying::TwoWay : Tying::None;
}

struct Vocabularies {
  std::vector<std::string> source, target;  ///< without padding
  HfPadding padding;
  bool joint = true;
};

/// Drops the piece of padding, which comes last and stands for no text, and the unused pieces of
/// our exports before it. Its embedding is the zero vector, with which our decoder begins anyway.
/// Returns how many pieces were dropped.
std::int64_t drop_padding(std::vector<std::string>& pieces, const fs::path& path) {
  if (pieces.empty() || pieces.back() != "<pad>")
    throw Error(path.string(), ": the last piece is not <pad>, as in MarianMTModel's vocabularies");
  const std::size_t size = pieces.size();
  pieces.pop_back();
  while (!pieces.empty() && is_unused_piece(pieces.back())) pieces.pop_back();
  return static_cast<std::int64_t>(size - pieces.size());
}

Vocabularies read_vocabularies(const fs::path& folder) {
  Vocabularies vocabularies;
  vocabularies.source = read_vocabulary(folder / "vocab.json");
  vocabularies.padding.source = drop_padding(vocabularies.source, folder / "vocab.json");
  if (fs::exists(folder / "target_vocab.json")) {
    vocabularies.joint = false;
    vocabularies.target = read_vocabulary(folder / "target_vocab.json");
    vocabularies.padding.target = drop_padding(vocabularies.target, folder / "target_vocab.json");
  } else {
    vocabularies.target = vocabularies.source;
    vocabularies.padding.target = vocabularies.padding.source;
  }
  return vocabularies;
}

ModelConfig read_config(const ForeignOptions& options, const Vocabularies& vocabularies) {
  constexpr const char *kPadding = "pad_token_id", *kStart = "decoder_start_token_id";
  constexpr std::int64_t kUsualPadding = 58'100;
  options.require_off(kHfMarianFeatures);
  options.require("scale_embedding", options.flag("scale_embedding", false),
                  "models whose embeddings are not multiplied by sqrt(d_model) are not known");
  const std::int64_t padding = options.integer(kPadding, kUsualPadding);
  options.require(kStart, options.integer(kStart, kUsualPadding) == padding,
                  "is not the id of padding");
  const std::int64_t last = std::ssize(vocabularies.target) + vocabularies.padding.target - 1;
  options.require(kPadding, padding == last, "is not the id of <pad> in the target vocabulary");
  ModelConfig config;
  read_numbers(config, options, kHfMarianConfig);
  constexpr Activation kActivations[] = {Activation::Relu, Activation::Gelu, Activation::Swish,
                                         Activation::Swish};
  config.activation = kActivations[options.choice("activation_function", "gelu",
                                                  {"relu", "gelu", "swish", "silu"})];
  config.tying = tying_of(options);
  options.require("share_encoder_decoder_embeddings",
                  config.tying != Tying::ThreeWay || vocabularies.joint,
                  "there are two vocabularies, which cannot have the same embeddings");
  return config;
}

std::vector<float> read_tensor(ForeignTensors& tensors, const HfTensor& tensor) {
  std::vector<float> values = tensors.take(tensor.theirs, tensor.their_shape());
  // The decoder begins with padding.
  const bool begins = tensor.ours == "embedding.weight" || tensor.ours == "embedding.target.weight";
  const auto padding = values.end() - static_cast<std::ptrdiff_t>(tensor.padding());
  if (begins && std::any_of(padding, values.end(), [](float value) { return value != 0; }))
    throw Error(tensors.file(), ": ", tensor.theirs,
                ": the row of <pad>, with which the decoder begins, is not zero");
  values.erase(padding, values.end());
  return values;
}

/// A file may have a matrix that is used twice under either of its names, or under both.
void join_names(ForeignTensors& tensors, const ModelConfig& config) {
  if (config.tying == Tying::ThreeWay)
    tensors.join("model.shared.weight", {"model.encoder.embed_tokens.weight",
                                         "model.decoder.embed_tokens.weight", "lm_head.weight"});
  if (config.tying == Tying::TwoWay)
    tensors.join("model.decoder.embed_tokens.weight", {"lm_head.weight"});
  if (config.tying != Tying::ThreeWay) tensors.ignore("model.shared.weight");
  for (const char* side : {"encoder", "decoder"})  // the sinusoids
    tensors.ignore(join_text("model.", side, ".embed_positions.weight"));
}

/// Whether the output has a bias. Files always have one; it is zero if the model was trained
/// without one.
bool has_bias(ForeignTensors& tensors, std::int64_t pieces, std::int64_t padding) {
  constexpr const char* kName = "final_logits_bias";
  if (!tensors.has(kName)) return false;
  const std::vector<float> bias = tensors.take(kName, {1, pieces + padding});
  return std::any_of(bias.begin(), bias.end() - padding, [](float value) { return value != 0; });
}

fs::path weights_of(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                           "pytorch_model.bin.index.json"})
    if (fs::exists(folder / name)) return folder / name;
  throw Error(folder.string(),
              ": has neither model.safetensors nor pytorch_model.bin, nor an index of their parts");
}

void read_weights(ForeignModel& model, const fs::path& path, const HfPadding& padding) {
  const WeightFile file(path);
  ForeignTensors tensors(path.string(), file.tensors());
  join_names(tensors, model.config);
  model.config.output_bias = has_bias(tensors, model.config.target_vocabulary, padding.target);
  for (const HfTensor& tensor : hf_tensors(model.config, padding))
    model.parameters[tensor.ours] = read_tensor(tensors, tensor);
  tensors.check_all_taken();
}

/// Reads generation_config.json, or in older folders config.json.
ForeignSearch read_search(const fs::path& folder, const Vocabularies& vocabularies,
                          const ModelConfig& config) {
  const fs::path path = folder / "generation_config.json";
  const std::int64_t pieces = config.target_vocabulary;
  return GenerationConfigReader(fs::exists(path) ? path : folder / "config.json",
                                {.all = pieces + vocabularies.padding.target,
                                 .padding = pieces,
                                 .unk = config.unk_id,
                                 .eos = config.eos_id})
      .run();
}

}  // namespace

bool is_hf_marian(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  return fs::exists(path) && json_options(path).text("model_type", "") == "marian";
}

ForeignModel read_hf_marian(const fs::path& folder) {
  const ForeignOptions options = json_options(folder / "config.json");
  const Vocabularies vocabularies = read_vocabularies(folder);
  ForeignModel model;
  model.kind = "MarianMTModel";
  model.columns = ColumnOrder::Halves;
  model.config = read_config(options, vocabularies);
  check_config(model.config, options, kHfMarianConfig);
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  const fs::path source = folder / "source.spm", target = folder / "target.spm";
  model.source = {vocabularies.source, read_file(source), source.string()};
  model.target = {vocabularies.target, read_file(target), target.string()};
  set_sizes_and_ids(model, folder.string());
  options.require("eos_token_id", options.integer("eos_token_id", 0) == model.config.eos_id,
                  "is not the id of </s> in the vocabulary");
  model.search = read_search(folder, vocabularies, model.config);
  read_weights(model, weights_of(folder), vocabularies.padding);
  return model;
}

}  // namespace dragoman
