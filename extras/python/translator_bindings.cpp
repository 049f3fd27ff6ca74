// Translation for Python: a CpuTranslator, requests, and answers in the order of their lines.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/threads.h"
#include "extras/library/cpu_translator.h"
#include "extras/python/bindings.h"
#include "inference/translation_service.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

using Lines = std::vector<std::string>;

/// Options that are checked once and serve any number of lines.
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
  Answers(std::shared_ptr<const CpuTranslator> translator, std::shared_ptr<WakeUp> wake_up,
          TranslationAnswers answers)
      : translator_(std::move(translator)),
        wake_up_(std::move(wake_up)),
        answers_(std::move(answers)) {}

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

  std::shared_ptr<const CpuTranslator> translator_;  // owns the tokenizers that answers_ uses
  std::shared_ptr<WakeUp> wake_up_;
  TranslationAnswers answers_;
};

/// Submits lines, numbered from `first_line`, with a prefix for each line or with none.
Answers submit(const std::shared_ptr<CpuTranslator>& translator, const Request& request,
               const std::pair<Lines, Lines>& lines_and_prefixes, std::int64_t first_line) {
  const auto& [lines, prefixes] = lines_and_prefixes;
  if (!prefixes.empty() && prefixes.size() != lines.size())
    throw UsageError("--prefixes: has ", prefixes.size(), " texts for ", lines.size(), " lines");
  const auto wake_up = std::make_shared<WakeUp>();
  Submission submission{.request = request.prepared,
                        .first_line = first_line,
                        .on_progress = [wake_up] { wake_up->wake(); }};
  for (std::size_t i = 0; i < lines.size(); ++i)
    submission.lines.push_back({.text = lines[i], .prefix = prefixes.empty() ? "" : prefixes[i]});
  return run_interruptibly([&](const std::stop_token& stop) {
    submission.stop = stop;
    return Answers(translator, wake_up, translator->submit(std::move(submission)));
  });
}

std::shared_ptr<CpuTranslator> open(const NamedOptions& options) {
  return run_interruptibly(
      [&options](const std::stop_token&) { return std::make_shared<CpuTranslator>(options); });
}

Request prepare(const CpuTranslator& translator, const NamedOptions& options,
                const CpuTranslator::TermPairs& terms) {
  return {translator.prepare(options, terms)};
}

std::int64_t capacity(const CpuTranslator& translator, const Request& request) {
  return translator.capacity(*request.prepared);
}

std::vector<std::vector<float>> score(const CpuTranslator& translator, const Lines& sources,
                                      const Lines& targets, const std::string& split_sentences) {
  const auto names = names_of(SplitSentences());
  const auto split = static_cast<SplitSentences>(
      parse_choice("split-sentences", {names.begin(), names.end()}, split_sentences));
  return run_interruptibly(
      [&](const std::stop_token& stop) { return translator.score(sources, targets, split, stop); });
}

}  // namespace

void bind_translator(nb::module_& module) {
  nb::class_<Request>(module, "Request", "Options that were checked for a model.");
  nb::class_<Answers>(module, "Answers", "Translations in the order of their lines.")
      .def("next", &Answers::next,
           nb::sig("def next(self) -> tuple[list[tuple[str, float, float, list[tuple[str, float, "
                   "list[float]]]]], list[str], bool, bool, list[str]] | None"),
           "Waits for the next translation: (n best of (text, score, log-probability, words of "
           "(text, log-probability, attention)), unmet texts, cut, copied, texts copied as "
           "unknown); None after the last.");
  nb::class_<CpuTranslator>(module, "CpuTranslator", "A model that translates.")
      .def("prepare", &prepare, nb::arg("options"), nb::arg("terms"),
           "Checks options, which then serve any number of lines.")
      .def("capacity", &capacity, nb::arg("request"),
           "The number of sentences that can be in translation at once.")
      .def("score", &score, nb::arg("sources"), nb::arg("targets"), nb::arg("split_sentences"),
           "Log-probabilities of the tokens of each translation.");
  module.def("open", &open, nb::arg("options"), "Opens a model or an ensemble.");
  module.def("submit", &submit, nb::arg("translator"), nb::arg("request"),
             nb::arg("lines_and_prefixes"), nb::arg("first_line"),
             "Begins the translation of lines.");
}

}  // namespace dragoman
