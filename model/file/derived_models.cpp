#include "model/file/derived_models.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "base/error.h"
#include "base/json.h"

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
  const auto values = parse_json(to_json(one)), others = parse_json(to_json(two));
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
  const auto newest = std::ranges::max_element(
      models, {}, [](const ModelFileReader& model) { return model.provenance().updates; });
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
    // tensor() checks each parameter when its turn comes. A checkpoint's training state is not
    // read.
    models.emplace_back(path, Verify::Header);
    check_same_architecture(models.front(), models.back());
    if (models.front().tokenizer_source() != models.back().tokenizer_source() ||
        models.front().tokenizer_target() != models.back().tokenizer_target())
      throw Error(path.string(), " and ", paths.front().string(),
                  " cannot be averaged: their tokenizers differ");
  }
  const ModelFileReader& first = models.front();
  ModelContents contents = contents_of(first);
  contents.provenance = provenance_of(models, command);
  std::vector<std::vector<float>> means;
  for (const std::string& name : first.names()) {
    means.push_back(mean(models, name));
    contents.parameters.push_back(
        {name, Dtype::F32, first.tensor(name).shape, means.back().data()});
  }
  write_model_file(output, contents);
}

namespace {

bool is_rounded(const ParameterShape& parameter) {
  return parameter.shape.size() == 2 && !parameter.name.starts_with("positions.");
}

double relative_error(std::span<const float> values, const QuantizedRows& rounded,
                      std::size_t columns) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    const double difference =
        value - static_cast<double>(rounded.whole[i]) * rounded.scales[i / columns];
    error += difference * difference;
    size += value * value;
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

}  // namespace

std::vector<RoundedMatrix> rounded_matrices(const ModelFileReader& model) {
  std::vector<RoundedMatrix> matrices;
  for (const ParameterShape& parameter : parameter_shapes(model.config())) {
    if (!is_rounded(parameter)) continue;
    const std::vector<float> values = model.floats(parameter.name);
    matrices.push_back(
        {parameter.name, relative_error(values, quantize_rows(values, parameter.shape[1]),
                                        static_cast<std::size_t>(parameter.shape[1]))});
  }
  std::ranges::stable_sort(matrices, std::greater{}, &RoundedMatrix::relative_error);
  return matrices;
}

std::size_t write_quantized(const ModelFileReader& model, const std::filesystem::path& output,
                            const std::set<std::string>& kept, const std::string& command) {
  ModelContents contents = contents_of(model);
  contents.provenance.command = command;
  contents.provenance.scores.clear();
  std::deque<QuantizedRows> rounded;  // the contents are views of it
  for (const ParameterShape& parameter : parameter_shapes(model.config())) {
    if (model.is_int8(parameter.name))
      throw Error(model.path().string(), ": its weights are already whole numbers of 8 bits");
    if (!is_rounded(parameter) || kept.contains(parameter.name)) {
      contents.parameters.push_back(model.tensor(parameter.name));
      continue;
    }
    const QuantizedRows& rows =
        rounded.emplace_back(quantize_rows(model.floats(parameter.name), parameter.shape[1]));
    contents.parameters.push_back({parameter.name, Dtype::I8, parameter.shape, rows.whole.data()});
    contents.parameters.push_back(
        {scales_name(parameter.name), Dtype::F32, {parameter.shape[0]}, rows.scales.data()});
  }
  return write_model_file(output, contents);
}

}  // namespace dragoman
