#include "inference/translation_service.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "inference/translation_job.h"

namespace dragoman {

TranslationService::TranslationService(const std::vector<Engine*>& engines,
                                       const TokenizerPair& tokenizers, const ServiceConfig& config)
    : engine_(*engines.front()),
      target_(tokenizers.target),
      preparer_(tokenizers, {.max_positions = engine_.max_positions(),
                             .several_sentences = config.several_sentences,
                             .copied_fractions = config.copied_fractions,
                             .seen = config.characters ? std::make_shared<const CharacterSet>(
                                                             config.characters->source)
                                                       : nullptr}),
      required_texts_(tokenizers),
      edges_(token_edges(*target_)),
      cache_(config.cache_bytes),
      workers_(engines, config.limits) {}

namespace {

void refuse_draws_with_demands(const DecodeConfig& config, const Demands& demands) {
  if (config.sampling && demands.requires_any())
    throw UsageError("--sampling: draws cannot be made to have --terms or --protect");
}

}  // namespace

std::shared_ptr<const PreparedRequest> TranslationService::prepare(
    const TranslationRequest& request) const {
  static const auto none = std::make_shared<const Demands>();
  const std::shared_ptr<const Demands>& demands = request.demands ? request.demands : none;
  request.config.check();
  refuse_draws_with_demands(request.config, *demands);
  engine_.check(heads_of(request.config));
  TargetTokens tokens = target_tokens(*target_, request.config, demands->avoided);
  tokens.edges = edges_;
  return std::make_shared<const PreparedRequest>(
      PreparedRequest{.settings = std::make_shared<const SearchSettings>(
                          SearchSettings{.config = request.config, .tokens = std::move(tokens)}),
                      .demands = demands,
                      .reports_words = request.reports_words || request.reports_attention,
                      .reports_attention = request.reports_attention,
                      .words_of_best_alone = request.words_of_best_alone});
}

std::shared_ptr<const PreparedRequest> TranslationService::with_demands(
    const PreparedRequest& request, std::shared_ptr<const Demands> demands) const {
  if (!demands->avoided.empty())
    return prepare({.config = request.settings->config,
                    .demands = std::move(demands),
                    .reports_words = request.reports_words,
                    .reports_attention = request.reports_attention,
                    .words_of_best_alone = request.words_of_best_alone});
  refuse_draws_with_demands(request.settings->config, *demands);
  auto result = std::make_shared<PreparedRequest>(request);
  result->demands = std::move(demands);
  return result;
}

TranslationAnswers TranslationService::submit(Submission submission) {
  const auto job = std::make_shared<TranslationJob>(preparer_, required_texts_, cache_, *target_);
  TranslationAnswers answers(job);
  workers_.add(job->begin(std::move(submission)));
  return answers;
}

}  // namespace dragoman
