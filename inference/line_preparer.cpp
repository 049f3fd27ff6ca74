#include "inference/line_preparer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "inference/make_phrases.h"
#include "tokenizer/sentence_splitter.h"

namespace dragoman {

namespace {

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

bool needs_attention(const PreparedLine& line) {
  const PreparedRequest& request = *line.request;
  return request.reports_attention || request.settings->config.coverage_penalty > 0 ||
         request.demands->requires_any() || !line.terms.empty();
}

/// Whether a user-defined piece is a tag ("<bt>", ">>fra<<") that speaks of the text behind it.
/// Others ("@@", an emoji) are text themselves.
bool is_tag(std::string_view piece) {
  return !is_term_mark(piece) && ((piece.starts_with('<') && piece.ends_with('>')) ||
                                  (piece.starts_with(">>") && piece.ends_with("<<")));
}

/// Mean log-probabilities of a hypothesis: of as many of its least probable tokens as the required
/// texts have pieces, and of the rest.
struct Means {
  double required, rest;
};

Means means_of(const Hypothesis& hypothesis, std::size_t pieces) {
  std::vector<float> all = hypothesis.log_probabilities;
  const auto rest = all.begin() + static_cast<std::ptrdiff_t>(std::min(pieces, all.size()));
  std::nth_element(all.begin(), rest, all.end());
  const auto mean = [](auto begin, auto end) {
    return begin == end ? 0 : std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  return {mean(all.begin(), rest), mean(rest, all.end())};
}

// How much lower the mean log-probability of the rest may be than that of the free translation.
constexpr double kMostLostInSearch = 1;
constexpr double kMostLostInPlace = 2;  // where the rest is that of the free translation

/// Whether a hypothesis with required texts, which take so many pieces, reads nearly as well as the
/// one without: the rest of it is nearly as probable, and it is not much shorter.
bool is_fluent(const Hypothesis& constrained, const Hypothesis& free, std::size_t required,
               double most_lost) {
  constexpr double kLeastLength = 0.5;  // as a fraction
  return static_cast<double>(constrained.length) >=
             kLeastLength * static_cast<double>(free.length) &&
         means_of(constrained, required).rest >= means_of(free, 0).rest - most_lost;
}

}  // namespace

LinePreparer::LinePreparer(TokenizerPair tokenizers, const Model& model)
    : tokenizers_(std::move(tokenizers)),
      model_(model),
      knows_terms_(has_term_marks(*tokenizers_.source)) {
  for (std::string& symbol : tokenizers_.source->user_symbols())
    if (is_tag(symbol)) tags_.insert(std::move(symbol));
}

std::int64_t LinePreparer::most_pieces(const PreparedLine& line) const {
  return std::min(line.request->settings->config.split_length, model_.max_positions - 1);
}

/// The tag in front of a text ("<bt> one two"); empty where there is none.
std::string_view LinePreparer::tag_of(std::string_view text) const {
  const std::string_view first = text.substr(0, text.find(' '));
  return first.size() < text.size() && tags_.contains(first) ? first : std::string_view();
}

std::vector<SourceSentence> LinePreparer::prepare(LineInput input, PreparedLine& line) const {
  const bool valid = find_invalid_utf8(input.text) == std::string_view::npos;
  line.text = valid ? std::move(input.text) : replace_invalid_utf8(input.text);
  std::ranges::replace(line.text, '\0', ' ');
  line.prefix = std::move(input.prefix);
  line.terms = std::move(input.terms);
  const std::string_view text = strip(line.text), tag = tag_of(text);
  if (!text.empty()) split(line, text, tag);
  std::vector<std::size_t> words;
  if (line.request->reports_attention) words = word_starts(line.text);
  line.words = words.size();
  line.facts = {.lines = 1, .repaired = valid ? 0 : 1};
  std::vector<SourceSentence> sentences;
  for (std::size_t p = 0; p < line.parts.size(); ++p) {
    PreparedPart& part = line.parts[p];
    if (part.text.tokens.empty()) continue;  // only characters that the tokenizer drops
    if (p > 0) part.tag = tag;
    part.required = line.request->demands->of(part.text.text, line.terms);
    std::vector<TokenId> tokens = mark_terms(line, part);
    if (line.request->reports_attention) find_words(line.text, words, part);
    line.facts.source_tokens += static_cast<std::int64_t>(tokens.size());
    sentences.push_back(sentence_of(line, p, std::move(tokens)));
  }
  require_prefix(line, sentences);
  line.facts.empty = sentences.empty() ? 1 : 0;
  line.facts.split = sentences.size() > 1 ? 1 : 0;
  return sentences;
}

SourceSentence LinePreparer::sentence_of(const PreparedLine& line, std::size_t part,
                                         std::vector<TokenId> pieces) const {
  const std::size_t count = pieces.size();
  std::vector<TokenId> tokens = tokenizers_.source_tokens(std::move(pieces));
  const bool has_end = tokens.size() > count;
  return {.line = line.number,
          .part = static_cast<std::int64_t>(part),
          .tokens = std::move(tokens),
          .settings = line.request->settings,
          .needs_attention = needs_attention(line),
          .has_end = has_end};
}

/// The text of the first part has the tag already. The other parts are encoded with the tag in
/// front.
void LinePreparer::split(PreparedLine& line, std::string_view text, std::string_view tag) const {
  const auto cuts =
      splits_sentences(line.request->settings->config.split_sentences, model_.several_sentences)
          ? SentenceCuts::InAllLines
          : SentenceCuts::InLongLines;
  const auto encode = [&](std::string_view part) {
    return tokenizers_.source->encode(part.data() == text.data() ? std::string(part)
                                                                 : tagged(tag, part));
  };
  std::vector<LineStretch> whole;
  for (const RequiredText& required : line.request->demands->of(text, line.terms))
    whole.push_back({required.begin, required.end});
  for (LinePart& part : split_line(text, cuts, most_pieces(line), encode, whole))
    line.parts.push_back({.text = std::move(part)});
}

/// Returns the part's pieces. Its terms are written into the text (MarkedText) if the model knows
/// the marks and the text does not become too long.
std::vector<TokenId> LinePreparer::mark_terms(const PreparedLine& line, PreparedPart& part) const {
  if (knows_terms_) {
    std::vector<RequiredText> terms = part.required;
    std::erase_if(terms, [](const RequiredText& text) { return !text.inflects; });
    part.marked = MarkedText(part.text.text, terms);
    if (terms.empty()) return std::move(part.text.tokens);
    auto tokens = tokenizers_.source->encode(tagged(part.tag, part.marked.text()));
    if (static_cast<std::int64_t>(tokens.size()) <= most_pieces(line)) return tokens;
  }
  part.marked = MarkedText(part.text.text);
  return std::move(part.text.tokens);
}

/// Finds the word of each source piece. `starts` has the first byte of each word of the line.
void LinePreparer::find_words(std::string_view line, std::span<const std::size_t> starts,
                              PreparedPart& part) const {
  const auto offset = static_cast<std::size_t>(part.text.text.data() - line.data());
  const std::size_t lead = part.tag.empty() ? 0 : part.tag.size() + 1;
  for (const PieceSpan& piece :
       tokenizers_.source->encode_with_offsets(tagged(part.tag, part.marked.text()))) {
    const std::size_t last = std::max(piece.end, piece.begin + 1) - 1;
    const std::size_t byte = last < lead ? 0 : offset + part.marked.original_offset(last - lead);
    const auto next = std::ranges::upper_bound(starts, byte);
    part.words.push_back(
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - starts.begin() - 1, 0)));
  }
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

/// Of texts, as the tokenizer of the target writes them.
std::size_t LinePreparer::count_pieces(const std::vector<RequiredText>& texts) const {
  std::size_t pieces = 0;
  for (const RequiredText& text : texts) pieces += tokenizers_.target->encode(text.text).size();
  return pieces;
}

std::optional<SourceSentence> LinePreparer::keep_or_search_again(
    PreparedLine& line, std::size_t number, std::vector<Hypothesis> hypotheses) const {
  PreparedPart& part = line.parts[number];
  if (part.required.empty()) {
    part.hypotheses = std::move(hypotheses);
    return std::nullopt;
  }
  const std::vector<RequiredText> unmet =
      unmet_texts(part.required, tokenizers_.target->decode(hypotheses.front().tokens));
  if (part.stage == PreparedPart::Stage::Free) {
    if (!unmet.empty()) part.free = hypotheses.front();
    part.hypotheses = std::move(hypotheses);
    part.unmet = unmet;
  } else {
    // A translation that was cut is as long with its words replaced.
    if (part.stage == PreparedPart::Stage::Replaced) hypotheses.front().cut = part.free->cut;
    keep_if_better(line, part, std::move(hypotheses), unmet);
  }
  const std::size_t searched_before = part.searched.size();
  // If a text is required twice, the search gets both: while it gains one it may lose the other.
  for (const RequiredText& text : part.required)
    if (std::ranges::find(unmet, text.text, &RequiredText::text) != unmet.end() &&
        std::ranges::find(part.searched, text) == part.searched.end())
      part.searched.push_back(text);
  switch (part.stage) {
    case PreparedPart::Stage::Free:
      if (part.unmet.empty()) return std::nullopt;
      part.stage = PreparedPart::Stage::Replaced;
      if (auto sentence = sentence_with_words_replaced(line, number)) return sentence;
      break;
    case PreparedPart::Stage::Replaced:
      if (part.unmet.empty() && has_unknown_texts(part)) return std::nullopt;
      break;
    case PreparedPart::Stage::Phrases:
      if (part.unmet.empty() || part.searched.size() == searched_before) return std::nullopt;
  }
  part.stage = PreparedPart::Stage::Phrases;
  return sentence_with_phrases(line, number);
}

/// Behind a word that the model does not expect at all, its probabilities are worth little, and a
/// search would choose by them.
bool LinePreparer::has_unknown_texts(const PreparedPart& part) const {
  constexpr double kUnknown = -8;
  return means_of(part.hypotheses.front(), count_pieces(part.searched)).required < kUnknown;
}

void LinePreparer::keep_if_better(const PreparedLine& line, PreparedPart& part,
                                  std::vector<Hypothesis> hypotheses,
                                  const std::vector<RequiredText>& unmet) const {
  const Hypothesis &now = hypotheses.front(), &before = part.hypotheses.front();
  const std::size_t pieces = count_pieces(part.required) - count_pieces(unmet);
  const bool is_in_place = part.stage == PreparedPart::Stage::Replaced;
  const bool fluent =
      is_fluent(now, *part.free, pieces, is_in_place ? kMostLostInPlace : kMostLostInSearch);
  const bool has_more = unmet.size() < part.unmet.size();
  const bool is_forced = line.request->demands->phrase_policy == PhrasePolicy::Always;
  const bool has_as_many = unmet.size() == part.unmet.size() && before.tokens != part.free->tokens;
  const bool reads_better = means_of(now, pieces).rest > means_of(before, pieces).rest;
  if (!(has_more && (fluent || is_forced)) && !(has_as_many && fluent && reads_better)) return;
  part.unmet = unmet;
  if (hypotheses.size() < part.hypotheses.size())  // an n-best list stays as long as it is
    hypotheses.insert(hypotheses.end(), part.hypotheses.begin(),
                      part.hypotheses.end() - static_cast<std::ptrdiff_t>(hypotheses.size()));
  part.hypotheses = std::move(hypotheses);
}

SourceSentence LinePreparer::sentence_with_phrases(const PreparedLine& line,
                                                   std::size_t number) const {
  const PreparedPart& part = line.parts[number];
  const std::string source = tagged(part.tag, part.marked.text());
  const std::size_t lead = source.size() - part.marked.text().size();
  std::vector<RequiredText> texts = part.searched;
  for (RequiredText& text : texts) {
    text.begin = lead + part.marked.marked_offset(text.begin);
    text.end = lead + part.marked.marked_offset(text.end);
  }
  SourceSentence sentence = sentence_of(line, number, tokenizers_.source->encode(source));
  sentence.required = {
      .prefix = part.prefix,
      .phrases = phrases_of(texts, source, *part.free, *tokenizers_.source, *tokenizers_.target),
      .phrase_policy = line.request->demands->phrase_policy};
  return sentence;
}

/// The first translation with the texts in the place of its words; none where no word can be
/// replaced.
std::optional<SourceSentence> LinePreparer::sentence_with_words_replaced(const PreparedLine& line,
                                                                         std::size_t number) const {
  const PreparedPart& part = line.parts[number];
  if (!part.prefix.tokens.empty()) return std::nullopt;
  SourceSentence sentence = sentence_with_phrases(line, number);
  std::vector<TokenId> tokens = with_words_replaced(part.searched, sentence.required.phrases,
                                                    *part.free, *tokenizers_.target);
  if (tokens.empty() || has_excluded(tokens, line.request->settings->tokens)) return std::nullopt;
  tokens.push_back(tokenizers_.target->eos_id());
  sentence.required = {.prefix = {.tokens = std::move(tokens)}};
  return sentence;
}

}  // namespace dragoman
