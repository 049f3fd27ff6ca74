#include "app/commands/written_translations.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"

namespace dragoman {

namespace {

/// The most warnings of one kind that are shown.
constexpr std::int64_t kMostWarnings = 10;

}  // namespace

void WrittenTranslations::write(const Translation& translation) {
  lines_ = translation.line + 1;
  if (requests_ != nullptr)
    answer(translation);
  else
    for (const std::string& line : format_.lines(translation)) output_.write_line(line);
  if (translation.unmet.empty()) return;
  std::string texts = "the translation lacks";
  for (const std::string& text : translation.unmet) texts += " '" + text + "'";
  warn(translation, texts, ++unmet_);
}

void WrittenTranslations::answer(const Translation& translation) {
  const JsonLines::Answer answer = requests_->answer(translation);
  if (!answer.error.empty() && errors_ == JsonErrors::Stop) {
    output_.flush();
    throw Error(input_, ":", translation.line + 1, ": ", answer.error);
  }
  output_.write_line(answer.text);
  if (!answer.error.empty()) warn(translation, answer.error, ++failed_);
}

void WrittenTranslations::warn(const Translation& translation, const std::string& text,
                               std::int64_t count) const {
  if (count <= kMostWarnings) log_warning(join_text("line ", translation.line + 1, ": ", text));
}

std::vector<Translation> translate_with_progress(TranslationService& service,
                                                 std::span<const std::string> lines,
                                                 const TranslationRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  TranslationAnswers answers = submit_lines(service, lines, request, stop_token());
  std::vector<Translation> translations;
  TranslationFacts facts;
  {
    Progress progress("translate", "lines", std::ssize(lines));
    while (std::optional<Translation> translation = answers.next()) {
      facts += translation->facts;
      translations.push_back(std::move(*translation));
      progress.update(facts.lines);
    }
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  if (translations.size() == lines.size()) log_summary(facts, 0, 0, spent.count());
  return translations;
}

void log_summary(const TranslationFacts& facts, std::int64_t failed, std::int64_t before,
                 double seconds) {
  if (failed > 0)
    log_warning(
        join_text(counted(failed, "line"), " could not be understood; the answers say why"));
  if (facts.repaired > 0)
    log_warning(
        join_text(counted(facts.repaired, "line"), " with invalid UTF-8, which was replaced"));
  if (facts.cut > 0)
    log_warning(join_text(counted(facts.cut, "translation"), facts.cut == 1 ? " was" : " were",
                          " cut at the maximum length (--max-length-ratio, --max-length)"));
  if (facts.unmet > 0)
    log_warning(join_text(counted(facts.unmet, "translation"),
                          facts.unmet == 1 ? " lacks" : " lack",
                          " a text that --terms or --protect ask for"));
  const double rate = seconds > 0 ? static_cast<double>(facts.target_tokens) / seconds : 0;
  char speed[64];
  std::snprintf(speed, sizeof speed, "%.1f s, %.0f pieces/s", seconds, rate);
  std::string text = join_text(before > 0 ? counted(before, "line") + " there before, " : "",
                               counted(facts.lines, "line"), before > 0 ? " translated, " : ", ",
                               counted(facts.source_tokens, "piece"), " in, ",
                               with_separators(facts.target_tokens), " out, ", speed);
  if (facts.empty > 0) text += join_text(", ", counted(facts.empty, "line"), " empty");
  if (facts.split > 0) text += join_text(", ", counted(facts.split, "line"), " split");
  log_facts(text, {{"lines", facts.lines},
                   {"lines_before", before},
                   {"source_tokens", facts.source_tokens},
                   {"target_tokens", facts.target_tokens},
                   {"seconds", seconds},
                   {"tokens_per_second", rate},
                   {"empty", facts.empty},
                   {"split", facts.split},
                   {"repaired", facts.repaired},
                   {"cut", facts.cut},
                   {"unmet", facts.unmet},
                   {"failed", failed}});
}

}  // namespace dragoman
