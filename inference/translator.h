// Lines in, translations out, in the same order: tokenizes, splits what is long, searches, joins.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "inference/decode_config.h"
#include "inference/demands.h"
#include "inference/engine.h"
#include "inference/line_stream.h"
#include "inference/translation_queue.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

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

/// The best text of each translation.
std::vector<std::string> best_texts(std::vector<Translation> translations);

class Translator {
 public:
  /// One engine or several of the same model, each of which works on a thread of its own. Engines
  /// and tokenizers must outlive the translator. Throws UsageError where the configuration is
  /// wrong.
  Translator(std::vector<Engine*> engines, const Tokenizer& source, const Tokenizer& target,
             const DecodeConfig& config, Demands demands = {});
  Translator(Engine& engine, const Tokenizer& source, const Tokenizer& target,
             const DecodeConfig& config, Demands demands = {})
      : Translator(std::vector{&engine}, source, target, config, std::move(demands)) {}

  /// What lines are when they come; by default their text. Called in the order of the lines, with
  /// their numbers from 0.
  using ReadLine = std::function<LineInput(std::string line, std::int64_t number)>;

  /// A translation of each line; fewer, from the first on, where a stop was requested.
  std::vector<Translation> translate(std::span<const std::string> lines, std::stop_token stop = {});

  /// Translates until the input ends or a stop is requested. When the input pauses for 50 ms, what
  /// has come is translated and the sink flushed; meanwhile more is read as rows become free. Lines
  /// are numbered as they stand in the input, of which some may have been read before.
  TranslationFacts translate(LineReader& input, TranslationSink& output, std::stop_token stop = {},
                             const ReadLine& read_line = {});

 private:
  TranslationQueue make_queue(std::int64_t first_line) const;

  std::vector<Engine*> engines_;
  const Tokenizer& source_;
  const Tokenizer& target_;
  DecodeConfig config_;
  Demands demands_;
};

}  // namespace dragoman
