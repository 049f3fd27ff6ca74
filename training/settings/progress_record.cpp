#include "training/settings/progress_record.h"

#include "base/error.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

template <class Patience, class Visit>
void visit_patience(const std::string& prefix, Patience& patience, Visit& visit) {
  visit(prefix + "_recent", patience.recent);
  visit(prefix + "_to_beat", patience.to_beat);
  visit(prefix + "_loss_to_beat", patience.loss_to_beat);
  visit(prefix + "_validations", patience.validations);
  visit(prefix + "_without_gain", patience.without_gain);
}

/// Visits each member with its name: one list for both directions. A name that is stored stays,
/// so "skipped" is `left_out` and "token_budget" is `part_tokens`.
template <class Record, class Visit>
void for_each_member(Record& r, Visit&& visit) {
  visit("update", r.update);
  visit("epoch", r.epoch);
  visit("batch", r.batch);
  visit("stage", r.stage.number);
  visit("stage_first_epoch", r.stage.first_epoch);
  visit_patience("stage_patience", r.stage.patience, visit);
  visit("source_tokens", r.source_tokens);
  visit("target_tokens", r.target_tokens);
  visit("skipped", r.left_out);
  visit("history_updates", r.history.updates);
  visit("history_loss", r.history.loss);
  visit("history_gradient_norm", r.history.gradient_norm);
  visit("history_lowest_loss", r.history.lowest_loss);
  visit("left_out_in_a_row", r.history.left_out_in_a_row);
  visit("rollbacks", r.rollbacks);
  visit("rate_factor", r.rate_factor);
  visit("returned_to", r.returned_to);
  visit("sound", r.sound);
  visit("seconds", r.seconds);
  visit("token_budget", r.part_tokens);
  visit("validated_update", r.validated_update);
  visit("best_update", r.best.update);
  visit("best_value", r.best.value);
  visit("best_loss", r.best.loss);
  visit("best_seconds", r.best.seconds);
  visit("best_keep_value", r.best.keep_value);
  visit("keep_value", r.keep_value);
  visit("initial_value", r.initial_value);
  visit_patience("patience", r.patience, visit);
  visit("cooldown_start", r.cooldown.begin);
  visit("cooldown_end", r.cooldown.end);
  visit("cooldown_limit", r.cooldown.limit);
  visit("cooldown_limit_value", r.cooldown.limit_value);
  visit("averaged_update", r.averaged_update);
  visit("ranks", r.start.machine.ranks);
  visit("precision", r.start.machine.precision);
  visit("threads", r.start.machine.threads);
  visit("processor", r.start.machine.processor);
  visit("data", r.start.file_hashes);
  visit("log_bytes", r.log_bytes);
  visit("configuration", r.start.values);
  visit("asked", r.start.asked);
  visit("reasons", r.start.reasons);
}

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

/// Names of files need not be UTF-8, which JSON is.
template <class Value>
Json json_of(const Value& value) {
  return value;
}
Json json_of(const std::string& text) { return utf8_of_bytes(text); }
Json json_of(StopReason reason) { return name_of(reason); }
Json json_of(const Texts& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts) json[utf8_of_bytes(name)] = utf8_of_bytes(text);
  return json;
}

template <class Value>
void read(const Json& json, Value& value) {
  json.get_to(value);
}
void read(const Json& json, std::string& text) { text = bytes_of_utf8(json.get<std::string>()); }
void read(const Json& json, StopReason& reason) {
  const auto named = value_named<StopReason>(json.is_string() ? json.get<std::string>() : "");
  if (!named) throw Error("progress record: ", json_text(json), " is not a reason to stop");
  reason = *named;
}
void read(const Json& json, Texts& texts) {
  texts.clear();
  for (const auto& [name, text] : json.get<Texts>())
    texts[bytes_of_utf8(name)] = bytes_of_utf8(text);
}

}  // namespace

std::string to_json(const ProgressRecord& progress) {
  Json json;
  for_each_member(progress,
                  [&](const std::string& name, const auto& value) { json[name] = json_of(value); });
  return json_text(json);
}

ProgressRecord progress_from_json(std::string_view text) {
  ProgressRecord progress;
  try {
    const auto json = parse_json<Json>(text);
    json.at("update").get_to(progress.update);
    for_each_member(progress, [&](const std::string& name, auto& value) {
      if (json.contains(name)) read(json[name], value);
    });
  } catch (const Json::exception& problem) {
    throw Error("progress record: ", problem.what());
  }
  return progress;
}

}  // namespace dragoman
