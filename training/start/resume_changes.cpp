#include "training/start/resume_changes.h"

namespace dragoman {

ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered) {
  ResumeChanges changes;
  for (const Field& field : fields) {
    const auto before = remembered.find(std::string(field.info.name));
    const std::string now = field.text();
    if (before == remembered.end() || before->second == now) continue;
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
