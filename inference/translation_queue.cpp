#include "inference/translation_queue.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

/// Pieces may stand for anything; a translation stays one line.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  return text;
}

/// The first byte of each word between white space.
std::vector<std::size_t> word_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  bool in_word = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const bool space = is_space(next_code_point(text, offset));
    if (!space && !in_word) starts.push_back(begin);
    in_word = !space;
  }
  return starts;
}

/// Pieces of a text that stands behind `before` (nothing, or a character that is no space), if they
/// are pieces of their own there.
std::vector<TokenId> pieces_behind(const Tokenizer& tokenizer, std::string_view before,
                                   const std::string& text) {
  if (!before.empty()) {
    const std::vector<PlacedPiece> placed =
        tokenizer.encode_with_places(std::string(before) + text);
    std::vector<TokenId> ids;
    bool apart = true;
    for (const PlacedPiece& piece : placed) {
      if (piece.begin >= before.size()) ids.push_back(piece.id);
      apart = apart && (piece.begin >= before.size() || piece.end <= before.size());
    }
    if (apart && !ids.empty()) return ids;
  }
  return tokenizer.encode(text);
}

/// The character that ends before `end`, unless it is white space.
std::string_view character_before(std::string_view text, std::size_t end) {
  if (end == 0) return {};
  std::size_t begin = end - 1;
  while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
  const std::string_view character = text.substr(begin, end - begin);
  return strip(character).empty() ? std::string_view() : character;
}

}  // namespace

TranslationQueue::TranslationQueue(const Tokenizer& source, const Tokenizer& target,
                                   const DecodeConfig& config, const Demands& demands,
                                   std::int64_t most_pieces)
    : source_(source),
      target_(target),
      config_(config),
      demands_(demands),
      most_pieces_(most_pieces) {}

std::vector<SourceSentence> TranslationQueue::add(LineInput input) {
  const std::int64_t number = first_line_ + size();
  // The parts are views of the text, so it is not moved any more.
  Line& line = lines_.emplace_back();
  ++facts_.lines;
  const bool valid = find_invalid_utf8(input.text) == std::string_view::npos;
  if (!valid) ++facts_.repaired;
  line.text = valid ? std::move(input.text) : replace_invalid_utf8(input.text);
  line.payload = std::move(input.payload);
  std::vector<SourceSentence> sentences = make_sentences(line, number, input.prefix);
  if (sentences.empty()) ++facts_.empty;
  if (sentences.size() > 1) ++facts_.split;
  line.missing = sentences.size();
  return sentences;
}

std::vector<SourceSentence> TranslationQueue::make_sentences(Line& line, std::int64_t number,
                                                             const std::string& prefix) {
  const std::string_view text = strip(line.text);
  if (text.empty()) return {};
  std::vector<std::vector<TokenId>> tokens = {source_.encode(text)};
  line.parts = {{.text = {.text = text, .separator = {}}}};
  if (static_cast<std::int64_t>(tokens[0].size()) > most_pieces_) {
    tokens.clear();
    line.parts.clear();
    for (const LinePart& part : split_line(text, most_pieces_, [this](std::string_view stretch) {
           return static_cast<std::int64_t>(source_.encode(stretch).size());
         })) {
      tokens.push_back(source_.encode(part.text));
      line.parts.push_back({.text = part});
    }
  }
  std::vector<std::size_t> words;
  if (config_.reports_attention) {
    words = word_starts(line.text);
    line.words = words.size();
  }
  std::vector<SourceSentence> sentences;
  for (std::size_t p = 0; p < tokens.size(); ++p) {
    Part& part = line.parts[p];
    if (tokens[p].empty()) continue;  // only characters that the tokenizer drops
    if (config_.reports_attention) {
      const auto offset = static_cast<std::size_t>(part.text.text.data() - line.text.data());
      for (const PlacedPiece& piece : source_.encode_with_places(part.text.text)) {
        const std::size_t last = offset + std::max(piece.end, piece.begin + 1) - 1;
        const auto next = std::ranges::upper_bound(words, last);
        part.words.push_back(
            static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - words.begin() - 1, 0)));
      }
    }
    part.required = demands_.of(part.text.text);
    facts_.source_tokens += static_cast<std::int64_t>(tokens[p].size());
    tokens[p].push_back(source_.eos_id());
    sentences.push_back({.line = number,
                         .part = static_cast<std::int64_t>(p),
                         .tokens = std::move(tokens[p]),
                         .required = requirements(part)});
  }
  if (!sentences.empty() && !prefix.empty())
    sentences.front().required.prefix = target_.encode(prefix);
  return sentences;
}

