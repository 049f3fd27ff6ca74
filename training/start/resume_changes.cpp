#include "training/start/resume_changes.h"

#include <filesystem>

#include "base/error.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

/// Whether a setting means the same as before: a model may have several names.
bool is_same(const Field& field, const std::string& before, const std::string& now) {
  if (before == now) return true;
  if (field.info.name != "init-from" || before.empty() || now.empty()) return false;
  try {
    return std::filesystem::equivalent(resolve_model_path(before), resolve_model_path(now));
  } catch (const std::exception&) {  // one of them is not there
    return false;
  }
}

}  // namespace

ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered) {
  ResumeChanges changes;
  for (const Field& field : fields) {
    const auto before = remembered.find(std::string(field.info.name));
    const std::string now = field.text();
    if (before == remembered.end() || is_same(field, before->second, now)) continue;
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
                         "'; give the same value to go on, or another -o for another run");
    }
  }
  return changes;
}

}  // namespace dragoman
