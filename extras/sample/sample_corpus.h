// The sample corpus: English-German pairs made by a grammar of our own, as many as one wants, for
// a first training run on a machine without data. The English sentence determines the German one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman {

struct SampleConfig {
  std::int64_t seed = 1;
  std::int64_t train_pairs = 60'000;
  std::int64_t valid_pairs = 1'000;
  std::int64_t test_pairs = 1'000;

  /// Throws UsageError naming the flag.
  void check() const;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Sample", visit);
    field("seed", seed, "another seed gives another corpus");
    field("train-size", train_pairs, "pairs of train.en and train.de");
    field("valid-size", valid_pairs, "pairs of valid.en and valid.de");
    field("test-size", test_pairs, "pairs of test.en and test.de");
  }
};

struct SamplePair {
  std::string source, target;  ///< English, German
};

/// Pair number `index` of the endless corpus with this seed; a pure function. Pairs repeat.
SamplePair sample_pair(std::uint64_t seed, std::uint64_t index);

struct SampleCorpus {
  std::vector<SamplePair> train, valid, test;
};

/// Makes exactly the sizes asked for. No line of valid and test, English or German, stands in
/// another part, or twice in its own. Short lines repeat in train. Throws Error if the grammar does
/// not give that many different sentences.
SampleCorpus make_sample_corpus(const SampleConfig& config);

/// Writes train.en, train.de, valid.en, valid.de, test.en, test.de, and .sample, which lists their
/// hashes. Creates the folder. Throws Error if one of these files exists and no earlier call has
/// written it.
void write_sample_corpus(const SampleCorpus& corpus, const std::filesystem::path& folder);

}  // namespace dragoman
