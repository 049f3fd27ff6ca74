// Writes translations as lines of output, warns of faults, and shows the progress.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/commands/json_requests.h"
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

  std::int64_t failed() const { return failed_; }  ///< lines that were no requests
  /// Lines of the input that are answered by now, also by an earlier call.
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

}  // namespace dragoman
