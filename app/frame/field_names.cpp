#include "app/frame/field_names.h"

#include <algorithm>

namespace dragoman {

std::string with_hyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::vector<std::string> aliases_of(const Field& field) {
  std::vector<std::string> aliases;
  std::string_view rest = field.info.aliases;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view alias = rest.substr(0, comma);
    while (alias.starts_with(' ')) alias.remove_prefix(1);
    if (!alias.empty()) aliases.push_back(with_hyphens(alias));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return aliases;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  const std::string wanted = with_hyphens(name);
  for (const Field& field : fields)
    if (field.info.name == wanted) return &field;
  for (const Field& field : fields) {
    const std::vector<std::string> aliases = aliases_of(field);
    if (std::find(aliases.begin(), aliases.end(), wanted) != aliases.end()) return &field;
  }
  return nullptr;
}

std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<std::string>& names) {
  const std::string wanted = with_hyphens(word);
  std::string near;
  for (const std::string& name : names)
    if (near.empty() && wanted.size() >= 3 && name.starts_with(wanted)) near = name;
  if (near.empty()) near = nearest_name(wanted, names);
  return near.empty() ? "" : join_text("; did you mean ", prefix, near, "?");
}

std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.emplace_back(field.info.name);
  for (const Field& field : fields)
    for (const std::string& alias : aliases_of(field))
      if (alias.size() > 1) names.push_back(alias);
  return suggestion(word, prefix, names);
}

std::vector<FieldGroup> groups_of(const std::vector<Field>& fields) {
  std::vector<FieldGroup> groups;
  for (const Field& field : fields) {
    auto group = std::ranges::find(groups, field.info.group, &FieldGroup::name);
    if (group == groups.end()) group = groups.insert(group, {field.info.group, {}});
    group->fields.push_back(&field);
  }
  return groups;
}

}  // namespace dragoman
