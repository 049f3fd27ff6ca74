#include "python/resident_model.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/ensemble.h"
#include "inference/model_tokenizers.h"
#include "tokenizer/sentence_pairs.h"

namespace dragoman {

namespace {

std::vector<TokenId> tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<TokenId> tokens = tokenizer.encode(text);
  tokens.push_back(tokenizer.eos_id());
  return tokens;
}

constexpr std::size_t kScoredLines = 1'000;  // that a thread holds as tokens

using TextPair = std::pair<std::string_view, std::string_view>;

}  // namespace

ResidentModel::ResidentModel(const ResidentConfig& config)
    : threads_(threads_to_use(config.threads)), process_(getpid()) {
  if (config.models.empty()) throw UsageError("--model: name a run folder or a model file");
  if (config.batch_size < 0) throw UsageError("--batch-size ", config.batch_size, ": is negative");
  for (const std::string& model : config.models) {
    // The engine's model reads every tensor, and that checks it.
    const ModelFileReader file(resolve_model_path(model), Verify::Header);
    const TokenizerPair tokenizers = load_tokenizers(file);
    if (members_.empty()) {
      tokenizers_ = tokenizers;
      decode_defaults_ = file.decode_defaults();
      several_sentences_ = file.provenance().several_sentences;
    }
    require_same(tokenizers_, tokenizers, config.models.front(), model);
    members_.push_back(std::make_shared<CpuModel>(file, config.compute_type));
  }
  engines_ = make_engines();
  // Each caller bounds the lines that it submits.
  const Workers::Limits limits{.rows = config.batch_size,
                               .waiting = std::numeric_limits<std::int64_t>::max()};
  service_ = std::make_unique<TranslationService>(
      pointers_to(engines_), *tokenizers_.source, *tokenizers_.target,
      ServiceConfig{.limits = limits, .several_sentences = several_sentences_});
}

ResidentModel::~ResidentModel() {
  if (process_ == getpid()) return;
  // In a forked process there are no threads that could be waited for.
  static_cast<void>(service_.release());
  for (auto& engine : engines_) static_cast<void>(engine.release());
}

std::vector<std::unique_ptr<Engine>> ResidentModel::make_engines() const {
  std::vector<std::vector<std::unique_ptr<Engine>>> of_members;
  for (const auto& member : members_)
    of_members.push_back(cpu_engines(member, tokenizers_.target->never_emitted(), threads_));
  return ensembles_of(std::move(of_members));
}

DecodeConfig ResidentModel::search_with(const NamedOptions& options) const {
  DecodeConfig config;
  const std::vector<Field> fields = fields_of(config);
  for (const Field& field : fields)
    if (const auto value = decode_defaults_.find(std::string(field.info.name));
        value != decode_defaults_.end())
      field.assign({value->second});
  assign_options(fields, options);
  config.validate();
  return config;
}

TranslationService& ResidentModel::service() const {
  if (process_ != getpid())
    throw Error(
        "this Translator was made in another process, and a fork has no threads of it; make one "
        "in each process");
  return *service_;
}

std::vector<std::vector<float>> ResidentModel::score(const std::vector<std::string>& sources,
                                                     const std::vector<std::string>& targets,
                                                     SplitSentences split,
                                                     const std::stop_token& stop) const {
  if (sources.size() != targets.size())
    throw UsageError("--sources: has ", sources.size(), " lines, but targets has ", targets.size());
  const bool by_sentence = splits_sentences(split, several_sentences_);
  std::vector<std::unique_ptr<Engine>> engines = make_engines();
  std::vector<std::vector<float>> scores(sources.size());
  const std::size_t shares = engines.size();
  parallel_for(static_cast<std::int64_t>(shares), static_cast<int>(shares), [&](std::int64_t i) {
    const auto share = static_cast<std::size_t>(i);
    const std::size_t end = sources.size() * (share + 1) / shares;
    for (std::size_t begin = sources.size() * share / shares; begin < end; begin += kScoredLines) {
      const std::size_t count = std::min(kScoredLines, end - begin);
      std::vector<SentencePair> pairs;
      std::vector<std::size_t> lines;  // of each pair
      for (std::size_t line = begin; line < begin + count; ++line)
        for (SentencePair& pair : pairs_of(sources[line], targets[line], by_sentence)) {
          pairs.push_back(std::move(pair));
          lines.push_back(line);
        }
      if (stop.stop_requested()) return;
      const auto of_pairs = forced_scores(*engines[share], pairs, stop);
      for (std::size_t p = 0; p < pairs.size(); ++p)
        scores[lines[p]].insert(scores[lines[p]].end(), of_pairs[p].begin(), of_pairs[p].end());
    }
  });
  return scores;
}

std::vector<SentencePair> ResidentModel::pairs_of(std::string_view source, std::string_view target,
                                                  bool by_sentence) const {
  source = strip(source);
  target = strip(target);
  const std::vector<TextPair> texts =
      by_sentence ? pairs_of_sentences(source, target) : std::vector<TextPair>{{source, target}};
  std::vector<SentencePair> pairs;
  for (const auto& [text, translation] : texts)
    pairs.push_back(
        {tokens_of(*tokenizers_.source, text), tokens_of(*tokenizers_.target, translation)});
  return pairs;
}

}  // namespace dragoman
