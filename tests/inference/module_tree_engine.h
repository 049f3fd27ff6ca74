// The reference for engines and for searches on a device: the module tree on the CPU, which
// computes the whole prefix of each row again in each step. It has no cache, and attention as in
// equation 1 of the paper.
#pragma once

#include <ATen/core/grad_mode.h>

#include <cmath>
#include <utility>
#include <vector>

#include "model/transformer.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {

class ModuleTreeEngine : public TableEngine {
 public:
  ModuleTreeEngine(Transformer model, std::vector<TokenId> never_emitted_tokens)
      : TableEngine(model->config.target_vocabulary, nullptr), model_(std::move(model)) {
    positions = model_->config.longest_sentence();
    never_emitted = std::move(never_emitted_tokens);
  }

  void check(const AttentionHeads& heads) const override {
    heads.check(model_->config.decoder_layers, model_->config.heads);
  }

 protected:
  std::vector<RowResults> results_of(const std::vector<RowTokens>& rows,
                                     const AttentionHeads& heads) override {
    const torch::NoGradGuard no_grad;
    Side source, target;
    for (const auto& [read, prefix] : rows) {
      source.add(read);
      target.add(prefix);
      ++target.starts.back();  // the token that the prefix predicts, whatever it is
      target.tokens.push_back(0);
    }
    const PackedTokens sources = source.packed(model_), targets = target.packed(model_);
    const torch::Tensor memory = model_->encode(sources);
    ObservedAttention attention(memory, sources.layout, targets.layout,
                                heads.layer_of(model_->config.decoder_layers) - 1);
    const auto hidden = model_->decode(targets, attention);  // [N, D]
    std::vector<RowResults> results;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::int64_t last = target.starts[r + 1] - 1, begin = source.starts[r];
      const auto log_p = model_->logits(hidden.narrow(0, last, 1)).log_softmax(1);  // [1, V]
      const auto weights =
          attention.weights(last, {begin, source.starts[r + 1] - begin}, model_->config.heads);
      results.push_back(
          {.log_probabilities = floats(log_p),
           .attention = floats(heads.head == 0 ? weights.mean(0) : weights[heads.head - 1])});
    }
    return results;
  }

 private:
  /// Sentences one after the other.
  struct Side {
    std::vector<std::int32_t> tokens, starts = {0};

    void add(const std::vector<TokenId>& sentence) {
      tokens.insert(tokens.end(), sentence.begin(), sentence.end());
      starts.push_back(starts.back() + static_cast<std::int32_t>(sentence.size()));
    }
    PackedTokens packed(const Transformer& model) const {
      return packed_tokens(tokens, starts, model->config.heads, torch::kCPU);
    }
  };

  /// Keeps the queries and keys of a layer's attention to the source.
  class ObservedAttention : public PackedDecoderAttention {
   public:
    ObservedAttention(const torch::Tensor& memory, const PackedLayout& source,
                      const PackedLayout& target, std::int64_t layer)
        : PackedDecoderAttention(memory, source, target), layer_(layer) {}

    torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                        const torch::Tensor& x) override {
      if (layer == layer_) {
        queries_ = module->query(x);    // [N, D]
        keys_ = module->key(memory());  // [M, D]
      }
      return PackedDecoderAttention::cross(layer, module, x);
    }

    /// softmax(q K^T / sqrt(d_k)) of a row of the target over rows (first, count) of the source:
    /// [H, S].
    torch::Tensor weights(std::int64_t row, std::pair<std::int64_t, std::int64_t> of_source,
                          std::int64_t heads) const {
      const auto by_head = [heads](const torch::Tensor& x) {
        return x.view({x.size(0), heads, -1}).transpose(0, 1);  // [H, n, K]
      };
      const auto q = by_head(queries_.narrow(0, row, 1)),
                 k = by_head(keys_.narrow(0, of_source.first, of_source.second));
      const auto scores = q.matmul(k.transpose(1, 2)).squeeze(1);  // [H, S]
      return (scores / std::sqrt(static_cast<double>(q.size(2)))).softmax(1);
    }

   private:
    std::int64_t layer_;
    torch::Tensor queries_, keys_;
  };

  static std::vector<float> floats(const torch::Tensor& values) {
    const auto flat = values.contiguous();
    return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
  }

  Transformer model_;
};

}  // namespace dragoman
