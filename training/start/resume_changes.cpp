#include "training/start/resume_changes.h"

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/formatted_text.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

constexpr const char* kNotExact = "the run continues, but not bit-identically";

}  // namespace

void recall(RunSettings& settings, const StartRecord& remembered) {
  StartRecord recalled = remembered;
  const auto asked = remembered.asked.find("max-updates");
  const bool was_chosen = asked == remembered.asked.end() || asked->second == kAuto;
  if (was_chosen && (settings.asks_value("max-epochs") || settings.asks_value("max-time")))
    recalled.values.erase("max-updates");
  settings.recall(recalled);
}

void require_same_schedule(const RunSettings& settings) {
  const TrainConfig& config = settings.train;
  if (!config.has_lr_end() || config.lr_end == 0 || settings.asks_value("lr-end")) return;
  if (config.max_updates > 0 && config.max_updates <= config.lr_end) return;
  throw UsageError("--max-updates: this run's learning rate ends at update ", config.lr_end,
                   "; to continue after it with --min-lr, give --lr-end ", config.lr_end,
                   ", or another -o for another run");
}

// ---- fields -------------------------------------------------------------------------------------

namespace {

bool is_same_file(const std::string& before, const std::string& now) {
  try {
    return std::filesystem::equivalent(resolve_model_path(before), resolve_model_path(now));
  } catch (const std::exception&) {  // one of them does not exist
    return false;
  }
}

bool is_same_folder(const std::string& before, const std::string& now) {
  std::error_code none;  // one of them does not exist
  return std::filesystem::equivalent(before, now, none);
}

bool has_checksum(const std::string& model, const std::string& checksum) {
  try {
    return ModelFileReader(resolve_model_path(model)).checksum() == checksum;
  } catch (const std::exception&) {  // it does not exist, or is not a model
    return false;
  }
}

/// A model may have several names, and may have been moved or copied.
bool is_same_model(const std::string& before, const std::string& now, const std::string& checksum) {
  if (before.empty() || now.empty()) return false;
  return is_same_file(before, now) || has_checksum(now, checksum);
}

/// "with 2 1", "without it"; values of a list as one types them.
std::string with_value(const Field& field, const std::string& text) {
  if (text.empty()) return "without it";
  return "with " + joined(texts_of(field, text), " ", [](const std::string& value) {
           const bool is_plain = !value.empty() && value.find_first_of(" <>|'") == value.npos;
           return is_plain ? value : "'" + value + "'";
         });
}

}  // namespace

std::vector<Remark> changed_fields(const std::vector<Field>& fields,
                                   const std::map<std::string, std::string>& remembered,
                                   const std::string& initial_checksum) {
  std::vector<Remark> changes;
  for (const Field& field : fields) {
    const auto before = remembered.find(std::string(field.info.name));
    const std::string now = field.text();
    if (before == remembered.end() || before->second == now) continue;
    if (field.info.name == "init-from" && is_same_model(before->second, now, initial_checksum))
      continue;
    if (field.info.name == "output" && is_same_folder(before->second, now)) continue;
    const std::string change =
        join_text("changed: --", field.info.name, " ", before->second, " -> ", now);
    switch (field.info.on_resume) {
      case OnResume::Allowed:
        changes.push_back({Remark::Kind::Info, change});
        break;
      case OnResume::NotExact:
        changes.push_back({Remark::Kind::Warning, join_text(change, "; ", kNotExact)});
        break;
      case OnResume::Refused:
        throw UsageError("--", field.info.name, ": this run was started ",
                         with_value(field, before->second), ", not ", with_value(field, now),
                         "; give the same value to resume, or another -o for another run");
    }
  }
  return changes;
}

// ---- text, length and machine -------------------------------------------------------------------

namespace {

/// Whether a field names text files. These may lie elsewhere now; their content must be the same.
bool names_texts(std::string_view field) {
  return is_among(field, {"train-src", "train-tgt", "valid-src", "valid-tgt", "keep-valid-src",
                          "keep-valid-tgt", "guided-alignment", "train-terms"});
}

/// The hash that each text file must have, by the path that is given now: the hash of the file that
/// the run was started with under the same flag. prepare_data() compares the hashes. Throws
/// UsageError if the run had more or fewer files.
std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const StartRecord& start_before) {
  std::map<std::string, std::string> expected;
  for (const Field& field : fields) {
    const auto text = start_before.values.find(std::string(field.info.name));
    if (!names_texts(field.info.name) || text == start_before.values.end()) continue;
    auto before = texts_of(field, text->second), now = field.values();
    for (auto* files : {&before, &now}) std::erase(*files, "");  // no file
    if (before.size() != now.size())
      throw UsageError("--", field.info.name, ": this run was started ",
                       with_value(field, text->second), ", not ", with_value(field, field.text()),
                       "; give the same text to resume, or another -o for another run");
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto hash = start_before.file_hashes.find(before[i]);
      if (hash == start_before.file_hashes.end()) continue;
      const auto [known, added] = expected.emplace(now[i], hash->second);
      if (!added && known->second != hash->second)
        throw UsageError("--", field.info.name, ": ", now[i], " is another text of this run, not ",
                         before[i],
                         "; give the same text to resume, or another -o for another run");
    }
  }
  return expected;
}

/// Throws UsageError if a new --max-updates is less than the updates that were made.
void require_later_end(const TrainConfig& config, const ProgressRecord& begun) {
  const auto before = begun.start.values.find("max-updates");
  const bool is_new =
      before == begun.start.values.end() || before->second != text_of(config.max_updates);
  if (is_new && config.max_updates > 0 && config.max_updates < begun.update)
    throw UsageError("--max-updates: ", config.max_updates, " is less than the ",
                     counted(begun.update, "update"),
                     " that this run has made; give more, or leave the flag out");
}

void warn_of_other_machine(SettledRun& run, const MachineFacts& machine_before,
                           const MachineFacts& machine) {
  const auto compare = [&run](const std::string& fact, const std::string& before,
                              const std::string& now) {
    if (before != now) run.warn(join_text(fact, " ", before, " -> ", now, ": ", kNotExact));
  };
  compare("ranks", std::to_string(machine_before.ranks), std::to_string(machine.ranks));
  compare("precision", machine_before.precision, machine.precision);
  compare("threads", machine_before.threads, machine.threads);
  compare("processor", machine_before.processor, machine.processor);
}

}  // namespace

void compare_with_begun(SettledRun& run, const StartFacts& known) {
  const ProgressRecord& begun = *known.begun;
  const auto fields = run.settings.fields();
  const std::vector<Remark> changes =
      changed_fields(fields, begun.start.values, known.initial_checksum);
  run.expected_hashes = expected_hashes(fields, begun.start);
  require_later_end(run.settings.train, begun);
  if (begun.update > 0 && begun.keep_value < 0 && !run.settings.data.keep_valid_source.empty())
    throw UsageError(
        "--keep-valid-src: this run was started without it, so nothing is known to compare with; "
        "leave it out, or give another -o for another run");
  if (!known.machine) return;
  run.remarks.insert(run.remarks.end(), changes.begin(), changes.end());
  warn_of_other_machine(run, begun.start.machine, *known.machine);
}

}  // namespace dragoman
