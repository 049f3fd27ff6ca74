#include "markup/srt.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "markup/markup_token.h"
#include "markup/text_tokens.h"
#include "markup/word_fragments.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

/// The most lines that one sentence may have. Lyrics end without stops.
constexpr int kMostJoined = 8;

struct CaptionLine {
  ByteRange place;      ///< without its end
  std::size_t caption;  ///< its number
};

/// The lines of text of all captions.
std::vector<CaptionLine> caption_lines(std::string_view srt) {
  std::vector<CaptionLine> lines;
  std::size_t captions = 0;
  bool in_text = false;
  for (std::size_t begin = 0; begin < srt.size();) {
    const std::size_t end = std::min(srt.find('\n', begin), srt.size());
    std::string_view line = srt.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find("-->") != std::string_view::npos) {
      in_text = true;
      ++captions;
    } else if (strip(line).empty()) {
      in_text = false;
    } else if (in_text) {
      lines.push_back({.place = {begin, begin + line.size()}, .caption = captions});
    }
    begin = end + 1;
  }
  if (captions == 0 && !strip(srt).empty())
    throw Error("srt: no line has a time (00:00:01,000 --> 00:00:02,500)");
  return lines;
}

/// The text without tags.
std::string plain_line(std::string_view line) {
  std::string plain;
  for (const MarkupToken& token : text_tokens(line, AlsoKept::Positions)) plain += token.text;
  return std::string(strip(plain));
}

/// Whether a sentence that `line` leaves open goes on in `next`.
bool goes_on(std::string_view line, std::string_view next) {
  const std::string text = plain_line(line), rest = plain_line(next);
  if (!has_letters(text) || !has_letters(rest)) return false;
  for (const std::string_view stop : {".", "!", "?", "\u2026", ":", ")", "]", "\"", "\u201D",
                                      "\u201C", "\u00BB", "\u3002", "\uFF01", "\uFF1F", "\u266A"})
    if (text.ends_with(stop)) return false;
  for (const std::string_view speaker : {"-", "\u2013", "\u2014", "\u266A", "(", "["})
    if (rest.starts_with(speaker)) return false;
  return true;
}

}  // namespace

MarkupDocument parse_srt(std::string srt) {
  MarkupDocument document{.bytes = std::move(srt)};
  const std::string_view bytes = document.bytes;
  const std::vector<CaptionLine> lines = caption_lines(bytes);
  std::vector<MarkupToken> tokens;
  std::size_t place = 0;
  int joined = 1;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const bool is_joined = l > 0 && joined < kMostJoined &&
                           lines[l].caption <= lines[l - 1].caption + 1 &&
                           goes_on(lines[l - 1].place.of(bytes), lines[l].place.of(bytes));
    joined = is_joined ? joined + 1 : 1;
    tokens.push_back({.kind = is_joined ? Kind::Divides : Kind::Splits,
                      .source = {place, lines[l].place.begin}});
    for (MarkupToken& token : text_tokens(lines[l].place.of(bytes), AlsoKept::Positions)) {
      token.source.begin += lines[l].place.begin;
      token.source.end += lines[l].place.begin;
      tokens.push_back(std::move(token));
    }
    place = lines[l].place.end;
  }
  tokens.push_back({.kind = Kind::Splits, .source = {place, bytes.size()}});
  document.passages = passages_of(bytes, tokens, Writing::Plain);
  return document;
}

}  // namespace dragoman
