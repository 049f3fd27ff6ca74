#include "extras/python/resident_model.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/decode_defaults.h"
#include "inference/ensemble.h"
#include "inference/forced_scores.h"
#include "inference/line_scores.h"
#include "inference/model_tokenizers.h"

namespace dragoman {

namespace {

constexpr std::size_t kWindow = 2'000;  // lines that are tokens at a time

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
      copied_fractions_ = file.provenance().copied_fractions;
      characters_ = file.provenance().characters;
    }
    require_same(tokenizers_, tokenizers, config.models.front(), model);
    members_.push_back(std::make_shared<CpuModel>(file, config.compute_type));
  }
  engines_ = make_engines();
  // Each caller bounds the lines that it submits.
  const Workers::Limits limits{.rows = config.batch_size,
                               .waiting = std::numeric_limits<std::int64_t>::max()};
  service_ =
      std::make_unique<TranslationService>(pointers_to(engines_), tokenizers_,
                                           ServiceConfig{.limits = limits,
                                                         .several_sentences = several_sentences_,
                                                         .copied_fractions = copied_fractions_,
                                                         .characters = characters_});
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
  take_decode_defaults(config, decode_defaults_, [](std::string_view) { return false; });
  assign_options(fields_of(config), options);
  config.check();
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
  std::vector<std::unique_ptr<Engine>> engines = make_engines();
  const std::vector<Engine*> workers = pointers_to(engines);
  const PairScorer scorer = [&](std::span<const SentencePair> pairs, const std::stop_token& token) {
    return forced_scores(workers, pairs, {}, token);
  };
  const Pairing pairing{.by_sentence = splits_sentences(split, several_sentences_),
                        .threads = threads_};
  std::vector<std::vector<float>> scores;
  for (std::size_t begin = 0; begin < sources.size() && !stop.stop_requested(); begin += kWindow) {
    const std::size_t count = std::min(kWindow, sources.size() - begin);
    auto lines = pairs_of_lines(tokenizers_, std::span(sources).subspan(begin, count),
                                std::span(targets).subspan(begin, count), pairing);
    std::ranges::move(scores_of_lines(std::move(lines), scorer, stop), std::back_inserter(scores));
  }
  return scores;
}

}  // namespace dragoman
