// Translation for Python: a resident model, requests, and answers in the order of their lines.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <poll.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/one_line.h"
#include "base/wake_up.h"
#include "extras/python/bindings.h"
#include "extras/python/resident_model.h"
#include "inference/demand_choices.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

/// Texts that translations must have or must not have, and the facts that are reported.
struct DemandConfig {
  std::string terms_file;
  std::vector<std::string> avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;
  bool word_scores = false;
  bool alignment = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "terms-file", .help = "glossary"}, terms_file);
    visit({.name = "avoid", .help = "texts that no translation may have"}, avoid);
    visit({.name = "protect", .help = "copy numbers, addresses and placeholders"}, protect);
    visit({.name = "terms-force", .help = "write every required text"}, terms_force);
    visit({.name = "number-format", .help = "two languages: en-de"}, number_format);
    visit({.name = "word-scores", .help = "report words"}, word_scores);
    visit({.name = "alignment", .help = "report attention"}, alignment);
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

/// Checked once, for any number of lines.
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

/// The translations of lines that were submitted together. The GIL makes its calls one at a time.
class Answers {
 public:
  Answers(std::shared_ptr<const ResidentModel> model, std::shared_ptr<WakeUp> wake_up,
          TranslationAnswers answers)
      : model_(std::move(model)), wake_up_(std::move(wake_up)), answers_(std::move(answers)) {}

  /// Waits without the GIL, and notices signals while it waits.
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
    constexpr int kPause = 100;  // milliseconds; signals are noticed by the main thread alone
    const nb::gil_scoped_release release;
    pollfd woken{.fd = wake_up_->descriptor(), .events = POLLIN, .revents = 0};
    poll(&woken, 1, kPause);
  }

  std::shared_ptr<const ResidentModel> model_;  // has the tokenizers of the answers
  std::shared_ptr<WakeUp> wake_up_;
  TranslationAnswers answers_;
};

using Lines = std::vector<std::string>;

/// Lines of one request, numbered from `first_line`. `prefixes` has one for each line, or none.
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
           "unknown); None behind the last.");
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
