// Writes translations as lines of output: plain text, with fields after " ||| " as in Marian, or
// answers to requests (--json). Warns of faults, shows the progress, and logs how much was
// translated and what is missing in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/input_output.h"
#include "app/commands/json_requests.h"
#include "app/frame/terminal.h"
#include "inference/translate_text.h"
#include "inference/translation.h"

namespace dragoman {

/// The written form of a translation as plain text.
struct TranslationFormat {
  bool all = false;  ///< all of the n best
  bool scores = false;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;

  /// The line of output, or with `all` a line for each of the n best.
  std::vector<std::string> lines(const Translation& translation) const;
};

/// The reaction to a line that is not a request (--json).
enum class JsonErrors {
  Answer,  ///< answer with an object that says why
  Stop,    ///< end after the answers to the lines before it
};
constexpr std::array<std::string_view, 2> names_of(JsonErrors) { return {"answer", "stop"}; }

class WrittenTranslations : public TranslationSink {
 public:
  WrittenTranslations(Output& output, const TranslationFormat& format)
      : output_(output), format_(format) {}
  /// Answers to requests of `input`, a name for messages.
  WrittenTranslations(Output& output, JsonRequests& requests, JsonErrors errors, std::string input)
      : output_(output), requests_(&requests), errors_(errors), input_(std::move(input)) {}

  /// `lines` in all (0: not known), of which `done` were translated before.
  void show_progress(std::int64_t lines, std::int64_t done) {
    progress_.emplace("translate", "lines", lines, PlainLines::Every30Seconds, done);
  }

  void write(const Translation& translation) override;
  void flush() override { output_.flush(); }
  void progress(const TranslationFacts&) override {
    if (progress_) progress_->update(lines_);
  }

  std::int64_t failed() const { return failed_; }  ///< lines that were not requests
  /// The number of input lines answered so far, those of earlier calls included.
  std::int64_t lines() const { return std::max(lines_, output_.done()); }

 private:
  void answer(const Translation& translation);
  void warn(const Translation& translation, const std::string& text, std::int64_t count) const;

  Output& output_;
  TranslationFormat format_ = {};
  JsonRequests* requests_ = nullptr;
  JsonErrors errors_ = JsonErrors::Answer;
  std::string input_;
  std::int64_t lines_ = 0, unmet_ = 0, failed_ = 0, long_words_ = 0;
  std::optional<Progress> progress_;
};

/// For commands that only need the result: translates each line with a progress bar, and then logs
/// the summary. If a signal asks for a stop, returns the translations up to there, without a
/// summary.
std::vector<Translation> translate_with_progress(TranslationService& service,
                                                 std::span<const std::string> lines,
                                                 const TranslationRequest& request);

/// The most warnings of one kind that are shown.
inline constexpr std::int64_t kMostWarnings = 10;

/// "the translation lacks 'Haus' 'Hof'"
std::string unmet_text(const Translation& translation);

/// Logs warnings about faults and the amount of work done. `before`: lines that an earlier call has
/// translated.
void log_summary(const TranslationFacts& facts, std::int64_t failed, std::int64_t before,
                 double seconds);

}  // namespace dragoman
