// Translation for Python: a model that stays in memory, requests, and answers in the order of their
// lines.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/threads.h"
#include "extras/python/bindings.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/cpu/cpu_model.h"
#include "inference/demands.h"
#include "inference/ensemble.h"
#include "inference/forced_scores.h"
#include "inference/model_settings.h"
#include "inference/search/decode_config.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

using Lines = std::vector<std::string>;

/// The arguments of a Translator.
struct ResidentConfig {
  std::vector<std::string> models;  ///< run folders or model files; several are an ensemble
  std::int64_t threads = 0;         ///< 0: all cores that this process may use
  ComputeType compute_type = ComputeType::Auto;
  std::int64_t batch_size = 0;  ///< Workers::Limits::rows

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("threads", threads, "threads; 0: all cores that this process may use");
    field("compute-type", compute_type, "number type of the arithmetic");
    field("batch-size", batch_size,
          "hypotheses that are computed together; 0: as suits the processor");
  }
};

/// A model that stays in memory and translates: its tokenizers, an engine for each thread, and the
/// TranslationService on them. It knows nothing of Python.
class ResidentModel {
 public:
  /// Throws Error if a file is missing or damaged, or if the models' tokenizers differ; UsageError
  /// for an argument.
  explicit ResidentModel(const ResidentConfig& config)
      : threads_(threads_to_use(config.threads)), process_(getpid()) {
    if (config.models.empty()) throw UsageError("--model: name a run folder or a model file");
    if (config.batch_size < 0)
      throw UsageError("--batch-size ", config.batch_size, ": is negative");
    for (const std::string& model : config.models) {
      // The engine's model reads every tensor, and that checks it.
      const ModelFileReader file(resolve_model_path(model), Verify::Header);
      const TokenizerPair tokenizers = load_tokenizers(file);
      if (members_.empty()) {
        tokenizers_ = tokenizers;
        decode_defaults_ = file.decode_defaults();
        record_ = file.provenance();
      }
      require_same(tokenizers_, tokenizers, config.models.front(), model);
      record_ = common_record(record_, file.provenance());
      members_.push_back(std::make_shared<CpuModel>(file, config.compute_type));
    }
    engines_ = make_engines();
    // Each caller bounds the lines that it submits.
    const Workers::Limits limits{.rows = config.batch_size,
                                 .waiting = std::numeric_limits<std::int64_t>::max()};
    service_ = std::make_unique<TranslationService>(
        pointers_to(engines_), tokenizers_, ServiceConfig{.limits = limits, .record = record_});
  }

  ResidentModel(const ResidentModel&) = delete;
  ResidentModel& operator=(const ResidentModel&) = delete;

  ~ResidentModel() {
    if (process_ == getpid()) return;
    // A forked process has no threads to wait for.
    static_cast<void>(service_.release());
    for (auto& engine : engines_) static_cast<void>(engine.release());
  }

  /// The search that the options ask for; the rest is as the model has it. Throws UsageError.
  DecodeConfig search_with(const NamedOptions& options) const {
    DecodeConfig config;
    take_decode_defaults(config, decode_defaults_, [](std::string_view) { return false; });
    assign_options(fields_of(config), options);
    config.check();
    return config;
  }

  /// Throws Error in a process that was forked after the model was made: its threads stayed in the
  /// parent process.
  TranslationService& service() const {
    if (process_ != getpid())
      throw Error(
          "this Translator was made in another process, and a fork has no threads of it; make one "
          "in each process");
    return *service_;
  }

