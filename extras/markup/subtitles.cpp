// Subtitles: SubRip's format and WebVTT.

#include "extras/markup/markup_formats.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
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
constexpr std::size_t kMostJoined = 8;

// ---- the lines of captions ----------------------------------------------------------------------

struct CaptionLine {
  ByteRange place;      ///< without its end
  std::size_t caption;  ///< its number
};

/// The lines of a file without their ends.
std::vector<ByteRange> file_lines(std::string_view file) {
  std::vector<ByteRange> lines;
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.find('\n', begin), file.size());
    const bool has_return = end > begin && file[end - 1] == '\r';
    lines.push_back({begin, end - (has_return ? 1 : 0)});
    begin = end + 1;
  }
  return lines;
}

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
  for (const ByteRange& place : file_lines(srt)) {
    const std::string_view line = place.of(srt);
    const bool has_text = !strip(line).empty();
    if (is_time(line)) {
      if (follows_text && is_number(lines.back().place.of(srt))) lines.pop_back();
      ++captions;
    } else if (has_text && captions > 0) {
      lines.push_back({.place = place, .caption = captions});
    }
    follows_text = has_text && captions > 0 && !is_time(line);
  }
  if (captions == 0 && !strip(srt).empty())
    throw Error("srt: no line has a time (00:00:01,000 --> 00:00:02,500)");
  return lines;
}

/// The lines of text of all cues. A blank line ends a cue; blocks without a time (the header,
/// notes, styles) and the identifiers in front of times are not text.
std::vector<CaptionLine> cue_lines(std::string_view vtt) {
  std::string_view header = vtt;
  if (header.starts_with(kByteOrderMark)) header.remove_prefix(kByteOrderMark.size());
  if (!header.starts_with("WEBVTT")) throw Error("vtt: the first line is not WEBVTT");
  std::vector<CaptionLine> lines;
  std::size_t cues = 0;
  bool is_in_cue = false;
  for (const ByteRange& place : file_lines(vtt)) {
    const std::string_view line = place.of(vtt);
    if (line.find("-->") != std::string_view::npos)
      is_in_cue = is_time(line), ++cues;
    else if (line.empty())
      is_in_cue = false;
    else if (is_in_cue && !strip(line).empty())
      lines.push_back({.place = place, .caption = cues});
  }
  return lines;
}

// ---- the text of a line, and what stands around it ----------------------------------------------

bool is_blank(const MarkupToken& token) {
  return token.kind == Kind::Text && strip(token.text).empty();
}

/// The length of the sign of another speaker, or of a song, at the start of a text: "- ".
std::size_t sign_length(std::string_view text) {
  for (const std::string_view sign :
       {"-", "\u2010", "\u2013", "\u2014", ">>", "\u266A", "\u266B", "\u266C"})
    if (text.starts_with(sign))
      return std::min(text.find_first_not_of(' ', sign.size()), text.size());
  return 0;
}

/// The length of the sign of a song at the end of a text: " \u266A".
std::size_t song_end_length(std::string_view text) {
  const std::string_view stripped = strip(text);
  for (const std::string_view note : {"\u266A", "\u266B", "\u266C"}) {
    if (!stripped.ends_with(note)) continue;
    const std::string_view words = strip(stripped.substr(0, stripped.size() - note.size()));
    return static_cast<std::size_t>(text.data() + text.size() - (words.data() + words.size()));
  }
  return 0;
}

/// The end of the last sign that stands before the words of a line, perhaps after tags and other
/// signs; the line's beginning if there is none.
std::size_t end_of_signs(std::string_view document, const std::vector<MarkupToken>& line) {
  std::size_t end = line.front().source.begin;
  for (const MarkupToken& token : line) {
    if (token.kind != Kind::Text) continue;
    const std::string_view text = token.source.of(document);
    std::size_t place = std::min(text.find_first_not_of(" \t"), text.size());
    while (const std::size_t length = sign_length(text.substr(place)))
      end = token.source.begin + (place += length);
    if (place < text.size()) break;
  }
  return end;
}

