#include "extras/formats/plain_transformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman {

namespace {

double dot(const float* a, const double* b, std::size_t size) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

double activated(Activation activation, double swish_factor, double x) {
  switch (activation) {
    case Activation::Relu:
      return std::max(x, 0.0);
    case Activation::Gelu:
    case Activation::GatedGelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::Swish:
    case Activation::GatedSwish:
      return x / (1 + std::exp(-swish_factor * x));
  }
  throw Error("an activation without a formula");
}

void softmax(std::vector<double>& values) {
  const double highest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - highest);
  for (double& value : values) value /= sum;
}

void log_softmax(std::vector<double>& values) {
  const double highest = *std::ranges::max_element(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - highest);
  for (double& value : values) value -= highest + std::log(sum);
}

}  // namespace

double plain_position(const ForeignModel& model, std::int64_t position, std::int64_t column) {
  const std::int64_t half = model.config.d_model / 2;
  const bool halves = model.columns == ColumnOrder::Halves;
  const std::int64_t i = halves ? column % half : column / 2;
  const bool is_sine = halves ? column < half : column % 2 == 0;
  const auto steps = static_cast<double>(
      model.config.positions == Positions::Marian ? std::max<std::int64_t>(half - 1, 1) : half);
  const double angle = static_cast<double>(position + model.first_position) *
                       std::pow(10000.0, -static_cast<double>(i) / steps);
  return is_sine ? std::sin(angle) : std::cos(angle);
}

std::vector<float> plain_positions(const ForeignModel& model, std::int64_t positions) {
  std::vector<float> table;
  for (std::int64_t position = 0; position < positions; ++position)
    for (std::int64_t c = 0; c < model.config.d_model; ++c)
      table.push_back(static_cast<float>(plain_position(model, position, c)));
  return table;
}

namespace {

class PlainTransformer {
 public:
  explicit PlainTransformer(const ForeignModel& model) : model_(model), config_(model.config) {}

  std::vector<std::vector<double>> log_probabilities(std::span<const TokenId> source,
                                                     std::span<const TokenId> target) const {
    const auto run_stack = [this](Rows& x, const std::string& side, const Rows& memory) {
      const bool is_of_decoder = side == "decoder";
      const std::int64_t layers = is_of_decoder ? config_.decoder_layers : config_.encoder_layers;
      if (config_.embedding_norm)
        for (auto& row : x) row = normalized(side + ".embedding_norm", row);
      for (std::int64_t i = 0; i < layers; ++i)
        run_layer(x, {side + ".layers." + std::to_string(i), is_of_decoder}, memory);
      if (is_before(config_.norm))
        for (auto& row : x) row = normalized(side + ".norm", row);
    };
    Rows memory = embed(source, false);
    run_stack(memory, "encoder", {});
    std::vector<TokenId> given = {-1};  // the start
    given.insert(given.end(), target.begin(), target.end());
    given.resize(target.size());
    Rows x = embed(given, true);
    run_stack(x, "decoder", memory);
    std::vector<std::vector<double>> result;
    for (const auto& row : x) result.push_back(project(row));
    return result;
  }

 private:
  using Rows = std::vector<std::vector<double>>;  // [D] for each position

  struct Layer {
    std::string name;
    bool is_of_decoder;
  };

  const std::vector<float>& parameter(const std::string& name) const {
    return model_.parameters.at(name);
  }

  Rows embed(std::span<const TokenId> tokens, bool is_of_decoder) const {
    const auto d = static_cast<std::size_t>(config_.d_model);
    const auto& matrix = parameter(config_.tying == Tying::ThreeWay ? "embedding.weight"
                                   : is_of_decoder                  ? "embedding.target.weight"
                                                                    : "embedding.source.weight");
    const auto& table = is_of_decoder ? model_.target_positions : model_.source_positions;
    Rows rows(tokens.size(), std::vector<double>(d));
    for (std::size_t t = 0; t < tokens.size(); ++t)
      for (std::size_t c = 0; c < d; ++c) {
        double value = 0;
        if (is_of_decoder && t == 0)  // the decoder's first token stands for its start
          value = model_.start.empty() ? 0 : model_.start[c];
        else
          value = matrix[static_cast<std::size_t>(tokens[t]) * d + c];
        const double place = config_.positions == Positions::Learned
                                 ? table.at(t * d + c)
                                 : plain_position(model_, static_cast<std::int64_t>(t),
                                                  static_cast<std::int64_t>(c));
        rows[t][c] = model_.embedding_scale * value + place;
      }
    return rows;
  }

  std::vector<double> linear(const std::string& name, const std::vector<double>& x) const {
    const auto &weights = parameter(name + ".weight"), &bias = parameter(name + ".bias");
    std::vector<double> y(bias.size());
    for (std::size_t row = 0; row < y.size(); ++row)
      y[row] = dot(weights.data() + row * x.size(), x.data(), x.size()) + bias[row];
    return y;
  }

