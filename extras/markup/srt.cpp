// Subtitles in SubRip's format.

#include "extras/markup/markup_formats.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/markup_tokens.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

/// The most lines that one sentence may have. Lyrics end without stops.
constexpr int kMostJoined = 8;

struct CaptionLine {
  ByteRange place;      ///< without its end
  std::size_t caption;  ///< its number
};

/// 00:00:01,000 --> 00:00:02,500, perhaps with a position after it.
bool is_time(std::string_view line) {
  const std::size_t arrow = line.find("-->");
  const std::string_view begin = strip(line.substr(0, arrow));
  return arrow != std::string_view::npos && begin.find(':') != std::string_view::npos &&
         begin.find_first_not_of("0123456789:,.") == std::string_view::npos;
}

bool is_number(std::string_view line) {
  return strip(line).find_first_not_of(kAsciiDigits) == std::string_view::npos;
}

/// The lines of text of all captions. The number in front of a time belongs to no caption, whether
/// or not a blank line is in front of it.
std::vector<CaptionLine> caption_lines(std::string_view srt) {
  std::vector<CaptionLine> lines;
  std::size_t captions = 0;
  bool follows_text = false;  // without a blank line
  for (std::size_t begin = 0; begin < srt.size();) {
    const std::size_t end = std::min(srt.find('\n', begin), srt.size());
    std::string_view line = srt.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool has_text = !strip(line).empty();
    if (is_time(line)) {
      if (follows_text && is_number(lines.back().place.of(srt))) lines.pop_back();
      ++captions;
    } else if (has_text && captions > 0) {
      lines.push_back({.place = {begin, begin + line.size()}, .caption = captions});
    }
    follows_text = has_text && captions > 0 && !is_time(line);
    begin = end + 1;
  }
  if (captions == 0 && !strip(srt).empty())
    throw Error("srt: no line has a time (00:00:01,000 --> 00:00:02,500)");
  return lines;
}

/// The length of the sign of another speaker, or of a song, at the begin of a line: "- ".
std::size_t speaker_length(std::string_view line) {
  for (const std::string_view sign : {"-", "\u2013", "\u2014", "\u266A"})
    if (line.starts_with(sign))
      return std::min(line.find_first_not_of(' ', sign.size()), line.size());
  return 0;
}

/// The length of the sign of a song at the end of a line: " \u266A".
std::size_t song_end_length(std::string_view line) {
  constexpr std::string_view kNote = "\u266A";
  const std::string_view text = strip(line);
  if (!text.ends_with(kNote)) return 0;
  const std::string_view words = strip(text.substr(0, text.size() - kNote.size()));
  return static_cast<std::size_t>(line.data() + line.size() - (words.data() + words.size()));
}

/// The text without tags.
std::string plain_line(std::string_view line) {
  std::string plain;
  for (const MarkupToken& token : text_tokens(line, AlsoKept::Positions)) plain += token.text;
  return std::string(strip(plain));
}

/// Whether a sentence that `line` leaves open continues in `next`.
bool goes_on(std::string_view line, std::string_view next) {
  const std::string text = plain_line(line), rest = plain_line(next);
  if (!has_letter_or_digit(text) || !has_letter_or_digit(rest)) return false;
  for (const std::string_view stop : {".", "!", "?", "\u2026", ":", ")", "]", "\"", "\u201D",
                                      "\u201C", "\u00BB", "\u3002", "\uFF01", "\uFF1F", "\u266A"})
    if (text.ends_with(stop)) return false;
  return speaker_length(rest) == 0 && !rest.starts_with('(') && !rest.starts_with('[');
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
    const ByteRange line = lines[l].place;
    const std::size_t begin = line.begin + speaker_length(line.of(bytes));
    const ByteRange text{begin, line.end - song_end_length(ByteRange{begin, line.end}.of(bytes))};
    tokens.push_back(
        {.kind = is_joined ? Kind::Divides : Kind::Splits, .source = {place, text.begin}});
    for (MarkupToken& token : text_tokens(text.of(bytes), AlsoKept::Positions)) {
      token.source.begin += text.begin;
      token.source.end += text.begin;
      tokens.push_back(std::move(token));
    }
    place = text.end;
  }
  tokens.push_back({.kind = Kind::Splits, .source = {place, bytes.size()}});
  document.passages = passages_of(bytes, tokens, Writing::Plain);
  return document;
}

}  // namespace dragoman
