#include "app/torch/train_plan.h"

#include <cmath>
#include <cstdio>
#include <iostream>

#include "app/frame/signals.h"
#include "app/torch/train_start.h"
#include "base/formatted_text.h"
#include "base/machine.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

std::string rate_text(const BatchCost& cost) {
  return with_separators(std::llround(cost.target_tokens_per_second));
}

void print_line(std::string name, const std::string& value) {
  constexpr std::size_t kColumn = 30;
  if (name.size() < kColumn) name.append(kColumn - name.size(), ' ');
  std::cout << name << value << '\n';
}

void print_memory(const MemoryPlan& memory, torch::Device device, bool averages) {
  const auto part = [](const char* name, std::int64_t bytes) {
    if (bytes > 0) print_line(join_text("  ", name), bytes_text(bytes));
  };
  print_line("memory", device.is_cpu()
                           ? join_text(bytes_text(memory.total()), "; ",
                                       bytes_text(available_memory()), " are free")
                           : bytes_text(memory.total() - memory.activations) + " and activations");
  part(averages ? "weights, and their average" : "weights", memory.weights);
  part("moments", memory.moments);
  part("gradients", memory.gradients);
  part("bf16 copy", memory.compute_copy);
  part("logits", memory.logits);
  if (device.is_cpu()) part("activations", memory.activations);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string whole(double number) { return with_separators(std::llround(number)); }

/// Prints the plan of a run on standard output.
void print_plan(const TrialSettings& settings) {
  const RunPlan plan = plan_run(settings);
  const auto preset = settings.config.preset;
  print_line("parameters",
             join_text(with_separators(plan.parameters), "; --preset ", name_of(preset)));
  if (settings.ranks > 1)
    print_line("ranks", join_text(settings.ranks, "; memory and speed are of one"));
  print_line("--max-tokens", with_separators(settings.config.max_tokens));
  print_memory(plan.memory, settings.device, settings.config.ema > 0);
  print_line(
      "target pieces per second",
      join_text(rate_text(plan.usual), "; ", rate_text(plan.longest), " on the longest sentences"));
  print_line("update", join_text(seconds_text(plan.seconds_per_update), "; ",
                                 whole(plan.updates_per_epoch), " an epoch, which takes ",
                                 duration_text(plan.updates_per_epoch * plan.seconds_per_update)));
  const auto& first = plan.outlook.seconds_to_validation;
  print_line("first validation",
             first ? "after " + duration_text(*first) : "none: there is no validation text");
  const auto end_text = [](const ExpectedEnd& end) {
    return join_text(duration_text(end.seconds_left), " for ",
                     counted(std::llround(end.updates_left), "update"),
                     ", without the validations");
  };
  const auto& end = plan.outlook.end;
  print_line("run", end ? end_text(*end) : "until --patience is over: no other limit is set");
  if (plan.outlook.end_without_gain)
    print_line("earliest end", end_text(*plan.outlook.end_without_gain));
  print_line("disk", join_text(bytes_text(plan.disk_bytes), "; ", bytes_text(plan.checkpoint_bytes),
                               " a checkpoint"));
}

/// Fills a temporary folder with links to the token cache of the run that is planned. A new file
/// takes the place of a link, and is removed with the folder.
void link_cache(const RunFolder& run, const RunFolder& planned) {
  fs::create_directory(planned.corpus());
  if (run.root.empty()) return;
  const RunFolder there{fs::absolute(run.root)};
  std::error_code none;  // a missing cache has no files
  for (const auto& entry : fs::directory_iterator(there.corpus(), none))
    fs::create_symlink(entry.path(), planned.corpus() / entry.path().filename());
}

}  // namespace

void plan(const TrainOptions& options, const RankInfo& info) {
  const TrainConfig& asked = options.settings.train;
  const RunFolder folder{asked.output};
  Communicator alone({}, asked.rank_timeout);
  const ScratchFolder scratch(fs::temp_directory_path() / "dragoman-plan-");
  Start start{.asked = options.asked(),
              .ranks = alone,
              .size = info.size,
              .folder = {scratch.path()},
              .stop = listen_for_stop(),
              .examination = options.examination};
  const auto found = asked.output.empty() ? std::nullopt : find_checkpoint(folder);
  start.begin(found, info);
  link_cache(folder, start.folder);
  const PreparedData data = start.prepare(found);
  print_plan(start.trial(data));
}

}  // namespace dragoman
