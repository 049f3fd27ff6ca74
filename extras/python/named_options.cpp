#include "extras/python/named_options.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace dragoman {

namespace {

bool begins_flag(const std::string& text, std::size_t i) {
  const bool at_start = i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]));
  return at_start && text.compare(i, 2, "--") == 0 && i + 2 < text.size() &&
         std::islower(static_cast<unsigned char>(text[i + 2])) != 0;
}

}  // namespace

void assign_options(const std::vector<Field>& fields, const NamedOptions& options) {
  for (const auto& [name, texts] : options) {
    const auto field =
        std::ranges::find_if(fields, [&name](const Field& each) { return each.info.name == name; });
    if (field != fields.end()) {
      field->assign(texts);
      continue;
    }
    std::vector<std::string> names;
    for (const Field& each : fields) names.emplace_back(each.info.name);
    const std::string near = nearest_name(name, names);
    throw UsageError("--", name, ": unknown option",
                     near.empty() ? "" : join_text("; did you mean --", near, "?"));
  }
}

std::string in_python_words(const std::string& message) {
  std::string text;
  for (std::size_t i = 0; i < message.size();) {
    if (!begins_flag(message, i)) {
      text += message[i++];
      continue;
    }
    for (i += 2; i < message.size(); ++i) {
      const char c = message[i];
      if (c == '-')
        text += '_';
      else if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        text += c;
      else
        break;
    }
  }
  return text;
}

}  // namespace dragoman
