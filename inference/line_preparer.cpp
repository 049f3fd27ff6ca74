#include "inference/line_preparer.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenizer/sentence_splitter.h"

namespace dragoman {

namespace {

bool needs_attention(const PreparedLine& line, const PreparedPart& part) {
  const PreparedRequest& request = *line.request;
  return request.reports_attention || request.settings->config.coverage_penalty > 0 ||
         request.demands->requires_any() || !line.terms.empty() || !part.unseen.copies.empty();
}

}  // namespace

SourceSentence sentence_of(const PreparedLine& line, std::size_t part, std::vector<TokenId> pieces,
                           const TokenizerPair& tokenizers) {
  const std::size_t count = pieces.size();
  std::vector<TokenId> tokens = tokenizers.source_tokens(std::move(pieces));
  const bool has_end = tokens.size() > count;
  return {.line = line.number,
          .part = static_cast<std::int64_t>(part),
          .tokens = std::move(tokens),
          .settings = line.request->settings,
          .needs_attention = needs_attention(line, line.parts[part]),
          .has_end = has_end};
}

namespace {

/// The first byte after the pieces of a word that may stay.
std::size_t end_of_pieces(std::string_view word, const Tokenizer& tokenizer) {
  constexpr std::size_t kEncodedAtOnce = 4096;  // bytes
  auto left = static_cast<std::size_t>(kMostPiecesOfWord);
  for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    end = std::min(begin + kEncodedAtOnce, word.size());
    if (end < word.size()) end = character_start(word, end);
    const auto pieces = tokenizer.encode_with_offsets(word.substr(begin, end - begin));
    if (pieces.size() > left) return begin + (left == 0 ? 0 : pieces[left - 1].end);
    left -= pieces.size();
  }
  return word.size();
}

/// The end of a word, which is taken out of a text.
struct CutEnd {
  std::size_t begin, end;  ///< in the text as it was
  std::size_t before;      ///< bytes that are taken out before it
};

/// Cuts words that nobody writes, such as three million letters, which would take minutes.
std::vector<CutEnd> cut_long_words(std::string& text, const Tokenizer& tokenizer) {
  // A character has at most as many pieces as bytes, and a word one more, for its beginning.
  constexpr auto kShort = static_cast<std::size_t>(kMostPiecesOfWord) - 1;
  if (text.size() <= kShort) return {};
  std::vector<CutEnd> cuts;
  std::size_t written = 0;
  const auto keep = [&](std::size_t begin, std::size_t end) {
    std::size_t size = end - begin;
    if (size > kShort) size = end_of_pieces(std::string_view(text).substr(begin, size), tokenizer);
    if (size < end - begin) cuts.push_back({begin + size, end, begin - written});
    if (written < begin) std::copy_n(text.begin() + begin, size, text.begin() + written);
    written += size;
  };
  std::size_t word = 0;  // its first byte
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    if (!is_space(c) && !is_unspaced(c)) continue;
    keep(word, begin);
    keep(begin, offset);
    word = offset;
  }
  keep(word, text.size());
  text.resize(written);
  return cuts;
}

/// The stretches of a text after the cuts.
std::vector<ByteRange> after_cuts(std::vector<ByteRange> stretches,
                                  const std::vector<CutEnd>& cuts) {
  const auto moved = [&cuts](std::size_t place) {
    const auto next = std::ranges::upper_bound(cuts, place, {}, &CutEnd::begin);
    if (next == cuts.begin()) return place;
    const CutEnd& last = *std::prev(next);
    return place - last.before - (std::min(place, last.end) - last.begin);
  };
  for (ByteRange& stretch : stretches) stretch = {moved(stretch.begin), moved(stretch.end)};
  return stretches;
}

/// Whether a user-defined piece is a tag ("<bt>", ">>fra<<") that says something about the text
/// after it. Others ("@@", an emoji) are text themselves.
bool is_tag(std::string_view piece) {
  return !is_term_mark(piece) && ((piece.starts_with('<') && piece.ends_with('>')) ||
                                  (piece.starts_with(">>") && piece.ends_with("<<")));
}

std::string_view without_tag(std::string_view text, std::string_view tag) {
  return tag.empty() ? text : strip(text.substr(tag.size()));
}

/// A line with a prefix is translated, because somebody has begun to translate it.
bool may_copy(const PreparedLine& line) {
  return !line.request->settings->config.translate_all && strip(line.prefix).empty();
}