  /// Log-probabilities of the tokens of each translation, </s> last, as `dragoman score` gives
  /// them. After a stop the lists are incomplete. Threads may call it at the same time.
  std::vector<std::vector<float>> score(const std::vector<std::string>& sources,
                                        const std::vector<std::string>& targets,
                                        SplitSentences split, const std::stop_token& stop) const {
    if (sources.size() != targets.size())
      throw UsageError("--sources: has ", sources.size(), " lines, but targets has ",
                       targets.size());
    std::vector<std::unique_ptr<Engine>> engines = make_engines();
    const std::vector<Engine*> workers = pointers_to(engines);
    const PairScorer scorer = [&](std::span<const SentencePair> pairs,
                                  const std::stop_token& token) {
      return forced_scores(workers, pairs, {}, token);
    };
    const Pairing pairing{.by_sentence = splits_sentences(split, record_.several_sentences),
                          .threads = threads_};
    constexpr std::size_t kWindow = 2'000;  // lines that are held as tokens at one time
    std::vector<std::vector<float>> scores;
    for (std::size_t begin = 0; begin < sources.size() && !stop.stop_requested();
         begin += kWindow) {
      const std::size_t count = std::min(kWindow, sources.size() - begin);
      auto lines = pairs_of_lines(tokenizers_, std::span(sources).subspan(begin, count),
                                  std::span(targets).subspan(begin, count), pairing);
      std::ranges::move(scores_of_lines(std::move(lines), scorer, stop),
                        std::back_inserter(scores));
    }
    return scores;
  }

 private:
  std::vector<std::unique_ptr<Engine>> make_engines() const {
    std::vector<std::vector<std::unique_ptr<Engine>>> of_members;
    for (const auto& member : members_)
      of_members.push_back(cpu_engines(member, tokenizers_.target->never_emitted(), threads_));
    return ensembles_of(std::move(of_members));
  }

  const int threads_;
  const int process_;
  TokenizerPair tokenizers_;
  DecodeDefaults decode_defaults_;
  TextRecord record_;
  std::vector<std::shared_ptr<const CpuModel>> members_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::unique_ptr<TranslationService> service_;  // last: its threads use all above
};

/// Texts that translations must or must not contain, and the facts to report.
struct DemandConfig {
  std::string terms_file;
  std::vector<std::string> avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;
  bool word_scores = false;
  bool alignment = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("terms-file", terms_file, "glossary");
    field("avoid", avoid, "texts that no translation may have");
    field("protect", protect, "copy numbers, addresses and placeholders");
    field("terms-force", terms_force, "write every required text");
    field("number-format", number_format, "two languages: en-de");
    field("word-scores", word_scores, "report words");
    field("alignment", alignment, "report attention");
  }
};

using TermPairs = std::vector<std::pair<std::string, std::string>>;

Terms terms_of(const TermPairs& pairs) try { return Terms(pairs); } catch (const Error& error) {
  throw UsageError(error.what());
}

DemandChoices choices_of(const DemandConfig& config, const TermPairs& terms) {
  return {.terms = config.terms_file.empty() ? terms_of(terms) : Terms(config.terms_file),
          .avoid = config.avoid,
          .protect = config.protect,
          .terms_force = config.terms_force,
          .number_format = config.number_format};
}

/// Settings that are checked once and serve any number of lines.
struct Request {
  std::shared_ptr<const PreparedRequest> prepared;
};

nb::object word_of(const TranslatedWord& word) {
  return nb::make_tuple(word.text, word.sum, word.attention);
}

nb::object text_of(const TranslatedText& text) {
  nb::list words;
  for (const TranslatedWord& word : text.words) words.append(word_of(word));
  return nb::make_tuple(text.text, text.score, text.sum, words);
}

nb::object answer_of(const Translation& translation) {
  nb::list n_best;
  for (const TranslatedText& text : translation.n_best) n_best.append(text_of(text));
  return nb::make_tuple(n_best, translation.unmet, translation.facts.cut > 0,
                        translation.facts.copied > 0, translation.unknown);
}

/// The translations of lines that were submitted together. The GIL serializes its calls.
class Answers {
 public:
  Answers(std::shared_ptr<const ResidentModel> model, std::shared_ptr<WakeUp> wake_up,
          TranslationAnswers answers)
      : model_(std::move(model)), wake_up_(std::move(wake_up)), answers_(std::move(answers)) {}

