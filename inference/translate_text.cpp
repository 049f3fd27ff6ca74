#include "inference/translate_text.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "base/threads.h"

namespace dragoman {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The time from one flush to the next while lines are in translation.
constexpr milliseconds kFlushPause{50};
/// The time that the first line after a pause of the input waits for others, to be sorted with
/// them.
constexpr milliseconds kGathering{2};
constexpr milliseconds kForever{-1};
/// The bytes of a rather long sentence. With the number of lines they limit how much is read ahead.
constexpr std::size_t kSentenceBytes = 256;

/// A stream of lines that is being translated.
class StreamTranslation {
 public:
  StreamTranslation(TranslationService& service, LineReader& input, TranslationSink& output,
                    const StreamRequest& request)
      : service_(service),
        input_(input),
        output_(output),
        request_(request),
        capacity_(std::min(service.capacity(request.request->settings->config),
                           service.most_waiting())) {}

  TranslationFacts run(const std::stop_token& stop) {
    const std::stop_callback on_stop(stop, [this] { wake_up_.wake(); });
    while (!stop.stop_requested()) {
      wake_up_.clear();
      if (wants_more()) read(stop);
      write_finished();
      if (ended_ && under_way_.empty()) break;
      wait();
    }
    output_.flush();
    return facts_;
  }

 private:
  bool wants_more() const {
    return !ended_ && (under_way_.empty() || service_.waiting() < capacity_);
  }

  void read(const std::stop_token& stop) {
    std::vector<LineInput> lines;
    const std::int64_t first_line = input_.lines();
    if (under_way_.empty()) {
      output_.flush();
      wait_for_line(lines, stop);
      if (!lines.empty()) read_until(Clock::now() + kGathering, lines);
    } else {
      read_until(Clock::now(), lines);
    }
    if (lines.empty()) return;
    under_way_.push_back(service_.submit({.lines = std::move(lines),
                                          .request = request_.request,
                                          .first_line = first_line,
                                          .on_progress = [this] { wake_up_.wake(); }}));
  }

  void wait_for_line(std::vector<LineInput>& lines, const std::stop_token& stop) {
    while (!add_line(lines) && !ended_ && !stop.stop_requested()) {
      input_.receive(kForever, wake_up_.descriptor());
      wake_up_.clear();
    }
  }

  /// Reads few enough lines that the first ones are written soon, and enough to sort them by
  /// length.
  void read_until(Clock::time_point deadline, std::vector<LineInput>& lines) {
    const auto most = static_cast<std::size_t>(8 * capacity_ + 64);
    std::size_t bytes = 0;
    needs_input_ = false;
    while (lines.size() < most && bytes < most * kSentenceBytes) {
      if (add_line(lines)) {
        bytes += lines.back().text.size();
        continue;
      }
      if (ended_) return;
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (!input_.receive(std::max(left, milliseconds{0})) && !input_.at_end()) {
        needs_input_ = true;
        return;
      }
    }
  }

  bool add_line(std::vector<LineInput>& lines) {
    const bool at_end = input_.at_end();
    std::optional<std::string> line = input_.next_line();
    ended_ = at_end && !line;
    if (!line) return false;
    lines.push_back(request_.read_line ? request_.read_line(std::move(*line), input_.lines() - 1)
                                       : LineInput{std::move(*line)});
    return true;
  }

  void write_finished() {
    while (!under_way_.empty()) {
      TranslationAnswers& answers = under_way_.front();
      while (const std::optional<Translation> translation = answers.next_if_finished()) {
        output_.write(*translation);
        facts_ += translation->facts;
      }
      if (answers.left() > 0) break;
      under_way_.pop_front();
    }
    if (Clock::now() - last_flush_ < kFlushPause) return;
    output_.flush();
    output_.progress(facts_);
    last_flush_ = Clock::now();
  }

  /// Waits until a sentence is finished, more input has come, or a flush is due.
  void wait() {
    if (under_way_.empty()) return;
    const auto left = std::chrono::ceil<milliseconds>(last_flush_ + kFlushPause - Clock::now());
    const auto pause = std::max(left, milliseconds{0});
    if (!wants_more()) {
      pollfd woken{.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&woken, 1, static_cast<int>(pause.count()));
    } else if (needs_input_ && !input_.at_end()) {
      input_.receive(pause, wake_up_.descriptor());
    }
  }

  TranslationService& service_;
  LineReader& input_;
  TranslationSink& output_;
  const StreamRequest& request_;
  std::int64_t capacity_;
  WakeUp wake_up_;                            // before the answers, which wake it
  std::deque<TranslationAnswers> under_way_;  // in the order of their lines
  TranslationFacts facts_;
  bool ended_ = false;
  bool needs_input_ = false;  // all that has come is read
  Clock::time_point last_flush_ = Clock::now();
};

}  // namespace

TranslationAnswers submit_lines(TranslationService& service, std::span<const std::string> lines,
                                const TranslationRequest& request, std::stop_token stop) {
  Submission submission{.request = service.prepare(request), .stop = std::move(stop)};
  for (const std::string& line : lines) submission.lines.push_back({line});
  return service.submit(std::move(submission));
}

std::vector<Translation> translate_lines(TranslationService& service,
                                         std::span<const std::string> lines,
                                         const TranslationRequest& request, std::stop_token stop) {
  TranslationAnswers answers = submit_lines(service, lines, request, std::move(stop));
  std::vector<Translation> translations;
  while (std::optional<Translation> translation = answers.next())
    translations.push_back(std::move(*translation));
  return translations;
}

std::vector<std::string> best_texts(std::vector<Translation> translations) {
  std::vector<std::string> texts;
  for (Translation& translation : translations)
    texts.push_back(std::move(translation.n_best.front().text));
  return texts;
}

TranslationFacts translate_stream(TranslationService& service, LineReader& input,
                                  TranslationSink& output, const StreamRequest& request,
                                  const std::stop_token& stop) {
  return StreamTranslation(service, input, output, request).run(stop);
}

}  // namespace dragoman