/// Whether a text has a term, or a text that no translation may have.
bool asks_for_more(const PreparedLine& line, std::string_view text) {
  const Demands& demands = *line.request->demands;
  return !line.terms.find(text).empty() || !demands.terms.find(text).empty() ||
         std::ranges::any_of(demands.avoided, [text](const std::string& avoided) {
           return !avoided.empty() && text.find(avoided) != std::string_view::npos;
         });
}

/// The stretches of a line that are kept, as far as they stand in a part of its text, counted from
/// the part's begin.
std::vector<ByteRange> kept_in(const PreparedLine& line, std::string_view part) {
  const auto begin = static_cast<std::size_t>(part.data() - line.text.data());
  const std::size_t end = begin + part.size();
  std::vector<ByteRange> kept;
  for (const ByteRange& stretch : line.kept)
    if (stretch.begin < end && stretch.end > begin)
      kept.push_back({std::max(stretch.begin, begin) - begin, std::min(stretch.end, end) - begin});
  return kept;
}

/// A text without words; its numbers are written as the target's language writes them, unless it
/// is longer than people write.
std::string copy_of(const PreparedLine& line, std::string_view text) {
  std::string copy(text);
  constexpr std::size_t kLongest = 4096;  // the search for numbers takes quadratic time
  const auto& numbers = line.request->demands->numbers;
  if (!numbers || text.size() > kLongest || copied_kind(text) != CopiedKind::Number) return copy;
  std::vector<RequiredText> found = protected_texts(text);
  for (const RequiredText& number : found | std::views::reverse)
    copy.replace(number.begin, number.end - number.begin, (*numbers)(number.text));
  return copy;
}

}  // namespace

LineTags::LineTags(const Tokenizer& source) {
  for (std::string& symbol : source.user_symbols())
    if (is_tag(symbol)) tags_.insert(std::move(symbol));
}

std::string_view LineTags::tag_of(std::string_view text) const {
  const std::string_view first = text.substr(0, text.find(' '));
  return first.size() < text.size() && tags_.contains(first) ? first : std::string_view();
}

UnseenLines unseen_lines(const Tokenizer& source, const CharacterSet& seen,
                         std::span<const std::string> lines) {
  const LineTags tags(source);
  UnseenLines found;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const std::string_view text = strip(lines[line]);
    const std::string read = source.decode(source.encode(without_tag(text, tags.tag_of(text))));
    const UnseenText unseen = unseen_text(read, seen);
    if (unseen.changes.empty() && unseen.copies.empty()) continue;
    if (found.count++ == 0) found.first = static_cast<std::int64_t>(line) + 1;
  }
  return found;
}

LinePreparer::LinePreparer(TokenizerPair tokenizers, std::int64_t max_positions, TextRecord record)
    : tokenizers_(std::move(tokenizers)),
      max_positions_(max_positions),
      record_(std::move(record)),
      tags_(*tokenizers_.source),
      knows_terms_(has_term_marks(*tokenizers_.source)) {}

std::int64_t LinePreparer::most_pieces(const PreparedLine& line) const {
  return std::min(line.request->settings->config.split_length, max_positions_ - 1);
}

std::vector<SourceSentence> LinePreparer::prepare(LineInput input, PreparedLine& line,
                                                  const std::stop_token& stop) const {
  const bool valid = find_invalid_utf8(input.text) == std::string_view::npos;
  line.text = valid ? std::move(input.text) : replace_invalid_utf8(input.text);
  std::ranges::replace(line.text, '\0', ' ');
  line.prefix = std::move(input.prefix);
  line.terms = std::move(input.terms);
  line.kept = std::move(input.kept);
  std::string_view text = strip(line.text), tag = tags_.tag_of(text);
  const bool is_copied_whole = copies(line, without_tag(text, tag));
  std::vector<CutEnd> cuts;
  if (!is_copied_whole) cuts = cut_long_words(line.text, *tokenizers_.source);
  if (!cuts.empty()) {
    text = strip(line.text), tag = tags_.tag_of(text);
    line.kept = after_cuts(std::move(line.kept), cuts);
  }
  if (is_copied_whole)
    line.parts.push_back({.text = {.text = without_tag(text, tag)}});
  else if (!text.empty())
    split(line, text, tag, stop);
  std::vector<ByteRange> words;
  if (line.request->reports_attention) words = words_between_spaces(line.text);
  line.words = words.size();
  line.facts = {.lines = 1, .repaired = valid ? 0 : 1, .long_words = std::ssize(cuts)};
  std::vector<SourceSentence> sentences;
  bool is_copied = false;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    PreparedPart& part = line.parts[p];
    copy(line, part);
    is_copied = is_copied || !part.before.text.empty();
    if (part.text.tokens.empty()) continue;  // or only characters that the tokenizer drops
    part.required = line.request->demands->of(part.text.text, line.terms);
    find_unseen(line, part);
    if (part.unseen.is_all) {
      is_copied = true;
      continue;
    }
    std::vector<TokenId> tokens = mark(line, part);
    if (line.request->reports_attention) find_words(line.text, words, part);
    line.facts.source_tokens += static_cast<std::int64_t>(tokens.size());
    sentences.push_back(sentence_of(line, p, std::move(tokens), tokenizers_));
  }
  require_prefix(line, sentences);
  const auto has_copies = [](const PreparedPart& part) { return !part.unseen.copies.empty(); };
  line.facts.unknown = std::ranges::any_of(line.parts, has_copies) ? 1 : 0;
  line.facts.copied = sentences.empty() && is_copied ? 1 : 0;
  line.facts.empty = sentences.empty() && !is_copied ? 1 : 0;
  line.facts.split = sentences.size() > 1 ? 1 : 0;
  return sentences;
}

