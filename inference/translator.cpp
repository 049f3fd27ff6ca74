#include "inference/translator.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "inference/workers.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Between what is written while there is always something to do.
constexpr milliseconds kFlushPause{50};
/// So long the first line after a pause waits for others to be sorted with; more may join later.
constexpr milliseconds kGathering{2};
// How long a stop request may go unnoticed while there is nothing to read.
constexpr milliseconds kStopCheck{100};

/// Sentences from a stream as the workers needs them.
class Intake {
 public:
  Intake(LineReader& input, TranslationQueue& queue, std::int64_t most_lines,
         const Translator::ReadLine& read_line)
      : input_(input), queue_(queue), most_lines_(most_lines), read_line_(read_line) {}

  /// What has come, without waiting.
  std::vector<SourceSentence> take() { return take_until(Clock::now()); }

  /// Waits for a line, then a moment for more.
  std::vector<SourceSentence> wait_and_take(const std::stop_token& stop) {
    std::vector<SourceSentence> sentences;
    while (!add_line(sentences)) {
      if (ended_ || stop.stop_requested()) return sentences;
      input_.receive(kStopCheck);
    }
    std::vector<SourceSentence> more = take_until(Clock::now() + kGathering);
    std::move(more.begin(), more.end(), std::back_inserter(sentences));
    return sentences;
  }

  bool ended() const { return ended_; }

 private:
  bool add_line(std::vector<SourceSentence>& sentences) {
    const bool at_end = input_.at_end();
    std::optional<std::string> line = input_.next_line();
    ended_ = at_end && !line;
    if (!line) return false;
    std::vector<SourceSentence> of_line =
        queue_.add(read_line_ ? read_line_(std::move(*line), input_.lines() - 1)
                              : LineInput{std::move(*line)});
    std::move(of_line.begin(), of_line.end(), std::back_inserter(sentences));
    return true;
  }

  std::vector<SourceSentence> take_until(Clock::time_point deadline) {
    std::vector<SourceSentence> sentences;
    const auto most = static_cast<std::size_t>(most_lines_);
    for (std::size_t lines = 0; lines < most && sentences.size() < most;) {
      if (add_line(sentences)) {
        ++lines;
        continue;
      }
      if (ended_) break;
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (!input_.receive(std::max(left, milliseconds{0})) && !input_.at_end()) break;
    }
    return sentences;
  }

  LineReader& input_;
  TranslationQueue& queue_;
  std::int64_t most_lines_;
  const Translator::ReadLine& read_line_;
  bool ended_ = false;
};

// Lines read ahead of the rows: enough to sort by length, few enough to see the first ones soon.
std::int64_t lines_ahead(const Workers& workers) { return 8 * workers.capacity() + 64; }

}  // namespace

std::vector<std::string> best_texts(std::vector<Translation> translations) {
  std::vector<std::string> texts;
  for (Translation& translation : translations)
    texts.push_back(std::move(translation.n_best.front().text));
  return texts;
}

Translator::Translator(std::vector<Engine*> engines, const Tokenizer& source,
                       const Tokenizer& target, const DecodeConfig& config, Demands demands)
    : engines_(std::move(engines)),
      source_(source),
      target_(target),
      config_(config),
      demands_(std::move(demands)) {
  config_.requires_phrases = demands_.requires_any();
  config_.validate();
}

TranslationQueue Translator::make_queue(std::int64_t first_line) const {
  const std::int64_t most_pieces =
      std::min(config_.split_length, engines_.front()->max_positions() - 1);
  return {
      source_, target_, config_, demands_, {.most_pieces = most_pieces, .first_line = first_line}};
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines,
                                               std::stop_token stop) {
  TranslationQueue queue = make_queue(0);
  Workers workers(engines_, config_, target_tokens(target_, config_, demands_.avoided));
  std::vector<SourceSentence> sentences;
  for (const std::string& line : lines) {
    std::vector<SourceSentence> of_line = queue.add({line});
    std::move(of_line.begin(), of_line.end(), std::back_inserter(sentences));
  }
  workers.add(std::move(sentences));
  while (!workers.idle() && !stop.stop_requested())
    for (FinishedSentence& sentence : workers.step())
      workers.add(queue.finish(std::move(sentence)));
  std::vector<Translation> translations;
  while (std::optional<Translation> translation = queue.next())
    translations.push_back(std::move(*translation));
  return translations;
}

TranslationFacts Translator::translate(LineReader& input, TranslationSink& output,
                                       std::stop_token stop, const ReadLine& read_line) {
  TranslationQueue queue = make_queue(input.lines());
  Workers workers(engines_, config_, target_tokens(target_, config_, demands_.avoided));
  Intake intake(input, queue, lines_ahead(workers), read_line);
  Clock::time_point last_flush = Clock::now();
  while (!stop.stop_requested()) {
    if (!intake.ended() && workers.waiting() < workers.capacity()) {
      const bool nothing_to_do = workers.idle() && queue.size() == 0;
      if (nothing_to_do) output.flush();
      workers.add(nothing_to_do ? intake.wait_and_take(stop) : intake.take());
    }
    if (intake.ended() && workers.idle() && queue.size() == 0) break;
    for (FinishedSentence& sentence : workers.step())
      workers.add(queue.finish(std::move(sentence)));
    while (const std::optional<Translation> translation = queue.next()) output.write(*translation);
    if (Clock::now() - last_flush >= kFlushPause) {
      output.flush();
      output.progress(queue.facts());
      last_flush = Clock::now();
    }
  }
  output.flush();
  return queue.facts();
}

}  // namespace dragoman
