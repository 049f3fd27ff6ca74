// A DeviceModel without a model: TableEngine's distributions as tensors.
#pragma once

#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "inference/device/device_model.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {

class TableModel : public DeviceModel {
 public:
  TableModel(std::int64_t vocabulary, Distribution distribution)
      : vocabulary_(vocabulary), distribution_(std::move(distribution)) {}

  torch::Device device() const override { return torch::kCPU; }
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t max_positions() const override { return positions; }
  std::int64_t preferred_rows() const override { return 16; }
  void check(const AttentionHeads& heads) const override { heads.check(1, 1); }

  void shape(std::int64_t groups, std::int64_t rows_per_group) override {
    rows_per_group_ = rows_per_group;
    sources_.assign(static_cast<std::size_t>(groups), {});
    prefixes_.assign(static_cast<std::size_t>(groups * rows_per_group), {});
    source_capacity_ = 0;
  }
  void admit(std::span<const std::vector<TokenId>> sentences,
             std::span<const std::int64_t> groups) override {
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      sources_.at(static_cast<std::size_t>(groups[i])) = sentences[i];
      source_capacity_ = std::max(source_capacity_, static_cast<std::int64_t>(sentences[i].size()));
      ++admitted;
    }
  }
  std::int64_t source_capacity() const override { return source_capacity_; }

  DeviceStepResults step(const DeviceStep& step) override {
    ++steps;
    const auto rows = static_cast<std::int64_t>(prefixes_.size());
    auto log_probabilities = torch::zeros({rows, vocabulary_});
    auto attention = torch::zeros({rows, source_capacity_});
    const auto parents = step.parents.accessor<std::int64_t, 1>(),
               previous = step.previous.accessor<std::int64_t, 1>(),
               positions_of = step.positions.accessor<std::int64_t, 1>();
    std::vector<std::vector<TokenId>> prefixes;
    for (std::int64_t row = 0; row < rows; ++row) {
      EXPECT_EQ(parents[row] / rows_per_group_, row / rows_per_group_) << "of another group";
      EXPECT_LT(positions_of[row], step.longest);
      std::vector<TokenId> prefix;
      if (positions_of[row] > 0) {
        prefix = prefixes_[static_cast<std::size_t>(parents[row])];
        prefix.push_back(static_cast<TokenId>(previous[row]));
      }
      prefixes.push_back(prefix);
      const auto& source = sources_[static_cast<std::size_t>(row / rows_per_group_)];
      const std::vector<float> scores = distribution_(source, prefix);
      for (std::int64_t token = 0; token < vocabulary_; ++token)
        log_probabilities.accessor<float, 2>()[row][token] =
            scores[static_cast<std::size_t>(token)];
      if (!step.reports_attention || source.empty()) continue;
      std::vector<float> weights;
      TableEngine::append_attention(source, prefix, weights);
      for (std::size_t s = 0; s < weights.size(); ++s)
        attention.accessor<float, 2>()[row][static_cast<std::int64_t>(s)] = weights[s];
    }
    prefixes_ = std::move(prefixes);
    return {.log_probabilities = log_probabilities,
            .attention = step.reports_attention ? attention : torch::Tensor()};
  }

  std::int64_t positions = 1'000'000;
  std::int64_t steps = 0, admitted = 0;

 private:
  std::int64_t vocabulary_;
  Distribution distribution_;
  std::int64_t rows_per_group_ = 1, source_capacity_ = 0;
  std::vector<std::vector<TokenId>> sources_, prefixes_;
};

}  // namespace dragoman
