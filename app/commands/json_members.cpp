#include "app/commands/json_members.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace dragoman {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Walks over a line of JSON. Each function skips one part of the grammar. It returns false, at the
/// position of the fault, where that part is not there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t place() const { return place_; }
  bool at_end() const { return place_ == text_.size(); }
  std::string_view since(std::size_t begin) const { return text_.substr(begin, place_ - begin); }

  void skip_space() { place_ = std::min(text_.find_first_not_of(" \t\r\n", place_), text_.size()); }

  bool take(char c) {
    const bool is_there = !at_end() && text_[place_] == c;
    place_ += is_there ? 1 : 0;
    return is_there;
  }

  bool string() {
    if (!take('"')) return false;
    while (!at_end() && text_[place_] != '"') {
      if (static_cast<unsigned char>(text_[place_]) < 0x20) return false;
      const bool is_escape = text_[place_++] == '\\';
      if (is_escape && !escape()) return false;
    }
    return take('"');
  }

  /// A member's key and the colon behind it.
  bool key() {
    skip_space();
    if (!string()) return false;
    skip_space();
    return take(':');
  }

  /// A value. There is no recursion, as values may be nested to any depth.
  bool value() {
    std::string open;  // the closing brackets that are still to come
    do {
      skip_space();
      if (take('{')) {
        skip_space();
        open += '}';
        if (!is_next('}')) {
          if (!key()) return false;
          continue;
        }
      } else if (take('[')) {
        skip_space();
        open += ']';
        if (!is_next(']')) continue;
      } else if (!scalar()) {
        return false;
      }
      if (!close(open)) return false;
    } while (!open.empty());
    return true;
  }

 private:
  bool is_next(char c) const { return !at_end() && text_[place_] == c; }

  /// Called behind a value: skips the brackets that close there, and the comma and the key before
  /// the next value.
  bool close(std::string& open) {
    while (!open.empty()) {
      skip_space();
      if (take(open.back()))
        open.pop_back();
      else
        return take(',') && (open.back() == ']' || key());
    }
    return true;
  }

  bool escape() {
    if (!take('u')) {
      if (at_end() || std::string_view("\"\\/bfnrt").find(text_[place_]) == std::string_view::npos)
        return false;
      ++place_;
      return true;
    }
    for (int digit = 0; digit < 4; ++digit, ++place_)
      if (at_end() || !is_hex(text_[place_])) return false;
    return true;
  }

  bool digits() {
    const std::size_t begin = place_;
    while (!at_end() && is_digit(text_[place_])) ++place_;
    return place_ > begin;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool scalar() {
    if (is_next('"')) return string();
    for (const std::string_view word : {"true", "false", "null"})
      if (text_.substr(place_).starts_with(word)) {
        place_ += word.size();
        return true;
      }
    return number();
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

std::string unescaped(std::string_view string) {
  const auto key = nlohmann::json::parse(string, nullptr, /*allow_exceptions=*/false);
  return key.is_string() ? key.get<std::string>() : std::string(string);
}

/// Members up to the closing bracket; false at a fault.
bool take_members(Scanner& scanner, std::vector<JsonMember>& members) {
  scanner.skip_space();
  if (!scanner.take('{')) return false;
  scanner.skip_space();
  if (scanner.take('}')) return true;
  for (;;) {
    scanner.skip_space();
    const std::size_t begin = scanner.place();
    if (!scanner.string()) return false;
    JsonMember member{.key = unescaped(scanner.since(begin)), .value = {}, .whole = {}};
    scanner.skip_space();
    if (!scanner.take(':')) return false;
    scanner.skip_space();
    const std::size_t value = scanner.place();
    if (!scanner.value()) return false;
    member.value = scanner.since(value);
    member.whole = scanner.since(begin);
    scanner.skip_space();
    const bool is_last = scanner.take('}');
    // A number that is cut off may look like a whole one.
    if (!is_last && !scanner.take(',')) return false;
    members.push_back(std::move(member));
    if (is_last) return true;
  }
}

}  // namespace

JsonMembers members_of(std::string_view line) {
  Scanner scanner(line);
  JsonMembers found;
  const bool is_object = take_members(scanner, found.members);
  if (is_object) scanner.skip_space();
  if (!is_object || !scanner.at_end()) found.fault = scanner.place();
  return found;
}

const JsonMember* find_member(const std::vector<JsonMember>& members, std::string_view key) {
  const JsonMember* last = nullptr;
  for (const JsonMember& member : members)
    if (member.key == key) last = &member;
  return last;
}

}  // namespace dragoman
