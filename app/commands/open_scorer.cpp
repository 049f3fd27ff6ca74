#include "app/commands/open_scorer.h"

#include <memory>
#include <span>
#include <vector>

#include "app/commands/open_translator.h"
#include "inference/forced_scores.h"

namespace dragoman {

OpenedScorer open_cpu_scorer(const ScorerChoice& choice) {
  const EngineChoice engine{{.device = choice.device, .threads = choice.threads},
                            ComputeType::Float32};
  const auto opened = std::make_shared<const OpenedTranslator>(
      open_translator({choice.model}, engine, no_device_engine));
  const ForcedBatches batches{.max_tokens = choice.max_tokens};
  return {
      .tokenizers = opened->tokenizers,
      .several_sentences = opened->several_sentences,
      .max_positions = opened->engines.front()->max_positions(),
      .threads = static_cast<int>(opened->engines.size()),
      .score = [opened, batches](std::span<const SentencePair> pairs, const std::stop_token& stop) {
        return forced_scores(pointers_to(opened->engines), pairs, batches, stop);
      }};
}

}  // namespace dragoman
