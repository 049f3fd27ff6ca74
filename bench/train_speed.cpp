// Training speed on random tokens: target tokens per second over windows of updates after warm-up,
// dropout and label smoothing on. The last line of standard output is JSON.
// Updates are made as a run makes them: the results of a window are read at its end, so a GPU is
// never waited for in between. "host_ms_per_update" is the time that the host takes to give a GPU
// its work.
// "time_by_part", on the CPU, has fractions of the time of some more updates, measured with record
// functions; "time_by_kernel", on a GPU, has the kernels of one more update, and
// "launches_by_kernel" its launches and bytes, on the stand-in for a GPU (bench/update_launches).
//   train_speed --preset tiny|small|base|big [--precision auto|fp32|bf16]
//               [--device cpu|cuda|cuda:N] [--windows N] [--updates N] [--threads N]
//               [--length N] [--spread N] [--max-tokens N] [--attention-dropout RATE]
//               [--device-graph] [--by-kernel] [--sum-after]
// On several ranks (scripts/launch N train_speed ...) the tokens of all ranks are counted.
#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/threads.h"
#include "bench/device_times.h"
#include "bench/part_times.h"
#include "data/epoch_plan.h"
#include "data/packed_batch.h"
#include "model/device.h"
#include "tests/cuda_stand_in/counts.h"
#include "training/ranks/communicator.h"
#include "training/ranks/rank_info.h"
#include "training/trainer.h"
#include "training/training_model.h"
#include "training/update.h"

namespace {

using namespace dragoman;

/// The shape of a run's batches on a GPU. Both sides are alike, and an epoch is one batch.
BatchShape run_shape(const RandomText& text) {
  const auto tokens = static_cast<double>(text.batch_tokens);
  const std::int64_t longest = text.length + text.spread;
  return batch_capacity({.pairs = tokens / static_cast<double>(text.length),
                         .source_tokens = tokens,
                         .target_tokens = tokens,
                         .longest_source = longest,
                         .longest_target = longest},
                        {.max_tokens = text.batch_tokens})
      .shape;
}

/// Seconds since the last call.
class Lap {
 public:
  double operator()() {
    const auto last = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - last).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The host's time.
struct StepTimes {
  double data = 0, passes = 0, all_reduce = 0, optimizer = 0;  ///< seconds
  double waiting = 0;                                          ///< for the results
  std::int64_t tokens = 0;
  int by_graph = 0;  ///< updates that were launched as a whole

  double working() const { return data + passes + all_reduce + optimizer; }
  double total() const { return working() + waiting; }
};

struct Options {
  ModelConfig model;
  Precision precision = Precision::Auto;
  torch::Device device = torch::kCPU;
  RandomText text = {};
  int windows = 7, updates = 5, threads = 1;
  bool overlap = true;  ///< ranks sum the gradient while the backward pass continues
  bool device_graph = false, by_kernel = false;
};

/// A model, its optimizer and its batches.
class Bench {
 public:
  Bench(const Options& options, Communicator& ranks)
      : ranks_(ranks),
        text_(options.text),
        overlap_(options.overlap && ranks.size() > 1),
        device_graph_(options.device_graph),
        model_(options.model, {}, options.precision, options.device, 1),
        limits_({}, TrainConfig().spike_factor, options.device) {
    if (overlap_)
      model_.hand_over_slices(slice_to_send(model_.layout().size()),
                              [this](const torch::Tensor& slice) { ranks_.begin_sum(slice); });
  }

  StepTimes run_updates(int updates) {
    StepTimes times;
    std::vector<LaunchedUpdate> launched;
    Lap lap;
    for (int i = 0; i < updates; ++i) {
      auto batch = random_batch(text_, 7 + static_cast<std::uint64_t>(ranks_.rank()),
                                static_cast<std::uint64_t>(++update_));
      batch.capacity = run_shape(text_);
      times.data += lap();
      std::optional<LaunchedUpdate> update = launch_graph(batch);
      if (update) {
        ++times.by_graph;
        times.passes += lap();
      } else {
        update = make_update(batch, times, lap);
      }
      times.tokens += update->loss.target_tokens;
      launched.push_back(*std::move(update));
    }
    read_results(launched);
    times.waiting += lap();
    return times;
  }

