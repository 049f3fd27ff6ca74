#include "data/alignment/aligner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A text with its numbers.
struct Text {
  WordNumbers source, target;
  NumberedPairs pairs;

  void add(const std::string& source_line, const std::string& target_line) {
    pairs.add(source.add(source_line).ids, target.add(target_line).ids);
  }
  std::string links(const Aligner& aligner, const std::string& source_line,
                    const std::string& target_line,
                    Symmetrization how = Symmetrization::GrowDiagFinalAnd) const {
    std::vector<WordLink> found;
    for (const LinkProbability& link : align(aligner, source_line, target_line, how).links)
      found.push_back(link.link);
    return pharaoh_text(found);
  }
  AlignedPair align(const Aligner& aligner, const std::string& source_line,
                    const std::string& target_line,
                    Symmetrization how = Symmetrization::GrowDiagFinalAnd) const {
    return aligner.align(source.find(source_line).ids, target.find(target_line).ids, how);
  }
};

constexpr std::size_t kWords = 60;

/// Sentences of a language of made-up words, and their translations. In half of these, words 1 and
/// 2 have changed places, as have 4 and 5.
Text made_up_text(std::size_t pairs) {
  Text text;
  RandomStream random(3);
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::size_t length = 3 + random.below(6);
    std::vector<std::string> source, target;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t word = random.below(random.below(kWords) + 1);  // some are frequent
      source.push_back("s" + std::to_string(word));
      target.push_back("t" + std::to_string(word));
    }
    const bool moves = random.chance(0.5);
    if (moves) std::swap(target[1], target[2]);
    if (moves && length > 5) std::swap(target[4], target[5]);
    const auto line = [](const std::vector<std::string>& words) {
      std::string joined;
      for (const std::string& word : words) joined += " " + word;
      return joined;
    };
    text.add(line(source), line(target));
  }
  return text;
}

/// "das Haus" - "the house", "das Buch" - "the book": all four links of a pair have the weight 1/9
/// after the first round. In the next one each direction gives a link of "das" and "the", which
/// have 2/9 together, P = (2/9 + a / 5) / (4/9 + a), with a = 0.1 and 2 of 5 words (of 4, and 1).
TEST(Aligner, TheFirstRoundIsThatOfTheTextbook) {
  Text text;
  text.add("das Haus", "the house");
  text.add("das Buch", "the book");
  const Aligner aligner(text.pairs, {.word_rounds = 0, .rounds = 0});
  const auto links_of = [&](const char* source) {
    std::vector<std::pair<std::string, double>> links;
    for (const LexicalEntry& entry : aligner.table().entries(text.source.find(source).ids[0]))
      links.emplace_back(text.target.text(entry.target), entry.links);
    return links;
  };
  const auto near = [](const char* word, double value) {
    return testing::Pair(word, testing::DoubleNear(value, 1e-6));
  };
  EXPECT_THAT(links_of("das"),
              ElementsAre(near("the", 2. / 9), near("house", 1. / 9), near("book", 1. / 9)));
  EXPECT_THAT(links_of("haus"), ElementsAre(near("the", 1. / 9), near("house", 1. / 9)));
  EXPECT_NEAR(aligner.table().source_links(text.source.find("das").ids[0]), 4. / 9, 1e-6);
}

TEST(Aligner, TheSecondRoundIsIbmModel1InBothDirections) {
  Text text;
  text.add("das Haus", "the house");
  text.add("das Buch", "the book");
  const Aligner aligner(text.pairs, {.word_rounds = 1, .rounds = 0});
  // The table is symmetric here, so both directions give a link the same probability.
  const double prior = 0.1, the = 2. / 5, house = 1. / 5;
  const double of_das = 4. / 9 + prior, of_haus = 2. / 9 + prior;
  const auto posterior = [&](double wanted, double other, double alone) {
    return 0.4 * wanted / (0.2 * alone + 0.4 * wanted + 0.4 * other);
  };
  const double the_das = (2. / 9 + prior * the) / of_das;
  const double the_haus = (1. / 9 + prior * the) / of_haus;
  const double house_das = (1. / 9 + prior * house) / of_das;
  const double house_haus = (1. / 9 + prior * house) / of_haus;
  const double das_the = posterior(the_das, the_haus, the);
  const double haus_house = posterior(house_haus, house_das, house);
  // For "the" - "haus" the directions differ: "the" chooses between das and haus, and "haus"
  // between the and house.
  const double haus_the =
      posterior(the_haus, the_das, the) * posterior(house_das, house_haus, house);
  const auto entries = aligner.table().entries(text.source.find("haus").ids[0]);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_NEAR(entries[0].links, haus_the, 1e-4);
  EXPECT_NEAR(entries[1].links, haus_house * haus_house, 1e-4);
  EXPECT_NEAR(aligner.table().entries(text.source.find("das").ids[0])[0].links,
              2 * das_the * das_the, 1e-4);
}

TEST(Aligner, WordsThatChangePlacesAreLinked) {
  const Text text = made_up_text(2000);
  const Aligner aligner(text.pairs, {});
  for (std::size_t how = 0; how < names_of(Symmetrization{}).size(); ++how)
    EXPECT_EQ(text.links(aligner, "s5 s17 s0 s30 s2 s41", "t5 t0 t17 t30 t41 t2",
                         static_cast<Symmetrization>(how)),
              "0-0 1-2 2-1 3-3 4-5 5-4")
        << how;
}