Requirements TranslationQueue::requirements(const Part& part) const {
  std::vector<RequiredPhrase> phrases;
  for (const RequiredText& required : part.required) {
    const std::u32string characters = code_points(required.text);
    phrases.push_back(
        {.tokens = pieces_behind(target_, character_before(part.text.text, required.begin),
                                 required.text),
         .ends_word = is_word_character(characters.back())});
  }
  return {.phrases = RequiredPhrases(std::move(phrases))};
}

void TranslationQueue::finish(FinishedSentence sentence) {
  Line& line = lines_[static_cast<std::size_t>(sentence.line - first_line_)];
  line.parts[static_cast<std::size_t>(sentence.part)].hypotheses = std::move(sentence.hypotheses);
  --line.missing;
}

std::optional<Translation> TranslationQueue::next() {
  if (lines_.empty() || lines_.front().missing > 0) return std::nullopt;
  Line& line = lines_.front();
  Translation translation{
      .line = first_line_, .n_best = {}, .payload = std::move(line.payload), .unmet = {}};
  std::size_t ranks = 1;
  bool cut = false;
  std::vector<RequiredText> required;
  for (const Part& part : line.parts) {
    ranks = std::max(ranks, part.hypotheses.size());
    required.insert(required.end(), part.required.begin(), part.required.end());
    if (part.hypotheses.empty()) continue;
    cut = cut || part.hypotheses.front().cut;
    facts_.target_tokens += static_cast<std::int64_t>(part.hypotheses.front().tokens.size());
  }
  if (cut) ++facts_.cut;
  for (std::size_t rank = 0; rank < ranks; ++rank) translation.n_best.push_back(join(line, rank));
  std::stable_sort(
      translation.n_best.begin(), translation.n_best.end(),
      [](const TranslatedText& a, const TranslatedText& b) { return a.score > b.score; });
  translation.unmet = unmet(required, translation.n_best.front().text);
  if (!translation.unmet.empty()) ++facts_.unmet;
  lines_.pop_front();
  ++first_line_;
  return translation;
}

TranslatedText TranslationQueue::join(const Line& line, std::size_t rank) const {
  TranslatedText joined;
  std::int64_t length = 0;
  double penalties = 0;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    const Part& part = line.parts[p];
    if (part.hypotheses.empty()) continue;
    const Hypothesis& hypothesis = part.hypotheses[std::min(rank, part.hypotheses.size() - 1)];
    const std::string text = target_.decode(hypothesis.tokens);
    if (p == 0)
      joined.text = text;
    else
      append_part(joined.text, line.parts[p - 1].text, text);
    joined.sum += hypothesis.sum;
    length += hypothesis.length;
    penalties += hypothesis.coverage_penalty;
    if (config_.reports_words) append_words(line, part, hypothesis, joined.words);
  }
  joined.text = on_one_line(std::move(joined.text));
  if (length > 0) joined.score = normalized_score(joined.sum, length, config_) + penalties;
  return joined;
}

void TranslationQueue::append_words(const Line& line, const Part& part,
                                    const Hypothesis& hypothesis,
                                    std::vector<TranslatedWord>& words) const {
  const std::vector<TokenId>& tokens = hypothesis.tokens;
  const std::size_t places = part.words.size() + 1;  // </s> at the end
  for (std::size_t begin = 0, end; begin < tokens.size(); begin = end) {
    end = begin + 1;
    while (end < tokens.size() && !target_.piece(tokens[end]).starts_with("\u2581")) ++end;
    const std::span word(tokens.data() + begin, end - begin);
    TranslatedWord translated{.text = on_one_line(std::string(strip(target_.decode(word))))};
    if (translated.text.empty()) continue;
    for (std::size_t t = begin; t < end; ++t)
      translated.sum += static_cast<double>(hypothesis.log_probabilities[t]);
    if (config_.reports_attention) {
      translated.attention.resize(line.words);
      for (std::size_t t = begin; t < end; ++t)
        for (std::size_t place = 0; place < part.words.size(); ++place)
          translated.attention[part.words[place]] +=
              hypothesis.attention[t * places + place] / static_cast<float>(end - begin);
    }
    words.push_back(std::move(translated));
  }
}

}  // namespace dragoman