 private:
  static constexpr LossConfig kLoss{.label_smoothing = 0.1};

  StepConfig step_for(const DeviceLoss& sums) {
    return {.loss = sums, .learning_rate = 1e-4, .clip_norm = 1, .limits = &limits_};
  }

  /// The update of the batch, if it can be launched as a whole.
  std::optional<LaunchedUpdate> launch_graph(const PackedBatch& batch) {
    if (!device_graph_) return std::nullopt;
    const DeviceLoss loss{{}, batch.source.size(), batch.target.size()};
    const auto result = model_.step_by_graph({&batch, 1}, kLoss, update_, step_for(loss));
    if (!result) return std::nullopt;
    return LaunchedUpdate{loss, *result, {}, {}};
  }

  LaunchedUpdate make_update(const PackedBatch& batch, StepTimes& times, Lap& lap) {
    const auto parts = partition(batch, {.threads = model_.threads()});
    const DeviceLoss own = model_.accumulate(parts.front().shares, kLoss, update_, overlap_);
    times.passes += lap();
    model_.hand_over_rest();
    if (overlap_)
      ranks_.finish_sums();
    else
      ranks_.sum(model_.gradient());
    const DeviceLoss sums = sum_over_ranks(ranks_, own);
    times.all_reduce += lap();
    LaunchedUpdate update{sums, model_.step(step_for(sums)), {}, {}};
    times.optimizer += lap();
    return update;
  }