/// The beginning of the signs of songs after the words of a line, perhaps before tags; the line's
/// end if there is none. It is not before `earliest`.
std::size_t begin_of_signs(std::string_view document, const std::vector<MarkupToken>& line,
                           std::size_t earliest) {
  std::size_t begin = line.back().source.end;
  for (auto token = line.rbegin(); token != line.rend(); ++token) {
    if (token->kind != Kind::Text || is_blank(*token)) continue;
    std::string_view text = token->source.of(document);
    while (const std::size_t length = song_end_length(text)) {
      text.remove_suffix(length);
      begin = token->source.begin + text.size();
    }
    if (!text.empty()) break;
  }
  return std::max(begin, earliest);
}

/// The characters that references mean (&amp;).
std::string with_references_read(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string read;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '&' ? text.substr(i, kLongest).find(';') : text.npos;
    const std::string character =
        end == text.npos ? "" : html_character(std::string(text.substr(i, end + 1)));
    if (character.empty())
      read += text[i];
    else
      read += character, i += end;
  }
  return read;
}

/// The tokens of a line, whose first byte is byte `begin` of the document.
std::vector<MarkupToken> line_tokens(std::string_view line, std::size_t begin, Writing writing) {
  std::vector<MarkupToken> tokens = text_tokens(line, AlsoKept::Positions);
  for (MarkupToken& token : tokens) {
    token.source.begin += begin;
    token.source.end += begin;
    if (writing == Writing::VttText) token.text = with_references_read(token.text);
  }
  return tokens;
}

/// The text without tags.
std::string plain_line(std::string_view line, Writing writing) {
  std::string plain;
  for (const MarkupToken& token : line_tokens(line, 0, writing))
    if (token.kind == Kind::Text) plain += token.text;
  return std::string(strip(plain));
}

/// Whether a sentence that `line` leaves open continues in `next`.
bool sentence_continues(std::string_view line, std::string_view next, Writing writing) {
  const std::string text = plain_line(line, writing), rest = plain_line(next, writing);
  if (!has_letter_or_digit(text) || !has_letter_or_digit(rest)) return false;
  for (const std::string_view stop :
       {".", "!", "?", "\u2026", ":", ")", "]", "\"", "\u201D", "\u201C", "\u00BB", "\u3002",
        "\uFF01", "\uFF1F", "\u266A", "\u266B", "\u266C"})
    if (text.ends_with(stop)) return false;
  return sign_length(rest) == 0 && !rest.starts_with('(') && !rest.starts_with('[');
}

// ---- sentences ----------------------------------------------------------------------------------

/// The tokens of a document, sentence by sentence.
class CaptionTokens {
 public:
  CaptionTokens(std::string_view document, Writing writing)
      : document_(document), writing_(writing) {}

  void add(const CaptionLine& line) {
    const bool continues =
        !sentence_.empty() && sentence_.size() < kMostJoined && line.caption <= last_.caption + 1 &&
        sentence_continues(last_.place.of(document_), line.place.of(document_), writing_);
    if (!continues) end_sentence();
    sentence_.push_back(line_tokens(line.place.of(document_), line.place.begin, writing_));
    last_ = line;
  }

  std::vector<MarkupToken> tokens() {
    end_sentence();
    split(document_.size());
    return std::move(tokens_);
  }

 private:
  using Line = std::vector<MarkupToken>;

  /// Everything up to a place stays, and ends a sentence.
  void split(std::size_t end) {
    tokens_.push_back({.kind = Kind::Splits, .source = {place_, end}});
    place_ = end;
  }

