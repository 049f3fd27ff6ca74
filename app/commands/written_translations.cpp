#include "app/commands/written_translations.h"

#include "app/commands/translation_summary.h"
#include "app/frame/log.h"
#include "base/amounts.h"
#include "base/error.h"

namespace dragoman {

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

}  // namespace dragoman
