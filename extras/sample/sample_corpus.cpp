#include "extras/sample/sample_corpus.h"

#include <map>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/made_files.h"

namespace dragoman {
namespace {

using Lines = std::unordered_set<std::string>;

/// The next `count` pairs of the endless corpus, from `index` on, that have no line in `held_out`.
/// `keep` is called with each.
template <class Keep>
void draw_pairs(std::int64_t seed, std::int64_t count, const Lines& held_out, std::uint64_t& index,
                Keep&& keep) {
  constexpr int kMostRepeats = 10'000;  // then the grammar counts as used up
  for (int repeats = 0; count > 0; ++index) {
    SamplePair pair = sample_pair(static_cast<std::uint64_t>(seed), index);
    if (held_out.contains(pair.source) || held_out.contains(pair.target)) {
      if (++repeats == kMostRepeats)
        throw Error(
            "the sample grammar has no further sentences: lower --valid-size or --test-size");
      continue;
    }
    repeats = 0;
    --count;
    keep(std::move(pair));
  }
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

}  // namespace

void SampleConfig::check() const {
  if (train_pairs < 0) throw UsageError("--train-size must not be negative");
  if (valid_pairs < 0) throw UsageError("--valid-size must not be negative");
  if (test_pairs < 0) throw UsageError("--test-size must not be negative");
}

SampleCorpus make_sample_corpus(const SampleConfig& config) {
  config.check();
  SampleCorpus corpus;
  Lines held_out;
  std::uint64_t index = 0;
  const auto hold_out = [&](std::vector<SamplePair>& part) {
    return [&](SamplePair pair) {
      held_out.insert({pair.source, pair.target});
      part.push_back(std::move(pair));
    };
  };
  draw_pairs(config.seed, config.valid_pairs, held_out, index, hold_out(corpus.valid));
  draw_pairs(config.seed, config.test_pairs, held_out, index, hold_out(corpus.test));
  draw_pairs(config.seed, config.train_pairs, held_out, index,
             [&](SamplePair pair) { corpus.train.push_back(std::move(pair)); });
  return corpus;
}

void write_sample_corpus(const SampleCorpus& corpus, const std::filesystem::path& folder) {
  Files files;
  add_part(corpus.train, "train", files);
  add_part(corpus.valid, "valid", files);
  add_part(corpus.test, "test", files);
  create_folders(folder);
  MadeFiles made(folder, ".sample");
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    made.add(name, text);
    names.push_back(name);
    if (!made.may_replace(name))
      throw Error((folder / name).string(),
                  ": was not made by this command, which would replace it; name another folder");
  }
  // Both corpora are known while one takes the other's place.
  made.write();
  for (const auto& [name, text] : files) write_file(folder / name, text);
  made.take(names);
  made.write();
}

}  // namespace dragoman
