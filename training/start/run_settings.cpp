#include "training/start/run_settings.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace {

/// A rate is rounded to 256ths (model/ops/dropout.h).
void check_dropout_step(std::string_view flag, double rate) {
  constexpr double kStep = 1.0 / 256;
  if (rate > 0 && rate < kStep / 2)
    throw UsageError("--", flag, " ", rate,
                     ": rates go in steps of 1/256, and this one is 0; give 0.004 or more, or 0");
}

}  // namespace

RunConfig RunConfig::from_preset(Preset preset) {
  RunConfig config;
  config.train.apply_preset(preset);
  config.model = ModelConfig::from_preset(preset);
  const bool large = preset == Preset::Base || preset == Preset::Big;
  config.tokenizer.vocab_size = large ? 32'000 : 8'000;
  return config;
}

std::vector<Field> RunConfig::fields() {
  std::vector<Field> all = fields_of(train);
  for (auto& part : {fields_of(data), fields_of(tokenizer), fields_of(model)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

void RunConfig::check() const {
  train.check();
  model.check();
  data.check();
  tokenizer.check();
  check_dropout_step("dropout", model.dropout);
  check_dropout_step("attention-dropout", model.attention_dropout);
  check_dropout_step("activation-dropout", model.activation_dropout);
  if (train.r_drop > 0 && model.dropout + model.attention_dropout + model.activation_dropout == 0)
    throw UsageError(
        "--r-drop: its two passes differ by dropout alone, and every --dropout is 0; raise one, or "
        "leave --r-drop out");
  if (!data.keep_valid_source.empty() && train.init_from.empty())
    throw UsageError(
        "--keep-valid-src: its scores are compared with those of the model that the run starts "
        "with; give --init-from too, or name the files in --valid-src");
  if (!data.keep_valid_source.empty() && data.valid_source.empty() && data.valid_fraction == 0)
    throw UsageError("--keep-valid-src: needs a validation beside it; raise --valid-fraction");
  if (train.guided_alignment_layer > model.decoder_layers)
    throw UsageError("--guided-alignment-layer ", train.guided_alignment_layer,
                     ": the decoder has ", counted(model.decoder_layers, "layer"));
  if (train.guided_alignment_head > model.heads)
    throw UsageError("--guided-alignment-head ", train.guided_alignment_head, ": a layer has ",
                     counted(model.heads, "head"));
  const std::int64_t longest = data.max_length, positions = model.max_positions;
  if (model.positions == Positions::Learned && (longest == 0 || longest >= positions))
    throw UsageError("--max-length ", longest, ": the ", positions,
                     " learned positions (--max-positions) are for fewer than ", positions,
                     " pieces and </s>");
}

// ---- settings that are open ---------------------------------------------------------------------

const Field& field_named(const std::vector<Field>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const Field& field) { return field.info.name == name; });
  if (found == fields.end()) throw std::logic_error("no setting " + std::string(name));
  return *found;
}

RunSettings::RunSettings(std::vector<Field> fields, const SettingsRecord& start)
    : fields_(std::move(fields)),
      asked_(start.asked.begin(), start.asked.end()),
      reasons_(start.reasons.begin(), start.reasons.end()) {}

bool RunSettings::is_open(std::string_view name) const {
  return !asks_value(name) && !settled_.contains(name);
}

bool RunSettings::asks_auto(std::string_view name) const {
  const auto found = asked_.find(name);
  return found != asked_.end() && found->second == kAuto;
}

bool RunSettings::asks_value(std::string_view name) const {
  const auto found = asked_.find(name);
  return found != asked_.end() && found->second != kAuto;
}

void RunSettings::choose(std::string_view name, const std::string& value,
                         const std::string& reason) {
  if (!is_open(name)) return;
  assign_text(field_named(fields_, name), value);
  keep(name, reason);
}

void RunSettings::take_defaults(const std::vector<Field>& defaults, const std::string& reason) {
  for (const Field& other : defaults) {
    const std::string name(other.info.name), value = other.text();
    const Field& field = field_named(fields_, name);
    if (is_of_the_call(name) || !is_open(name) || field.text() == value) continue;
    assign_text(field, value);
    reasons_[name] = reason;
  }
}

void RunSettings::keep(std::string_view name, const std::string& reason) {
  settled_.emplace(name);
  reasons_[std::string(name)] = reason;
}

void RunSettings::recall(const SettingsRecord& remembered) {
  for (const Field& field : fields_) {
    const std::string name(field.info.name);
    const auto value = remembered.values.find(name);
    if (is_of_the_call(name) || !is_open(name) || value == remembered.values.end()) continue;
    assign_text(field, value->second);
    settled_.insert(name);
    reasons_.erase(name);
    if (const auto reason = remembered.reasons.find(name); reason != remembered.reasons.end())
      reasons_[name] = reason->second;
    if (const auto asked = remembered.asked.find(name); asked != remembered.asked.end())
      asked_[name] = asked->second;
  }
}

SettingsRecord RunSettings::record() const {
  return {.values = configuration_of(fields_),
          .asked = {asked_.begin(), asked_.end()},
          .reasons = {reasons_.begin(), reasons_.end()}};
}

}  // namespace dragoman
