#include "extras/library/cpu_translator.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/threads.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/demands.h"
#include "inference/ensemble.h"
#include "inference/forced_scores.h"
#include "inference/model_settings.h"

namespace dragoman {

namespace {

struct TranslatorConfig {
  std::vector<std::string> models;
  std::int64_t threads = 0;
  ComputeType compute_type = ComputeType::Auto;
  std::int64_t batch_size = 0;  ///< Workers::Limits::rows

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("model", models, "run folders or model files");
    field("threads", threads, "threads; 0: all cores that this process may use");
    field("compute-type", compute_type, "number type of the arithmetic");
    field("batch-size", batch_size,
          "hypotheses that are computed together; 0: as suits the processor");
  }

  void check() const {
    if (models.empty()) throw UsageError("--model: name a run folder or a model file");
    if (batch_size < 0) throw UsageError("--batch-size ", batch_size, ": is negative");
  }
};

/// Texts that translations must or must not contain, and the facts to report.
struct DemandConfig {
  std::string terms;
  std::vector<std::string> avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;
  bool word_scores = false;
  bool alignment = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("terms", terms, "glossary's file");
    field("avoid", avoid, "texts that no translation may have");
    field("protect", protect, "copy numbers, addresses and placeholders");
    field("terms-force", terms_force, "write every required text");
    field("number-format", number_format, "two languages: en-de; auto: the model's");
    field("word-scores", word_scores, "report words");
    field("alignment", alignment, "report attention");
  }
};

Terms terms_of(const CpuTranslator::TermPairs& pairs) try {
  return Terms(pairs);
} catch (const Error& error) {
  throw UsageError(error.what());
}

DemandChoices choices_of(const DemandConfig& config, const CpuTranslator::TermPairs& terms) {
  return {.terms = config.terms.empty() ? terms_of(terms) : Terms(config.terms),
          .avoid = config.avoid,
          .protect = config.protect,
          .terms_force = config.terms_force,
          .number_format = config.number_format};
}

}  // namespace

void assign_options(const std::vector<Field>& fields, const NamedOptions& options) {
  for (const auto& [name, texts] : options) {
    const auto field =
        std::ranges::find_if(fields, [&name](const Field& each) { return each.info.name == name; });
    if (field != fields.end()) {
      field->assign(texts);
      continue;
    }
    std::vector<std::string> names;
    for (const Field& each : fields) names.emplace_back(each.info.name);
    const std::string near = nearest_name(name, names);
    throw UsageError("--", name, ": unknown option",
                     near.empty() ? "" : join_text("; did you mean --", near, "?"));
  }
}

CpuTranslator::CpuTranslator(const NamedOptions& options) : process_(getpid()) {
  TranslatorConfig config;
  assign_options(fields_of(config), options);
  config.check();
  threads_ = threads_to_use(config.threads);
  const ModelFiles files = open_model_files(config.models);
  tokenizers_ = files.tokenizers;
  decode_defaults_ = files.readers.front().decode_defaults();
  record_ = files.record;
  for (const ModelFileReader& file : files.readers)
    members_.push_back(std::make_shared<CpuModel>(file, config.compute_type));
  engines_ = make_engines();
  // Each caller bounds the lines that it submits.
  const Workers::Limits limits{.rows = config.batch_size,
                               .waiting = std::numeric_limits<std::int64_t>::max()};
  service_ = std::make_unique<TranslationService>(
      pointers_to(engines_), tokenizers_, ServiceConfig{.limits = limits, .record = record_});
}

CpuTranslator::~CpuTranslator() {
  if (process_ == getpid()) return;
  // A forked process has no threads to wait for.
  static_cast<void>(service_.release());
  for (auto& engine : engines_) static_cast<void>(engine.release());
}

TranslationService& CpuTranslator::service() const {
  if (process_ != getpid())
    throw Error(
        "this Translator was made in another process, and a fork has none of its threads; make one "
        "in each process");
  return *service_;
}

std::vector<std::unique_ptr<HostEngine>> CpuTranslator::make_engines() const {
  std::vector<std::vector<std::unique_ptr<HostEngine>>> of_members;
  for (const auto& member : members_)
    of_members.push_back(cpu_engines(member, tokenizers_.target->never_emitted(), threads_));
  return ensembles_of(std::move(of_members));
}

std::shared_ptr<const PreparedRequest> CpuTranslator::prepare(const NamedOptions& options,
                                                              const TermPairs& terms) const {
  DecodeConfig search;
  DemandConfig demands;
  assign_options(fields_of(search, demands), options);
  const auto is_given = [&options](std::string_view name) {
    return options.contains(std::string(name));
  };
  take_decode_defaults(search, decode_defaults_, is_given);
  search.check();
  refuse_settings_without_draws(search, is_given, ScoreUse::Shown);
  demands.number_format = number_format_of(demands.number_format, record_);
  return service().prepare(
      {.config = search,
       .demands = std::make_shared<const Demands>(demands_of(choices_of(demands, terms))),
       .reports_words = demands.word_scores,
       .reports_attention = demands.alignment});
}

TranslationAnswers CpuTranslator::submit(Submission submission) const {
  for (LineInput& line : submission.lines) {
    line.text = one_line(std::move(line.text));
    line.prefix = one_line(std::move(line.prefix));
  }
  return service().submit(std::move(submission));
}

std::int64_t CpuTranslator::capacity(const PreparedRequest& request) const {
  return service().capacity(request.settings->config);
}

std::vector<std::vector<float>> CpuTranslator::score(const std::vector<std::string>& sources,
                                                     const std::vector<std::string>& targets,
                                                     SplitSentences split,
                                                     const std::stop_token& stop) const {
  if (sources.size() != targets.size())
    throw UsageError("--sources: has ", sources.size(), " lines, but targets has ", targets.size());
  std::vector<std::unique_ptr<HostEngine>> engines = make_engines();
  const auto workers = pointers_to<HostEngine>(engines);
  const PairScorer scorer = [&](std::span<const SentencePair> pairs, const std::stop_token& token) {
    return forced_scores(workers, pairs, {}, token);
  };
  const Pairing pairing{.by_sentence = splits_sentences(split, record_.several_sentences),
                        .threads = threads_};
  constexpr std::size_t kWindow = 2'000;  // lines that are held as tokens at one time
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
