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

}  // namespace

TranslationQueue::TranslationQueue(const Tokenizer& source, const Tokenizer& target,
                                   const DecodeConfig& config, std::int64_t most_pieces)
    : source_(source), target_(target), config_(config), most_pieces_(most_pieces) {}

std::vector<SourceSentence> TranslationQueue::add(std::string_view bytes) {
  const std::int64_t number = first_line_ + size();
  // The parts are views of the text, so it is not moved any more.
  Line& line = lines_.emplace_back();
  ++facts_.lines;
  const bool valid = find_invalid_utf8(bytes) == std::string_view::npos;
  if (!valid) ++facts_.repaired;
  line.text = valid ? std::string(bytes) : replace_invalid_utf8(bytes);
  std::vector<SourceSentence> sentences = make_sentences(line, number);
  if (sentences.empty()) ++facts_.empty;
  if (sentences.size() > 1) ++facts_.split;
  line.hypotheses.resize(line.parts.size());
  line.missing = sentences.size();
  return sentences;
}

std::vector<SourceSentence> TranslationQueue::make_sentences(Line& line, std::int64_t number) {
  const std::string_view text = strip(line.text);
  if (text.empty()) return {};
  std::vector<std::vector<TokenId>> tokens = {source_.encode(text)};
  line.parts = {{.text = text, .separator = {}}};
  if (static_cast<std::int64_t>(tokens[0].size()) > most_pieces_) {
    line.parts = split_line(text, most_pieces_, [this](std::string_view part) {
      return static_cast<std::int64_t>(source_.encode(part).size());
    });
    tokens.clear();
    for (const LinePart& part : line.parts) tokens.push_back(source_.encode(part.text));
  }
  std::vector<SourceSentence> sentences;
  for (std::size_t part = 0; part < tokens.size(); ++part) {
    if (tokens[part].empty()) continue;  // only characters that the tokenizer drops
    facts_.source_tokens += static_cast<std::int64_t>(tokens[part].size());
    tokens[part].push_back(source_.eos_id());
    sentences.push_back({.line = number,
                         .part = static_cast<std::int64_t>(part),
                         .tokens = std::move(tokens[part])});
  }
  return sentences;
}

void TranslationQueue::finish(FinishedSentence sentence) {
  Line& line = lines_[static_cast<std::size_t>(sentence.line - first_line_)];
  line.hypotheses[static_cast<std::size_t>(sentence.part)] = std::move(sentence.hypotheses);
  --line.missing;
}

std::optional<Translation> TranslationQueue::next() {
  if (lines_.empty() || lines_.front().missing > 0) return std::nullopt;
  const Line& line = lines_.front();
  Translation translation{.line = first_line_, .n_best = {}};
  std::size_t ranks = 1;
  bool cut = false;
  for (const std::vector<Hypothesis>& part : line.hypotheses) {
    ranks = std::max(ranks, part.size());
    if (part.empty()) continue;
    cut = cut || part.front().cut;
    facts_.target_tokens += static_cast<std::int64_t>(part.front().tokens.size());
  }
  if (cut) ++facts_.cut;
  for (std::size_t rank = 0; rank < ranks; ++rank) translation.n_best.push_back(join(line, rank));
  std::stable_sort(
      translation.n_best.begin(), translation.n_best.end(),
      [](const TranslatedText& a, const TranslatedText& b) { return a.score > b.score; });
  lines_.pop_front();
  ++first_line_;
  return translation;
}

TranslatedText TranslationQueue::join(const Line& line, std::size_t rank) const {
  TranslatedText joined;
  std::int64_t length = 0;
  for (std::size_t part = 0; part < line.parts.size(); ++part) {
    const std::vector<Hypothesis>& hypotheses = line.hypotheses[part];
    if (hypotheses.empty()) continue;
    const Hypothesis& hypothesis = hypotheses[std::min(rank, hypotheses.size() - 1)];
    const std::string text = target_.decode(hypothesis.tokens);
    if (part == 0)
      joined.text = text;
    else
      append_part(joined.text, line.parts[part - 1], text);
    joined.sum += hypothesis.sum;
    length += hypothesis.length;
  }
  joined.text = on_one_line(std::move(joined.text));
  if (length > 0) joined.score = normalized_score(joined.sum, length, config_);
  return joined;
}

}  // namespace dragoman
