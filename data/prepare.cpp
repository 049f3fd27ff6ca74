#include "data/prepare.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/threads.h"
#include "data/corpus_builder.h"
#include "data/corpus_file.h"
#include "data/parallel_text.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// Part of every file name: files of other versions of this code are not found.
constexpr int kCacheVersion = 1;

struct Work {
  const DataConfig& data;
  const TokenizerConfig& tokenizer;
  fs::path folder;
  std::uint64_t seed;
  DataObserver observer;
  std::stop_token stop;
  int threads;

  void observe(std::string_view stage, std::int64_t done, std::int64_t total) const {
    if (observer) observer(stage, done, total);
  }
  WorkContext context(std::string_view stage) const {
    return {.threads = threads,
            .stop = stop,
            .report = [this, stage](std::int64_t done, std::int64_t total) {
              observe(stage, done, total);
            }};
  }
};

enum class Side { Source, Target, Both };

std::int64_t total_bytes(const DataConfig& data) {
  std::int64_t total = 0;
  for (const auto* paths :
       {&data.train_source, &data.train_target, &data.valid_source, &data.valid_target})
    for (const std::string& path : *paths) {
      std::error_code unreadable;  // said when the file is opened
      const auto size = fs::file_size(path, unreadable);
      if (!unreadable) total += static_cast<std::int64_t>(size);
    }
  return total;
}

/// The lines of one side or both that a tokenizer is trained on, no more than it will look at, give
/// or take some.
std::vector<std::string_view> sample_of(const ParallelText& text, Side side,
                                        std::int64_t sample_lines) {
  const std::int64_t lines = text.pairs() * (side == Side::Both ? 2 : 1);
  const double share = 1.05 * static_cast<double>(sample_lines) / static_cast<double>(lines);
  std::vector<std::string_view> sample;
  const auto add = [&](std::string_view line) {
    if (line.empty() || (share < 1 && uniform_of(sample_key(line)) >= share)) return;
    if (text.all_valid() || is_valid_line(line)) sample.push_back(line);
  };
  text.for_each_pair(0, text.pairs(),
                     [&](std::int64_t, std::string_view source, std::string_view target) {
                       if (side != Side::Target) add(source);
                       if (side != Side::Source) add(target);
                     });
  return sample;
}

/// Everything that the bytes of a trained tokenizer depend on.
std::uint64_t tokenizer_hash(const Work& work, const ParallelText& text) {
  TokenizerConfig config = work.tokenizer;
  std::string inputs = join_text(kCacheVersion, ' ', text.hash());
  for (const Field& field : fields_of(config))
    for (const std::string& value : field.values())
      inputs += join_text('\n', value.size(), ' ', value);
  return xxh3(inputs);
}

/// A trained tokenizer from the cache folder, or trained now and put there. The file holds the
/// SentencePiece model and 8 bytes of its checksum.
std::string trained_model(const Work& work, const ParallelText& text, Side side) {
  const char* names[] = {"source", "target", "joint"};
  const fs::path path = work.folder / join_text("tokenizer-", names[static_cast<int>(side)], "-",
                                                hex16(tokenizer_hash(work, text)), ".bin");
  const auto checksum = [](std::string_view bytes) {
    const std::uint64_t hash = xxh3(bytes);
    return std::string(reinterpret_cast<const char*>(&hash), sizeof hash);
  };
  if (fs::exists(path)) {
    std::string bytes = read_file(path);
    const std::size_t size = bytes.size() - std::min<std::size_t>(bytes.size(), 8);
    if (bytes.substr(size) == checksum(std::string_view(bytes).substr(0, size))) {
      bytes.resize(size);
      return bytes;
    }
  }
  if (work.stop.stop_requested()) throw PreparationStopped();
  work.observe("training the tokenizer", 0, 1);
  const std::string bytes =
      train_tokenizer(sample_of(text, side, work.tokenizer.sample_lines), work.tokenizer)
          .model_bytes;
  work.observe("training the tokenizer", 1, 1);
  write_file(path, bytes + checksum(bytes));
  return bytes;
}

Tokenizers tokenizers_of(const Work& work, const ParallelText& text) {
  const TokenizerConfig& config = work.tokenizer;
  const auto share = [](Tokenizer tokenizer) {
    return std::make_shared<const Tokenizer>(std::move(tokenizer));
  };
  const auto trained = [&](Side side) {
    return share(Tokenizer(trained_model(work, text, side), "the trained tokenizer"));
  };
  Tokenizers tokenizers;
  if (!config.source_model.empty()) {
    tokenizers.source = share(Tokenizer::from_file(config.source_model));
    tokenizers.target = tokenizers.source;
    if (!config.target_model.empty()) {
      auto target = share(Tokenizer::from_file(config.target_model));
      if (target->model_bytes() != tokenizers.source->model_bytes()) tokenizers.target = target;
    }
  } else if (config.joint) {
    tokenizers.source = tokenizers.target = trained(Side::Both);
  } else {
    tokenizers.source = trained(Side::Source);
    tokenizers.target = trained(Side::Target);
  }
  return tokenizers;
}

