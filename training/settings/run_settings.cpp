#include "training/settings/run_settings.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

/// A rate is rounded to 256ths (model/ops/dropout.h).
void check_dropout_step(std::string_view flag, double rate) {
  constexpr double kStep = 1.0 / 256;
  if (rate > 0 && rate < kStep / 2)
    throw UsageError("--", flag, " ", rate,
                     ": rates go in steps of 1/256, and this one is 0; give 0.004 or more, or 0");
}

void check_best_valid(const TrainConfig& train, const DataConfig& data) {
  const std::string& best = train.best_valid;
  if (best.empty()) return;
  if (train.best_metric == BestMetric::Loss)
    throw UsageError("--best-valid: the loss is that of all validation lines; give --best-metric ",
                     "bleu or chrf");
  const std::vector<std::string> names = data.valid_names();
  if (names.size() < 2)
    throw UsageError("--best-valid: needs several validation texts (--valid-src, --valid-tgt, or ",
                     "--valid)");
  const auto fits = [&best](const std::string& name) { return is_named(name, best); };
  const auto fitting = std::ranges::count_if(names, fits);
  if (best == kMeanOfTexts || fitting == 1) return;
  throw UsageError("--best-valid ", best, ": is ",
                   fitting == 0 ? "not one" : "the name of more than one",
                   " of the validation texts: ", joined(names, ", "),
                   fitting == 0 ? "" : "; name it with its folder");
}

void check_patience_of_stages(const TrainConfig& train, const DataConfig& data) {
  const std::string stage = data.stage_with_patience();
  if (train.patience == 0 && !stage.empty())
    throw UsageError("--mix '", replace_invalid_utf8(stage),
                     "': would never end, as --patience is 0; raise --patience, or give a number "
                     "of passes");
}

}  // namespace

const Field& field_named(const std::vector<Field>& fields, std::string_view name) {
  const auto found =
      std::ranges::find(fields, name, [](const Field& field) { return field.info.name; });
  if (found == fields.end()) throw std::logic_error("no setting " + std::string(name));
  return *found;
}

RunSettings RunSettings::from_preset(Preset preset) {
  RunSettings settings;
  settings.train.apply_preset(preset);
  settings.model = ModelConfig::from_preset(preset);
  const bool large = preset == Preset::Base || preset == Preset::Big;
  settings.tokenizer.vocab_size = large ? 32'000 : 8'000;
  return settings;
}

std::vector<Field> RunSettings::fields() { return fields_of(train, data, tokenizer, model); }

void RunSettings::check() const {
  train.check();
  model.check();
  data.check();
  tokenizer.check();
  check_best_valid(train, data);
  check_patience_of_stages(train, data);
  check_dropout_step("dropout", model.dropout);
  check_dropout_step("attention-dropout", model.attention_dropout);
  check_dropout_step("activation-dropout", model.activation_dropout);
  if (!data.keep_valid_source.empty() && train.init_from.empty())
    throw UsageError(
        "--keep-valid-src: its scores are compared with those of the model that the run starts "
        "with; give --init-from too, or name the files in --valid-src");
  if (!data.keep_valid_source.empty() && data.valid_source.empty() && data.valid.empty() &&
      data.valid_fraction == 0)
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

bool RunSettings::asks_value(const std::string& name) const {
  const auto found = asked.find(name);
  return found != asked.end() && found->second != kAuto;
}

bool RunSettings::asks_auto(const std::string& name) const {
  const auto found = asked.find(name);
  return found != asked.end() && found->second == kAuto;
}

bool RunSettings::is_open(const std::string& name) const {
  return !asks_value(name) && !settled.contains(name);
}

void RunSettings::choose(const std::string& name, const std::string& value,
                         const std::string& reason) {
  if (!is_open(name)) return;
  assign_text(field_named(fields(), name), value);
  keep(name, reason);
}

void RunSettings::keep(const std::string& name, const std::string& reason) {
  settled.insert(name);
  reasons[name] = reason;
}

void RunSettings::take_preset(Preset preset) {
  RunSettings of_preset = from_preset(preset);
  const auto own = fields(), other = of_preset.fields();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string name(own[i].info.name), value = other[i].text();
    if (is_of_the_call(name) || !is_open(name) || own[i].text() == value) continue;
    assign_text(own[i], value);
    reasons[name] = join_text("--preset ", name_of(preset));
  }
}

void RunSettings::recall(const StartRecord& remembered) {
  for (const Field& field : fields()) {
    const std::string name(field.info.name);
    const auto value = remembered.values.find(name);
    if (is_of_the_call(name) || !is_open(name) || value == remembered.values.end()) continue;
    assign_text(field, value->second);
    settled.insert(name);
    reasons.erase(name);
    if (const auto reason = remembered.reasons.find(name); reason != remembered.reasons.end())
      reasons[name] = reason->second;
    if (const auto before = remembered.asked.find(name); before != remembered.asked.end())
      asked[name] = before->second;
  }
}

StartRecord RunSettings::record() const {
  RunSettings copy = *this;  // fields() refer to an object that can be changed
  return {.values = configuration_of(copy.fields()), .asked = asked, .reasons = reasons};
}

}  // namespace dragoman