/// All parts are encoded with the tag in front, which is not part of their texts.
void LinePreparer::split(PreparedLine& line, std::string_view text, std::string_view tag,
                         const std::stop_token& stop) const {
  const auto cuts =
      splits_sentences(line.request->settings->config.split_sentences, record_.several_sentences)
          ? SentenceCuts::InAllLines
          : SentenceCuts::InLongLines;
  const auto own_text = [&](std::string_view part) {
    const bool has_tag = part.data() == text.data() && part.starts_with(tag);
    return has_tag ? without_tag(part, tag) : part;
  };
  const auto encode = [&](std::string_view part) {
    if (stop.stop_requested()) throw Stopped();
    return tokenizers_.source->encode(tagged(tag, own_text(part)));
  };
  std::vector<ByteRange> whole;
  for (const RequiredText& required : line.request->demands->of(text, line.terms))
    whole.push_back({required.begin, required.end});
  for (LinePart& part : split_line(text, cuts, most_pieces(line), encode, whole)) {
    part.text = own_text(part.text);
    line.parts.push_back({.text = std::move(part), .tag = tag});
  }
}

/// Whether a text is copied as it is: it has nothing to translate, and nobody asks for more.
bool LinePreparer::copies(const PreparedLine& line, std::string_view text) const {
  if (text.empty() || !may_copy(line)) return false;
  const std::optional<CopiedKind> kind = copied_kind(text);
  return kind && dragoman::copies(*kind, record_.copied_fractions) && !asks_for_more(line, text);
}

/// Takes copied text out of the part: all of it, or the signs at its ends.
void LinePreparer::copy(const PreparedLine& line, PreparedPart& part) const {
  if (!may_copy(line)) return;
  const std::string_view text = part.text.text;
  const auto stretch = [&line](std::string_view whole, std::string copied) {
    return CopiedStretch{std::move(copied),
                         static_cast<std::size_t>(whole.data() - line.text.data())};
  };
  if (copies(line, text)) {
    part.before = stretch(text, copy_of(line, text));
    part.text.tokens.clear();
    return;
  }
  auto [begin, end] = between_signs(text);
  for (const ByteRange& kept : kept_in(line, text)) {
    begin = std::min(begin, kept.begin);
    end = std::max(end, kept.end);
  }
  const std::string_view before = text.substr(0, begin), after = text.substr(end);
  if (begin == end || before.size() + after.size() == 0 || asks_for_more(line, before) ||
      asks_for_more(line, after))
    return;
  const std::string_view rest = text.substr(begin, end - begin);
  std::vector<TokenId> tokens = tokenizers_.source->encode(tagged(part.tag, rest));
  if (tokens.empty()) return;  // the tokenizer drops its characters
  part.before = stretch(before, std::string(before));
  part.after = stretch(after, std::string(after));
  part.text.text = rest;
  part.text.tokens = std::move(tokens);
}

/// Terms, protected and avoided texts are read as they are, as is a line with a prefix: somebody
/// has begun to translate it.
void LinePreparer::find_unseen(const PreparedLine& line, PreparedPart& part) const {
  const DecodeConfig& config = line.request->settings->config;
  if (!record_.characters || config.unknown_words == UnknownWords::Translate || config.sampling ||
      !strip(line.prefix).empty())
    return;
  std::vector<ByteRange> kept = kept_in(line, part.text.text);
  for (const RequiredText& text : part.required) kept.push_back({text.begin, text.end});
  for (const std::string& avoided : line.request->demands->avoided)
    for (std::size_t at = 0;
         !avoided.empty() && (at = part.text.text.find(avoided, at)) != part.text.text.npos;
         at += avoided.size())
      kept.push_back({at, at + avoided.size()});
  std::ranges::sort(kept, {}, &ByteRange::begin);
  part.unseen = unseen_text(part.text.text, record_.characters->source, kept);
  if (!part.unseen.is_all) return;
  const auto begin = static_cast<std::size_t>(part.text.text.data() - line.text.data());
  part.before = {join_text(part.before.text, part.text.text, part.after.text),
                 begin - part.before.text.size()};
  part.after = {};
}

