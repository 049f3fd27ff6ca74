#include "model/file/quantize.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "base/error.h"
#include "model/file/quantized_rows.h"

namespace dragoman {

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
  ModelContents contents{.config = model.config(),
                         .tokenizer_source = model.tokenizer_source(),
                         .tokenizer_target = {},
                         .provenance = model.provenance(),
                         .parameters = {},
                         .training = {},
                         .progress = {},
                         .decode_defaults = model.decode_defaults()};
  if (model.has_two_tokenizers()) contents.tokenizer_target = model.tokenizer_target();
  contents.provenance.command = command;
  contents.provenance.scores.clear();
  std::deque<QuantizedRows> rounded;  // the contents are views of it
  for (const ParameterShape& parameter : parameter_shapes(model.config())) {
    if (model.is_int8(parameter.name))
      throw Error(model.path().string(), ": its weights are whole numbers of 8 bits already");
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
