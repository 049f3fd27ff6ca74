// Requests, lines and hypotheses for the tests of the work before and after a search.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/line_preparer.h"
#include "inference/required_text_search.h"
#include "tests/inference/copying_model.h"

namespace dragoman {

inline std::shared_ptr<const PreparedRequest> request(DecodeConfig search, Demands demands = {},
                                                      bool reports_attention = false) {
  return std::make_shared<const PreparedRequest>(
      PreparedRequest{.settings = std::make_shared<const SearchSettings>(
                          SearchSettings{std::move(search), {.eos = tokenizer().eos_id()}}),
                      .demands = std::make_shared<const Demands>(std::move(demands)),
                      .reports_words = reports_attention,
                      .reports_attention = reports_attention});
}

inline Terms terms(const std::string& source, const std::string& target) {
  return Terms(std::vector<std::pair<std::string, std::string>>{{source, target}});
}

inline const LinePreparer& preparer() {
  static const LinePreparer all(tokenizer_pair(), 1000, {.several_sentences = 0.0});
  return all;
}

inline const RequiredTextSearch& required_texts() {
  static const RequiredTextSearch all(tokenizer_pair());
  return all;
}

inline std::vector<TokenId> with_end(const std::string& text) {
  std::vector<TokenId> tokens = tokenizer().encode(text);
  tokens.push_back(tokenizer().eos_id());
  return tokens;
}

inline Hypothesis hypothesis(const std::string& text) {
  Hypothesis found{.tokens = tokenizer().encode(text), .sum = -1, .score = -1};
  found.length = static_cast<std::int64_t>(found.tokens.size()) + 1;
  found.log_probabilities.assign(found.tokens.size() + 1, -0.1F);
  return found;
}

}  // namespace dragoman
