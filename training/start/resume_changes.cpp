#include "training/start/resume_changes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

bool is_same_file(const std::string& before, const std::string& now) {
  try {
    return std::filesystem::equivalent(resolve_model_path(before), resolve_model_path(now));
  } catch (const std::exception&) {  // one of them is not there
    return false;
  }
}

bool has_checksum(const std::string& model, const std::string& checksum) {
  try {
    return ModelFileReader(resolve_model_path(model)).checksum() == checksum;
  } catch (const std::exception&) {  // it is not there, or no model
    return false;
  }
}

/// A model may have several names, and may have been moved or copied.
bool is_same_model(const std::string& before, const std::string& now, const std::string& checksum) {
  if (before.empty() || now.empty()) return false;
  return is_same_file(before, now) || has_checksum(now, checksum);
}

}  // namespace

ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered,
                                    const std::string& initial_checksum) {
  ResumeChanges changes;
  for (const Field& field : fields) {
    const auto before = remembered.find(std::string(field.info.name));
    const std::string now = field.text();
    if (before == remembered.end() || before->second == now) continue;
    if (field.info.name == "init-from" && is_same_model(before->second, now, initial_checksum))
      continue;
    const std::string change = join_text("--", field.info.name, " ", before->second, " -> ", now);
    switch (field.info.on_resume) {
      case OnResume::Allowed:
        changes.allowed.push_back(change);
        break;
      case OnResume::NotExact:
        changes.not_exact.push_back(change);
        break;
      case OnResume::Refused:
        throw UsageError("--", field.info.name, ": this run was started with '", before->second,
                         "', not '", now,
                         "'; give the same value to resume, or another -o for another run");
    }
  }
  return changes;
}

namespace {

constexpr std::array<std::string_view, 8> kTextFiles = {
    "train-src",      "train-tgt",      "valid-src",        "valid-tgt",
    "keep-valid-src", "keep-valid-tgt", "guided-alignment", "train-terms"};

bool names_text(const Field& field) {
  return std::find(kTextFiles.begin(), kTextFiles.end(), field.info.name) != kTextFiles.end();
}

}  // namespace

std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const StartRecord& start_before) {
  std::map<std::string, std::string> expected;
  for (const Field& field : fields) {
    const auto text = start_before.settings.values.find(std::string(field.info.name));
    if (!names_text(field) || text == start_before.settings.values.end()) continue;
    auto before = texts_of(field, text->second), now = field.values();
    for (auto* files : {&before, &now}) std::erase(*files, "");  // no file
    if (before.size() != now.size())
      throw UsageError("--", field.info.name, ": this run was started with '", text->second,
                       "', not '", field.text(),
                       "'; give the same text to resume, or another -o for another run");
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

}  // namespace dragoman
