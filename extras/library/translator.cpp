#include "extras/library/translator.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "extras/library/cpu_translator.h"

namespace dragoman {

namespace {

/// "beam-size=4" by name; a name alone is a switch that is on.
NamedOptions named(const Translator::Options& options) {
  NamedOptions texts;
  for (const std::string& option : options) {
    const std::size_t end = option.find('=');
    texts[option.substr(0, end)].push_back(end == std::string::npos ? "true"
                                                                    : option.substr(end + 1));
  }
  return texts;
}

NamedOptions with_model(NamedOptions options, const std::string& model) {
  std::vector<std::string>& models = options["model"];
  models.insert(models.begin(), model);
  return options;
}

Translator::Result result_of(Translation translation) {
  Translator::Result result{.n_best = {},
                            .unmet = std::move(translation.unmet),
                            .is_cut = translation.facts.cut > 0,
                            .is_copied = translation.facts.copied > 0};
  for (TranslatedText& text : translation.n_best)
    result.n_best.push_back({std::move(text.text), text.score, text.sum});
  return result;
}

/// Returns what `body` returns. The library's own types of errors stay inside of it.
template <class Body>
auto with_standard_errors(Body&& body) try {
  return body();
} catch (const UsageError& error) {
  throw std::invalid_argument(error.what());
} catch (const Error& error) {
  throw std::runtime_error(error.what());
}

}  // namespace

Translator::Translator(const std::string& model, const Options& options)
    : translator_(with_standard_errors(
          [&] { return std::make_unique<CpuTranslator>(with_model(named(options), model)); })) {}
Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;
Translator::~Translator() = default;

std::vector<Translator::Result> Translator::translate(const std::vector<std::string>& lines,
                                                      const Options& options) const {
  return with_standard_errors([&] {
    Submission submission{.request = translator_->prepare(named(options))};
    for (const std::string& line : lines) submission.lines.push_back({.text = line});
    TranslationAnswers answers = translator_->submit(std::move(submission));
    std::vector<Result> results;
    while (std::optional<Translation> translation = answers.next())
      results.push_back(result_of(*std::move(translation)));
    return results;
  });
}

std::string Translator::translate_line(const std::string& line, const Options& options) const {
  return translate({line}, options).front().text();
}

const char* Translator::version() { return DRAGOMAN_VERSION; }

}  // namespace dragoman
