#include "extras/formats/ctranslate2.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/formats/exported_folder.h"
#include "model/file/model_config.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

enum class Type : std::uint8_t { F32 = 0, I8 = 1, I16 = 2, F16 = 4 };

struct Variable {
  std::vector<std::int64_t> shape;
  Type type;
  std::string bytes;
};

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Collects the variables of model.bin.
class VariablesWriter {
 public:
  explicit VariablesWriter(ExportType type) : type_(type) {}

  /// A switch, or a number.
  void byte(const std::string& name, std::int8_t value) {
    variables_[name] = {{}, Type::I8, bytes_of(std::vector<std::int8_t>{value})};
  }
  void number(const std::string& name, std::int16_t value) {
    variables_[name] = {{}, Type::I16, bytes_of(std::vector<std::int16_t>{value})};
  }
  void floats(const std::string& name, std::vector<std::int64_t> shape,
              const std::vector<float>& values) {
    if (type_ == ExportType::Float16) {
      std::vector<std::uint16_t> halves(values.size());
      std::transform(values.begin(), values.end(), halves.begin(), half_of);
      variables_[name] = {std::move(shape), Type::F16, bytes_of(halves)};
    } else {
      variables_[name] = {std::move(shape), Type::F32, bytes_of(values)};
    }
  }
  /// `name` without its "/weight".
  void matrix(const std::string& name, std::int64_t columns, const std::vector<float>& values) {
    const auto rows = static_cast<std::int64_t>(values.size()) / columns;
    if (type_ != ExportType::Int8) return floats(name + "/weight", {rows, columns}, values);
    QuantizedRows quantized = quantize_rows(values, columns);
    for (float& scale : quantized.scales) scale = scale > 0 ? 1 / scale : 1;
    variables_[name + "/weight"] = {{rows, columns}, Type::I8, bytes_of(quantized.whole)};
    variables_[name + "/weight_scale"] = {{rows}, Type::F32, bytes_of(quantized.scales)};
  }
  void alias(const std::string& name, const std::string& of) { aliases_[name] = of; }

  void write(const fs::path& path) const {
    AtomicFile file(path);
    const auto number = [&file](auto value) { file.write(&value, sizeof value); };
    const auto text = [&](const std::string& value) {
      number(static_cast<std::uint16_t>(value.size() + 1));
      file.write(value.c_str(), value.size() + 1);
    };
    number(std::uint32_t{6});
    text("TransformerSpec");
    number(std::uint32_t{7});
    number(static_cast<std::uint32_t>(variables_.size()));
    for (const auto& [name, variable] : variables_) {
      text(name);
      number(static_cast<std::uint8_t>(variable.shape.size()));
      for (const std::int64_t size : variable.shape) number(static_cast<std::uint32_t>(size));
      number(static_cast<std::uint8_t>(variable.type));
      if (variable.bytes.size() > std::numeric_limits<std::uint32_t>::max())
        throw Error(name, ": has 4 GiB or more, and CTranslate2's format holds less; --type int8 ",
                    "makes it a quarter of that");
      number(static_cast<std::uint32_t>(variable.bytes.size()));
      file.write(variable.bytes);
    }
    number(static_cast<std::uint32_t>(aliases_.size()));
    for (const auto& [name, of] : aliases_) text(name), text(of);
    file.commit();
  }

 private:
  ExportType type_;
  std::map<std::string, Variable> variables_;
  std::map<std::string, std::string> aliases_;
};

std::int8_t activation_number(Activation activation) {
  switch (activation) {
    case Activation::Relu:
      return 0;
    case Activation::Swish:
    case Activation::GatedSwish:
      return 2;
    case Activation::Gelu:
    case Activation::GatedGelu:
      return 3;
  }
  throw Error("CTranslate2 has no such activation");
}

std::vector<float> sinusoids(std::int64_t positions, const ModelConfig& config) {
  std::vector<float> table;
  for (std::int64_t position = 0; position < positions; ++position)
    for (std::int64_t c = 0; c < config.d_model; ++c)
      table.push_back(sinusoid(position, c, config.d_model, config.positions));
  return table;
}

/// Writes our parameters under CTranslate2's names.
class Exporter {
 public:
  Exporter(const ModelFileReader& model, ExportType type)
      : model_(model), config_(model.config()), variables_(type) {}

  VariablesWriter run() {
    side("encoder", "source");
    side("decoder", "target");
    for (const CTranslate2Layer& layer : ctranslate2_layers(config_)) write_layer(layer);
    variables_.byte("encoder/embeddings_merge", false);
    variables_.byte("encoder/multi_query_attention", false);
    variables_.byte("decoder/start_from_zero_embedding", true);
    variables_.byte("decoder/alibi", false);
    variables_.byte("decoder/alibi_use_positive_positions", false);
    variables_.byte("decoder/scale_alibi", false);
    variables_.number("decoder/alignment_layer", -1);
    variables_.number("decoder/alignment_heads", 1);
    embeddings();
    return std::move(variables_);
  }

 private:
  std::vector<float> floats(const std::string& name) const { return model_.floats(name); }