  void end_sentence() {
    std::vector<Line> lines = std::exchange(sentence_, {});
    if (lines.empty()) return;
    if (lines.size() > 1) find_tags_of_lines(lines);
    const std::size_t begin = end_of_signs(document_, lines.front());
    const std::size_t end = begin_of_signs(document_, lines.back(), begin);
    split(begin);
    for (std::size_t l = 0; l < lines.size(); ++l) {
      Line& line = lines[l];
      const auto belongs = [&](const MarkupToken& token) {
        return lines.size() > 1 && (is_blank(token) || of_lines_.contains(token.source.begin));
      };
      const auto first = l == 0 ? line.begin() : std::ranges::find_if_not(line, belongs);
      auto last = line.end();
      while (l + 1 < lines.size() && last != first && belongs(*(last - 1))) --last;
      if (l > 0) push({.kind = Kind::Divides, .source = {place_, first->source.begin}});
      for (auto token = first; token != last; ++token) push_within(std::move(*token), begin, end);
    }
    split(end);
  }

  void push(MarkupToken token) {
    place_ = token.source.end;
    tokens_.push_back(std::move(token));
  }

  /// Without what stands before `begin` or after `end`.
  void push_within(MarkupToken token, std::size_t begin, std::size_t end) {
    const ByteRange all = token.source;
    token.source = {std::clamp(all.begin, begin, end), std::clamp(all.end, begin, end)};
    if (token.source.empty()) return;
    if (token.source.begin != all.begin || token.source.end != all.end) {
      token.text = token.source.of(document_);
      if (writing_ == Writing::VttText) token.text = with_references_read(token.text);
    }
    push(std::move(token));
  }

  /// Tags at the ends of lines stay there, unless their element begins or ends within a line.
  void find_tags_of_lines(const std::vector<Line>& lines) {
    of_lines_.clear();
    std::unordered_map<std::string_view, std::vector<const MarkupToken*>> open;
    std::vector<std::pair<const MarkupToken*, const MarkupToken*>> elements;
    for (const Line& line : lines) {
      const auto has_words = [](const MarkupToken& token) {
        return token.kind == Kind::Text && !is_blank(token);
      };
      const auto first = std::ranges::find_if(line, has_words);
      const auto last = std::find_if(line.rbegin(), line.rend(), has_words).base();
      for (auto token = line.begin(); token != line.end(); ++token) {
        if (token->kind == Kind::Text) continue;
        if (token < first || token >= last) of_lines_.insert(token->source.begin);
        std::vector<const MarkupToken*>& of_name = open[token->name];
        if (token->kind == Kind::Opens) of_name.push_back(&*token);
        if (token->kind != Kind::Closes || of_name.empty()) continue;
        elements.emplace_back(of_name.back(), &*token);
        of_name.pop_back();
      }
    }
    for (const auto& [opens, closes] : elements)
      if (of_lines_.contains(opens->source.begin) != of_lines_.contains(closes->source.begin))
        of_lines_.erase(opens->source.begin), of_lines_.erase(closes->source.begin);
  }

  const std::string_view document_;
  const Writing writing_;
  std::vector<MarkupToken> tokens_;
  std::size_t place_ = 0;
  std::vector<Line> sentence_;  // its lines
  CaptionLine last_{};
  std::set<std::size_t> of_lines_;  // where tags begin that stay at the ends of their lines
};

MarkupDocument document_of(std::string bytes, const std::vector<CaptionLine>& lines,
                           Writing writing) {
  MarkupDocument document{.bytes = std::move(bytes)};
  CaptionTokens tokens(document.bytes, writing);
  for (const CaptionLine& line : lines) tokens.add(line);
  document.passages = passages_of(document.bytes, tokens.tokens(), writing);
  return document;
}

}  // namespace

MarkupDocument parse_srt(std::string srt) {
  const std::vector<CaptionLine> lines = caption_lines(srt);
  return document_of(std::move(srt), lines, Writing::SrtText);
}

MarkupDocument parse_vtt(std::string vtt) {
  const std::vector<CaptionLine> lines = cue_lines(vtt);
  return document_of(std::move(vtt), lines, Writing::VttText);
}

}  // namespace dragoman
