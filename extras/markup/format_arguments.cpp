#include "extras/markup/format_arguments.h"

#include <algorithm>

namespace dragoman {

bool takes_next_argument(std::string_view placeholder) {
  if (placeholder.starts_with('{'))
    return placeholder.starts_with("{}") || placeholder.starts_with("{:");
  if (!placeholder.starts_with('%') || placeholder.starts_with("%%")) return false;
  if (placeholder.starts_with("%<")) return placeholder.ends_with('>');  // %<PRIu64>; %<name>s
  const std::size_t end = placeholder.find_first_not_of("0123456789", 1);
  return end < placeholder.size() && placeholder[end] != '$' && placeholder[1] != '(' &&
         placeholder[1] != '{';
}

bool may_have_number(std::string_view placeholder) {
  return placeholder.starts_with('%') && placeholder.find_first_of("*<") == std::string_view::npos;
}

std::string numbered_placeholder(std::string_view placeholder, std::size_t argument) {
  return placeholder.front() + std::to_string(argument) + '$' + std::string(placeholder.substr(1));
}

bool are_numbered(const Passage& passage, std::vector<PlacedTag>& tags) {
  std::vector<PlacedTag*> places;
  std::vector<std::size_t> in_order;  // tags
  bool all_take_numbers = true;
  for (PlacedTag& placed : tags) {
    const InlineTag& tag = passage.tags[placed.tag];
    if (tag.argument == 0) continue;
    places.push_back(&placed);
    in_order.push_back(placed.tag);
    all_take_numbers = all_take_numbers && tag.takes_number;
  }
  if (std::ranges::is_sorted(in_order)) return false;
  if (all_take_numbers) return true;
  std::ranges::sort(in_order);
  for (std::size_t i = 0; i < places.size(); ++i) places[i]->tag = in_order[i];
  return false;
}

}  // namespace dragoman
