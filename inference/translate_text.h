// Translates a list of lines, or a stream of them, and keeps their order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/lines.h"
#include "inference/translation.h"
#include "inference/translation_service.h"

namespace dragoman {

/// Submits lines that share a request.
TranslationAnswers submit_lines(TranslationService& service, std::span<const std::string> lines,
                                const TranslationRequest& request, std::stop_token stop = {});

/// Translates the lines and waits for them. After a stop it returns those of the first lines only.
std::vector<Translation> translate_lines(TranslationService& service,
                                         std::span<const std::string> lines,
                                         const TranslationRequest& request,
                                         std::stop_token stop = {});

std::vector<std::string> best_texts(std::vector<Translation> translations);

/// Takes the translations, in the order of their lines.
class TranslationSink {
 public:
  virtual ~TranslationSink() = default;
  virtual void write(const Translation& translation) = 0;
  /// Called when the input pauses and everything that has come is written.
  virtual void flush() = 0;
  /// Called now and then during the work.
  virtual void progress(const TranslationFacts&) {}
};

/// Makes a LineInput of a line of the input. Called in the order of the lines; numbers are from 0.
using ReadLine = std::function<LineInput(std::string line, std::int64_t number)>;

/// The settings for the lines of a stream.
struct StreamRequest {
  std::shared_ptr<const PreparedRequest> request;
  ReadLine read_line = {};  ///< by default a line is its text
};

/// Translates until the input ends or a stop is requested. A finished line is written at once and
/// flushed within 50 ms; after a stop nothing more is written. More lines are read as rows become
/// free. Line numbers count all lines of `input`, including those that were read before.
TranslationFacts translate_stream(TranslationService& service, LineReader& input,
                                  TranslationSink& output, const StreamRequest& request,
                                  const std::stop_token& stop = {});

}  // namespace dragoman