/// Returns the part's pieces. Unseen text is read as UnseenText says. Terms are written into the
/// text if the model knows the marks. If that makes the text too long, it is read as it is.
std::vector<TokenId> LinePreparer::mark(const PreparedLine& line, PreparedPart& part) const {
  const Tokenizer& tokenizer = *tokenizers_.source;
  std::vector<RequiredText> terms;
  if (knows_terms_)
    std::ranges::copy_if(part.required, std::back_inserter(terms), &RequiredText::inflects);
  std::vector<TextChange> changes = marks_of(terms);
  changes.insert(changes.end(), part.unseen.changes.begin(), part.unseen.changes.end());
  std::ranges::stable_sort(changes, {}, &TextChange::begin);
  const bool is_read_as_it_is = changes.empty();
  part.marked = MarkedText(part.text.text, changes);
  std::vector<TokenId> tokens = is_read_as_it_is
                                    ? std::move(part.text.tokens)
                                    : tokenizer.encode(tagged(part.tag, part.marked.text()));
  if (!is_read_as_it_is && static_cast<std::int64_t>(tokens.size()) > most_pieces(line)) {
    part.marked = MarkedText(part.text.text);
    part.unseen = {};
    return std::move(part.text.tokens);
  }
  if (!part.unseen.copies.empty()) {
    const std::size_t lead = part.tag.empty() ? 0 : part.tag.size() + 1;
    part.pieces = tokenizer.encode_with_offsets(tagged(part.tag, part.marked.text()));
    for (PieceSpan& piece : part.pieces) {
      const bool is_of_tag = piece.begin < lead && piece.end <= lead;
      if (is_of_tag) piece.begin = piece.end = lead + part.marked.text().size();
      piece.begin -= std::min(piece.begin, lead);
      piece.end -= std::min(piece.end, lead);
    }
  }
  return tokens;
}

/// Finds the word of each source piece, and of each copy, among the words of the line.
void LinePreparer::find_words(std::string_view line, std::span<const ByteRange> words,
                              PreparedPart& part) const {
  const auto offset = static_cast<std::size_t>(part.text.text.data() - line.data());
  const std::size_t lead = part.tag.empty() ? 0 : part.tag.size() + 1;
  const auto word_at = [&](std::size_t byte) {
    const auto next = std::ranges::upper_bound(words, byte, {}, &ByteRange::begin);
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - words.begin() - 1, 0));
  };
  for (const PieceSpan& piece :
       tokenizers_.source->encode_with_offsets(tagged(part.tag, part.marked.text()))) {
    const std::size_t last = std::max(piece.end, piece.begin + 1) - 1;
    const std::size_t byte = last < lead ? 0 : offset + part.marked.original_offset(last - lead);
    part.words.push_back(word_at(byte));
  }
  for (CopiedText& copy : part.unseen.copies) copy.word = word_at(offset + copy.begin);
}

/// The first sentences of the line get the sentences of the prefix. All sentences of the prefix but
/// the last are complete: </s> must follow them.
void LinePreparer::require_prefix(PreparedLine& line,
                                  std::vector<SourceSentence>& sentences) const {
  const std::string_view text = strip(line.prefix);
  if (text.empty() || sentences.empty()) return;
  const std::vector<std::string_view> whole = split_sentences(text);
  const auto require = [&](SourceSentence& sentence, std::string_view its_text, bool is_last) {
    RequiredPrefix prefix{.tokens = tokenizers_.target->encode(its_text),
                          .ends_word = is_last && !line.prefix.ends_with(text)};
    if (!is_last) prefix.tokens.push_back(tokenizers_.target->eos_id());
    PreparedPart& part = line.parts[static_cast<std::size_t>(sentence.part)];
    part.prefix_text = its_text;
    part.prefix = sentence.required.prefix = std::move(prefix);
  };
  std::size_t s = 0;
  for (; s + 1 < std::min(whole.size(), sentences.size()); ++s)
    require(sentences[s], whole[s], /*is_last=*/false);
  const auto begin = static_cast<std::size_t>(whole[s].data() - text.data());
  require(sentences[s], text.substr(begin), /*is_last=*/true);
}

}  // namespace dragoman
