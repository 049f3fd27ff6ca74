#include "base/fields.h"

#include <algorithm>
#include <charconv>

#include "base/formatted_text.h"

namespace dragoman {

namespace {

/// Parses `digits`. The messages name `text`, which the user has written.
template <class T>
T parse_with_from_chars(std::string_view flag, const std::string& digits, const std::string& text,
                        const char* type_name) {
  T value{};
  const bool has_plus = digits.starts_with('+') && !digits.starts_with("+-");
  const char* begin = digits.data() + (has_plus ? 1 : 0);
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (code == std::errc::result_out_of_range && stop == end)
    throw UsageError("--", flag, ": ", text, " is out of range");
  if (code != std::errc{} || stop != end || begin == end)
    throw UsageError("--", flag, ": '", text, "' is not ", type_name);
  return value;
}

/// Whether each "_" of a number stands between two digits.
bool separates_digits(std::string_view text) {
  const auto is_digit = [text](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = text.find('_'); i != std::string_view::npos; i = text.find('_', i + 1))
    if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) return false;
  return true;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string Field::text() const {
  return kind == Kind::List ? text_of(values()) : values().front();
}

std::string text_of(bool value) { return value ? "true" : "false"; }

std::string text_of(std::int64_t value) { return std::to_string(value); }

std::string text_of(double value) {
  char buffer[64];
  const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

std::string text_of(const std::vector<std::string>& list) {
  return joined(list, ",", [](const std::string& item) {
    std::string text;
    for (const char c : item) {
      if (c == ',' || c == '\\') text += '\\';
      text += c;
    }
    return text;
  });
}

bool parse_flag(std::string_view flag, const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  throw UsageError("--", flag, ": '", text, "' is neither true nor false");
}

std::int64_t parse_integer(std::string_view flag, const std::string& text) {
  std::string digits = text;
  if (separates_digits(text)) std::erase(digits, '_');
  std::int64_t unit = 1;
  if (!digits.empty() && (digits.back() == 'k' || digits.back() == 'K')) unit = 1'000;
  if (!digits.empty() && digits.back() == 'M') unit = 1'000'000;
  if (unit != 1) digits.pop_back();
  const auto value = parse_with_from_chars<std::int64_t>(flag, digits, text, "a whole number");
  std::int64_t scaled;
  if (__builtin_mul_overflow(value, unit, &scaled))
    throw UsageError("--", flag, ": '", text, "' is too large");
  return scaled;
}

double parse_number(std::string_view flag, const std::string& text) {
  const auto value = parse_with_from_chars<double>(flag, text, text, "a number");
  if (value - value != 0) throw UsageError("--", flag, ": '", text, "' is not a finite number");
  return value;
}

std::size_t parse_choice(std::string_view flag, const std::vector<std::string_view>& choices,
                         const std::string& text) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const std::string near = nearest_name(text, {choices.begin(), choices.end()});
  throw UsageError("--", flag, ": '", text, "' is none of ", joined(choices, ", "),
                   near.empty() ? "" : join_text("; did you mean ", near, "?"));
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // A name at the distance of the word's length need not share a letter with it.
  std::size_t best_distance = std::min(std::max<std::size_t>(2, word.size() / 3) + 1, word.size());
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

namespace detail {

const std::string& single(std::string_view flag, const std::vector<std::string>& texts) {
  if (texts.size() != 1) throw UsageError("--", flag, ": expected one value, got ", texts.size());
  return texts.front();
}

}  // namespace detail

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

}  // namespace dragoman