  Communicator& ranks_;
  const RandomText text_;
  const bool overlap_, device_graph_;
  TrainingModel model_;
  SpikeLimits limits_;
  std::int64_t update_ = 0;
};

nlohmann::ordered_json time_by_part(Bench& bench, int updates) {
  const PartTimes parts;
  const StepTimes times = bench.run_updates(updates);
  // Threads work side by side: their sums stand for the wall time of both passes.
  const auto all = parts.seconds();
  const double scale = times.passes / std::accumulate(all.begin(), all.end(), 0.0);
  nlohmann::ordered_json result;
  const auto add = [&](std::string_view name, double seconds) {
    result[std::string(name)] = std::round(1000 * seconds / times.total()) / 1000;
  };
  for (const Part part :
       {Part::Linear, Part::Attention, Part::NormDropout, Part::Loss, Part::Embedding, Part::Other})
    add(name_of(part), scale * all[static_cast<std::size_t>(part)]);
  add("all_reduce", times.all_reduce);
  add("optimizer", times.optimizer);
  add("data", times.data);
  return result;
}

/// The measured windows, as the fields of the result.
nlohmann::ordered_json measure(const Options& options, Communicator& ranks) {
  Bench bench(options, ranks);
  const int until_graph = options.device_graph ? 2 : 1;  // the first update is made without it
  const StepTimes warm_up = bench.run_updates(std::max(options.updates, until_graph));
  if (options.device_graph && warm_up.by_graph == 0)
    throw Error("--device-graph: no update was recorded; it takes one rank, a GPU, and bf16");

  if (options.by_kernel && StandInCounts::is_loaded())  // it has no speed
    return {{"launches_by_kernel", launches_by_kernel([&] { bench.run_updates(1); })}};

  std::vector<double> rates;
  std::int64_t tokens = 0;
  double working = 0, total = 0;
  for (int window = 0; window < options.windows; ++window) {
    const StepTimes times = bench.run_updates(options.updates);
    rates.push_back(static_cast<double>(times.tokens) / times.total());
    tokens += times.tokens;
    working += times.working();
    total += times.total();
  }
  std::sort(rates.begin(), rates.end());
  const int updates = options.windows * options.updates;
  nlohmann::ordered_json result{
      {"target_tokens_per_second_median", rates[rates.size() / 2]},
      {"target_tokens_per_second_min", rates.front()},
      {"target_tokens_per_second_max", rates.back()},
      {"target_tokens", tokens},
      {"ms_per_update", 1e3 * total / updates},
      {"host_ms_per_update", 1e3 * working / updates},
      {"peak_memory_gib", static_cast<double>(peak_resident_memory()) / (1 << 30)}};
  if (options.device.is_cpu()) {
    result["time_by_part"] = time_by_part(bench, options.updates);
    return result;
  }
  result["peak_device_memory_gib"] = peak_device_memory_gib(options.device);
  if (options.by_kernel) result["time_by_kernel"] = time_by_kernel([&] { bench.run_updates(1); });
  return result;
}

template <class Enum>
std::set<std::string> names_in() {
  constexpr auto names = names_of(Enum{});
  return {names.begin(), names.end()};
}

/// Sets what follows from the preset's name.
void settle(Options& options, const std::string& preset_name, double attention_dropout) {
  const auto preset = value_named<Preset>(preset_name).value();
  options.model = ModelConfig::from_preset(preset);
  options.model.activation_dropout = options.model.dropout;
  options.model.attention_dropout = attention_dropout;
  const bool large = preset == Preset::Base || preset == Preset::Big;
  options.model.source_vocabulary = options.model.target_vocabulary = large ? 32000 : 8000;
  RandomText& text = options.text;
  text.vocabulary = options.model.source_vocabulary;
  if (text.spread >= text.length || text.length + text.spread > text.batch_tokens)
    throw UsageError("--spread must be below --length, both within --max-tokens");
  options.precision = resolve_precision(options.precision, options.device);
}

}  // namespace

int main(int count, char** arguments) try {
  const RankInfo info = rank_info(process_environment());
  CLI::App app("training speed on random tokens");
  std::string preset_name = "tiny", precision_name = "auto", device_name = "cpu";
  double attention_dropout = 0;
  Options options;
  options.threads = std::max(1, available_cores() / info.local_size);
  options.text = {.vocabulary = 0, .length = 30, .spread = 0, .batch_tokens = 4096};
  bool json = true;
  app.add_option("--preset", preset_name)->check(CLI::IsMember(names_in<Preset>()));
  app.add_option("--precision", precision_name)->check(CLI::IsMember(names_in<Precision>()));
  app.add_option("--device", device_name, "cpu, cuda or cuda:N");
  app.add_option("--windows", options.windows, "measured windows")->check(CLI::PositiveNumber);
  app.add_option("--updates", options.updates, "updates of a window")->check(CLI::PositiveNumber);
  app.add_option("--max-tokens", options.text.batch_tokens, "target tokens of a batch");
  app.add_option("--length", options.text.length, "pieces of a sentence")
      ->check(CLI::PositiveNumber);
  app.add_option("--spread", options.text.spread, "up to this many more or less")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--attention-dropout", attention_dropout, "of attention weights");
  app.add_option("--threads", options.threads);
  app.add_flag("--device-graph", options.device_graph, "an update is launched as a whole");
  app.add_flag("--by-kernel", options.by_kernel, "the time of each kernel of an update on a GPU");
  app.add_flag("!--sum-after", options.overlap, "ranks sum the gradient after the backward pass");
  app.add_flag("--json", json, "the result is always JSON");
  CLI11_PARSE(app, count, arguments);
  at::set_num_threads(options.threads);

  options.precision = value_named<Precision>(precision_name).value();
  options.device = parse_device(device_name, info.local_rank);
  settle(options, preset_name, attention_dropout);
  Communicator ranks(info, 60);
  nlohmann::ordered_json result{
      {"preset", preset_name},
      {"precision", name_of(options.precision)},
      {"device", options.device.str()},
      {"processor", cpu_features().model + " (" + cpu_features().instructions + ")"},
      {"threads", options.threads},
      {"ranks", ranks.size()}};
  result.update(measure(options, ranks));
  if (ranks.leads()) std::puts(json_text(result).c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "train_speed: %s\n", error.what());
  return 1;
}
