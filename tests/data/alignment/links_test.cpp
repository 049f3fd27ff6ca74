#include "data/alignment/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

using Links = std::vector<WordLink>;

TEST(Links, PharaohLinesAreRead) {
  EXPECT_THAT(parse_links("0-0 12-3  1-2"),
              ElementsAre(FieldsAre(0, 0), FieldsAre(12, 3), FieldsAre(1, 2)));
  EXPECT_THAT(parse_links(""), IsEmpty());
  for (const char* wrong :
       {"0", "0-", "-0", "0-1x", "0--1", "a-1", "0:1", "1-99999999999999999999"})
    EXPECT_THROW(parse_links(wrong), Error) << wrong;
}

TEST(Links, PharaohLinesAreWritten) {
  EXPECT_EQ(pharaoh_text(Links{{0, 0}, {12, 3}}), "0-0 12-3");
  EXPECT_EQ(pharaoh_text(Links{}), "");
}

std::string symmetrised(const std::string& forward, const std::string& backward,
                        Symmetrization how) {
  return pharaoh_text(symmetrised(parse_links(forward), parse_links(backward), how));
}

/// The intersection is 0-0 4-4. 1-0 and 0-1 touch 0-0; 2-1 touches 0-1 and 1-0, which come first,
/// and links a word that has no link then. 3-2 touches 2-1. 6-6 touches nothing, and both of its
/// words are free; 6-7, too, until 6-6 is there. 4-9 has a word that is linked.
TEST(Links, SymmetrisedByHand) {
  const std::string forward = "0-0 1-0 4-4 6-6 4-9 3-2", backward = "0-0 2-1 4-4 6-7 0-1";
  const auto by = [&](Symmetrization how) { return symmetrised(forward, backward, how); };
  EXPECT_EQ(by(Symmetrization::Intersection), "0-0 4-4");
  EXPECT_EQ(by(Symmetrization::Union), "0-0 0-1 1-0 2-1 3-2 4-4 4-9 6-6 6-7");
  EXPECT_EQ(by(Symmetrization::GrowDiag), "0-0 0-1 1-0 2-1 3-2 4-4");
  EXPECT_EQ(by(Symmetrization::GrowDiagFinalAnd), "0-0 0-1 1-0 2-1 3-2 4-4 6-6");
  EXPECT_EQ(by(Symmetrization::Forward), "0-0 1-0 3-2 4-4 4-9 6-6");
  EXPECT_EQ(by(Symmetrization::Backward), "0-0 0-1 2-1 4-4 6-7");
}

TEST(Links, ANeighbourWhoseWordsBothHaveLinksIsNotAdded) {
  EXPECT_EQ(symmetrised("0-0 1-1 0-1", "0-0 1-1", Symmetrization::GrowDiagFinalAnd), "0-0 1-1");
}

TEST(Links, WithoutLinksInEitherDirectionThereAreNone) {
  for (std::size_t how = 0; how < names_of(Symmetrization{}).size(); ++how)
    EXPECT_EQ(symmetrised("", "", static_cast<Symmetrization>(how)), "") << how;
}

TEST(Links, WhatGrowsLiesBetweenIntersectionAndUnion) {
  RandomStream random(7);
  for (int trial = 0; trial < 200; ++trial) {
    Links forward, backward;
    const auto draw = [&] { return static_cast<std::int64_t>(random.below(8)); };
    for (std::int64_t word = 0; word < 8; ++word) {
      if (random.chance(0.8)) forward.push_back({draw(), word});
      if (random.chance(0.8)) backward.push_back({word, draw()});
    }
    const auto by = [&](Symmetrization how) { return symmetrised(forward, backward, how); };
    const Links least = by(Symmetrization::Intersection), grown = by(Symmetrization::GrowDiag),
                final_and = by(Symmetrization::GrowDiagFinalAnd), most = by(Symmetrization::Union);
    EXPECT_TRUE(std::ranges::includes(grown, least));
    EXPECT_TRUE(std::ranges::includes(final_and, grown));
    EXPECT_TRUE(std::ranges::includes(most, final_and));
  }
}

}  // namespace

}  // namespace dragoman
