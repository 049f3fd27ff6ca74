#include "model/file/average.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

namespace {

/// Throws Error naming the first field that differs.
void check_same_architecture(const ModelFileReader& first, const ModelFileReader& other) {
  ModelConfig one = first.config(), two = other.config();
  two.dropout = one.dropout;  // rates of training, which may differ
  two.attention_dropout = one.attention_dropout;
  two.activation_dropout = one.activation_dropout;
  if (to_json(one) == to_json(two)) return;
  const std::string files = other.path().string() + " and " + first.path().string();
  const auto fields = fields_of(one), others = fields_of(two);
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].text() != others[i].text())
      throw Error(files, " cannot be averaged: ", fields[i].info.name, " is ", others[i].text(),
                  " in the one and ", fields[i].text(), " in the other");
  throw Error(files,
              " cannot be averaged: their vocabularies, the epsilons of their layer "
              "normalisation, or the ends of their sources differ");
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
  for (const ModelFileReader& model : models)
    provenance.averaged_from.push_back(model.path().string());
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
