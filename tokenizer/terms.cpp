#include "tokenizer/terms.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

char32_t lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return code_points(lower_case(to_utf8({&c, 1}))).front();
}

std::u32string lower(std::u32string_view text) {
  std::u32string result;
  for (const char32_t c : text) result += lower(c);
  return result;
}

/// Whether a term may begin or end between two characters.
bool is_boundary(std::u32string_view text, std::size_t at) {
  return at == 0 || at == text.size() || !is_word_character(text[at - 1]) ||
         !is_word_character(text[at]);
}

/// The end of the word that reaches up to `end` or beyond.
std::size_t word_end(std::u32string_view text, std::size_t end) {
  while (!is_boundary(text, end)) ++end;
  return end;
}

std::u32string with_equal_spaces(std::string_view text) {
  std::u32string characters = code_points(text);
  std::ranges::replace_if(characters, is_space, U' ');
  return characters;
}

/// The number of times that a translation has a text as whole words, which may have an ending of up
/// to `most` characters.
std::int64_t count_of(std::u32string_view translation, std::u32string_view text, std::size_t most) {
  std::int64_t count = 0;
  for (std::size_t at = translation.find(text); at != translation.npos;
       at = translation.find(text, at + text.size())) {
    const std::size_t end = at + text.size();
    if (is_boundary(translation, at) && word_end(translation, end) <= end + most) ++count;
  }
  return count;
}

/// The translation with its first letter in the case of the text's, if only the case differs.
std::u32string uncapitalised(std::u32string translation, std::u32string_view text) {
  if (!text.empty() && !translation.empty() && lower(translation.front()) == text.front())
    translation.front() = text.front();
  return translation;
}

std::int64_t count_of(std::string_view translation, const RequiredText& required) {
  if (!required.inflects) return count_of(code_points(translation), code_points(required.text), 0);
  constexpr std::size_t kLongestEnding = 3;
  const std::u32string text = with_equal_spaces(required.text);
  return count_of(uncapitalised(with_equal_spaces(translation), text), text,
                  std::min(text.size(), kLongestEnding + 1) - 1);
}

}  // namespace

Terms::Terms(const std::filesystem::path& file) {
  const std::vector<std::string> lines = read_lines(file.string());
  std::map<std::string, std::pair<std::size_t, std::string>, std::less<>> known;  // line, target
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (strip(line).empty() || line.starts_with('#')) continue;
    if (line.starts_with("\\#")) line.remove_prefix(1);
    const std::size_t tab = line.find('\t');
    const std::string_view source = strip(line.substr(0, tab));
    const std::string_view target = tab == line.npos ? "" : strip(line.substr(tab + 1));
    if (source.empty() || target.empty() || target.find('\t') != target.npos)
      throw Error(file.string(), ":", i + 1, ": must be a source term, a tab and a target term");
    if (line.find('\0') != line.npos) throw Error(file.string(), ":", i + 1, ": has a NUL");
    const auto [first, is_new] = known.try_emplace(std::string(source), i + 1, std::string(target));
    if (!is_new && first->second.second != target)
      throw Error(file.string(), ":", i + 1, ": '", one_line(std::string(source)),
                  "' has another target term in line ", first->second.first, "; keep one of them");
    add(source, target);
  }
}

Terms::Terms(const std::vector<std::pair<std::string, std::string>>& terms) {
  std::map<std::string_view, std::string_view> known;
  for (const auto& [source, target] : terms) {
    if (strip(source).empty()) throw Error("terms: a term has no source");
    if (strip(target).empty())
      throw Error("terms: '", one_line(std::string(strip(source))), "' has no target term");
    if (one_line(source) != source || one_line(target) != target)
      throw Error("terms: the term '", one_line(std::string(strip(source))),
                  "' has a NUL or a line end");
    const auto [first, is_new] = known.try_emplace(strip(source), strip(target));
    if (!is_new && first->second != strip(target))
      throw Error("terms: '", first->first, "' has two target terms, '", first->second, "' and '",
                  strip(target), "'; keep one of them");
    add(strip(source), strip(target));
  }
}

void Terms::add(std::string_view source, std::string_view target) {
  const std::u32string characters = code_points(source);
  std::vector<Term>& spellings = terms_[lower(characters)];
  if (std::ranges::find(spellings, characters, &Term::source) != spellings.end()) return;
  spellings.push_back({characters, std::string(target)});
  sizes_.insert(characters.size());
}

const Terms::Term* Terms::longest_at(std::u32string_view text, std::u32string_view folded,
                                     std::size_t begin) const {
  for (const std::size_t size : sizes_) {  // the longest first
    if (size > text.size() - begin || !is_boundary(text, begin + size)) continue;
    const auto found = terms_.find(folded.substr(begin, size));
    if (found == terms_.end()) continue;
    // In the spelling of the text or without capitals, whichever comes first.
    for (const Term& term : found->second)
      if (term.source == text.substr(begin, size) || term.source == found->first) return &term;
  }
  return nullptr;
}

