#include "data/sample_corpus.h"

#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "data/sample_grammar.h"

namespace dragoman {
namespace {

/// A part that is held out gives up after so many pairs in a row that it has already.
constexpr int kMostRepeats = 10'000;

using Lines = std::unordered_set<std::string>;

/// The next pairs of the endless corpus with both lines new; they become known.
std::vector<SamplePair> held_out_pairs(const SampleConfig& config, std::int64_t count,
                                       std::uint64_t& index, Lines& known) {
  std::vector<SamplePair> pairs;
  int repeats = 0;
  while (static_cast<std::int64_t>(pairs.size()) < count) {
    SamplePair pair = sample_pair(static_cast<std::uint64_t>(config.seed), index++);
    if (known.contains(pair.source) || known.contains(pair.target)) {
      if (++repeats == kMostRepeats) {
        throw Error("the sample grammar has no more than about ", known.size() / 2,
                    " different sentences to hold out: lower --valid-size or --test-size");
      }
      continue;
    }
    repeats = 0;
    known.insert(pair.source);
    known.insert(pair.target);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

void write_part(const std::vector<SamplePair>& pairs, const std::filesystem::path& folder,
                const std::string& name) {
  std::string source, target;
  for (const SamplePair& pair : pairs) {
    source += pair.source + '\n';
    target += pair.target + '\n';
  }
  write_file(folder / (name + ".en"), source);
  write_file(folder / (name + ".de"), target);
}

}  // namespace

void SampleConfig::validate() const {
  if (train_pairs < 0) throw UsageError("--train-size must not be negative");
  if (valid_pairs < 0) throw UsageError("--valid-size must not be negative");
  if (test_pairs < 0) throw UsageError("--test-size must not be negative");
}

SamplePair sample_pair(std::uint64_t seed, std::uint64_t index) {
  RandomStream random(seed, index);
  Phrase sentence = draw_sentence(random);
  return {std::move(sentence.english), std::move(sentence.german)};
}

SampleCorpus make_sample_corpus(const SampleConfig& config) {
  config.validate();
  SampleCorpus corpus;
  std::uint64_t index = 0;
  Lines held_out;
  corpus.valid = held_out_pairs(config, config.valid_pairs, index, held_out);
  corpus.test = held_out_pairs(config, config.test_pairs, index, held_out);
  int repeats = 0;
  while (static_cast<std::int64_t>(corpus.train.size()) < config.train_pairs) {
    SamplePair pair = sample_pair(static_cast<std::uint64_t>(config.seed), index++);
    if (held_out.contains(pair.source) || held_out.contains(pair.target)) {
      if (++repeats == kMostRepeats) {
        throw Error(
            "the sample grammar has no sentences left for training: lower --valid-size or "
            "--test-size");
      }
      continue;
    }
    repeats = 0;
    corpus.train.push_back(std::move(pair));
  }
  return corpus;
}

void write_sample_corpus(const SampleCorpus& corpus, const std::filesystem::path& folder) {
  create_folders(folder);
  write_part(corpus.train, folder, "train");
  write_part(corpus.valid, folder, "valid");
  write_part(corpus.test, folder, "test");
}

}  // namespace dragoman
