// Lines in, translations out, in the same order: a list of lines, or a stream of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/line_stream.h"
#include "inference/translation.h"
#include "inference/translation_request.h"
#include "inference/translation_service.h"

namespace dragoman {

/// The answers of lines that share a request; the lines are under way.
TranslationAnswers submit_lines(TranslationService& service, std::span<const std::string> lines,
                                const TranslationRequest& request, std::stop_token stop = {});

/// A translation of each line; fewer, from the first on, where a stop was requested.
std::vector<Translation> translate_lines(TranslationService& service,
                                         std::span<const std::string> lines,
                                         const TranslationRequest& request,
                                         std::stop_token stop = {});

/// The best text of each translation.
std::vector<std::string> best_texts(std::vector<Translation> translations);

/// Where translations go, in the order of their lines.
class TranslationSink {
 public:
  virtual ~TranslationSink() = default;
  virtual void write(const Translation& translation) = 0;
  /// Called when the input pauses and all that has come is written.
  virtual void flush() = 0;
  /// Called now and then during the work.
  virtual void progress(const TranslationFacts&) {}
};

/// What a line is when it comes. Called in the order of the lines, with their numbers from 0.
using ReadLine = std::function<LineInput(std::string line, std::int64_t number)>;

/// What is asked of a stream's lines.
struct StreamRequest {
  std::shared_ptr<const PreparedRequest> request;
  ReadLine read_line = {};  ///< by default a line is its text
};

/// Translates until the input ends or a stop is requested. What is finished is written, and flushed
/// within 50 ms; meanwhile more is read as rows become free. Lines are numbered as they stand in
/// the input, of which some may have been read before.
TranslationFacts translate_stream(TranslationService& service, LineReader& input,
                                  TranslationSink& output, const StreamRequest& request,
                                  std::stop_token stop = {});

}  // namespace dragoman
