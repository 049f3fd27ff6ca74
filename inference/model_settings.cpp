#include "inference/model_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"

namespace dragoman {

namespace {

std::shared_ptr<const Tokenizer> load(std::string_view bytes, const std::string& name) {
  return std::make_shared<const Tokenizer>(std::string(bytes), name);
}

void check_size(const Tokenizer& tokenizer, std::int64_t vocabulary, const std::string& name) {
  if (tokenizer.size() != vocabulary)
    throw Error(name, " has ", tokenizer.size(), " pieces, but the model is for ", vocabulary);
}

/// Throws Error that names the model `other` if it cannot be in an ensemble with `model`.
void require_same(const TokenizerPair& of_model, const TokenizerPair& of_other,
                  const std::string& model, const std::string& other) {
  if (of_model.source->model_bytes() != of_other.source->model_bytes() ||
      of_model.target->model_bytes() != of_other.target->model_bytes())
    throw Error(other, ": has another tokenizer than ", model, "; an ensemble needs the same");
  if (of_model.source_eos != of_other.source_eos)
    throw Error(other, ": its sources end ", of_other.source_eos ? "with" : "without",
                " </s>, unlike those of ", model, "; an ensemble needs the same");
}

}  // namespace

TokenizerPair load_tokenizers(const ModelFileReader& file) {
  const std::string source_name = file.path().string() + ": the source tokenizer";
  const std::string target_name = file.path().string() + ": the target tokenizer";
  TokenizerPair tokenizers;
  tokenizers.source = load(file.tokenizer_source(), source_name);
  tokenizers.target =
      file.has_two_tokenizers() ? load(file.tokenizer_target(), target_name) : tokenizers.source;
  tokenizers.source_eos = file.config().source_eos;
  check_size(*tokenizers.source, file.config().source_vocabulary, source_name);
  check_size(*tokenizers.target, file.config().target_vocabulary, target_name);
  return tokenizers;
}

ModelFiles open_model_files(const std::vector<std::string>& models) {
  ModelFiles files;
  for (const std::string& model : models)
    files.readers.emplace_back(resolve_model_path(model), Verify::Header);
  files.tokenizers = load_tokenizers(files.readers.front());
  files.record = files.readers.front().provenance();
  for (std::size_t i = 1; i < models.size(); ++i) {
    require_same(files.tokenizers, load_tokenizers(files.readers[i]), models.front(), models[i]);
    files.record = common_record(files.record, files.readers[i].provenance());
  }
  return files;
}

std::int64_t open_beam_size(const DecodeConfig& search, std::int64_t n_best) {
  return search.sampling ? search.beam_size : std::max(search.beam_size, n_best);
}

void take_decode_defaults(DecodeConfig& config, const DecodeDefaults& defaults,
                          const std::function<bool(std::string_view)>& is_given) {
  for (const Field& field : fields_of(config)) {
    const auto value = defaults.find(std::string(field.info.name));
    if (value != defaults.end() && !is_given(field.info.name)) assign_text(field, value->second);
  }
  if (!is_given("beam-size")) config.beam_size = open_beam_size(config, config.n_best);
}

void refuse_settings_without_draws(const DecodeConfig& config,
                                   const std::function<bool(std::string_view)>& is_given,
                                   ScoreUse scores) {
  if (!config.sampling) return;
  for (const char* flag : {"beam-size", "stop"})
    if (is_given(flag))
      throw UsageError("--", flag,
                       ": is about the search, and --sampling draws instead of searching; leave "
                       "out one of the two");
  if (scores == ScoreUse::Shown) return;
  for (const char* flag :
       {"length-penalty", "length-penalty-kind", "word-penalty", "coverage-penalty"})
    if (is_given(flag))
      throw UsageError("--", flag,
                       ": is about the score of a translation, which decides nothing with "
                       "--sampling if there is one draw; leave out one of the two");
}

namespace {

/// Keeps the best of what it tries.
class Tuning {
 public:
  Tuning(const DecodeConfig& start, const std::function<double(const DecodeConfig&)>& score)
      : best_(start), score_(score) {
    attempt(start.beam_size, start.length_penalty);
  }

  void attempt(std::int64_t beam_size, double length_penalty) {
    if (!tried_.emplace(beam_size, length_penalty).second) return;
    DecodeConfig config = best_;
    config.beam_size = beam_size;
    config.length_penalty = length_penalty;
    const double score = score_(config);
    const bool better = !best_score_ || score > *best_score_ ||
                        (score == *best_score_ && beam_size < best_.beam_size);
    if (!better) return;
    best_ = config;
    best_score_ = score;
  }

  const DecodeConfig& best() const { return best_; }

 private:
  DecodeConfig best_;
  std::optional<double> best_score_;
  std::set<std::pair<std::int64_t, double>> tried_;
  const std::function<double(const DecodeConfig&)>& score_;
};

}  // namespace

DecodeConfig tune_search(const DecodeConfig& start,
                         const std::function<double(const DecodeConfig&)>& score) {
  constexpr std::array kPenalties = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 2.0};
  constexpr std::array<std::int64_t, 8> kBeams = {1, 2, 3, 4, 5, 6, 8, 12};
  Tuning tuning(start, score);
  for (const double penalty : kPenalties) tuning.attempt(start.beam_size, penalty);
  const double penalty = tuning.best().length_penalty;
  for (const std::int64_t beam : kBeams) tuning.attempt(beam, penalty);
  if (const std::int64_t beam = tuning.best().beam_size; beam != start.beam_size)
    for (const double step : {-0.4, -0.2, 0.2, 0.4})
      tuning.attempt(beam, std::max(0.0, std::round(10 * (penalty + step)) / 10));
  return tuning.best();
}

}  // namespace dragoman
