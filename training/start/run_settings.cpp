#include "training/start/run_settings.h"

#include <algorithm>
#include <stdexcept>

namespace dragoman {

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
