// A Transformer in plain loops, as its own system defines it, with that system's order of columns,
// positions and factors. It is slow and shares no code with the engines, so imported and exported
// models can be checked against it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "extras/formats/foreign_model.h"

namespace dragoman {

/// The vectors that are added to the embeddings.
class PlainPositions {
 public:
  explicit PlainPositions(const ForeignModel& model) : model_(model) {}

  /// The formula's value in one column. Positions of a line count from 0.
  double formula(std::int64_t position, std::int64_t column) const;
  /// The formula's first `positions` vectors, [positions, D].
  std::vector<float> table(std::int64_t positions) const;

 private:
  const ForeignModel& model_;
};

class PlainTransformer {
 public:
  /// The model must outlive the object.
  explicit PlainTransformer(const ForeignModel& model);

  /// Log-probabilities [target.size(), V] of the next token. Row t is for the token that follows
  /// the first t tokens of `target`.
  std::vector<std::vector<double>> log_probabilities(std::span<const TokenId> source,
                                                     std::span<const TokenId> target) const;

 private:
  using Rows = std::vector<std::vector<double>>;  // [D] for each position

  struct Layer {
    std::string name;
    bool is_of_decoder;
  };

  const std::vector<float>& parameter(const std::string& name) const;
  Rows embed(std::span<const TokenId> tokens, bool is_of_decoder) const;
  std::vector<double> linear(const std::string& name, const std::vector<double>& x) const;
  std::vector<double> normalized(const std::string& name, const std::vector<double>& x) const;
  /// A sub-layer with residual sum and normalisation. `run` gets the normalised or plain input.
  template <class Run>
  void sub_layer(Rows& x, const std::string& norm, Run&& run) const;
  Rows attend(const std::string& name, const Rows& queries, const Rows& memory,
              bool is_causal) const;
  std::vector<double> feed_forward(const std::string& name, const std::vector<double>& x) const;
  void run_layer(Rows& x, const Layer& layer, const Rows& memory) const;
  std::vector<double> project(const std::vector<double>& x) const;

  const ForeignModel& model_;
  const ModelConfig& config_;
};

}  // namespace dragoman
