#include "model/file/model_config.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"

namespace dragoman {

namespace {

using Json = nlohmann::json;

/// Upper limits keep every product of two sizes far from overflow and a damaged configuration from
/// asking for absurd memory.
constexpr std::int64_t kMaxWidth = 1 << 16;
constexpr std::int64_t kMaxLayers = 1'000;
constexpr std::int64_t kMaxRows = 1 << 24;  // of embeddings: pieces or positions

constexpr const char* kNormEpsilon = "norm-epsilon";
constexpr const char* kSourceEos = "source-eos";
constexpr const char* kEmbeddingNorm = "embedding-norm";

void check_size(std::string_view flag, std::int64_t value, std::int64_t limit) {
  if (value < 1 || value > limit)
    throw UsageError("--", flag, ": ", value, " is not between 1 and ", limit);
}

void check_rate(std::string_view flag, double value) {
  if (!(value >= 0 && value < 1))
    throw UsageError("--", flag, ": ", value, " is not a rate from 0 to below 1");
}

/// The values that the tokenizer decides, under the names of the stored text.
template <class Config, class Visit>
void for_each_tokenizer_value(Config& config, Visit&& visit) {
  visit("source-vocabulary", config.source_vocabulary);
  visit("target-vocabulary", config.target_vocabulary);
  visit("unk-id", config.unk_id);
  visit("bos-id", config.bos_id);
  visit("eos-id", config.eos_id);
}

Json json_of(const Field& field) {
  const std::string text = field.values().front();
  const bool is_text = field.kind == Field::Kind::Choice || field.kind == Field::Kind::Text;
  return is_text ? Json(text) : parse_json(text);
}

std::string text_of_json(const Field& field, const Json& value) {
  const auto has_type = [&] {
    switch (field.kind) {
      case Field::Kind::Flag:
        return value.is_boolean();
      case Field::Kind::Integer:
        return value.is_number_integer();
      case Field::Kind::Number:
        return value.is_number();
      default:
        return value.is_string();
    }
  };
  if (!has_type()) throw Error("model configuration: \"", field.info.name, "\" has the wrong type");
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

void check_tokenizer_values(const ModelConfig& config) {
  for_each_tokenizer_value(config, [&config](std::string_view name, std::int64_t value) {
    const bool is_id = name.ends_with("-id");
    const std::int64_t end =
        is_id ? std::min(config.source_vocabulary, config.target_vocabulary) : kMaxRows + 1;
    if (value < (is_id ? 0 : 1) || value >= end)
      throw Error("model configuration: \"", name, "\" cannot be ", value);
  });
  if (config.tying == Tying::ThreeWay && config.source_vocabulary != config.target_vocabulary)
    throw Error(
        "model configuration: three-way tied embeddings need one vocabulary, but there are ",
        config.source_vocabulary, " source pieces and ", config.target_vocabulary,
        " target pieces");
}

/// Collects parameters below a prefix; the functions below follow the module tree.
class Shapes {
 public:
  void add(std::string name, std::vector<std::int64_t> shape) {
    list_.push_back({std::move(name), std::move(shape)});
  }

  void linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }

  void norm(const std::string& name, std::int64_t width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }

  /// Query, key and value stand side by side, so that their fused projection is a view.
  void attention(const std::string& name, std::int64_t d_model) {
    const std::array projections = {".query", ".key", ".value"};
    for (const char* projection : projections)
      add(name + projection + ".weight", {d_model, d_model});
    for (const char* projection : projections) add(name + projection + ".bias", {d_model});
    linear(name + ".output", d_model, d_model);
    norm(name + "_norm", d_model);
  }

  void feed_forward(const std::string& name, const ModelConfig& config) {
    linear(name + ".inner", config.d_ff, config.d_model);
    if (is_gated(config.activation)) linear(name + ".gate", config.d_ff, config.d_model);
    linear(name + ".outer", config.d_model, config.d_ff);
    norm(name + "_norm", config.d_model);
  }

  std::vector<ParameterShape> take() { return std::move(list_); }

 private:
  std::vector<ParameterShape> list_;
};

void add_embeddings(Shapes& shapes, const ModelConfig& config) {
  if (config.tying == Tying::ThreeWay) {
    shapes.add("embedding.weight", {config.source_vocabulary, config.d_model});
  } else {
    shapes.add("embedding.source.weight", {config.source_vocabulary, config.d_model});
    shapes.add("embedding.target.weight", {config.target_vocabulary, config.d_model});
  }
  if (config.positions == Positions::Learned) {
    shapes.add("positions.source.weight", {config.max_positions, config.d_model});
    shapes.add("positions.target.weight", {config.max_positions, config.d_model});
  }
}

void add_stack(Shapes& shapes, const std::string& stack, const ModelConfig& config) {
  const bool decoder = stack == "decoder";
  const std::int64_t layers = decoder ? config.decoder_layers : config.encoder_layers;
  if (config.embedding_norm) shapes.norm(stack + ".embedding_norm", config.d_model);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string layer = stack + ".layers." + std::to_string(i);
    shapes.attention(layer + ".self_attention", config.d_model);
    if (decoder) shapes.attention(layer + ".cross_attention", config.d_model);
    shapes.feed_forward(layer + ".feed_forward", config);
  }
  if (is_before(config.norm)) shapes.norm(stack + ".norm", config.d_model);
}

}  // namespace

