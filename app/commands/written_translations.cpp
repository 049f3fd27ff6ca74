#include "app/commands/written_translations.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/machine.h"

namespace dragoman {

namespace {

std::string number(double value) { return fixed_text(value, 6); }

std::string hard_text(const std::vector<TranslatedWord>& words) {
  return joined(hard_alignment(words), " ",
                [](const auto& link) { return join_text(link.first, '-', link.second); });
}

std::string soft_text(const std::vector<TranslatedWord>& words) {
  return joined(words, " ", [](const TranslatedWord& word) {
    return joined(word.attention, ",",
                  [](float weight) { return fixed_text(static_cast<double>(weight), 4); });
  });
}

std::string alignment_text(const std::vector<TranslatedWord>& words, AlignmentFormat format) {
  return format == AlignmentFormat::Hard ? hard_text(words) : soft_text(words);
}

std::string plain_line(const Translation& translation, const TranslatedText& text,
                       const TranslationFormat& format) {
  std::string line;
  if (format.scores || format.all) line = join_text(translation.line, " ||| ");
  line += text.text;
  if (format.word_scores)
    line += " ||| WordScores= " +
            joined(text.words, " ", [](const TranslatedWord& word) { return number(word.sum); });
  if (format.scores || format.all)
    line += " ||| F0= " + number(text.sum) + " ||| " + number(text.score);
  if (format.alignment != AlignmentFormat::None)
    line += " ||| " + alignment_text(text.words, format.alignment);
  return line;
}

}  // namespace

std::vector<std::string> TranslationFormat::lines(const Translation& translation) const {
  std::vector<std::string> all_lines;
  for (const TranslatedText& text : translation.n_best) {
    all_lines.push_back(plain_line(translation, text, *this));
    if (!all) break;
  }
  return all_lines;
}

void WrittenTranslations::write(const Translation& translation) {
  if (requests_ != nullptr)
    answer(translation);
  else
    for (const std::string& line : format_.lines(translation)) output_.write_line(line);
  if (!translation.unmet.empty()) warn(translation, unmet_text(translation), ++unmet_);
  if (translation.facts.long_words > 0)
    warn(translation,
         join_text("a word is cut after ", with_separators(kMostPiecesOfWord),
                   " pieces; the rest of it is not translated"),
         ++long_words_);
  lines_ = translation.line + 1;
}

void WrittenTranslations::answer(const Translation& translation) {
  const JsonRequests::Answer answer = requests_->answer(translation);
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
                          " a text that --terms or --protect asks for"));
  const double rate = seconds > 0 ? static_cast<double>(facts.target_tokens) / seconds : 0;
  std::string text = join_text(
      before > 0 ? counted(before, "line") + " already there, " : "", counted(facts.lines, "line"),
      before > 0 ? " translated, " : ", ", counted(facts.source_tokens, "piece"), " in, ",
      with_separators(facts.target_tokens), " out, ", fixed_text(seconds, 1), " s, ",
      with_separators(std::llround(rate)), " pieces/s");
  if (facts.empty > 0) text += join_text(", ", counted(facts.empty, "line"), " empty");
  if (facts.copied > 0) text += join_text(", ", counted(facts.copied, "line"), " copied");
  if (facts.unknown > 0)
    text += join_text(", ", counted(facts.unknown, "line"),
                      " with copied text whose characters the training text did not have");
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
