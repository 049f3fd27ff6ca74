#include "extras/formats/commands/parity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "extras/formats/plain_transformer.h"
#include "inference/cpu/cpu_engine.h"

namespace dragoman {

namespace {

/// Words that most vocabularies can spell, with signs, digits and letters that some cannot.
constexpr std::array<const char*, 3> kLines = {
    "Two men are standing in front of a house.", "Das kostet 1.234,50 Euro (mit \"Steuer\").",
    "D\u00e9j\u00e0 vu: \u041f\u0440\u0438\u0432\u0435\u0442, \u4f60\u597d!"};
constexpr std::int64_t kRandomLines = 3;  // of pieces, so that any part of the vocabulary may occur
constexpr std::int64_t kRandomPieces = 9;
constexpr std::int64_t kLongestSource = 40;
constexpr std::int64_t kLongest = 12;    // tokens of a translation
constexpr std::int64_t kCandidates = 5;  // of a step, whose log-probabilities are compared
/// If two tokens are this close, neither is better.
constexpr double kTie = 1e-3;

using Tokens = std::vector<TokenId>;

struct GreedyTranslation {
  Tokens tokens;                      ///< </s> included
  std::vector<Candidate> candidates;  ///< [tokens, kCandidates]
};

GreedyTranslation translate(CpuEngine& engine, const Tokens& source, TokenId eos) {
  const std::int64_t best = std::min(kCandidates, engine.vocabulary());
  GreedyTranslation translation;
  const std::vector<std::int32_t> slots = engine.admit(std::vector<Tokens>{source});
  TokenId previous = eos;
  std::int32_t parent = -1;
  const std::int64_t longest = std::min(kLongest, engine.max_positions());
  while (static_cast<std::int64_t>(translation.tokens.size()) < longest) {
    const RowOrigin origin{.parent = parent, .slot = slots[0]};
    std::vector<Candidate> candidates(static_cast<std::size_t>(best));
    engine.step({.rows = {&origin, 1},
                 .previous = {&previous, 1},
                 .candidates_per_row = best,
                 .candidates = candidates});
    translation.candidates.insert(translation.candidates.end(), candidates.begin(),
                                  candidates.end());
    translation.tokens.push_back(previous = candidates.front().token);
    parent = 0;
    if (previous == eos) break;
  }
  engine.release(slots);
  return translation;
}

/// The best token that may be produced.
std::size_t best_of(const std::vector<double>& scores, const std::vector<TokenId>& excluded) {
  std::size_t best = 0;
  bool is_first = true;
  for (std::size_t token = 0; token < scores.size(); ++token) {
    if (std::ranges::find(excluded, static_cast<TokenId>(token)) != excluded.end()) continue;
    if (is_first || scores[token] > scores[best]) best = token;
    is_first = false;
  }
  return best;
}

Tokens random_line(std::int64_t line, const ForeignModel& model) {
  Tokens tokens;
  const auto vocabulary = static_cast<std::uint64_t>(model.config.source_vocabulary);
  for (std::int64_t i = 0; i < kRandomPieces; ++i)
    tokens.push_back(static_cast<TokenId>(random_bits(1, line, i) % vocabulary));
  return tokens;
}

}  // namespace

std::string Parity::text() const {
  char difference[32];
  std::snprintf(difference, sizeof difference, "%.1e", largest);
  return join_text(
      lines, " lines: ",
      lines_of_pieces == lines_of_text
          ? std::string("the same pieces")
          : join_text("other pieces in ", lines_of_text - lines_of_pieces, " of ", lines_of_text),
      ", log-probabilities within ", difference, ", ",
      same_tokens == tokens
          ? std::string("the same greedy translations")
          : join_text(tokens - same_tokens, " of ", tokens, " tokens of translations differ"));
}

Parity parity_of(const ForeignModel& theirs, const ParameterReader& ours,
                 const TokenizerPair& tokenizers) {
  const std::vector<TokenId> excluded = tokenizers.target->never_emitted();
  CpuEngine engine(std::make_shared<const CpuModel>(ours, ComputeType::Float32), excluded);
  const Tokenizer their_source(theirs.source.sentencepiece, theirs.source.file);
  const TokenId eos = static_cast<TokenId>(theirs.config.eos_id);
  TokenizerPair with_their_ends = tokenizers;
  with_their_ends.source_eos = theirs.config.source_eos;
  std::vector<Tokens> lines;
  Parity parity;
  for (const char* line : kLines) {
    lines.push_back(their_tokens(theirs.source, their_source, tokenizers.source->unk_id(), line));
    parity.lines_of_pieces +=
        with_their_ends.source_tokens(lines.back()) == tokenizers.source_tokens(line);
    ++parity.lines_of_text;
  }
  for (std::int64_t line = 0; line < kRandomLines; ++line)
    lines.push_back(random_line(line, theirs));
  const std::int64_t longest = std::min(kLongestSource, engine.max_positions());
  for (Tokens& line : lines) {
    line.resize(std::min(line.size(), static_cast<std::size_t>(longest - 1)));
    line = with_their_ends.source_tokens(std::move(line));
    const GreedyTranslation translation = translate(engine, line, eos);
    const auto scores = plain_log_probabilities(theirs, line, translation.tokens);
    const std::size_t each = translation.candidates.size() / translation.tokens.size();
    for (std::size_t i = 0; i < translation.candidates.size(); ++i) {
      const Candidate& candidate = translation.candidates[i];
      if (std::isinf(candidate.log_probability)) continue;
      const double other = scores[i / each][static_cast<std::size_t>(candidate.token)];
      const double difference = std::abs(candidate.log_probability - other);
      // NaN counts as larger than any number, and stays.
      if (!std::isnan(parity.largest) && !(difference <= parity.largest))
        parity.largest = difference;
    }
    for (std::size_t t = 0; t < translation.tokens.size(); ++t) {
      const auto token = static_cast<std::size_t>(translation.tokens[t]);
      parity.same_tokens += scores[t][best_of(scores[t], excluded)] - scores[t][token] < kTie;
    }
    parity.tokens += static_cast<std::int64_t>(translation.tokens.size());
    ++parity.lines;
  }
  return parity;
}

}  // namespace dragoman