ModelConfig ModelConfig::from_preset(Preset preset) {
  ModelConfig config;  // the paper's base model
  switch (preset) {
    case Preset::Tiny:
      config.d_model = 128;
      config.heads = 4;
      config.d_ff = 256;
      config.encoder_layers = config.decoder_layers = 4;
      config.norm = NormPosition::Before;
      config.dropout = 0.3;
      config.activation_dropout = 0;  // docs/experiments/multi30k.md
      break;
    case Preset::Small:
      config.d_model = 256;
      config.heads = 4;
      config.d_ff = 1024;
      config.encoder_layers = config.decoder_layers = 3;
      config.norm = NormPosition::Before;
      break;
    case Preset::Base:
      break;
    case Preset::Big:
      config.d_model = 1024;
      config.heads = 16;
      config.d_ff = 4096;
      config.dropout = 0.3;
      break;
  }
  return config;
}

void ModelConfig::check() const {
  check_size("d-model", d_model, kMaxWidth);
  check_size("heads", heads, kMaxWidth);
  check_size("d-ff", d_ff, kMaxWidth);
  check_size("encoder-layers", encoder_layers, kMaxLayers);
  check_size("decoder-layers", decoder_layers, kMaxLayers);
  check_size("max-positions", max_positions, kMaxRows);
  if (d_model % heads != 0)
    throw UsageError("--heads: ", heads, " heads do not divide --d-model ", d_model);
  if (positions != Positions::Learned && d_model % 2 != 0)
    throw UsageError("--d-model: ", d_model, " is odd, but sinusoidal positions come in pairs");
  check_rate("dropout", dropout);
  check_rate("attention-dropout", attention_dropout);
  check_rate("activation-dropout", activation_dropout);
}

std::string to_json(const ModelConfig& config) {
  ModelConfig copy = config;
  nlohmann::ordered_json json;
  for (const Field& field : fields_of(copy)) json[std::string(field.info.name)] = json_of(field);
  json[kNormEpsilon] = config.norm_epsilon;
  if (!config.source_eos) json[kSourceEos] = false;
  if (config.embedding_norm) json[kEmbeddingNorm] = true;
  for_each_tokenizer_value(config,
                           [&json](const char* name, std::int64_t value) { json[name] = value; });
  return json_text(json);
}

ModelConfig model_config_from_json(std::string_view text) {
  Json json = parse_json_or_discard(text);
  if (!json.is_object()) throw Error("model configuration: not a JSON object");
  ModelConfig config;
  const auto take = [&json](std::string_view name) {
    const auto found = json.find(name);
    if (found == json.end()) throw Error("model configuration: \"", name, "\" is missing");
    Json value = std::move(*found);
    json.erase(found);
    return value;
  };
  try {
    for (const Field& field : fields_of(config))
      field.assign({text_of_json(field, take(field.info.name))});
    config.check();
  } catch (const UsageError& error) {
    throw Error("model configuration: ", error.what());
  }
  if (json.contains(kNormEpsilon)) {
    const Json number = take(kNormEpsilon);
    config.norm_epsilon = number.is_number() ? number.get<double>() : 0;
    if (!(config.norm_epsilon > 0 && config.norm_epsilon < 1))
      throw Error("model configuration: \"", kNormEpsilon, "\" cannot be ", json_text(number));
  }
  for (const auto& [name, flag] :
       {std::pair{kSourceEos, &config.source_eos}, {kEmbeddingNorm, &config.embedding_norm}}) {
    if (!json.contains(name)) continue;
    const Json value = take(name);
    if (!value.is_boolean()) throw Error("model configuration: \"", name, "\" has the wrong type");
    *flag = value.get<bool>();
  }
  for_each_tokenizer_value(config, [&take](std::string_view name, std::int64_t& value) {
    const Json number = take(name);
    if (!number.is_number_integer())
      throw Error("model configuration: \"", name, "\" has the wrong type");
    value = number.get<std::int64_t>();
  });
  if (!json.empty())
    throw Error("model configuration: \"", json.begin().key(), "\" is unknown to this version");
  check_tokenizer_values(config);
  return config;
}

std::int64_t ParameterShape::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  const auto text = [](std::int64_t size) { return std::to_string(size); };
  return "[" + joined(shape, ", ", text) + "]";
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& config) {
  Shapes shapes;
  add_embeddings(shapes, config);
  add_stack(shapes, "encoder", config);
  add_stack(shapes, "decoder", config);
  if (config.tying == Tying::None)
    shapes.add("output.weight", {config.target_vocabulary, config.d_model});
  if (config.output_bias) shapes.add("output.bias", {config.target_vocabulary});
  return shapes.take();
}

float sinusoid(std::int64_t position, std::int64_t column, std::int64_t d_model,
               Positions positions) {
  const std::int64_t frequency = column / 2;  // a sine and a cosine of each
  const double step = positions == Positions::Marian
                          ? 1.0 / static_cast<double>(std::max<std::int64_t>(d_model / 2 - 1, 1))
                          : 2.0 / static_cast<double>(d_model);
  const double exponent = static_cast<double>(frequency) * step;
  const double angle = static_cast<double>(position) * std::exp(exponent * -std::log(10000.0));
  return static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

}  // namespace dragoman
