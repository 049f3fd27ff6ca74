#include "app/torch/torch_scorer.h"

#include <span>

#include "app/torch/chosen_device.h"
#include "inference/model_tokenizers.h"
#include "inference/torch/scorer.h"
#include "model/device.h"
#include "model/load_transformer.h"

namespace dragoman {

OpenedScorer open_torch_scorer(const ScorerChoice& choice) {
  const torch::Device device = chosen_device(choice.device);
  const int threads = use_threads(choice.threads);
  const ModelFileReader file(resolve_model_path(choice.model));
  return {.tokenizers = load_tokenizers(file),
          .several_sentences = file.provenance().several_sentences,
          .max_positions = file.config().longest_sentence(),
          .threads = threads,
          .score = [model = load_transformer(file, device), tokens = choice.max_tokens](
                       std::span<const SentencePair> pairs, const std::stop_token& stop) mutable {
            return token_log_probabilities(model, pairs, tokens, stop);
          }};
}

}  // namespace dragoman
