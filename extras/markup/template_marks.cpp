#include "extras/markup/template_marks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

/// The signs around a mark.
struct MarkSigns {
  std::string_view begin, end;
  /// With one of these it is not a mark: "{{" may be text, and its end stand elsewhere in the page.
  std::array<std::string_view, 2> never_inside = {};
};

/// If several of these begin a text, the first in this list counts.
constexpr std::array<MarkSigns, 8> kSigns = {{{"{{!--", "--}}"},
                                              {"{{{", "}}}", {"</", "-->"}},
                                              {"{{", "}}", {"</", "-->"}},
                                              {"{%", "%}", {"</", "-->"}},
                                              {"{#", "#}", {"</", "-->"}},
                                              {"<%", "%>"},
                                              {"<?php", "?>"},
                                              {"<?=", "?>"}}};

/// The first word of a mark after its opening sign.
std::string_view word_of(std::string_view inside) {
  inside.remove_prefix(std::min(inside.find_first_not_of(" \t\r\n-+~#^/"), inside.size()));
  return inside.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(inside, is_of_name) - inside.begin()));
}

/// A token without its place.
MarkupToken mark_token(const MarkSigns& signs, std::string_view inside) {
  constexpr std::string_view kEnd = "end";
  const std::string_view word = word_of(inside);
  const char first = inside.empty() ? ' ' : inside.front();
  const auto token = [&](Kind kind, std::string_view name) {
    return MarkupToken{.kind = kind, .source = {}, .name = std::string(signs.begin).append(name)};
  };
  if (signs.begin == "{{") {
    if (first == '/') return token(Kind::Closes, word);
    if (first == '#' || first == '^' || word == "else") return token(Kind::Opens, word);
  }
  if (signs.begin == "{%")
    return word.starts_with(kEnd) && word != kEnd ? token(Kind::Closes, word.substr(kEnd.size()))
                                                  : token(Kind::Opens, word);
  if (signs.begin == "<?php") return token(Kind::Opens, "");
  if (signs.begin == "<%" && std::string_view("=-#").find(first) == std::string_view::npos)
    return token(Kind::Opens, "");
  return {.kind = Kind::Single, .source = {}};
}

/// Finds the marks of a text. Each byte is looked at a few times at most, however many marks begin.
class MarkFinder {
 public:
  explicit MarkFinder(std::string_view text) : text_(text) {}

  std::vector<MarkupToken> marks() {
    std::vector<MarkupToken> marks;
    std::size_t place = 0;
    while ((place = text_.find_first_of("{<", place)) != std::string_view::npos) {
      const ByteRange source = mark_at(place);
      if (source.empty()) {
        ++place;
        continue;
      }
      const MarkSigns& signs = kSigns[kind_at(place)];
      const ByteRange inside{place + signs.begin.size(), source.end - signs.end.size()};
      marks.push_back(mark_token(signs, inside.of(text_)));
      marks.back().source = source;
      place = source.end;
    }
    return marks;
  }

 private:
  /// A number of kSigns; their count if none begins there.
  std::size_t kind_at(std::size_t place) const {
    const std::string_view rest = text_.substr(place);
    const auto begins = [&](const MarkSigns& signs) { return rest.starts_with(signs.begin); };
    return static_cast<std::size_t>(std::ranges::find_if(kSigns, begins) - kSigns.begin());
  }

  /// Empty if there is none.
  ByteRange mark_at(std::size_t place) {
    const std::size_t kind = kind_at(place);
    if (kind == kSigns.size()) return {};
    const MarkSigns& signs = kSigns[kind];
    const std::size_t inside = place + signs.begin.size();
    std::size_t& end = ends_[kind];  // npos: there is none from here on
    if (end < inside) end = text_.find(signs.end, inside);
    if (end == std::string_view::npos) return {};
    const std::string_view content = text_.substr(inside, end - inside);
    if (content.find(signs.begin) != std::string_view::npos) return {};  // the next one is meant
    for (const std::string_view never : signs.never_inside)
      if (!never.empty() && content.find(never) != std::string_view::npos) return {};
    return {place, end + signs.end.size()};
  }

  const std::string_view text_;
  std::array<std::size_t, kSigns.size()> ends_ = {};  // of each kind, the next in the text
};

}  // namespace

std::vector<MarkupToken> template_marks(std::string_view text) { return MarkFinder(text).marks(); }

std::vector<MarkupToken> texts_and_marks(std::string_view text) {
  std::vector<MarkupToken> tokens;
  std::size_t place = 0;
  const auto add_text = [&](std::size_t end) {
    const ByteRange source{place, end};
    if (!source.empty())
      tokens.push_back(
          {.kind = Kind::Text, .source = source, .text = std::string(source.of(text))});
  };
  for (MarkupToken& mark : template_marks(text)) {
    add_text(mark.source.begin);
    place = mark.source.end;
    tokens.push_back(std::move(mark));
  }
  add_text(text.size());
  return tokens;
}

std::string without_marks(std::string text, const std::vector<MarkupToken>& marks) {
  for (const MarkupToken& mark : marks)
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(mark.source.begin),
              text.begin() + static_cast<std::ptrdiff_t>(mark.source.end), 'x');
  return text;
}

bool begins_mark(std::string_view text, std::size_t offset, char after) {
  const char next = offset + 1 < text.size() ? text[offset + 1] : after;
  const std::string_view second_signs = text[offset] == '{'   ? "{%#"
                                        : text[offset] == '<' ? "%?"
                                                              : "";
  return second_signs.find(next) != std::string_view::npos;
}

bool begins_more_marks(std::string_view translation, std::string_view source) {
  const auto count = [](std::string_view text) {
    std::size_t begins = 0;
    for (std::size_t i = 0; i < text.size(); ++i) begins += begins_mark(text, i);
    return begins;
  };
  return count(translation) > count(source);
}

}  // namespace dragoman
