#include "evaluation/chrf.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

bool is_one_character(std::string_view word) {
  std::size_t offset = 0;
  next_code_point(word, offset);
  return offset == word.size();
}

/// Takes one punctuation mark off a word's end or else its beginning, as chrF++.py does: "(hi)"
/// becomes "(hi" and ")".
std::vector<std::string_view> separate_punctuation(const std::vector<std::string_view>& words) {
  std::vector<std::string_view> parts;
  parts.reserve(words.size() + words.size() / 4);
  for (std::string_view word : words) {
    std::size_t cut = word.size();
    if (!is_one_character(word)) {
      if (is_ascii_punctuation(word.back())) {
        cut = word.size() - 1;
      } else if (is_ascii_punctuation(word.front())) {
        cut = 1;
      }
    }
    parts.push_back(word.substr(0, cut));
    if (cut < word.size()) parts.push_back(word.substr(cut));
  }
  return parts;
}

struct Segment {
  Segment(const std::string& line, const ChrfConfig& config) : text(valid_line(line)) {
    if (config.lowercase) text = lower_case(text);
    characters.reserve(text.size());
    for (std::size_t offset = 0; offset < text.size();) {
      const char32_t c = next_code_point(text, offset);
      if (config.whitespace || !is_space(c)) characters.push_back(c);
    }
    if (config.word_order > 0) words = separate_punctuation(split_words(text));
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::string text;
  std::vector<std::uint32_t> characters;
  std::vector<std::string_view> words;  ///< they point into `text`
};

/// Writes [hypothesis n-grams, reference n-grams, matches] for the orders of `matches`. If the
/// reference has no n-gram of an order, those of the hypothesis do not count.
void write_triplets(std::size_t hypothesis, std::size_t reference,
                    std::span<const std::int64_t> matches, std::span<double> row) {
  for (std::size_t n = 0; n < matches.size(); ++n) {
    const std::int64_t expected = ngram_count(reference, static_cast<int>(n) + 1);
    const std::int64_t found = expected > 0 ? ngram_count(hypothesis, static_cast<int>(n) + 1) : 0;
    row[3 * n] = static_cast<double>(found);
    row[3 * n + 1] = static_cast<double>(expected);
    row[3 * n + 2] = static_cast<double>(matches[n]);
  }
}

}  // namespace

template <class Real>
Real chrf_of_statistics(std::span<const Real> sum, const ChrfConfig& config) {
  constexpr auto kEpsilon = static_cast<Real>(1e-16);
  const auto factor = static_cast<Real>(config.beta * config.beta);
  Real smoothed = 0, precisions = 0, recalls = 0;
  int effective_order = 0;
  for (std::size_t i = 0; i < sum.size(); i += 3) {
    const Real hypothesis = sum[i], reference = sum[i + 1], matches = sum[i + 2];
    const Real precision = hypothesis > 0 ? matches / hypothesis : kEpsilon;
    const Real recall = reference > 0 ? matches / reference : kEpsilon;
    const Real weighted = factor * precision + recall;
    smoothed += weighted > 0 ? (1 + factor) * precision * recall / weighted : kEpsilon;
    if (hypothesis > 0 && reference > 0) {
      precisions += precision;
      recalls += recall;
      ++effective_order;
    }
  }
  if (config.eps_smoothing)
    return 100 * smoothed / static_cast<Real>(config.char_order + config.word_order);
  if (precisions + recalls == 0) return 0;
  precisions /= static_cast<Real>(effective_order);
  recalls /= static_cast<Real>(effective_order);
  return 100 * ((1 + factor) * precisions * recalls / (factor * precisions + recalls));
}
template double chrf_of_statistics(std::span<const double>, const ChrfConfig&);
template float chrf_of_statistics(std::span<const float>, const ChrfConfig&);

namespace {

/// Counts lines one after the other, in the same tables.
class ChrfCounter {
 public:
  explicit ChrfCounter(const ChrfConfig& config)
      : config_(config),
        characters_(static_cast<int>(config.char_order)),
        words_(static_cast<int>(config.word_order)) {}

  void operator()(const std::string& line, const std::vector<const std::string*>& references,
                  std::span<double> row) {
    const Segment hypothesis(line, config_);
    std::vector<double> candidate(row.size());
    double best = -1;
    for (const std::string* reference : references) {
      compare(hypothesis, Segment(*reference, config_), candidate);
      const double score = chrf_of_statistics<double>(candidate, config_);
      if (score <= best) continue;
      best = score;
      std::copy(candidate.begin(), candidate.end(), row.begin());
    }
  }

 private:
  void compare(const Segment& hypothesis, const Segment& reference, std::span<double> row) {
    const auto char_order = static_cast<std::size_t>(config_.char_order);
    const auto word_order = static_cast<std::size_t>(config_.word_order);
    matches_.assign(char_order + word_order, 0);
    const auto matches = std::span(matches_);
    characters_.start(reference.characters.size());
    characters_.add_reference(reference.characters);
    characters_.match(hypothesis.characters, matches.first(char_order));
    write_triplets(hypothesis.characters.size(), reference.characters.size(),
                   matches.first(char_order), row.first(3 * char_order));
    if (word_order == 0) return;
    numbering_.clear();
    words_.start(reference.words.size());
    words_.add_reference(numbering_.add(reference.words));
    words_.match(numbering_.find(hypothesis.words), matches.last(word_order));
    write_triplets(hypothesis.words.size(), reference.words.size(), matches.last(word_order),
                   row.last(3 * word_order));
  }

  const ChrfConfig& config_;
  NgramMatcher characters_, words_;
  WordNumbering numbering_;
  std::vector<std::int64_t> matches_;
};

}  // namespace

LineStatistics chrf_statistics(std::span<const std::string> hypotheses,
                               const References& references, const ChrfConfig& config) {
  const std::size_t width = 3 * static_cast<std::size_t>(config.char_order + config.word_order);
  return count_lines(hypotheses, references, width, [&] { return ChrfCounter(config); });
}

std::string chrf_name(const ChrfConfig& config) {
  return "chrF" + std::to_string(config.beta) +
         std::string(static_cast<std::size_t>(config.word_order), '+');
}

std::string chrf_signature(const ChrfConfig& config, std::string_view references,
                           std::string_view version) {
  return join_text("nrefs:", references, config.lowercase ? "|case:lc" : "|case:mixed",
                   config.eps_smoothing ? "|eff:no" : "|eff:yes", "|nc:", config.char_order,
                   "|nw:", config.word_order, config.whitespace ? "|space:yes" : "|space:no",
                   "|version:", version);
}

}  // namespace dragoman
