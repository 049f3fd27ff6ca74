#include "app/commands/translation_summary.h"

#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/frame/log.h"
#include "app/frame/progress.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/stopwatch.h"

namespace dragoman {

std::vector<Translation> translate_with_progress(TranslationService& service,
                                                 std::span<const std::string> lines,
                                                 const TranslationRequest& request) {
  const Stopwatch watch;
  TranslationAnswers answers = submit_lines(service, lines, request, listen_for_stop());
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
  if (translations.size() == lines.size()) log_summary(facts, 0, 0, watch.seconds());
  return translations;
}

std::string unmet_text(const Translation& translation) {
  std::string texts = "the translation lacks";
  for (const std::string& text : translation.unmet) texts += " '" + text + "'";
  return texts;
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
  if (facts.long_words > 0)
    log_warning(join_text(counted(facts.long_words, "word"),
                          facts.long_words == 1 ? " was" : " were", " cut after ",
                          with_separators(kMostPiecesOfWord), " pieces"));
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
  if (facts.copied > 0) text += join_text(", ", counted(facts.copied, "line"), " copied");
  if (facts.unknown > 0)
    text += join_text(", ", counted(facts.unknown, "line"),
                      " with text copied whose characters the training text did not have");
  if (facts.split > 0) text += join_text(", ", counted(facts.split, "line"), " split");
  log_facts(text, {{"lines", facts.lines},
                   {"lines_before", before},
                   {"source_tokens", facts.source_tokens},
                   {"target_tokens", facts.target_tokens},
                   {"seconds", seconds},
                   {"tokens_per_second", rate},
                   {"empty", facts.empty},
                   {"copied", facts.copied},
                   {"split", facts.split},
                   {"repaired", facts.repaired},
                   {"cut", facts.cut},
                   {"long_words", facts.long_words},
                   {"unmet", facts.unmet},
                   {"unknown", facts.unknown},
                   {"failed", failed}});
}

}  // namespace dragoman
