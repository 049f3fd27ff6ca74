#include "app/torch/train_plan.h"

#include <cmath>
#include <cstdio>
#include <iostream>

#include "app/frame/log.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/machine.h"
#include "training/checkpoint.h"
#include "training/start/trial.h"

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

}  // namespace

std::int64_t automatic_max_tokens(const TrialSettings& settings) {
  if (!settings.device.is_cpu())
    throw UsageError("--max-tokens auto: the memory of a GPU is not measured; give a number");
  log_info("--max-tokens auto: trying token budgets");
  Trial trial(settings);
  const std::vector<BudgetTrial> trials = try_budgets(trial, settings.data.train);
  std::string tried;
  for (const BudgetTrial& t : trials)
    tried += join_text(tried.empty() ? "" : ", ", with_separators(t.max_tokens), " ",
                       whole(t.target_tokens_per_second), "/s ", bytes_text(t.memory));
  const std::int64_t chosen = chosen_budget(trials);
  log_info(join_text("--max-tokens auto: ", with_separators(chosen),
                     " (target pieces per second and memory: ", tried, ")"));
  return chosen;
}

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

PlanFolder::PlanFolder(const fs::path& run)
    : scratch_(fs::temp_directory_path() / "dragoman-plan-") {
  const RunFolder planned{path()};
  fs::create_directory(planned.corpus());
  if (run.empty()) return;
  const RunFolder there{fs::absolute(run)};
  std::error_code none;  // a missing cache has no files
  for (const auto& entry : fs::directory_iterator(there.corpus(), none))
    fs::create_symlink(entry.path(), planned.corpus() / entry.path().filename());
}

}  // namespace dragoman
