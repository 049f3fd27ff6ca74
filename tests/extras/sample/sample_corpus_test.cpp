#include "extras/sample/sample_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

constexpr std::uint64_t kPairs = 20'000;

const std::vector<SamplePair>& some_pairs() {
  static const std::vector<SamplePair> pairs = [] {
    std::vector<SamplePair> drawn;
    for (std::uint64_t i = 0; i < kPairs; ++i) drawn.push_back(sample_pair(7, i));
    return drawn;
  }();
  return pairs;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A compiler that draws in another order makes another corpus.
TEST(SampleCorpus, TheCorpusIsTheSameWithAnyCompiler) {
  std::string text;
  for (const SamplePair& pair : some_pairs()) text += pair.source + '\t' + pair.target + '\n';
  EXPECT_EQ(hex16(xxh3(text)), "c7366a9165661a1a");
}

TEST(SampleCorpus, APairIsAFunctionOfSeedAndIndex) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const SamplePair again = sample_pair(7, 199 - i);
    EXPECT_EQ(again.source, some_pairs()[199 - i].source);
    EXPECT_EQ(again.target, some_pairs()[199 - i].target);
  }
  EXPECT_NE(sample_pair(8, 0).source, sample_pair(7, 0).source);
}

TEST(SampleCorpus, LinesAreWellFormedText) {
  for (const SamplePair& pair : some_pairs()) {
    for (const std::string& line : {pair.source, pair.target}) {
      ASSERT_EQ(find_invalid_utf8(line), std::string::npos) << line;
      ASSERT_TRUE(line.ends_with('.') || line.ends_with('?')) << line;
      ASSERT_EQ(line.find("  "), std::string::npos) << line;
      ASSERT_EQ(line.find(" ,"), std::string::npos) << line;
      ASSERT_EQ(line.find(",,"), std::string::npos) << line;
      ASSERT_EQ(line.find('\n'), std::string::npos) << line;
      std::size_t offset = 0;
      const char32_t first = next_code_point(line, offset);
      ASSERT_TRUE(general_category(first) == "Lu" || general_category(first) == "Nd") << line;
    }
    ASSERT_EQ(pair.source.ends_with('?'), pair.target.ends_with('?')) << pair.source;
    ASSERT_LE(words_of(pair.source).size(), 40u) << pair.source;
  }
}

TEST(SampleCorpus, TheEnglishLineDeterminesTheGermanLine) {
  std::map<std::string, std::string> german;
  for (const SamplePair& pair : some_pairs()) {
    const auto [known, added] = german.emplace(pair.source, pair.target);
    ASSERT_EQ(known->second, pair.target) << pair.source;
  }
}

TEST(SampleCorpus, NineOfTenPairsDiffer) {
  std::set<std::string> lines;
  for (const SamplePair& pair : some_pairs()) lines.insert(pair.source);
  EXPECT_GE(lines.size(), kPairs * 9 / 10);
}