fs::path corpus_path(const Work& work, const ParallelText& text, const Tokenizers& tokenizers) {
  const DataConfig& data = work.data;
  const bool held_out = data.valid_source.empty() && data.valid_fraction > 0;
  const std::string inputs = join_text(
      kCacheVersion, ' ', text.hash(), ' ', xxh3(tokenizers.source->model_bytes()), ' ',
      xxh3(tokenizers.target->model_bytes()), ' ', data.max_length, ' ', text_of(data.max_ratio),
      ' ', data.keep_empty, ' ', data.keep_duplicates, ' ', static_cast<int>(data.invalid), ' ',
      held_out ? text_of(data.valid_fraction) : "files", ' ', held_out ? work.seed : 0);
  return work.folder / ("corpus-" + hex16(xxh3(inputs)) + ".bin");
}

/// The training corpus from the cache folder, or built now and put there.
std::shared_ptr<const Corpus::Storage> corpus_of(const Work& work, const ParallelText& text,
                                                 PreparedData& prepared) {
  const fs::path path = corpus_path(work, text, prepared.tokenizers);
  if (fs::exists(path)) {
    try {
      auto storage = Corpus::Storage::open(path, work.threads);
      prepared.cache = CacheUse::Reused;
      return storage;
    } catch (const Error& error) {  // made anew below
      prepared.cache = CacheUse::Rebuilt;
      prepared.cache_problem = error.what();
    }
  }
  build_corpus(path, text, prepared.tokenizers, work.data, work.seed, work.context("encoding"));
  return Corpus::Storage::open(path, work.threads);
}

void add_valid_lines(const ParallelText& text, ValidSet& valid) {
  text.for_each_pair(0, text.pairs(),
                     [&](std::int64_t, std::string_view source, std::string_view target) {
                       if (text.all_valid() || (is_valid_line(source) && is_valid_line(target))) {
                         valid.source_lines.emplace_back(source);
                         valid.target_lines.emplace_back(target);
                       } else {
                         ++valid.invalid;
                       }
                     });
}

void encode_valid(const Work& work, const Tokenizers& tokenizers, ValidSet& valid) {
  valid.tokens = encode_lines(valid.source_lines, valid.target_lines, tokenizers, work.data,
                              work.context("encoding the validation set"));
  valid.too_long = static_cast<std::int64_t>(valid.source_lines.size()) - valid.tokens.pairs();
}

}  // namespace

PreparedData prepare_data(const DataConfig& data, const TokenizerConfig& tokenizer,
                          const fs::path& cache_folder, std::uint64_t seed,
                          const DataObserver& observer, std::stop_token stop, int threads) {
  data.validate();
  tokenizer.validate();
  const Work work{.data = data,
                  .tokenizer = tokenizer,
                  .folder = cache_folder,
                  .seed = seed,
                  .observer = observer,
                  .stop = std::move(stop),
                  .threads = threads > 0 ? threads : available_cores()};
  const std::int64_t bytes = total_bytes(data);
  const TextFile::Progress progress{
      .threads = work.threads,
      .stop = work.stop,
      .report = [&, read = std::int64_t{0}](std::int64_t more) mutable {
        work.observe("reading", read += more, bytes);
      }};
  const ParallelText text(data.train_source, data.train_target, data.invalid, progress);
  const ParallelText valid_text(data.valid_source, data.valid_target, data.invalid, progress);

  create_folders(cache_folder);
  remove_leftovers(cache_folder);
  PreparedData prepared;
  prepared.text_hash = hex16(text.hash());
  prepared.asked_vocab_size = tokenizer.vocab_size;
  prepared.tokenizers_trained = tokenizer.source_model.empty();
  prepared.tokenizers = tokenizers_of(work, text);
  const auto storage = corpus_of(work, text, prepared);
  prepared.train = Corpus(storage);
  prepared.report = storage->facts().report;
  ValidSet& valid = prepared.valid;
  valid.held_out = data.valid_source.empty();
  if (valid.held_out) {
    valid.source_lines = storage->facts().held_out_source;
    valid.target_lines = storage->facts().held_out_target;
  } else {
    add_valid_lines(valid_text, valid);
  }
  encode_valid(work, prepared.tokenizers, valid);
  return prepared;
}

}  // namespace dragoman
