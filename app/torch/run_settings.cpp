#include "app/torch/run_settings.h"

#include <stdexcept>

#include "app/frame/config_file.h"
#include "app/frame/field_names.h"
#include "training/resume.h"

namespace dragoman {

namespace {

/// Whether a field belongs to the call and not to the run, as a run folder may be moved or copied.
bool is_of_the_call(std::string_view name) { return name == "output"; }

constexpr const char* kHeading =
    "# The settings that this run was asked for. `dragoman train --config FILE -o another/` asks\n"
    "# for the same again. The other settings of this run stand in comments, with the reason "
    "where\n"
    "# the run chose them.\n\n";

}  // namespace

void accept_auto(Field& field) {
  field.assign = [assign = field.assign](const std::vector<std::string>& texts) {
    if (texts != std::vector<std::string>{kAuto}) assign(texts);
  };
}

RunSettings::RunSettings(std::vector<Field> fields, const Invocation& invocation)
    : fields_(std::move(fields)) {
  for (const Field& field : fields_) {
    const std::string name(field.info.name);
    if (is_of_the_call(name)) continue;
    if (const auto given = invocation.given.find(name); given != invocation.given.end()) {
      const bool is_auto = given->second == std::vector<std::string>{kAuto};
      asked_[name] = is_auto ? kAuto : field.text();
    } else if (invocation.origins.at(name) == Origin::Preset) {
      reasons_[name] = "--preset " + this->field("preset").text();
    }
  }
}

const Field& RunSettings::field(std::string_view name) const {
  const Field* found = find_field(fields_, name);
  if (found == nullptr) throw std::logic_error("no setting " + std::string(name));
  return *found;
}

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
  assign_text(field(name), value);
  explain(name, reason);
}

void RunSettings::take_defaults(const std::vector<Field>& defaults, const std::string& reason) {
  for (const Field& other : defaults) {
    const std::string name(other.info.name), value = other.text();
    if (is_of_the_call(name) || !is_open(name) || field(name).text() == value) continue;
    assign_text(field(name), value);
    reasons_[name] = reason;
  }
}

void RunSettings::explain(std::string_view name, const std::string& reason) {
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

/// "lr = 0.004", "# patience = 10", "max-tokens = "auto"  # 2048: measured here".
std::string RunSettings::line_of(const Field& field) const {
  const std::string name(field.info.name), value = toml_value(field.kind, field.values());
  const auto asked = asked_.find(name);
  const auto reason = reasons_.find(name);
  const std::string why = reason == reasons_.end() ? "" : reason->second;
  if (asked == asked_.end())
    return join_text("# ", name, " = ", value, why.empty() ? "" : "  # " + why, "\n");
  if (asked->second == field.text()) return join_text(name, " = ", value, "\n");
  const std::string wish = asked->second == kAuto
                               ? toml_value(Field::Kind::Text, {kAuto})
                               : toml_value(field.kind, texts_of(field, asked->second));
  return join_text(name, " = ", wish, "  # ", value, why.empty() ? "" : ": " + why, "\n");
}

std::string RunSettings::to_toml() const {
  return kHeading + grouped(fields_, [this](const Field& field) { return line_of(field); });
}

}  // namespace dragoman