  void embeddings() {
    const std::int64_t d_model = config_.d_model;
    const std::string source = "encoder/embeddings_0", target = "decoder/embeddings",
                      output = "decoder/projection";
    if (config_.tying == Tying::ThreeWay) {
      variables_.matrix(source, d_model, floats("embedding.weight"));
      variables_.alias(target + "/weight", source + "/weight");
      variables_.alias(output + "/weight", source + "/weight");
    } else {
      variables_.matrix(source, d_model, floats("embedding.source.weight"));
      variables_.matrix(target, d_model, floats("embedding.target.weight"));
      if (config_.tying == Tying::TwoWay)
        variables_.alias(output + "/weight", target + "/weight");
      else
        variables_.matrix(output, d_model, floats("output.weight"));
    }
    if (config_.output_bias)
      variables_.floats(output + "/bias", {config_.target_vocabulary}, floats("output.bias"));
  }

  void side(const std::string& theirs, const std::string& ours) {
    const std::int64_t d_model = config_.d_model;
    variables_.number(theirs + "/num_heads", static_cast<std::int16_t>(config_.heads));
    variables_.byte(theirs + "/pre_norm", config_.norm == NormPosition::Before);
    variables_.byte(theirs + "/activation", activation_number(config_.activation));
    variables_.byte(theirs + "/scale_embeddings", true);
    const bool learned = config_.positions == Positions::Learned;
    const std::int64_t positions = learned ? config_.max_positions : kExportedPositions;
    variables_.floats(
        theirs + "/position_encodings/encodings", {positions, d_model},
        learned ? floats("positions." + ours + ".weight") : sinusoids(positions, config_));
  }

  void write_layer(const CTranslate2Layer& layer) {
    std::vector<float> weights, bias;
    for (const std::string& name : layer.ours) {
      const auto more = floats(name + ".weight"), more_bias = floats(name + ".bias");
      weights.insert(weights.end(), more.begin(), more.end());
      bias.insert(bias.end(), more_bias.begin(), more_bias.end());
    }
    const bool is_norm = layer.inputs == 0;
    const auto outputs = std::ssize(bias);
    variables_.floats(layer.theirs + (is_norm ? "/beta" : "/bias"), {outputs}, bias);
    if (is_norm)
      variables_.floats(layer.theirs + "/gamma", {outputs}, weights);
    else
      variables_.matrix(layer.theirs, layer.inputs, weights);
  }

  const ModelFileReader& model_;
  const ModelConfig& config_;
  VariablesWriter variables_;
};

void write_vocabulary(const fs::path& path, const Tokenizer& tokenizer) {
  nlohmann::json pieces = nlohmann::json::array();
  for (TokenId id = 0; id < tokenizer.size(); ++id) pieces.push_back(tokenizer.piece(id));
  write_file(path, json_text(pieces, 0) + "\n");
}

/// CTranslate2 ignores "source_eos". It is for our own reader: it distinguishes a model whose
/// sources have no end from one converted from Marian, whose callers add the end
/// (read_ctranslate2.cpp).
void write_config(const fs::path& path, const Tokenizer& target, const ModelConfig& model) {
  nlohmann::json config = {{"add_source_bos", false},
                           {"add_source_eos", model.source_eos},
                           {"bos_token", target.piece(target.bos_id())},
                           {"eos_token", target.piece(target.eos_id())},
                           {"unk_token", target.piece(target.unk_id())},
                           {"decoder_start_token", target.piece(target.eos_id())},
                           {"layer_norm_epsilon", model.norm_epsilon},
                           {"multi_query_attention", false}};
  if (!model.source_eos) config["source_eos"] = false;
  write_file(path, json_text(config, 2) + "\n");
}

}  // namespace

void write_ctranslate2(const ModelFileReader& model, const fs::path& folder, ExportType type) {
  if (model.config().norm == NormPosition::BeforeQueries)
    throw Error(
        "CTranslate2 has no normalisation that leaves out keys and values (--norm before-queries)");
  NewFolder made(folder);
  const fs::path& part = made.path();
  const Tokenizer source(std::string(model.tokenizer_source()), "the source tokenizer");
  const Tokenizer target(std::string(model.tokenizer_target()), "the target tokenizer");
  Exporter(model, type).run().write(part / "model.bin");
  if (source.facts().pieces_hash != target.facts().pieces_hash) {
    write_vocabulary(part / "source_vocabulary.json", source);
    write_vocabulary(part / "target_vocabulary.json", target);
  } else {
    write_vocabulary(part / "shared_vocabulary.json", source);
  }
  write_config(part / "config.json", target, model.config());
  write_file(part / "source.spm", model.tokenizer_source());
  write_file(part / "target.spm", model.tokenizer_target());
  made.commit();
}

std::vector<std::string> settings_for_callers(const DecodeDefaults& defaults) {
  return unsupported_settings(defaults,
                              {.system = "CTranslate2", .flags = {}, .stops = {Stop::Full}},
                              Unsupported::LeftOut);
}

}  // namespace dragoman
