#include "inference/translation_queue.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "inference/required_phrases.h"
#include "tokenizer/model_facts.h"
#include "tokenizer/sentence_splitter.h"

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

/// As training puts tags in front of text.
std::string tagged(std::string_view tag, std::string_view text) {
  return tag.empty() ? std::string(text) : join_text(tag, " ", text);
}

}  // namespace

TranslationFacts& TranslationFacts::operator+=(const TranslationFacts& more) {
  lines += more.lines;
  empty += more.empty;
  split += more.split;
  repaired += more.repaired;
  cut += more.cut;
  unmet += more.unmet;
  source_tokens += more.source_tokens;
  target_tokens += more.target_tokens;
  return *this;
}

TranslationQueue::TranslationQueue(const Tokenizer& source, const Tokenizer& target,
                                   const DecodeConfig& config, const Demands& demands,
                                   const Limits& limits)
    : source_(source),
      target_(target),
      config_(config),
      demands_(demands),
      most_pieces_(limits.most_pieces),
      knows_terms_(has_term_marks(source)),
      first_line_(limits.first_line) {
  const auto kinds = tokenizer_facts(source.model_bytes(), "the source tokenizer").kinds;
  for (std::size_t id = 0; id < kinds.size(); ++id)
    if (std::string piece = source.piece(static_cast<TokenId>(id));
        kinds[id] == PieceKind::UserDefined && !is_term_mark(piece))
      tags_.insert(std::move(piece));
}

std::vector<SourceSentence> TranslationQueue::add(LineInput input) {
  const std::int64_t number = first_line_ + size();
  // The parts are views of the text, so it is not moved any more.
  Line& line = lines_.emplace_back();
  const bool valid = find_invalid_utf8(input.text) == std::string_view::npos;
  line.facts = {.lines = 1, .repaired = valid ? 0 : 1};
  line.text = valid ? std::move(input.text) : replace_invalid_utf8(input.text);
  line.prefix = std::move(input.prefix);
  line.search = search_of(input);
  line.terms = std::move(input.terms);
  std::vector<SourceSentence> sentences = make_sentences(line, number);
  line.facts.empty = sentences.empty() ? 1 : 0;
  line.facts.split = sentences.size() > 1 ? 1 : 0;
  line.missing = sentences.size();
  return sentences;
}

std::shared_ptr<const DecodeConfig> TranslationQueue::search_of(const LineInput& line) const {
  if (!line.search && line.terms.empty()) return nullptr;
  DecodeConfig config = config_;
  if (line.search) {
    config.beam_size = line.search->beam_size;
    config.n_best = line.search->n_best;
    config.reports_attention = line.search->reports_attention;
    config.reports_words = config.reports_words || config.reports_attention;
  }
  config.requires_phrases = config.requires_phrases || !line.terms.empty();
  return std::make_shared<const DecodeConfig>(std::move(config));
}

/// The user-defined piece in front of a text ("<bt> one two"); empty where there is none.
std::string_view TranslationQueue::tag_of(std::string_view text) const {
  const std::string_view first = text.substr(0, text.find(' '));
  return first.size() < text.size() && tags_.contains(first) ? first : std::string_view();
}

std::vector<SourceSentence> TranslationQueue::make_sentences(Line& line, std::int64_t number) {
  const std::string_view text = strip(line.text), tag = tag_of(text);
  if (text.empty()) return {};
  const auto cuts = splits_sentences(config_.split_sentences, config_.several_sentences)
                        ? SentenceCuts::InAllLines
                        : SentenceCuts::InLongLines;
  const auto encode = [&](std::string_view part) {
    return source_.encode(part.data() == text.data() ? std::string(part) : tagged(tag, part));
  };
  for (LinePart& part : split_line(text, cuts, most_pieces_, encode))
    line.parts.push_back({.text = std::move(part)});
  const bool reports_attention = config_of(line).reports_attention;
  std::vector<std::size_t> words;
  if (reports_attention) words = word_starts(line.text);
  line.words = words.size();
  std::vector<SourceSentence> sentences;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    Part& part = line.parts[p];
    if (part.text.tokens.empty()) continue;  // only characters that the tokenizer drops
    if (p > 0) part.tag = tag;
    part.required = demands_.of(part.text.text, line.terms);
    std::vector<TokenId> tokens = mark_terms(part);
    if (reports_attention) place_words(line.text, words, part);
    line.facts.source_tokens += static_cast<std::int64_t>(tokens.size());
    tokens.push_back(source_.eos_id());
    sentences.push_back({.line = number,
                         .part = static_cast<std::int64_t>(p),
                         .tokens = std::move(tokens),
                         .required = {},
                         .search = line.search});
  }
  require_prefix(line.prefix, sentences);
  for (const SourceSentence& sentence : sentences)
    line.parts[static_cast<std::size_t>(sentence.part)].prefix = sentence.required;
  return sentences;
}

/// Writes its terms into the part's text where the model knows what that means and it does not get
/// too long; the pieces of the text.
std::vector<TokenId> TranslationQueue::mark_terms(Part& part) const {
  if (knows_terms_) {
    std::vector<RequiredText> terms = part.required;
    std::erase_if(terms, [](const RequiredText& text) { return !text.inflects; });
    part.marked = MarkedText(part.text.text, terms);
    if (terms.empty()) return std::move(part.text.tokens);
    auto tokens = source_.encode(tagged(part.tag, part.marked.text()));
    if (static_cast<std::int64_t>(tokens.size()) <= most_pieces_) return tokens;
  }
  part.marked = MarkedText(part.text.text);
  return std::move(part.text.tokens);
}