  std::vector<double> normalized(const std::string& name, const std::vector<double>& x) const {
    const auto &gamma = parameter(name + ".weight"), &beta = parameter(name + ".bias");
    const auto size = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / size;
    for (const double value : x) variance += (value - mean) * (value - mean) / size;
    std::vector<double> y(x.size());
    for (std::size_t c = 0; c < x.size(); ++c)
      y[c] = (x[c] - mean) / std::sqrt(variance + config_.norm_epsilon) * gamma[c] + beta[c];
    return y;
  }

  /// A sub-layer with residual sum and normalisation. `run` gets the normalised or plain input.
  template <class Run>
  void sub_layer(Rows& x, const std::string& norm, Run&& run) const {
    const bool normalizes_input = is_before(config_.norm);
    Rows input = x;
    if (normalizes_input)
      for (auto& row : input) row = normalized(norm, row);
    const Rows output = run(input);
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t c = 0; c < x[t].size(); ++c) x[t][c] += output[t][c];
      if (!normalizes_input) x[t] = normalized(norm, x[t]);
    }
  }

  Rows attend(const std::string& name, const Rows& queries, const Rows& memory,
              bool is_causal) const {
    const auto heads = static_cast<std::size_t>(config_.heads);
    const auto d_k = static_cast<std::size_t>(config_.d_k());
    Rows keys, values, result;
    for (const auto& row : memory) {
      keys.push_back(linear(name + ".key", row));
      values.push_back(linear(name + ".value", row));
    }
    for (std::size_t t = 0; t < queries.size(); ++t) {
      const std::vector<double> query = linear(name + ".query", queries[t]);
      const std::size_t seen = is_causal ? t + 1 : memory.size();
      std::vector<double> attended(query.size());
      for (std::size_t h = 0; h < heads; ++h) {
        std::vector<double> weights(seen);
        for (std::size_t s = 0; s < seen; ++s)
          for (std::size_t c = h * d_k; c < (h + 1) * d_k; ++c)
            weights[s] += query[c] * keys[s][c] / std::sqrt(static_cast<double>(d_k));
        softmax(weights);
        for (std::size_t s = 0; s < seen; ++s)
          for (std::size_t c = h * d_k; c < (h + 1) * d_k; ++c)
            attended[c] += weights[s] * values[s][c];
      }
      result.push_back(linear(name + ".output", attended));
    }
    return result;
  }

  std::vector<double> feed_forward(const std::string& name, const std::vector<double>& x) const {
    std::vector<double> inner = linear(name + ".inner", x);
    const auto active = [&](double value) {
      return activated(config_.activation, model_.swish_factor, value);
    };
    if (is_gated(config_.activation)) {
      const std::vector<double> gate = linear(name + ".gate", x);
      for (std::size_t i = 0; i < inner.size(); ++i) inner[i] *= active(gate[i]);
    } else {
      for (double& value : inner) value = active(value);
    }
    return linear(name + ".outer", inner);
  }

  void run_layer(Rows& x, const Layer& layer, const Rows& memory) const {
    sub_layer(x, layer.name + ".self_attention_norm", [&](const Rows& input) {
      const Rows& keys = config_.norm == NormPosition::BeforeQueries ? x : input;
      return attend(layer.name + ".self_attention", input, keys, layer.is_of_decoder);
    });
    if (layer.is_of_decoder)
      sub_layer(x, layer.name + ".cross_attention_norm", [&](const Rows& input) {
        return attend(layer.name + ".cross_attention", input, memory, false);
      });
    sub_layer(x, layer.name + ".feed_forward_norm", [&](const Rows& input) {
      Rows output;
      for (const auto& row : input)
        output.push_back(feed_forward(layer.name + ".feed_forward", row));
      return output;
    });
  }

  std::vector<double> project(const std::vector<double>& x) const {
    const auto& matrix = parameter(config_.tying == Tying::ThreeWay ? "embedding.weight"
                                   : config_.tying == Tying::TwoWay ? "embedding.target.weight"
                                                                    : "output.weight");
    std::vector<double> logits(static_cast<std::size_t>(config_.target_vocabulary));
    for (std::size_t token = 0; token < logits.size(); ++token) {
      logits[token] = dot(matrix.data() + token * x.size(), x.data(), x.size());
      if (config_.output_bias) logits[token] += parameter("output.bias")[token];
    }
    log_softmax(logits);
    return logits;
  }

  const ForeignModel& model_;
  const ModelConfig& config_;
};

}  // namespace

std::vector<std::vector<double>> plain_log_probabilities(const ForeignModel& model,
                                                         std::span<const TokenId> source,
                                                         std::span<const TokenId> target) {
  return PlainTransformer(model).log_probabilities(source, target);
}

}  // namespace dragoman
