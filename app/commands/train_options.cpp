#include "app/commands/train_options.h"

#include <algorithm>
#include <exception>
#include <iomanip>
#include <set>
#include <sstream>
#include <utility>

#include "app/frame/config_file.h"
#include "model/file/model_file.h"
#include "training/settings/automatic_settings.h"

namespace dragoman {

namespace {

/// Whether "auto" may leave the field open: it is a number, or a choice without a value "auto".
bool can_be_left_open(const Field& field) {
  const auto& choices = field.choices;
  return field.kind == Field::Kind::Integer || field.kind == Field::Kind::Number ||
         (field.kind == Field::Kind::Choice &&
          std::find(choices.begin(), choices.end(), kAuto) == choices.end());
}

/// Makes a field take "auto" beside its values: it then keeps the value that it has.
void accept_auto(Field& field) {
  field.assign = [assign = field.assign](const std::vector<std::string>& texts) {
    if (texts != std::vector<std::string>{kAuto}) assign(texts);
  };
}

/// Throws UsageError if there is no such preset.
Preset parse_preset(const std::string& name) {
  const auto names = names_of(Preset{});
  std::vector<std::string_view> choices(names.begin(), names.end());
  choices.push_back(kAuto);  // for the message
  const std::size_t chosen = parse_choice("preset", choices, name);
  if (chosen == names.size()) throw UsageError("--preset: a size is needed here, not auto");
  return static_cast<Preset>(chosen);
}

/// The preset if none is given: base. With --init-from (a run folder or a model file; "" without
/// the flag), the preset of the run that made the model; for an imported model, the preset that is
/// about as wide. A file that cannot be read counts as base; the error comes when its weights are
/// read.
Preset inherited_preset(const std::string& init_from) {
  if (init_from.empty()) return Preset::Base;
  try {
    const ModelFileReader model(resolve_model_path(init_from));
    const auto configuration = parse_config(model.provenance().configuration, init_from);
    if (const auto preset = configuration.find("preset"); preset != configuration.end())
      return parse_preset(preset->second);
    for (const Preset preset : {Preset::Tiny, Preset::Small})
      if (model.config().d_model <= ModelConfig::from_preset(preset).d_model) return preset;
    return Preset::Base;
  } catch (const std::exception&) {
    return Preset::Base;
  }
}

}  // namespace

std::vector<Field> TrainOptions::fields() {
  std::vector<Field> all = settings.fields();
  for (Field& field : all)
    if (can_be_left_open(field)) accept_auto(field);
  for (Field& field : fields_of(mode)) all.push_back(std::move(field));
  return all;
}

void TrainOptions::apply_preset(const GivenValues& given) {
  const auto given_text = [&given](const char* name) {
    const auto found = given.find(name);
    return found == given.end() || found->second.back() == kAuto ? std::string()
                                                                 : found->second.back();
  };
  const std::string name = given_text("preset");
  settings = RunSettings::from_preset(name.empty() ? inherited_preset(given_text("init-from"))
                                                   : parse_preset(name));
}

std::string presets_table() {
  std::vector<RunSettings> presets;
  for (std::size_t i = 0; i < names_of(Preset{}).size(); ++i)
    presets.push_back(RunSettings::from_preset(static_cast<Preset>(i)));
  std::vector<std::vector<Field>> fields;  // [preset][field]
  for (RunSettings& preset : presets) fields.push_back(preset.fields());
  std::ostringstream table;
  for (std::size_t i = 0; i < fields.front().size(); ++i) {
    const auto differs = [&](const std::vector<Field>& of_preset) {
      return of_preset[i].text() != fields.front()[i].text();
    };
    if (std::ranges::none_of(fields, differs)) continue;
    table << std::left << std::setw(24) << fields.front()[i].info.name << std::right;
    for (const std::vector<Field>& of_preset : fields)
      table << std::setw(14) << of_preset[i].text();
    table << '\n';
  }
  return table.str();
}

RunSettings TrainOptions::asked() const {
  RunSettings request = settings;
  for (const Field& field : request.fields()) {
    const std::string name(field.info.name);
    if (is_of_the_call(name)) continue;
    if (const auto given = invocation.given.find(name); given != invocation.given.end()) {
      const bool is_auto = given->second == std::vector<std::string>{kAuto};
      request.asked[name] = is_auto ? kAuto : field.text();
    } else if (invocation.origins.at(name) == Origin::Preset) {
      request.reasons[name] = join_text("--preset ", name_of(request.train.preset));
    }
  }
  return request;
}

namespace {

/// Names of the fields that a start may give a value: those of the preset, the text and the length.
std::vector<std::string> automatic_fields() {
  std::set<std::string> names = {"max-updates"};
  const auto values_of = [](Preset preset) {
    return RunSettings::from_preset(preset).record().values;
  };
  const auto base = values_of(Preset::Base);
  for (const Preset preset : {Preset::Tiny, Preset::Small}) {
    for (const auto& [name, value] : values_of(preset))
      if (base.at(name) != value) names.insert(name);
    for (const auto& [name, value] : text_settings(preset, {})) names.insert(name);
  }
  for (const auto& [name, value] : length_settings({.updates = 1})) names.insert(name);
  return {names.begin(), names.end()};
}

}  // namespace

Command train_command(const std::shared_ptr<TrainOptions>& options, std::function<int()> run) {
  options->apply_preset({});
  return {.name = "train",
          .summary = "train a model on parallel text; the same command resumes a run that stopped",
          .fields = options->fields(),
          .short_flags = {{"o", "output"}},
          .prepare = [options](const auto& given) { options->apply_preset(given); },
          .run =
              [options, run = std::move(run)](const Invocation& call) {
                options->invocation = call;
                return run();
              },
          .needs_training = true,
          .automatic = automatic_fields(),
          .examples = {"train --train-src a.en --train-tgt a.de -o run/",
                       "train -o run/ --max-updates 200000",
                       "train --train-src a.en --train-tgt a.de -o run/ --plan"}};
}

namespace {

constexpr const char* kHeading =
    "# The settings that this run was asked for. `dragoman train --config FILE -o another/` asks\n"
    "# for the same again. The other settings of this run stand in comments, with reasons for\n"
    "# those that the run chose.\n\n";

/// "lr = 0.004", "# patience = 10", "max-tokens = "auto"  # 2048: measured here".
std::string line_of(const Field& field, const RunSettings& settings) {
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

std::string config_toml(RunSettings settings) {
  return kHeading + grouped_lines(settings.fields(),
                                  [&](const Field& field) { return line_of(field, settings); });
}

bool is_config_of_a_run(std::string_view text) {
  const std::string_view heading = kHeading;
  return text.starts_with(heading.substr(0, heading.find('.')));
}

}  // namespace dragoman