/// Finds the word of each source piece, by where the line's words start.
void TranslationQueue::place_words(std::string_view line, std::span<const std::size_t> starts,
                                   Part& part) const {
  const auto offset = static_cast<std::size_t>(part.text.text.data() - line.data());
  const std::size_t lead = part.tag.empty() ? 0 : part.tag.size() + 1;
  for (const PlacedPiece& piece :
       source_.encode_with_places(tagged(part.tag, part.marked.text()))) {
    const std::size_t last = std::max(piece.end, piece.begin + 1) - 1;
    const std::size_t place = last < lead ? 0 : offset + part.marked.original_of(last - lead);
    const auto next = std::ranges::upper_bound(starts, place);
    part.words.push_back(
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - starts.begin() - 1, 0)));
  }
}

/// The sentences of a prefix are those that the line's translations begin with; all but its last
/// one are whole.
void TranslationQueue::require_prefix(std::string_view prefix,
                                      std::vector<SourceSentence>& sentences) const {
  const std::string_view text = strip(prefix);
  if (text.empty() || sentences.empty()) return;
  const std::vector<std::string_view> whole = split_sentences(text);
  std::size_t s = 0;
  for (; s + 1 < std::min(whole.size(), sentences.size()); ++s) {
    sentences[s].required.prefix = target_.encode(whole[s]);
    sentences[s].required.prefix.push_back(target_.eos_id());
  }
  const auto begin = static_cast<std::size_t>(whole[s].data() - text.data());
  sentences[s].required.prefix = target_.encode(text.substr(begin));
  sentences[s].required.prefix_ends_word = !prefix.ends_with(text);
}

std::vector<SourceSentence> TranslationQueue::finish(FinishedSentence sentence) {
  Line& line = lines_[static_cast<std::size_t>(sentence.line - first_line_)];
  const auto number = static_cast<std::size_t>(sentence.part);
  if (asks_again(line.parts[number], std::move(sentence.hypotheses)))
    return {demanding(line, sentence.line, number)};
  --line.missing;
  return {};
}

/// Keeps the hypotheses if they are the first, or have more of what is required; then whether the
/// search is to be asked for something that it was not asked for yet.
bool TranslationQueue::asks_again(Part& part, std::vector<Hypothesis> hypotheses) const {
  std::vector<RequiredText> missing =
      missing_texts(part.required, target_.decode(hypotheses.front().tokens));
  if (part.hypotheses.empty() || missing.size() < part.missing.size()) {
    part.hypotheses = std::move(hypotheses);
    part.missing = missing;
  }
  const std::size_t asked = part.asked.size();
  // Of a text that is required twice each is asked for, as one may be lost while the other comes.
  for (const RequiredText& text : part.required)
    if (std::ranges::find(missing, text.text, &RequiredText::text) != missing.end() &&
        std::ranges::find(part.asked, text) == part.asked.end())
      part.asked.push_back(text);
  return !part.missing.empty() && part.asked.size() > asked;
}

SourceSentence TranslationQueue::demanding(const Line& line, std::int64_t number,
                                           std::size_t part) const {
  const Part& of = line.parts[part];
  const std::string source = tagged(of.tag, of.marked.text());
  const std::size_t lead = source.size() - of.marked.text().size();
  std::vector<RequiredText> asked = of.asked;
  for (RequiredText& text : asked) {
    text.begin = lead + of.marked.place_of(text.begin);
    text.end = lead + of.marked.place_of(text.end);
  }
  SourceSentence sentence{.line = number,
                          .part = static_cast<std::int64_t>(part),
                          .tokens = source_.encode(source),
                          .required = of.prefix,
                          .search = line.search};
  sentence.tokens.push_back(source_.eos_id());
  sentence.required.phrases = phrases_of(asked, source, of.hypotheses.front(), source_, target_);
  sentence.required.demand = demands_.demand;
  return sentence;
}

std::optional<Translation> TranslationQueue::next() {
  if (lines_.empty() || lines_.front().missing > 0) return std::nullopt;
  Line& line = lines_.front();
  Translation translation{.line = first_line_, .n_best = {}, .unmet = {}};
  std::size_t ranks = 1;
  bool cut = false;
  for (const Part& part : line.parts) {
    ranks = std::max(ranks, part.hypotheses.size());
    for (const RequiredText& text : part.missing) translation.unmet.push_back(text.text);
    if (part.hypotheses.empty()) continue;
    cut = cut || part.hypotheses.front().cut;
    line.facts.target_tokens += static_cast<std::int64_t>(part.hypotheses.front().tokens.size());
  }
  line.facts.cut = cut ? 1 : 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) translation.n_best.push_back(join(line, rank));
  // A translation that has its terms may score less than one that lacks them.
  const auto is_asked = [](const Part& part) { return !part.asked.empty(); };
  if (std::ranges::none_of(line.parts, is_asked))
    std::stable_sort(
        translation.n_best.begin(), translation.n_best.end(),
        [](const TranslatedText& a, const TranslatedText& b) { return a.score > b.score; });
  line.facts.unmet = translation.unmet.empty() ? 0 : 1;
  facts_ += line.facts;
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
    if (config_of(line).reports_words) append_words(line, part, hypothesis, joined.words);
  }
  // Of nothing there is nothing else to say.
  if (length == 0) joined.text = strip(line.prefix);
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
    if (config_of(line).reports_attention) {
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