std::vector<RequiredText> Terms::find(std::string_view source) const {
  std::vector<RequiredText> found;
  if (empty()) return found;
  const std::u32string text = code_points(source), folded = lower(text);
  std::vector<std::size_t> offsets;  // byte offsets of each character and of the end
  for (std::size_t offset = 0; offset < source.size(); next_code_point(source, offset))
    offsets.push_back(offset);
  offsets.push_back(source.size());
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (!is_boundary(text, begin)) continue;
    const Term* term = longest_at(text, folded, begin);
    if (term == nullptr) continue;
    const std::size_t end = begin + term->source.size();
    found.push_back({offsets[begin], offsets[end], term->target, true});
    begin = end - 1;
  }
  return found;
}

namespace {

/// "b" of <b> and </b>; "" for a text that is not a tag, and for a tag that stands alone (<br/>).
std::string_view tag_name(std::string_view text) {
  if (!text.starts_with('<') || !text.ends_with('>') || text.ends_with("/>")) return {};
  text.remove_prefix(text.starts_with("</") ? 2 : 1);
  text.remove_suffix(1);
  return text;
}

/// Whether a closing tag of the name stands before its opening one.
bool closes_too_early(std::string_view text, std::string_view name) {
  const std::string opening = join_text('<', name, '>'), closing = join_text("</", name, '>');
  std::int64_t open = 0;
  for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with(opening)) ++open;
    if (text.substr(at).starts_with(closing) && --open < 0) return true;
  }
  return false;
}

}  // namespace

std::vector<RequiredText> unmet_texts(const std::vector<RequiredText>& required,
                                      std::string_view translation) {
  std::map<std::string, std::int64_t> unused;
  std::string in_source;  // the texts in their order
  for (const RequiredText& text : required) in_source += text.text;
  std::vector<RequiredText> unmet;
  for (const RequiredText& text : required) {
    const auto [entry, is_new] = unused.try_emplace(text.text);
    if (is_new) entry->second = count_of(translation, text);
    const std::string_view name = tag_name(text.text);
    const bool is_reversed =
        !name.empty() && closes_too_early(translation, name) && !closes_too_early(in_source, name);
    if (entry->second-- <= 0 || is_reversed) unmet.push_back(text);
  }
  return unmet;
}

// ---- terms in the source text ----

bool has_term_marks(const Tokenizer& source) {
  const std::vector<PieceKind>& kinds = source.facts().kinds;
  const auto is_symbol = [&](std::string_view piece) {
    return kinds[static_cast<std::size_t>(source.id(piece))] == PieceKind::UserDefined;
  };
  return is_symbol(kTermBegins) && is_symbol(kTermEnds);
}

bool is_term_mark(std::string_view piece) { return piece == kTermBegins || piece == kTermEnds; }

std::vector<TextChange> marks_of(std::span<const RequiredText> terms) {
  std::vector<TextChange> marks;
  for (const RequiredText& term : terms)
    marks.push_back({term.end, term.end, join_text(kTermBegins, ' ', term.text, kTermEnds)});
  return marks;
}

MarkedText::MarkedText(std::string_view text, const std::vector<TextChange>& changes) {
  std::size_t copied = 0;
  for (const TextChange& change : changes) {
    text_ += text.substr(copied, change.begin - copied);
    const std::size_t begin = text_.size();
    text_ += change.text;
    stretches_.push_back({change.begin, change.end, begin, text_.size()});
    copied = change.end;
  }
  text_ += text.substr(copied);
}

std::size_t MarkedText::marked_offset(std::size_t original) const {
  std::size_t end = 0, marked_end = 0;  // of the last stretch before it
  for (const Stretch& stretch : stretches_) {
    if (original < stretch.end) {
      if (original <= stretch.begin) break;
      return std::min(stretch.marked_begin + original - stretch.begin, stretch.marked_end);
    }
    end = stretch.end;
    marked_end = stretch.marked_end;
  }
  return marked_end + original - end;
}

std::size_t MarkedText::original_offset(std::size_t offset) const {
  std::size_t end = 0, marked_end = 0;
  for (const Stretch& stretch : stretches_) {
    if (offset < stretch.marked_begin) break;
    if (offset < stretch.marked_end)
      return stretch.begin == stretch.end ? stretch.begin - 1 : stretch.begin;
    end = stretch.end;
    marked_end = stretch.marked_end;
  }
  return end + offset - marked_end;
}

}  // namespace dragoman
