#include "inference/prepared_line.h"

#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

bool needs_attention(const PreparedLine& line, const PreparedPart& part) {
  const PreparedRequest& request = *line.request;
  return request.reports_attention || request.settings->config.coverage_penalty > 0 ||
         request.demands->requires_any() || !line.terms.empty() || !part.unseen.copies.empty();
}

}  // namespace

std::string tagged(std::string_view tag, std::string_view text) {
  return tag.empty() ? std::string(text) : join_text(tag, " ", text);
}

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

}  // namespace dragoman
