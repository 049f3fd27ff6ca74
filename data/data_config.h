// Which text is trained on, and which pairs of it are left out.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// What happens to a pair with a line that is invalid UTF-8 or has a NUL byte.
enum class InvalidLines {
  Error,  ///< the run ends before any training, with file and line
  Skip,   ///< the pair is left out and counted
};
constexpr std::array<std::string_view, 2> names_of(InvalidLines) { return {"error", "skip"}; }

struct DataConfig {
  std::vector<std::string> train_source = {},
                           train_target = {};  ///< file i of both belong together
  std::vector<std::string> valid_source = {}, valid_target = {};
  std::int64_t max_length = 256;  ///< pieces per side, without </s>; 0: no limit
  double max_ratio = 9;           ///< see passes_ratio(); 0: no limit
  bool keep_empty = false;
  bool keep_duplicates = false;
  InvalidLines invalid = InvalidLines::Error;
  double valid_fraction = 0.01;  ///< held out where there are no validation files

  /// Throws UsageError naming the flag.
  void validate() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "train-src",
           .help = "training text of the source side, one sentence a line; one file or more",
           .group = "Data",
           .aliases = "source,train-source"},
          train_source);
    visit({.name = "train-tgt",
           .help = "training text of the target side: line i translates line i of --train-src",
           .group = "Data",
           .aliases = "target,train-target"},
          train_target);
    visit({.name = "valid-src",
           .help = "validation text of the source side; without it a part of the training text "
                   "is held out",
           .group = "Data",
           .aliases = "validation-source,valid-source"},
          valid_source);
    visit({.name = "valid-tgt",
           .help = "validation text of the target side",
           .group = "Data",
           .aliases = "validation-target,valid-target"},
          valid_target);
    visit({.name = "valid-fraction",
           .help = "share of the pairs held out without --valid-src: 100 to 2,000 pairs, chosen by "
                   "hash; 0: none",
           .group = "Data"},
          valid_fraction);
    visit({.name = "max-length",
           .help = "pieces per side; training pairs with more are left out; 0: no limit",
           .group = "Data",
           .aliases = "max-seq-len,max-source-positions,src-seq-length"},
          max_length);
    visit({.name = "max-ratio",
           .help = "training pairs with a side longer than 10 pieces that has more than this times "
                   "the pieces of the other are left out; 0: no limit",
           .group = "Data"},
          max_ratio);
    visit({.name = "keep-empty", .help = "train on pairs with an empty side too", .group = "Data"},
          keep_empty);
    visit({.name = "keep-duplicates",
           .help = "train on each copy of a pair, not on the first alone",
           .group = "Data"},
          keep_duplicates);
    visit({.name = "invalid",
           .help = "pairs with invalid UTF-8 or NUL: an error, or skip and count them",
           .group = "Data"},
          invalid);
  }
};

/// Pairs whose sides have no more pieces than this pass any --max-ratio: short sentences differ
/// by nature.
inline constexpr std::int64_t kRatioFreeLength = 10;

/// Whether the longer side has at most kRatioFreeLength pieces or max_ratio times the shorter's.
bool passes_ratio(std::int64_t source, std::int64_t target, double max_ratio);

}  // namespace dragoman
