#include "extras/markup/html_charset.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "extras/markup/html_tree.h"

namespace dragoman {

namespace {

constexpr std::string_view kCharsetBlanks = " \t\n\r\f", kCharsetNameEnds = " \t\n\r\f;\"'";

bool is_same(std::string_view text, std::string_view lower) { return ascii_lower(text) == lower; }

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kCharsetBlanks), text.size()));
}

/// As it is written in the page, without quotes; empty: the element does not have the attribute.
std::string_view written_value(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  if (!found) return {};
  std::string_view value(found->original_value.data, found->original_value.length);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\''))
    value = value.substr(1, value.size() - 2);
  return value;
}

/// "latin1" in "text/html; charset=latin1".
std::string_view name_in_content(std::string_view content) {
  constexpr std::string_view kKey = "charset";
  const std::size_t key = ascii_lower(content).find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view rest = without_blanks_before(content.substr(key + kKey.size()));
  if (!rest.starts_with('=')) return {};
  const std::string_view name = without_blanks_before(rest.substr(1));
  return name.substr(0, name.find_first_of(kCharsetNameEnds));
}

/// The name of an encoding other than UTF-8, as it is written in the page; empty: there is none.
std::string_view other_encoding(const GumboElement& meta) {
  std::string_view name = written_value(meta, "charset");
  if (name.empty() && is_same(written_value(meta, "http-equiv"), "content-type"))
    name = name_in_content(written_value(meta, "content"));
  return is_same(name, "utf-8") || is_same(name, "utf8") ? std::string_view() : name;
}

}  // namespace

std::string with_utf8_declared(std::string html) {
  // Most fragments need no tree for this.
  if (ascii_lower(html).find("<meta") == std::string::npos) return html;
  const HtmlTree tree(html);
  std::vector<std::string_view> names;
  for (const GumboNode* node : tree.nodes())
    if (node->type == GUMBO_NODE_ELEMENT && node->v.element.tag == GUMBO_TAG_META)
      names.push_back(other_encoding(node->v.element));
  std::ranges::sort(names, {}, [](std::string_view name) { return name.data(); });
  std::string declared;
  std::size_t place = 0;
  for (const std::string_view name : names) {
    if (name.empty()) continue;
    const auto begin = static_cast<std::size_t>(name.data() - html.data());
    declared.append(html, place, begin - place).append("utf-8");
    place = begin + name.size();
  }
  return declared.append(html, place);
}

}  // namespace dragoman
