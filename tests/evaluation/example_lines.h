// Lines that the tests of metrics score, with their references.
#pragma once

#include <string>
#include <vector>

#include "evaluation/line_statistics.h"

namespace dragoman {

// Six lines with punctuation, numbers, an empty hypothesis, a missing reference (None in
// sacreBLEU), case, and a language without spaces; made for these tests.
inline const std::vector<std::string> kHypotheses = {"The cat sat on the mat.",
                                                     "It's 1,000.50 dollars (approx.), no?",
                                                     "Das ist ein Test – „gut“.",
                                                     "",
                                                     "one",
                                                     "猫はマットの上に座った。"};
inline const References kReferences = {
    {"The cat is sitting on the mat.", "It is 1,000.50 dollars (about), isn't it?",
     "Das ist ein guter Test – „gut“!", "not empty", "ONE", "猫がマットの上に座っている。"},
    {"A cat sat on a mat .", "That's 1,000.50 dollars, approximately.", "Dies ist ein Test.", "",
     "One", "猫はマットに座った。"}};

/// The first `count` references.
inline References first_references(std::size_t count) {
  return {kReferences.begin(), kReferences.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace dragoman
