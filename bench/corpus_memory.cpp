// Measures the memory that the way from text files to batches takes, besides the mapped files:
// generates a parallel text, prepares it twice (building the cache, then finding it), plans an
// epoch, and compares the peak of the process's own memory (RssAnon) with the time before, in bytes
// a pair.
//   corpus_memory [pairs = 5000000] [folder = the system's temporary folder]
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/files.h"
#include "base/random.h"
#include "base/threads.h"
#include "data/batch_stream.h"
#include "data/prepare.h"

namespace dragoman {
namespace {

std::int64_t own_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kibibytes = 0;
  while (status >> word && word != "RssAnon:") {
  }
  status >> kibibytes;
  return kibibytes * 1024;
}

/// Reads the memory every few milliseconds while it lives.
class PeakMemory {
 public:
  std::int64_t above_start() {
    look();
    return peak_ - start_;
  }

 private:
  void look() { peak_ = std::max(peak_.load(), own_memory()); }

  std::int64_t start_ = own_memory();
  std::atomic<std::int64_t> peak_{start_};
  std::jthread thread_{[this](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(5)))
      look();
  }};
};

/// A line of 3 to 12 words out of 500; nearly all pairs are different.
std::string line(std::uint64_t pair, std::uint64_t side) {
  RandomStream random(1, pair, side);
  std::string text;
  for (std::uint64_t words = 3 + random.below(10); words > 0; --words) {
    std::uint64_t word = random.below(500) + 1;
    for (; word > 0; word /= 8) text += static_cast<char>('a' + word % 8 * 3 + side);
    text += words > 1 ? ' ' : '\n';
  }
  return text;
}

void write_side(const std::filesystem::path& path, std::int64_t pairs, std::uint64_t side) {
  std::ofstream file(path);
  for (std::int64_t pair = 0; pair < pairs; ++pair)
    file << line(static_cast<std::uint64_t>(pair), side);
}

struct Measurement {
  double bytes_per_pair, seconds;
};

void print(const char* step, const Measurement& measured) {
  std::printf("%-34s %7.2f bytes a pair  %7.1f s\n", step, measured.bytes_per_pair,
              measured.seconds);
  std::fflush(stdout);
}

template <class Work>
Measurement measure(std::int64_t pairs, Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  PeakMemory peak;
  work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {static_cast<double>(peak.above_start()) / static_cast<double>(pairs), seconds.count()};
}

/// Prints the speed of batches with pairs that are segmented again.
void print_fresh_encoding(DataConfig data, const TokenizerConfig& tokenizer,
                          const std::filesystem::path& folder) {
  data.subword_sampling = 0.2;
  const PreparedData prepared =
      prepare_data({.data = data, .tokenizer = tokenizer, .cache_folder = folder / "corpus"});
  const BatchPacker packer(prepared.train, end_ids(prepared.tokenizers), {.max_tokens = 4096},
                           {prepared.encoder});
  const EpochPlan plan = plan_epoch(prepared.train, {.max_tokens = packer.planned_tokens()}, 0);
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t batches = std::min<std::int64_t>(plan.batches(), 200);
  std::int64_t tokens = 0, most = 0;
  for (std::int64_t i = 0; i < batches; ++i) {
    const std::int64_t size = packer.pack(plan.batch(i), {0, 0}).target.size();
    tokens += size;
    most = std::max(most, size);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf(
      "segmented again (unigram): %.0f target pieces a second on one thread; batches of 4096 "
      "hold %.0f on average, %lld at most\n",
      static_cast<double>(tokens) / seconds.count(),
      static_cast<double>(tokens) / static_cast<double>(batches), static_cast<long long>(most));
}

void run(std::int64_t pairs, const std::filesystem::path& folder) {
  DataConfig data{.train_source = {folder / "text.src"}, .train_target = {folder / "text.tgt"}};
  for (const std::uint64_t side : {0, 1})
    write_side(folder / (side == 0 ? "text.src" : "text.tgt"), pairs, side);

  // SentencePiece's training takes memory for its sample of lines, whatever the size of the corpus.
  std::vector<std::string> lines;
  for (std::uint64_t pair = 0; pair < 2000; ++pair) lines.push_back(line(pair, pair % 2));
  TokenizerConfig tokenizer{.vocab_size = 1000};
  write_file(folder / "given.model",
             train_tokenizer({lines.begin(), lines.end()}, tokenizer).model_bytes);
  tokenizer.source_model = folder / "given.model";

  // The index of a text that has just changed is not stored.
  std::this_thread::sleep_for(std::chrono::seconds(3));
  std::printf("%lld pairs, %d threads\n", static_cast<long long>(pairs), available_cores());
  const auto prepare = [&] {
    return prepare_data({.data = data, .tokenizer = tokenizer, .cache_folder = folder / "corpus"});
  };
  print("filter and encode", measure(pairs, prepare));
  PreparedData prepared;
  print("find the cache", measure(pairs, [&] { prepared = prepare(); }));
  print("plan an epoch and take a batch", measure(pairs, [&] {
          BatchStream stream(prepared.train, {.max_tokens = 4096}, end_ids(prepared.tokenizers),
                             {});
          stream.next();
        }));
  print_fresh_encoding(data, tokenizer, folder);
  std::printf("kept %lld, duplicates %lld, held out %lld, tokens %lld + %lld\n",
              static_cast<long long>(prepared.report.kept),
              static_cast<long long>(prepared.report.duplicates),
              static_cast<long long>(prepared.report.held_out),
              static_cast<long long>(prepared.report.source_tokens),
              static_cast<long long>(prepared.report.target_tokens));
}

}  // namespace
}  // namespace dragoman

int main(int count, char** arguments) try {
  const std::int64_t pairs = count > 1 ? std::stoll(arguments[1]) : 5'000'000;
  std::filesystem::path folder =
      count > 2 ? std::filesystem::path(arguments[2]) : std::filesystem::temp_directory_path();
  folder /= "corpus_memory." + std::to_string(getpid());
  dragoman::create_folders(folder);
  dragoman::run(pairs, folder);
  std::filesystem::remove_all(folder);
} catch (const std::exception& error) {
  std::fprintf(stderr, "corpus_memory: %s\n", error.what());
  return 1;
}
