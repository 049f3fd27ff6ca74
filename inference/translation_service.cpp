#include "inference/translation_service.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/mutex.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "inference/assemble_translation.h"

namespace dragoman {

// ---- a submission ------------------------------------------------------------------------------

/// A submission in translation: its lines, their results, and the thread that waits for them.
class TranslationJob : public SentenceReceiver,
                       public std::enable_shared_from_this<TranslationJob> {
 public:
  /// The target's tokenizer must outlive the answers, the others the work.
  TranslationJob(const LinePreparer& preparer, const RequiredTextSearch& required_texts,
                 SentenceCache& cache, const Tokenizer& target);

  /// Prepares the lines and returns their sentences, without those that the cache has. Call it
  /// once, before any other function.
  std::vector<SourceSentence> begin(Submission submission);

  std::optional<SourceSentence> finish(SourceSentence sentence) override;
  void fail(std::exception_ptr error) noexcept override;

  enum class Wait { UntilFinished, Never };
  std::optional<Translation> next(Wait wait);  ///< see TranslationAnswers
  std::size_t left() const;
  /// Stops the work. on_progress is not called any more.
  void cancel();

 private:
  PreparedPart& part_of(std::int64_t line, std::int64_t part);
  SourceSentence addressed(SourceSentence sentence);
  /// Gives the sentence its hypotheses if the cache has them. Returns the sentence that is to be
  /// searched for, if there is one.
  std::optional<SourceSentence> look_up(PreparedLine& line, SourceSentence sentence);
  void stop_work() noexcept;

  const LinePreparer& preparer_;
  const RequiredTextSearch& required_texts_;
  SentenceCache& cache_;
  const Tokenizer& target_;
  std::int64_t first_line_ = 0;
  /// Null once next() has taken the line. No mutex guards it: workers write to different parts of a
  /// line, and next() takes a line only after all its parts are finished (order_).
  std::vector<std::unique_ptr<PreparedLine>> lines_;
  std::stop_source cancelled_;
  mutable Mutex mutex_;
  LineOrder order_ GUARDED_BY(mutex_);
  std::exception_ptr error_ GUARDED_BY(mutex_);
  std::function<void()> on_progress_ GUARDED_BY(mutex_);
  std::condition_variable_any changed_;
  /// Last: the function that it calls uses all members above.
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

namespace {

/// Adds the hypotheses that a search has found. Returns a wider search while the list is too short.
/// The best hypothesis stays that of the beam size that was asked for.
std::optional<SourceSentence> fill_up(PreparedPart& part, std::vector<Hypothesis> found,
                                      const Tokenizer& target) {
  constexpr int kWiderSearches = 2;
  NBestList& list = *part.n_best;
  const bool is_first = list.wider_searches == 0;
  if (is_first) list.wanted = found.size();
  for (Hypothesis& hypothesis : found) {
    if (list.hypotheses.size() == list.wanted) break;
    std::string text = one_line(std::string(strip(translated_text(part, hypothesis, target))));
    if (std::ranges::find(list.texts, text) != list.texts.end() ||
        (!is_first && hypothesis.score > list.hypotheses.front().score))
      continue;
    list.texts.push_back(std::move(text));
    list.hypotheses.push_back(std::move(hypothesis));
  }
  if (list.hypotheses.size() == list.wanted || list.wider_searches == kWiderSearches)
    return std::nullopt;
  ++list.wider_searches;
  SourceSentence wider = list.sentence;
  auto settings = std::make_shared<SearchSettings>(*wider.settings);
  settings->config.beam_size <<= list.wider_searches;
  settings->config.n_best = settings->config.beam_size;
  wider.settings = std::move(settings);
  return wider;
}

}  // namespace

TranslationJob::TranslationJob(const LinePreparer& preparer,
                               const RequiredTextSearch& required_texts, SentenceCache& cache,
                               const Tokenizer& target)
    : preparer_(preparer), required_texts_(required_texts), cache_(cache), target_(target) {}

std::vector<SourceSentence> TranslationJob::begin(Submission submission) {
  first_line_ = submission.first_line;
  std::vector<SourceSentence> sentences;
  MutexLock lock(mutex_);
  try {
    for (LineInput& input : submission.lines) {
      const auto number = submission.first_line + static_cast<std::int64_t>(lines_.size());
      auto request = input.request ? std::move(input.request) : submission.request;
      if (request->settings->config.sampling && !input.terms.empty())
        throw UsageError("--sampling: random draws cannot be made to have terms");
      auto& line = lines_.emplace_back(std::make_unique<PreparedLine>(number, std::move(request)));
      const std::size_t before = sentences.size();
      for (SourceSentence& sentence : preparer_.prepare(std::move(input), *line, submission.stop))
        if (auto searched = look_up(*line, std::move(sentence)))
          sentences.push_back(addressed(*std::move(searched)));
      order_.add(sentences.size() - before);
    }
  } catch (const LinePreparer::Stopped&) {
    order_.add(1);  // it is never finished, so neither it nor a line after it is answered
  }
  on_progress_ = std::move(submission.on_progress);
  if (order_.ready() && on_progress_) on_progress_();
  lock.unlock();  // stop_work() locks it
  on_stop_.emplace(submission.stop, [this] { stop_work(); });
  return sentences;
}

PreparedPart& TranslationJob::part_of(std::int64_t line, std::int64_t part) {
  return lines_[static_cast<std::size_t>(line - first_line_)]
      ->parts[static_cast<std::size_t>(part)];
}

SourceSentence TranslationJob::addressed(SourceSentence sentence) {
  const DecodeConfig& config = sentence.settings->config;
  auto& n_best = part_of(sentence.line, sentence.part).n_best;
  if (config.n_best > 1 && !config.sampling && !n_best) n_best.emplace(NBestList{sentence});
  sentence.receiver = shared_from_this();
  sentence.stop = cancelled_.get_token();
  return sentence;
}

std::optional<SourceSentence> TranslationJob::look_up(PreparedLine& line, SourceSentence sentence) {
  // Settings with texts to avoid are made for a request and do not come again.
  auto key = line.request->demands->avoided.empty() ? cache_.key_of(sentence) : std::nullopt;
  if (!key) return sentence;
  const auto part = static_cast<std::size_t>(sentence.part);
  if (auto known = cache_.find(*key))
    return required_texts_.keep_or_search_again(line, part, *std::move(known));
  line.parts[part].cache_key = std::move(key);
  return sentence;
}

std::optional<SourceSentence> TranslationJob::finish(SourceSentence sentence) {
  const auto line = static_cast<std::size_t>(sentence.line - first_line_);
  const auto part = static_cast<std::size_t>(sentence.part);
  if (PreparedPart& its_part = lines_[line]->parts[part]; its_part.n_best) {
    if (auto wider = fill_up(its_part, std::move(sentence.hypotheses), target_))
      return addressed(*std::move(wider));
    sentence.hypotheses = std::move(its_part.n_best->hypotheses);
    its_part.n_best.reset();
  }
  if (auto key = std::exchange(lines_[line]->parts[part].cache_key, std::nullopt))
    cache_.keep(*std::move(key), sentence.hypotheses);
  if (auto again =
          required_texts_.keep_or_search_again(*lines_[line], part, std::move(sentence.hypotheses)))
    return addressed(std::move(*again));
  const MutexLock lock(mutex_);
  order_.finish(line);
  if (order_.ready()) changed_.notify_all();
  if (on_progress_) on_progress_();
  return std::nullopt;
}

void TranslationJob::fail(std::exception_ptr error) noexcept {
  {
    const MutexLock lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
  }
  stop_work();
}

void TranslationJob::stop_work() noexcept {
  cancelled_.request_stop();
  const MutexLock lock(mutex_);
  changed_.notify_all();
  if (on_progress_) on_progress_();
}

void TranslationJob::cancel() {
  {
    const MutexLock lock(mutex_);
    on_progress_ = nullptr;
  }
  stop_work();
}

std::optional<Translation> TranslationJob::next(Wait wait) {
  std::unique_ptr<PreparedLine> line;
  {
    MutexLock lock(mutex_);
    if (wait == Wait::UntilFinished)
      while (!order_.ready() && order_.left() > 0 && !cancelled_.stop_requested())
        changed_.wait(lock);
    if (!order_.ready()) {
      if (order_.left() > 0 && error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    line = std::move(lines_[order_.take()]);
  }
  return assemble_translation(*line, target_);
}

std::size_t TranslationJob::left() const {
  const MutexLock lock(mutex_);
  return order_.left();
}

// ---- its answers -------------------------------------------------------------------------------

TranslationAnswers::TranslationAnswers(std::shared_ptr<TranslationJob> job)
    : job_(std::move(job)) {}
TranslationAnswers::TranslationAnswers(TranslationAnswers&&) noexcept = default;

TranslationAnswers& TranslationAnswers::operator=(TranslationAnswers&& other) noexcept {
  std::swap(job_, other.job_);
  return *this;
}

TranslationAnswers::~TranslationAnswers() {
  if (job_) job_->cancel();
}

std::optional<Translation> TranslationAnswers::next() {
  return job_->next(TranslationJob::Wait::UntilFinished);
}

std::optional<Translation> TranslationAnswers::next_if_finished() {
  return job_->next(TranslationJob::Wait::Never);
}

std::size_t TranslationAnswers::left() const { return job_->left(); }

// ---- the service -------------------------------------------------------------------------------

namespace {

void refuse_draws_with_demands(const DecodeConfig& config, const Demands& demands) {
  if (config.sampling && demands.requires_any())
    throw UsageError("--sampling: random draws cannot be made to have --terms or --protect");
}

}  // namespace

TranslationService::TranslationService(const std::vector<Engine*>& engines,
                                       const TokenizerPair& tokenizers, const ServiceConfig& config)
    : engine_(*engines.front()),
      target_(tokenizers.target),
      preparer_(tokenizers, engine_.max_positions(), config.record),
      required_texts_(tokenizers),
      edges_(token_edges(*target_)),
      cache_(config.cache_bytes),
      workers_(engines, config.limits) {}

std::shared_ptr<const PreparedRequest> TranslationService::prepare(
    const TranslationRequest& request) const {
  static const auto none = std::make_shared<const Demands>();
  const std::shared_ptr<const Demands>& demands = request.demands ? request.demands : none;
  request.config.check();
  refuse_draws_with_demands(request.config, *demands);
  engine_.check(heads_of(request.config));
  TargetTokens tokens = target_tokens(*target_, request.config, demands->avoided);
  tokens.edges = edges_;
  return std::make_shared<const PreparedRequest>(
      PreparedRequest{.settings = std::make_shared<const SearchSettings>(
                          SearchSettings{.config = request.config, .tokens = std::move(tokens)}),
                      .demands = demands,
                      .reports_words = request.reports_words || request.reports_attention,
                      .reports_attention = request.reports_attention,
                      .words_of_best_alone = request.words_of_best_alone});
}

std::shared_ptr<const PreparedRequest> TranslationService::with_demands(
    const PreparedRequest& request, std::shared_ptr<const Demands> demands) const {
  if (!demands->avoided.empty())
    return prepare({.config = request.settings->config,
                    .demands = std::move(demands),
                    .reports_words = request.reports_words,
                    .reports_attention = request.reports_attention,
                    .words_of_best_alone = request.words_of_best_alone});
  refuse_draws_with_demands(request.settings->config, *demands);
  auto result = std::make_shared<PreparedRequest>(request);
  result->demands = std::move(demands);
  return result;
}

TranslationAnswers TranslationService::submit(Submission submission) {
  const auto job = std::make_shared<TranslationJob>(preparer_, required_texts_, cache_, *target_);
  TranslationAnswers answers(job);
  workers_.add(job->begin(std::move(submission)));
  return answers;
}

}  // namespace dragoman
