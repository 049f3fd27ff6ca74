// Training speed on random tokens: target tokens per second over windows of updates after warm-up,
// dropout (everywhere) and label smoothing on. The last line of standard output is JSON.
// "time_by_part" has fractions of the time of some more updates, measured with record functions.
//   train_speed --preset tiny|small|base|big [--precision auto|fp32|bf16] [--windows N]
//               [--threads N] [--length N] [--spread N] [--max-tokens N] [--sum-after]
// On several ranks (scripts/launch N train_speed ...) the tokens of all ranks are counted.
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/threads.h"
#include "bench/part_times.h"
#include "data/random_batch.h"
#include "training/ranks/communicator.h"
#include "training/ranks/rank_info.h"
#include "training/training_model.h"

namespace {

using namespace dragoman;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct StepTimes {
  double data = 0, passes = 0, all_reduce = 0, optimizer = 0;  ///< seconds
  std::int64_t tokens = 0;

  double total() const { return data + passes + all_reduce + optimizer; }
};

/// A model, its optimizer and its batches.
struct Bench {
  TrainingModel& model;
  Communicator& ranks;
  RandomText text;
  int updates;
  bool overlap;  ///< ranks sum the gradient while the backward pass goes on
  std::int64_t update = 0;

  StepTimes run_updates() {
    StepTimes times;
    for (int i = 0; i < updates; ++i) {
      auto start = std::chrono::steady_clock::now();
      const auto lap = [&start] {
        const double seconds = seconds_since(start);
        start = std::chrono::steady_clock::now();
        return seconds;
      };
      const auto batch = random_batch(text, 7 + static_cast<std::uint64_t>(ranks.rank()),
                                      static_cast<std::uint64_t>(++update));
      times.data += lap();
      const auto loss = model.accumulate(batch, {.label_smoothing = 0.1}, update, overlap).read();
      std::array<double, 1> tokens = {static_cast<double>(loss.target_tokens)};
      times.passes += lap();
      model.hand_over_rest();
      if (overlap)
        ranks.finish_sums();
      else
        ranks.sum(model.gradient());
      ranks.sum(tokens);
      times.all_reduce += lap();
      times.tokens += static_cast<std::int64_t>(tokens[0]);
      model
          .step({.target_tokens = static_cast<std::int64_t>(tokens[0]),
                 .learning_rate = 1e-4,
                 .clip_norm = 1})
          .made.item<bool>();  // a device is done
      times.optimizer += lap();
    }
    return times;
  }
};

nlohmann::ordered_json time_by_part(Bench& bench) {
  const PartTimes parts;
  const StepTimes times = bench.run_updates();
  // Threads work side by side: their sums stand for the wall time of both passes.
  const auto all = parts.seconds();
  const double scale = times.passes / std::accumulate(all.begin(), all.end(), 0.0);
  nlohmann::ordered_json result;
  const auto add = [&](std::string_view name, double seconds) {
    result[std::string(name)] = std::round(1000 * seconds / times.total()) / 1000;
  };
  for (const Part part :
       {Part::Linear, Part::Attention, Part::NormDropout, Part::Loss, Part::Embedding, Part::Other})
    add(names_of(part)[static_cast<std::size_t>(part)],
        scale * all[static_cast<std::size_t>(part)]);
  add("all_reduce", times.all_reduce);
  add("optimizer", times.optimizer);
  add("data", times.data);
  return result;
}

}  // namespace

int main(int count, char** arguments) try {
  const RankInfo info = rank_info(process_environment());
  CLI::App app("training speed on random tokens");
  std::string preset_name = "tiny", precision_name = "auto";
  int windows = 7, updates = 5, threads = std::max(1, available_cores() / info.local_size);
  std::int64_t max_tokens = 4096, length = 30, spread = 0;
  bool json = true, overlap = true;
  app.add_option("--preset", preset_name)->check(CLI::IsMember({"tiny", "small", "base", "big"}));
  app.add_option("--precision", precision_name)->check(CLI::IsMember({"auto", "fp32", "bf16"}));
  app.add_option("--windows", windows, "measured windows")->check(CLI::PositiveNumber);
  app.add_option("--updates", updates, "updates of a window")->check(CLI::PositiveNumber);
  app.add_option("--max-tokens", max_tokens, "target tokens of a batch");
  app.add_option("--length", length, "pieces of a sentence")->check(CLI::PositiveNumber);
  app.add_option("--spread", spread, "so many more or less")->check(CLI::NonNegativeNumber);
  app.add_option("--threads", threads);
  app.add_flag("!--sum-after", overlap, "ranks sum the gradient after the backward pass");
  app.add_flag("--json", json, "the result is always JSON");
  CLI11_PARSE(app, count, arguments);
  at::set_num_threads(threads);

  Preset preset{};
  Precision precision{};
  for (std::size_t i = 0; i < 4; ++i)
    if (names_of(preset)[i] == preset_name) preset = static_cast<Preset>(i);
  for (std::size_t i = 0; i < 3; ++i)
    if (names_of(precision)[i] == precision_name) precision = static_cast<Precision>(i);
  ModelConfig config = ModelConfig::from_preset(preset);
  config.attention_dropout = config.activation_dropout = config.dropout;
  const bool large = preset == Preset::Base || preset == Preset::Big;
  config.source_vocabulary = config.target_vocabulary = large ? 32000 : 8000;
  if (spread >= length || length + spread > max_tokens) {
    std::fprintf(stderr,
                 "train_speed: --spread must be below --length, both within --max-tokens\n");
    return 2;
  }
  const RandomText text{config.source_vocabulary, length, spread, max_tokens};

  precision = resolve_precision(precision, torch::kCPU);
  TrainingModel model(config, {}, precision, torch::kCPU, 1);
  Communicator ranks(info, 60);
  overlap = overlap && ranks.size() > 1;
  if (overlap)
    model.hand_over_slices(slice_to_send(model.layout().size()),
                           [&ranks](const torch::Tensor& slice) { ranks.begin_sum(slice); });
  Bench bench{model, ranks, text, updates, overlap};
  bench.run_updates();  // warms up
  std::vector<double> rates;
  for (int window = 0; window < windows; ++window) {
    const StepTimes times = bench.run_updates();
    rates.push_back(static_cast<double>(times.tokens) / times.total());
  }
  std::sort(rates.begin(), rates.end());
  nlohmann::ordered_json result{
      {"preset", preset_name},
      {"precision", names_of(precision)[static_cast<std::size_t>(precision)]},
      {"processor", cpu_features().model + " (" + cpu_features().instructions + ")"},
      {"threads", threads},
      {"ranks", ranks.size()},
      {"target_tokens_per_second_median", rates[rates.size() / 2]},
      {"target_tokens_per_second_min", rates.front()},
      {"target_tokens_per_second_max", rates.back()},
      {"peak_memory_gib", static_cast<double>(peak_resident_memory()) / (1 << 30)},
      {"time_by_part", time_by_part(bench)}};
  if (ranks.leads()) std::puts(result.dump().c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_speed: %s\n", error.what());
  return 1;
}
