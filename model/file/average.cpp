#include "model/file/average.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman {

namespace {

using Json = nlohmann::json;

/// Throws Error naming the first value that differs.
void check_same_architecture(const ModelFileReader& first, const ModelFileReader& other) {
  ModelConfig one = first.config(), two = other.config();
  two.dropout = one.dropout;  // rates of training, which may differ
  two.attention_dropout = one.attention_dropout;
  two.activation_dropout = one.activation_dropout;
  const std::string files = other.path().string() + " and " + first.path().string();
  const auto values = Json::parse(to_json(one)), others = Json::parse(to_json(two));
  const auto text_of = [](const Json& all, const std::string& name) {
    const auto found = all.find(name);
    if (found == all.end()) return std::string("not there");
    return found->is_string() ? found->get<std::string>() : found->dump();
  };
  Json all = values;
  all.update(others);
  for (const auto& [name, value] : all.items())
    if (text_of(values, name) != text_of(others, name))
      throw Error(files, " cannot be averaged: ", name, " is ", text_of(others, name),
                  " in the one and ", text_of(values, name), " in the other");
}

std::vector<float> mean(const std::vector<ModelFileReader>& models, const std::string& name) {
  std::vector<double> sums;
  std::vector<float> values;
  for (const ModelFileReader& model : models) {
    values = model.floats(name);
    sums.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
  }
  const auto count = static_cast<double>(models.size());
  std::transform(sums.begin(), sums.end(), values.begin(),
                 [count](double sum) { return static_cast<float>(sum / count); });
  return values;
}

Provenance provenance_of(const std::vector<ModelFileReader>& models, const std::string& command) {
  const auto newest = std::max_element(
      models.begin(), models.end(),
      [](const auto& a, const auto& b) { return a.provenance().updates < b.provenance().updates; });
  Provenance provenance = newest->provenance();
  provenance.command = command;
  provenance.scores.clear();
  provenance.averaged_from.clear();
  for (const ModelFileReader& model : models) {
    provenance.averaged_from.push_back(model.path().string());
    provenance.characters = joined_characters(provenance.characters, model.provenance().characters);
  }
  return provenance;
}

}  // namespace

void write_average(std::span<const std::filesystem::path> paths,
                   const std::filesystem::path& output, const std::string& command) {
  if (paths.empty()) throw Error(output.string(), ": there is no model to average");
  std::vector<ModelFileReader> models;
  for (const auto& path : paths) {
    // tensor() checks each parameter when its turn comes; a checkpoint's training state is not
    // read.
    models.emplace_back(path, Verify::Header);
    check_same_architecture(models.front(), models.back());
    if (models.front().tokenizer_source() != models.back().tokenizer_source() ||
        models.front().tokenizer_target() != models.back().tokenizer_target())
      throw Error(path.string(), " and ", paths.front().string(),
                  " cannot be averaged: their tokenizers differ");
  }
  const ModelFileReader& first = models.front();
  ModelContents contents;
  contents.config = first.config();
  contents.tokenizer_source = first.tokenizer_source();
  if (first.has_two_tokenizers()) contents.tokenizer_target = first.tokenizer_target();
  contents.provenance = provenance_of(models, command);
  contents.decode_defaults = first.decode_defaults();
  std::vector<std::vector<float>> means;
  for (const std::string& name : first.names()) {
    means.push_back(mean(models, name));
    contents.parameters.push_back(
        {name, Dtype::F32, first.tensor(name).shape, means.back().data()});
  }
  write_model_file(output, contents);
}

}  // namespace dragoman
