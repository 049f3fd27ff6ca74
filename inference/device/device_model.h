// The interface between the search on a device and a model. It is to DeviceSearch what HostEngine
// is to SentenceSearch, but every step has the same shapes, all that it takes and returns are
// tensors on the device, and the host waits for none of them.
//
// G groups of B rows each, R = G * B. A group holds one sentence; row g * B + b is its hypothesis
// b.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "inference/search/engine.h"

namespace dragoman {

/// The inputs of a step: tensors on the device, [R] int64 unless another shape is named.
struct DeviceStep {
  /// [G, B, T] int32: the row of its group in which each row's token of position t was fed, for all
  /// positions up to the row's. Rows that have common ancestors share what these have written.
  torch::Tensor ancestors;
  torch::Tensor previous;   ///< each row's last token; -1: the zero vector, of a fresh row
  torch::Tensor positions;  ///< tokens that each row has produced
  std::int64_t columns;     ///< above every position, at most T; the same in many steps
  bool reports_attention = false;
  AttentionHeads heads = {};
};

struct DeviceStepResults {
  torch::Tensor logits;          ///< [R, V] fp32
  torch::Tensor attention = {};  ///< [R, S] fp32 if asked for; 0 after a sentence's end
  bool are_normalized = false;   ///< whether the logits are log-probabilities
};

/// Where tensors stand, and how many elements they have. It differs after one has moved or grown.
using TensorPlaces = std::vector<std::pair<const void*, std::int64_t>>;
inline void add_place(const torch::Tensor& tensor, TensorPlaces& places) {
  if (tensor.defined()) places.emplace_back(tensor.const_data_ptr(), tensor.numel());
}

class DeviceModel {
 public:
  virtual ~DeviceModel() = default;

  virtual torch::Device device() const = 0;
  virtual std::int64_t vocabulary() const = 0;
  virtual std::int64_t max_positions() const = 0;   ///< as Engine's
  virtual std::int64_t preferred_rows() const = 0;  ///< that keep the device busy
  /// Throws UsageError if the model has no such layer or head.
  virtual void check(const AttentionHeads& heads) const = 0;

  /// Makes room for G groups of B rows, and forgets all sentences.
  virtual void shape(std::int64_t groups, std::int64_t rows_per_group) = 0;
  /// Encodes sentences (each ends with </s>). Sentence i takes group `groups[i]` over.
  virtual void admit(std::span<const std::vector<TokenId>> sentences,
                     std::span<const std::int64_t> groups) = 0;
  /// S: the room for source tokens, at least the longest sentence admitted since shape().
  virtual std::int64_t source_capacity() const = 0;
  virtual DeviceStepResults step(const DeviceStep& step) = 0;
  /// Adds the tensors that steps use and others may move.
  virtual void add_places(TensorPlaces& places) = 0;
};

/// Several models as one: its probabilities and its attention are the mean of theirs.
class DeviceEnsemble : public DeviceModel {
 public:
  /// At least one, on one device, with the same vocabularies.
  explicit DeviceEnsemble(std::vector<std::unique_ptr<DeviceModel>> members)
      : members_(std::move(members)) {}

  torch::Device device() const override { return members_.front()->device(); }
  std::int64_t vocabulary() const override { return members_.front()->vocabulary(); }
  std::int64_t max_positions() const override;
  std::int64_t preferred_rows() const override;
  void check(const AttentionHeads& heads) const override;
  void shape(std::int64_t groups, std::int64_t rows_per_group) override;
  void admit(std::span<const std::vector<TokenId>> sentences,
             std::span<const std::int64_t> groups) override;
  std::int64_t source_capacity() const override { return members_.front()->source_capacity(); }
  DeviceStepResults step(const DeviceStep& step) override;
  void add_places(TensorPlaces& places) override;

 private:
  std::vector<std::unique_ptr<DeviceModel>> members_;
};

}  // namespace dragoman
