#include "extras/sample/sample_corpus.h"

#include <map>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "extras/sample/grammar.h"

namespace dragoman {
namespace {

/// After so many pairs in a row that are known already, the grammar counts as used up.
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

/// By name.
using Files = std::map<std::string, std::string>;

void add_part(const std::vector<SamplePair>& pairs, const std::string& name, Files& files) {
  std::string &source = files[name + ".en"], &target = files[name + ".de"];
  for (const SamplePair& pair : pairs) {
    source += pair.source + '\n';
    target += pair.target + '\n';
  }
}

/// A line for each file: "hash name".
std::string record_of(const Files& files) {
  std::string record;
  for (const auto& [name, text] : files) record += hex16(xxh3(text)) + ' ' + name + '\n';
  return record;
}

/// Whether each line is one of record_of().
bool is_record(std::string_view text) {
  constexpr std::size_t kHash = 16;
  for (std::size_t end; !text.empty(); text.remove_prefix(end + 1)) {
    end = text.find('\n');
    if (end == std::string_view::npos || end < kHash + 2 || text[kHash] != ' ' ||
        text.find_first_not_of("0123456789abcdef") != kHash)
      return false;
  }
  return true;
}

}  // namespace

void SampleConfig::check() const {
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
  config.check();
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
  Files files;
  add_part(corpus.train, "train", files);
  add_part(corpus.valid, "valid", files);
  add_part(corpus.test, "test", files);
  create_folders(folder);
  const std::filesystem::path record_path = folder / ".sample";
  const std::string earlier = std::filesystem::exists(record_path) ? read_file(record_path) : "";
  if (!is_record(earlier))
    throw Error(record_path.string(),
                ": was not made by this command, which would replace it; name another folder");
  const std::string record = earlier + record_of(files);
  for (const auto& [name, text] : files) {
    if (!std::filesystem::exists(folder / name)) continue;
    const std::string there = record_of({{name, read_file(folder / name)}});
    if (record.find(there) == std::string::npos)
      throw Error((folder / name).string(),
                  ": was not made by this command, which would replace it; name another folder");
  }
  // Both corpora are known while one takes the other's place.
  write_file(record_path, record);
  for (const auto& [name, text] : files) write_file(folder / name, text);
  write_file(record_path, record_of(files));
}

}  // namespace dragoman