TEST(Aligner, AWordThatTranslatesNothingHasNoLink) {
  Text text = made_up_text(2000);
  const Aligner aligner(text.pairs, {});
  EXPECT_EQ(text.links(aligner, "s5 s17 s40 s30", "t5 t17 t30", Symmetrization::Intersection),
            "0-0 1-1 3-2");
}

TEST(Aligner, TheNumberOfThreadsChangesNothing) {
  const Text text = made_up_text(5000);
  const Aligner one(text.pairs, {.threads = 1}), three(text.pairs, {.threads = 3});
  for (std::size_t pair = 0; pair < text.pairs.size(); ++pair) {
    const auto by = [&](const Aligner& aligner) {
      return aligner.align(text.pairs.source(pair), text.pairs.target(pair),
                           Symmetrization::GrowDiagFinalAnd);
    };
    const AlignedPair a = by(one), b = by(three);
    ASSERT_EQ(a.log_probability, b.log_probability);
    ASSERT_EQ(a.evidence, b.evidence);
    ASSERT_EQ(a.links.size(), b.links.size());
    for (std::size_t i = 0; i < a.links.size(); ++i) {
      ASSERT_EQ(a.links[i].link, b.links[i].link);
      ASSERT_EQ(a.links[i].probability, b.links[i].probability);
    }
  }
}

TEST(Aligner, UnseenWordsAreLinkedByTheirPlaces) {
  const Text text = made_up_text(2000);
  const Aligner aligner(text.pairs, {});
  EXPECT_EQ(text.links(aligner, "s5 new s30 s2", "t5 neu t30 t2"), "0-0 1-1 2-2 3-3");
}

TEST(Aligner, APairWithAnEmptyOrAnEndlessSideHasNoLinks) {
  Text text = made_up_text(200);
  std::string endless;
  for (std::size_t i = 0; i <= kLongestAligned; ++i) endless += "s1 ";
  text.add("", "t1");
  text.add("s1", "");
  text.add(endless, "t1");
  const Aligner aligner(text.pairs, {});
  for (const std::string& source : {std::string(), endless}) {
    const AlignedPair pair = text.align(aligner, source, "t1");
    EXPECT_THAT(pair.links, IsEmpty());
    EXPECT_EQ(pair.log_probability, 0);
    EXPECT_EQ(pair.evidence, 0);
  }
}

TEST(Aligner, ALongLineIsAligned) {
  const Text text = made_up_text(2000);
  const Aligner aligner(text.pairs, {});
  std::string source, target;
  for (std::size_t i = 0; i < kLongestAligned; ++i) {
    source += " s" + std::to_string(i % kWords);
    target += " t" + std::to_string(i % kWords);
  }
  const AlignedPair pair = text.align(aligner, source, target);
  EXPECT_GE(pair.links.size(), kLongestAligned * 9 / 10);
  EXPECT_TRUE(std::isfinite(pair.log_probability));
}

TEST(Aligner, ATextWithoutPairsTeachesNothing) {
  Text text;
  EXPECT_FALSE(text.links(Aligner(text.pairs, {}), "a b", "c d").empty());
  text.add("", "");
  EXPECT_FALSE(text.links(Aligner(text.pairs, {}), "a b", "c d").empty());
}

/// Some of the pairs that the aligner learned from have the wrong lines.
TEST(Aligner, EvidenceTellsTranslationsFromOtherSentences) {
  Text text = made_up_text(2000);
  NumberedPairs shifted;
  for (std::size_t pair = 0; pair < text.pairs.size(); ++pair)
    shifted.add(text.pairs.source(pair), text.pairs.target(pair < 1900    ? pair
                                                           : pair == 1999 ? 1900
                                                                          : pair + 1));
  const Aligner aligner(shifted, {});
  std::size_t wrong = 0;
  for (std::size_t pair = 0; pair < shifted.size(); ++pair) {
    const double evidence =
        aligner.align(shifted.source(pair), shifted.target(pair), Symmetrization::Intersection)
            .evidence;
    EXPECT_GE(evidence, std::log(kNullProbability) - 1e-6);
    wrong += (evidence > 0.5) != (pair < 1900) ? 1 : 0;
  }
  EXPECT_LE(wrong, 20u);  // some sentences share words
}

/// Names and rare words: what is known of the others decides.
TEST(Aligner, WordsThatStandInNoOtherPairSayNothing) {
  Text text = made_up_text(2000);
  text.add("s1 s2 one two three four five", "t1 t2 six seven eight nine ten");
  text.add("s1 s2 s3 eleven", "t30 t40 t50 twelve");
  const Aligner aligner(text.pairs, {});
  EXPECT_GT(text.align(aligner, "s1 s2 one two three four five", "t1 t2 six seven eight nine ten")
                .evidence,
            0.2);
  EXPECT_LT(text.align(aligner, "s1 s2 s3 eleven", "t30 t40 t50 twelve").evidence, -0.2);
}

TEST(Aligner, ProgressIsReportedAndAStopIsHeeded) {
  const Text text = made_up_text(5000);
  std::vector<std::int64_t> seen;
  std::stop_source stop;
  const Aligner aligner(
      text.pairs, {.stop = stop.get_token(), .report = [&](std::int64_t done, std::int64_t total) {
                     EXPECT_EQ(total, 8 * 5000);
                     seen.push_back(done);
                     if (done > 10'000) stop.request_stop();
                   }});
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_LE(seen.back(), 15'000);
  text.links(aligner, "s5", "t5");  // what is known serves
}

}  // namespace

}  // namespace dragoman
