#include "training/progress_record.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman {

namespace {

/// Visits each member with its name: one list for both directions.
template <class Record, class Visit>
void for_each_member(Record& r, Visit&& visit) {
  visit("update", r.update);
  visit("epoch", r.epoch);
  visit("batch", r.batch);
  visit("source_tokens", r.source_tokens);
  visit("target_tokens", r.target_tokens);
  visit("skipped", r.skipped);
  visit("history_updates", r.history.updates);
  visit("history_loss", r.history.loss);
  visit("history_gradient_norm", r.history.gradient_norm);
  visit("history_lowest_loss", r.history.lowest_loss);
  visit("left_out_in_a_row", r.history.left_out_in_a_row);
  visit("rollbacks", r.rollbacks);
  visit("rate_factor", r.rate_factor);
  visit("seconds", r.seconds);
  visit("token_budget", r.token_budget);
  visit("validated_update", r.validated_update);
  visit("best_update", r.best_update);
  visit("best_value", r.best_value);
  visit("without_best", r.without_best);
  visit("ranks", r.ranks);
  visit("precision", r.precision);
  visit("threads", r.threads);
  visit("processor", r.processor);
  visit("data", r.data);
  visit("log_bytes", r.log_bytes);
  visit("configuration", r.configuration);
}

}  // namespace

std::string to_json(const ProgressRecord& progress) {
  nlohmann::ordered_json json;
  for_each_member(progress, [&](const char* name, const auto& value) { json[name] = value; });
  return json.dump();
}

ProgressRecord progress_from_json(std::string_view text) {
  ProgressRecord progress;
  try {
    const auto json = nlohmann::json::parse(text);
    json.at("update").get_to(progress.update);
    for_each_member(progress, [&](const char* name, auto& value) {
      if (json.contains(name)) json[name].get_to(value);
    });
  } catch (const nlohmann::json::exception& problem) {
    throw Error("progress record: ", problem.what());
  }
  return progress;
}

}  // namespace dragoman
