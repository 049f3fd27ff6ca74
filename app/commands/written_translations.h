// Writes translations as lines of output, warns of faults, and shows the progress and the summary.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/json_lines.h"
#include "app/commands/line_files.h"
#include "app/commands/translation_format.h"
#include "app/frame/progress.h"
#include "inference/translate_text.h"

namespace dragoman {

/// The reaction to a line that is no request (--json).
enum class JsonErrors {
  Answer,  ///< answer with an object that says why
  Stop,    ///< end after the answers to the lines before
};
constexpr std::array<std::string_view, 2> names_of(JsonErrors) { return {"answer", "stop"}; }

class WrittenTranslations : public TranslationSink {
 public:
  WrittenTranslations(Output& output, const TranslationFormat& format)
      : output_(output), format_(format) {}
  /// Answers to requests of `input`, a name for messages.
  WrittenTranslations(Output& output, JsonLines& requests, JsonErrors errors, std::string input)
      : output_(output), requests_(&requests), errors_(errors), input_(std::move(input)) {}

  /// `lines` in all (0: not known), of which `done` were translated before.
  void show_progress(std::int64_t lines, std::int64_t done) {
    progress_.emplace("translate", "lines", lines, PlainLines::NowAndThen, done);
  }

  void write(const Translation& translation) override;
  void flush() override { output_.flush(); }
  void progress(const TranslationFacts&) override {
    if (progress_) progress_->update(lines_);
  }

  std::int64_t failed() const { return failed_; }  ///< lines that were no requests
  /// Lines of the input that are answered by now, also by an earlier run.
  std::int64_t lines() const { return std::max(lines_, output_.done()); }

 private:
  void answer(const Translation& translation);
  void warn(const Translation& translation, const std::string& text, std::int64_t count) const;

  Output& output_;
  TranslationFormat format_ = {};
  JsonLines* requests_ = nullptr;
  JsonErrors errors_ = JsonErrors::Answer;
  std::string input_;
  std::int64_t lines_ = 0, unmet_ = 0, failed_ = 0;
  std::optional<Progress> progress_;
};

/// Translates each line with a progress bar, and then logs the summary. Where a signal asked for a
/// stop, returns the translations up to there, without a summary.
std::vector<Translation> translate_with_progress(TranslationService& service,
                                                 std::span<const std::string> lines,
                                                 const TranslationRequest& request);

/// Logs warnings about faults and the amount of work done. `before`: lines that an earlier run has
/// translated.
void log_summary(const TranslationFacts& facts, std::int64_t failed, std::int64_t before,
                 double seconds);

}  // namespace dragoman
