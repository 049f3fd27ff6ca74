#include "tests/model/examples.h"
#include "base/random.h"

namespace dragoman {

namespace {

constexpr std::int64_t kVocabulary = 11;

PackedTokens packed_side(const std::vector<const Sentence*>& sentences,
                         const std::vector<std::uint64_t>& numbers, std::int64_t heads,
                         RowKeys row_keys) {
  std::vector<std::int32_t> tokens, starts = {0}, keys;
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    tokens.insert(tokens.end(), sentences[b]->begin(), sentences[b]->end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
    for (std::size_t t = 0; t < sentences[b]->size(); ++t)
      keys.push_back(static_cast<std::int32_t>(random_bits(5, numbers[b], t)));
  }
  PackedTokens side = packed_tokens(tokens, starts, heads, test_device());
  if (row_keys == RowKeys::PerSentence) side.layout.set_row_keys(keys);
  return side;
}

std::vector<std::int64_t> lengths_of(const PackedLayout& layout) {
  const auto lengths = layout.lengths.to(torch::kCPU, torch::kInt64);
  return {lengths.const_data_ptr<std::int64_t>(),
          lengths.const_data_ptr<std::int64_t>() + lengths.numel()};
}

}  // namespace

ModelConfig small_config() {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.d_ff = 24;
  config.encoder_layers = 2;
  config.decoder_layers = 3;
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  return config;
}

Transformer initialized(const ModelConfig& config, std::uint64_t seed) {
  Transformer model(config);
  model->initialize(seed);
  model->to(test_device());
  return model;
}

Sentence random_sentence(std::uint64_t number, std::int64_t length) {
  RandomStream random(3, number);
  Sentence sentence(static_cast<std::size_t>(length));
  for (std::int32_t& token : sentence) token = static_cast<std::int32_t>(random.below(kVocabulary));
  return sentence;
}

std::vector<Pair> pairs_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& lengths) {
  std::vector<Pair> pairs;
  for (const auto& [source, target] : lengths) {
    const std::uint64_t number = pairs.size();
    pairs.push_back(
        {number, random_sentence(2 * number, source), random_sentence(2 * number + 1, target)});
  }
  return pairs;
}

PackedPairs packed(const std::vector<Pair>& pairs, std::int64_t heads, RowKeys row_keys) {
  std::vector<const Sentence*> sources, targets;
  std::vector<std::uint64_t> source_numbers, target_numbers;
  for (const Pair& pair : pairs) {
    sources.push_back(&pair.source);
    targets.push_back(&pair.target);
    source_numbers.push_back(2 * pair.number);
    target_numbers.push_back(2 * pair.number + 1);
  }
  return {packed_side(sources, source_numbers, heads, row_keys),
          packed_side(targets, target_numbers, heads, row_keys)};
}

std::vector<HiddenStates> hidden_states(Transformer& model, const std::vector<Pair>& pairs,
                                        RowKeys row_keys) {
  const torch::NoGradGuard no_grad;
  const PackedPairs batch = packed(pairs, model->config.heads, row_keys);
  const auto memory = model->encode(batch.source);
  const auto hidden = model->decode(batch.target, memory, batch.source.layout);
  const auto memories = memory.split_with_sizes(lengths_of(batch.source.layout));
  const auto hiddens = hidden.split_with_sizes(lengths_of(batch.target.layout));
  std::vector<HiddenStates> states;
  for (std::size_t b = 0; b < pairs.size(); ++b) states.push_back({memories[b], hiddens[b]});
  return states;
}

torch::Tensor mean_loss(Transformer& model, const PackedPairs& batch) {
  const auto memory = model->encode(batch.source);
  const auto hidden = model->decode(batch.target, memory, batch.source.layout);
  return model->logits(hidden)
      .log_softmax(-1)
      .gather(1, batch.target.tokens.unsqueeze(1))
      .mean()
      .neg();
}

}  // namespace dragoman