TEST(SampleCorpus, SentencesAreBuiltInThousandsOfWays) {
  // The first words and the words of grammar of a sentence, the rest as "*".
  static const std::set<std::string> kGrammar = {
      "der",  "die",   "das",   "den", "dem",  "ein",  "eine",   "einen", "einem", "einer",
      "kein", "keine", "nicht", "und", "aber", "weil", "dass",   "ob",    "wenn",  "um",
      "zu",   "hat",   "haben", "ist", "sind", "wird", "werden", "kann",  "will",  "sich",
      "auf",  "in",    "im",    "mit", "an",   "von",  "nach",   "am"};
  std::set<std::string> shapes;
  for (const SamplePair& pair : some_pairs()) {
    std::string shape;
    for (const std::string& word : words_of(pair.target)) {
      shape += kGrammar.contains(word) ? word + " " : "* ";
    }
    shapes.insert(shape);
  }
  EXPECT_GE(shapes.size(), 3'000u);
}

TEST(SampleCorpus, ADeterminerHasTheGenderOfItsNoun) {
  const std::map<std::string, std::set<std::string>> fitting = {
      {"Mann", {"der", "den", "dem", "ein", "einen", "einem", "dieser", "diesen", "diesem"}},
      {"Frau", {"die", "der", "eine", "einer", "diese", "dieser"}},
      {"Kind", {"das", "dem", "ein", "einem", "dieses", "diesem"}},
      {"Junge", {"der", "ein", "dieser"}},
      {"Jungen",
       {"die", "den", "dem", "diese", "diesen", "diesem", "einen", "einem", "viele", "vielen"}}};
  const std::set<std::string> determiners = {"der",    "die",   "das",    "den",    "dem",
                                             "ein",    "eine",  "einen",  "einem",  "einer",
                                             "dieser", "diese", "dieses", "diesen", "diesem"};
  std::map<std::string, std::set<std::string>> seen;
  for (const SamplePair& pair : some_pairs()) {
    const std::vector<std::string> words = words_of(lower_case(pair.target));
    const std::vector<std::string> cased = words_of(pair.target);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string noun = cased[i].substr(0, cased[i].find_first_of(",.?"));
      if (!fitting.contains(noun) || !determiners.contains(words[i - 1])) continue;
      ASSERT_TRUE(fitting.at(noun).contains(words[i - 1])) << pair.target;
      seen[noun].insert(words[i - 1]);
    }
  }
  for (const auto& [noun, words] : fitting) EXPECT_GE(seen[noun].size() + 2, words.size()) << noun;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(SampleCorpus, ASeparableVerbIsSplitInAMainClauseAndWholeAtTheEndOfOthers) {
  int split = 0, whole = 0, infinitive = 0;
  for (const SamplePair& pair : some_pairs()) {
    const std::string& text = pair.target;
    split +=
        has(text, " ruft ") && (has(text, " an.") || has(text, " an,") || has(text, " an und "));
    whole += has(text, " anruft");
    infinitive += has(text, " anrufen");
    ASSERT_FALSE(has(text, " an ruft") || has(text, " an rufen")) << text;
  }
  EXPECT_GT(split, 20);
  EXPECT_GT(whole, 10);
  EXPECT_GT(infinitive, 20);
}

TEST(SampleCorpus, ADependentClauseEndsWithItsFiniteVerb) {
  int sentences = 0;
  for (const SamplePair& pair : some_pairs()) {
    if (!has(pair.source, "does not know whether") || !has(pair.source, " will ")) continue;
    ++sentences;
    const bool ends = pair.target.ends_with(" wird.") || pair.target.ends_with(" werden.") ||
                      pair.target.ends_with(" werde.");
    ASSERT_TRUE(ends) << pair.target;
  }
  EXPECT_GT(sentences, 20);
}

TEST(SampleCorpus, NumbersAreWordsOrDigitsInBothLanguages) {
  int ages = 0, thousands = 0;
  for (const SamplePair& pair : some_pairs()) {
    for (const auto& [english, german] : {std::pair{"twenty-one", "einundzwanzig"},
                                          {"sixteen", "sechzehn"},
                                          {"forty", "vierzig"}}) {
      if (!has(pair.source, std::string(" is ") + english + " years old")) continue;
      ++ages;
      ASSERT_TRUE(has(pair.target, std::string(" ist ") + german + " Jahre alt")) << pair.target;
    }
    if (!pair.source.ends_with(" inhabitants.")) continue;
    std::string number = words_of(pair.source)[3];
    thousands += has(number, ",");
    std::ranges::replace(number, ',', '.');
    ASSERT_EQ(words_of(pair.target)[3], number);
  }
  EXPECT_GT(ages, 5);
  EXPECT_GT(thousands, 20);
}

TEST(SampleCorpus, HeldOutLinesStandNowhereElse) {
  const SampleConfig config{.seed = 3, .train_pairs = 8'000, .valid_pairs = 300, .test_pairs = 500};
  const SampleCorpus corpus = make_sample_corpus(config);
  EXPECT_EQ(corpus.train.size(), 8'000u);
  EXPECT_EQ(corpus.valid.size(), 300u);
  EXPECT_EQ(corpus.test.size(), 500u);
  std::set<std::string> sources, targets;
  for (const auto* part : {&corpus.valid, &corpus.test}) {
    for (const SamplePair& pair : *part) {
      EXPECT_TRUE(sources.insert(pair.source).second) << pair.source;
      EXPECT_TRUE(targets.insert(pair.target).second) << pair.target;
    }
  }
  for (const SamplePair& pair : corpus.train) {
    EXPECT_FALSE(sources.contains(pair.source)) << pair.source;
    EXPECT_FALSE(targets.contains(pair.target)) << pair.target;
  }
}

TEST(SampleCorpus, SizesMayBeZeroButNotNegative) {
  EXPECT_TRUE(
      make_sample_corpus({.train_pairs = 0, .valid_pairs = 0, .test_pairs = 0}).train.empty());
  EXPECT_THROW(make_sample_corpus({.train_pairs = -1}), UsageError);
  EXPECT_THROW(make_sample_corpus({.valid_pairs = -1}), UsageError);
  EXPECT_THROW(make_sample_corpus({.test_pairs = -1}), UsageError);
}

TEST(SampleCorpus, FilesHoldOneLineForEachPair) {
  const ScratchFolder scratch(testing::TempDir());
  const auto folder = scratch.path() / "new";
  const SampleCorpus corpus =
      make_sample_corpus({.train_pairs = 3, .valid_pairs = 2, .test_pairs = 1});
  write_sample_corpus(corpus, folder);
  EXPECT_EQ(read_file(folder / "test.de"), corpus.test[0].target + "\n");
  EXPECT_EQ(read_file(folder / "valid.en"),
            corpus.valid[0].source + "\n" + corpus.valid[1].source + "\n");
  EXPECT_TRUE(std::filesystem::exists(folder / "train.en"));
  EXPECT_TRUE(std::filesystem::exists(folder / "train.de"));
}

}  // namespace
}  // namespace dragoman