  /// Waits without the GIL, and checks for signals while it waits.
  nb::object next() {
    while (true) {
      wake_up_->clear();
      if (const std::optional<Translation> translation = answers_.next_if_finished())
        return answer_of(*translation);
      if (answers_.left() == 0) return nb::none();
      wait();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

 private:
  void wait() const {
    constexpr int kPause = 100;  // milliseconds; only the main thread notices signals
    const nb::gil_scoped_release release;
    pollfd woken{.fd = wake_up_->descriptor(), .events = POLLIN, .revents = 0};
    poll(&woken, 1, kPause);
  }

  std::shared_ptr<const ResidentModel> model_;  // owns the tokenizers that answers_ uses
  std::shared_ptr<WakeUp> wake_up_;
  TranslationAnswers answers_;
};

/// Submits lines, numbered from `first_line`, with a prefix for each line or with none.
Answers submit(const std::shared_ptr<ResidentModel>& model, const Request& request,
               const std::pair<Lines, Lines>& lines_and_prefixes, std::int64_t first_line) {
  const auto& [lines, prefixes] = lines_and_prefixes;
  if (!prefixes.empty() && prefixes.size() != lines.size())
    throw UsageError("--prefixes: has ", prefixes.size(), " texts for ", lines.size(), " lines");
  const auto wake_up = std::make_shared<WakeUp>();
  Submission submission{
      .lines = {}, .request = request.prepared, .first_line = first_line, .on_progress = [wake_up] {
        wake_up->wake();
      }};
  for (std::size_t i = 0; i < lines.size(); ++i)
    submission.lines.push_back(
        {.text = one_line(lines[i]), .prefix = prefixes.empty() ? "" : one_line(prefixes[i])});
  return run_interruptibly([&](const std::stop_token& stop) {
    submission.stop = stop;
    return Answers(model, wake_up, model->service().submit(std::move(submission)));
  });
}

std::shared_ptr<ResidentModel> open(const std::vector<std::string>& models,
                                    const NamedOptions& options) {
  ResidentConfig config{.models = models};
  assign_options(fields_of(config), options);
  return run_interruptibly(
      [&config](const std::stop_token&) { return std::make_shared<ResidentModel>(config); });
}

Request prepare(const ResidentModel& model, const NamedOptions& search, const NamedOptions& demands,
                const TermPairs& terms) {
  DemandConfig config;
  assign_options(fields_of(config), demands);
  return {model.service().prepare(
      {.config = model.search_with(search),
       .demands = std::make_shared<const Demands>(demands_of(choices_of(config, terms))),
       .reports_words = config.word_scores,
       .reports_attention = config.alignment})};
}

std::int64_t capacity(const ResidentModel& model, const Request& request) {
  return model.service().capacity(request.prepared->settings->config);
}

std::vector<std::vector<float>> score(const ResidentModel& model, const Lines& sources,
                                      const Lines& targets, const std::string& split_sentences) {
  const auto names = names_of(SplitSentences());
  const auto split = static_cast<SplitSentences>(
      parse_choice("split-sentences", {names.begin(), names.end()}, split_sentences));
  return run_interruptibly(
      [&](const std::stop_token& stop) { return model.score(sources, targets, split, stop); });
}

}  // namespace

void bind_translator(nb::module_& module) {
  nb::class_<Request>(module, "Request", "Settings that were checked for a model.");
  nb::class_<Answers>(module, "Answers", "Translations in the order of their lines.")
      .def("next", &Answers::next,
           nb::sig("def next(self) -> tuple[list[tuple[str, float, float, list[tuple[str, float, "
                   "list[float]]]]], list[str], bool, bool, list[str]] | None"),
           "Waits for the next translation: (n best of (text, score, log-probability, words of "
           "(text, log-probability, attention)), unmet texts, cut, copied, texts copied as "
           "unknown); None after the last.");
  nb::class_<ResidentModel>(module, "ResidentModel", "A model that translates.")
      .def("prepare", &prepare, nb::arg("search"), nb::arg("demands"), nb::arg("terms"),
           "Checks settings, which then serve any number of lines.")
      .def("capacity", &capacity, nb::arg("request"),
           "The number of sentences that can be in translation at once.")
      .def("score", &score, nb::arg("sources"), nb::arg("targets"), nb::arg("split_sentences"),
           "Log-probabilities of the tokens of each translation.");
  module.def("open", &open, nb::arg("models"), nb::arg("options"), "Opens a model or an ensemble.");
  module.def("submit", &submit, nb::arg("model"), nb::arg("request"), nb::arg("lines_and_prefixes"),
             nb::arg("first_line"), "Begins the translation of lines.");
}

}  // namespace dragoman
