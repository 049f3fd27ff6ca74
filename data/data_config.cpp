#include "data/data_config.h"

#include <algorithm>

namespace dragoman {

namespace {

void check_file_lists(std::string_view split, const std::vector<std::string>& source,
                      const std::vector<std::string>& target) {
  if (source.size() != target.size())
    throw UsageError("--", split, "-src names ", source.size(), " files but --", split,
                     "-tgt names ", target.size(), ": they belong together one by one");
}

}  // namespace

void DataConfig::validate() const {
  if (train_source.empty() && train_target.empty())
    throw UsageError("--train-src and --train-tgt are missing: the training text of both sides");
  check_file_lists("train", train_source, train_target);
  check_file_lists("valid", valid_source, valid_target);
  if (max_length < 0) throw UsageError("--max-length ", max_length, ": must not be negative");
  if (!(max_ratio == 0 || max_ratio >= 1))
    throw UsageError("--max-ratio ", max_ratio, ": must be 0 (no limit) or at least 1");
  if (!(valid_fraction >= 0 && valid_fraction <= 0.5))
    throw UsageError("--valid-fraction ", valid_fraction, ": must lie in 0 to 0.5");
}

bool passes_ratio(std::int64_t source, std::int64_t target, double max_ratio) {
  const auto [shorter, longer] = std::minmax(source, target);
  if (max_ratio == 0 || longer <= kRatioFreeLength) return true;
  return static_cast<double>(longer) <=
         max_ratio * static_cast<double>(std::max<std::int64_t>(shorter, 1));
}

}  // namespace dragoman
