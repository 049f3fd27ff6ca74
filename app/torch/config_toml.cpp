#include "app/torch/config_toml.h"

#include "app/frame/config_file.h"
#include "training/start/run_settings.h"

namespace dragoman {

namespace {

constexpr const char* kHeading =
    "# The settings that this run was asked for. `dragoman train --config FILE -o another/` asks\n"
    "# for the same again. The other settings of this run stand in comments, with the reason "
    "where\n"
    "# the run chose them.\n\n";

/// "lr = 0.004", "# patience = 10", "max-tokens = "auto"  # 2048: measured here".
std::string line_of(const Field& field, const SettingsRecord& settings) {
  const std::string name(field.info.name), value = toml_value(field.kind, field.values());
  const auto asked = settings.asked.find(name);
  const auto reason = settings.reasons.find(name);
  const std::string why = reason == settings.reasons.end() ? "" : reason->second;
  if (asked == settings.asked.end())
    return join_text("# ", name, " = ", value, why.empty() ? "" : "  # " + why, "\n");
  if (asked->second == field.text()) return join_text(name, " = ", value, "\n");
  const std::string wish = asked->second == kAuto
                               ? toml_value(Field::Kind::Text, {kAuto})
                               : toml_value(field.kind, texts_of(field, asked->second));
  return join_text(name, " = ", wish, "  # ", value, why.empty() ? "" : ": " + why, "\n");
}

}  // namespace

std::string config_toml(RunConfig config, const SettingsRecord& settings) {
  return kHeading + grouped_lines(config.fields(),
                                  [&](const Field& field) { return line_of(field, settings); });
}

bool is_config_of_a_run(std::string_view text) {
  const std::string_view heading = kHeading;
  return text.starts_with(heading.substr(0, heading.find('.')));
}

}  // namespace dragoman
