// Tests of messages ask for what a message must name, so a better sentence breaks no test.
#pragma once

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Matches a text with a line that holds all the names, in any order: flags, files, lines, values,
/// remedies. "--preset ... 'huge' ... tiny" has three of them. A name stands whole: "--max-token"
/// is not in "--max-tokens", nor "2" in "29".
class Names {
 public:
  using is_gtest_matcher = void;

  explicit Names(const std::string& names) {
    constexpr std::string_view kBetween = " ... ";
    std::size_t begin = 0;
    for (std::size_t end; (end = names.find(kBetween, begin)) != std::string::npos;
         begin = end + kBetween.size())
      names_.push_back(names.substr(begin, end - begin));
    names_.push_back(names.substr(begin));
  }

  bool MatchAndExplain(std::string_view text, std::ostream* /*explanation*/) const {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const auto line = text.substr(begin, end - begin);
      if (std::ranges::all_of(names_, [&](const auto& name) { return stands_in(line, name); }))
        return true;
      begin = end + 1;
    }
    return false;
  }

  void DescribeTo(std::ostream* out) const {
    *out << "has a line that names";
    for (const std::string& name : names_) *out << "  " << name;
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "has no line that names";
    for (const std::string& name : names_) *out << "  " << name;
  }

 private:
  static bool stands_in(std::string_view line, std::string_view name) {
    const auto within_word = [&](std::size_t left) {  // one word has both sides of this place
      const auto of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
      };
      return left + 1 < line.size() && of_word(line[left]) && of_word(line[left + 1]);
    };
    for (std::size_t at = line.find(name); at != std::string_view::npos;
         at = line.find(name, at + 1))
      if ((at == 0 || !within_word(at - 1)) && !within_word(at + name.size() - 1)) return true;
    return false;
  }

  std::vector<std::string> names_;
};

/// The message of the `Failure` that a call throws; "" if it throws none.
template <class Failure, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace dragoman
