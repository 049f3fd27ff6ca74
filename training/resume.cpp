#include "training/resume.h"

namespace dragoman {

std::vector<std::string> texts_of(const Field& field, const std::string& text) {
  if (field.kind != Field::Kind::List) return {text};
  if (text.empty()) return {};
  std::vector<std::string> texts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      texts.emplace_back();
      continue;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    texts.back() += text[i];
  }
  return texts;
}

void assign_text(const Field& field, const std::string& text) {
  field.assign(texts_of(field, text));
}

std::map<std::string, std::string> configuration_of(const std::vector<Field>& fields) {
  std::map<std::string, std::string> texts;
  for (const Field& field : fields) texts[std::string(field.info.name)] = field.text();
  return texts;
}

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
