#include "extras/server/pending_translations.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <new>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/utf8.h"
#include "extras/markup/charset.h"
#include "extras/markup/place_tags.h"
#include "inference/workers.h"

namespace dragoman {

// ---- what other threads leave for the thread of PendingTranslations -----------------------------

/// Work, and news of progress, that other threads leave for the object's thread. The callbacks that
/// engines hold own it too, as they may live longer than the object.
struct PendingTranslations::Inbox {
  void post(std::function<void()> work) {
    const MutexLock lock(mutex);
    posted.push_back(std::move(work));
    changed.notify_one();
  }

  Mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::function<void()>> posted GUARDED_BY(mutex);
  std::list<std::uint64_t> progressed GUARDED_BY(mutex);  // ids
};

/// The news that a translation has made progress. It is made with the translation, because the
/// engine that reports it may have no memory.
class PendingTranslations::News {
 public:
  News(std::shared_ptr<Inbox> inbox, std::uint64_t id) : inbox_(std::move(inbox)), id_{id} {}

  /// Puts the id into the inbox, if it is not there already.
  void tell() noexcept {
    const MutexLock lock(inbox_->mutex);
    if (id_.empty()) return;
    inbox_->progressed.splice(inbox_->progressed.end(), id_);
    inbox_->changed.notify_one();
  }

  /// Takes the id back, the first of `heard`: there may be more news from now on.
  void take_back(std::list<std::uint64_t>& heard) noexcept {
    const MutexLock lock(inbox_->mutex);
    id_.splice(id_.end(), heard, heard.begin());
  }

 private:
  const std::shared_ptr<Inbox> inbox_;
  std::list<std::uint64_t> id_;  // guarded by the inbox's mutex; empty while the id is there
};

// ---- one translation ----------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

namespace {

/// The time for which a translation may gather answers before others have their turn.
constexpr std::chrono::milliseconds kTurn{10};

/// A line of a text.
struct LineIndex {
  std::size_t text, line;
};

/// Lines on their way to a model's service.
struct LinesToSubmit {
  std::shared_ptr<const ServedModel> model;  ///< first: answers that nobody takes need it
  Submission lines;
  std::promise<TranslationAnswers> answers = {};

  void submit() {
    try {
      answers.set_value(model->service().submit(std::move(lines)));
    } catch (...) {
      answers.set_exception(std::current_exception());
    }
  }
};

/// Lines that take the same route.
struct RoutedLines {
  Route route;
  std::vector<LineIndex> indices = {};
  std::vector<std::string> lines = {};  ///< the source of the model that translates now
  std::size_t model = 0;                ///< in the route
  std::size_t answered = 0;
  std::future<TranslationAnswers> submitted = {};  ///< the answers, until they are taken
  std::optional<TranslationAnswers> answers = {};
  std::vector<std::vector<TranslatedWord>> pivot_words = {};  ///< of the first of two models
  std::vector<AlignedText> pivots = {};  ///< translations of the first model, aligned
};

struct TranslatedLine {
  std::vector<AlignedText> texts = {};  ///< the best, then others; aligned if it has tags
  std::vector<ReportedWord> words = {};
};

/// The lines of a text that are translated: those between its line ends, or passages of its markup.
TextLayout layout_of(const TextToTranslate& text, LineBreaks breaks) {
  if (!text.document) return take_apart(text.text, breaks);
  TextLayout layout;
  for (const Passage& passage : text.document->passages) layout.lines.push_back(passage.text);
  return layout;
}

/// `otherwise` if there is no memory for the error.
HttpError http_error_of(const std::exception_ptr& error, const HttpError& otherwise) noexcept {
  try {
    try {
      std::rethrow_exception(error);
    } catch (const HttpError& known) {
      return known;
    } catch (const ServiceBusy&) {
      return {503, "too many sentences wait already; try again later", 1};
    } catch (const UsageError& unfit) {
      return {400, join_text("Invalid request: ", unfit.what())};
    } catch (const std::exception& other) {
      return {500, join_text("Cannot translate text: ", other.what())};
    }
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}

}  // namespace

class PendingTranslations::PendingTranslation {
 public:
  PendingTranslation(TextsToTranslate task, Done done, std::shared_ptr<News> news,
                     WorkQueue& long_texts)
      : task_(std::move(task)),
        done_(std::move(done)),
        news_(std::move(news)),
        long_texts_(long_texts) {
    for (const TextToTranslate& text : task_.texts) {
      layouts_.push_back(layout_of(text, task_.line_breaks));
      translated_.emplace_back(layouts_.back().lines.size());
    }
    on_stop_.emplace(task_.stop, [this] {
      stop_.request_stop();
      news_->tell();
    });
  }

  Clock::time_point deadline() const { return task_.deadline; }
  News& news() const { return *news_; }

  /// Continues as far as it can. True when it has ended.
  bool advance() {
    if (!done_) return true;
    std::optional<TranslationOutcome> outcome;
    try {
      if (task_.stop.stop_requested()) throw HttpError(kClientGone, "the client is gone");
      check_deadline();
      if (!begun_) begin();
      if (!take_all_answers()) return false;
      if (!std::exchange(submitted_elements_, true)) {
        submit_lost_elements();
        if (!take_all_answers()) return false;
      }
      outcome = result();
    } catch (...) {
      outcome = http_error_of(std::current_exception(), no_memory_);
    }
    give_up();
    tell(*std::move(outcome));
    return true;
  }

  void fail(const HttpError& error) {
    give_up();
    if (done_) tell(error);
  }

 private:
  void give_up() {
    stop_.request_stop();
    routed_.clear();
  }

  void check_deadline() const {
    if (Clock::now() >= task_.deadline)
      throw HttpError(504, "the translation takes too long; send less text at once");
  }

  /// Calls it once, even if it throws.
  void tell(TranslationOutcome outcome) { std::exchange(done_, nullptr)(std::move(outcome)); }

  void begin() {
    begun_ = true;
    for (std::size_t t = 0; t < layouts_.size(); ++t) {
      RoutedLines& lines = lines_of(task_.texts[t].route);
      for (std::size_t l = 0; l < layouts_[t].lines.size(); ++l) {
        lines.indices.push_back({t, l});
        lines.lines.push_back(layouts_[t].lines[l]);
      }
    }
    for (RoutedLines& lines : routed_) {
      if (!lines.route.empty() && !lines.lines.empty())
        submit(lines);
      else
        for (const LineIndex& at : lines.indices)
          translated_[at.text][at.line] = {.texts = {{.text = layouts_[at.text].lines[at.line]}}};
    }
  }

  RoutedLines& lines_of(const Route& route) {
    const auto lines = std::ranges::find(routed_, route, &RoutedLines::route);
    return lines != routed_.end() ? *lines : routed_.emplace_back(RoutedLines{.route = route});
  }

  /// Elements of documents that have no word of a translation. They are lines after the passages.
  void submit_lost_elements() {
    routed_.clear();
    for (std::size_t t = 0; t < layouts_.size(); ++t) {
      const TextToTranslate& text = task_.texts[t];
      std::set<LostElement>& lost = lost_.emplace_back();
      if (!text.document || text.route.empty()) continue;
      for (std::size_t rank = 0; rank <= static_cast<std::size_t>(task_.alternatives); ++rank)
        for (const LostElement& element : lost_elements(*text.document, lines_of_rank(t, rank)))
          lost.insert(element);
      RoutedLines& lines = lines_of(text.route);
      for (const LostElement& element : lost) {
        lines.indices.push_back({t, translated_[t].size()});
        lines.lines.emplace_back(text_of(*text.document, element));
        translated_[t].emplace_back();
      }
    }
    std::erase_if(routed_, [](const RoutedLines& lines) { return lines.lines.empty(); });
    for (RoutedLines& lines : routed_) submit(lines);
  }

  void submit(RoutedLines& lines) {
    const ServedModel& model = *lines.route[lines.model];
    const bool is_last = lines.model + 1 == lines.route.size();
    RequestedTranslations wanted{.n_best = is_last ? task_.alternatives + 1 : 1,
                                 .split = task_.split,
                                 .demands = task_.demands,
                                 .reports_words = task_.reports_words};
    Submission submission{.request = model.request(wanted),
                          .stop = stop_.get_token(),
                          .on_progress = [news = news_] { news->tell(); }};
    wanted.reports_attention = true;
    std::shared_ptr<const PreparedRequest> of_aligned_lines, of_tagged_lines;
    std::size_t bytes = 0;
    for (std::size_t l = 0; l < lines.lines.size(); ++l) {
      LineInput line{.text = std::move(lines.lines[l])};
      const LineIndex& at = lines.indices[l];
      const auto& document = task_.texts[at.text].document;
      if (document && is_line_of_text(at)) {
        const Passage& passage = document->passages[at.line];
        line.kept = lines.model == 0 ? kept_texts(passage) : kept_texts(passage, lines.pivots[l]);
      }
      const bool is_tagged = has_tags(at);
      if ((is_tagged || task_.reports_attention) &&
          words_between_spaces(line.text).size() <= kMostAlignedWords) {
        auto& request = is_tagged ? of_tagged_lines : of_aligned_lines;
        wanted.words_of_best_alone = !is_tagged;  // tags are placed in all translations
        if (!request) request = model.request(wanted);
        line.request = request;
      }
      bytes += line.text.size();
      submission.lines.push_back(std::move(line));
    }
    lines.answered = 0;
    const auto added = std::make_shared<LinesToSubmit>(
        LinesToSubmit{.model = lines.route[lines.model], .lines = std::move(submission)});
    lines.submitted = added->answers.get_future();
    if (bytes <= kLittleText) return added->submit();
    long_texts_.post([added, stop = stop_.get_token(), news = news_](const auto& stopping) {
      if (!stop.stop_requested() && !stopping.stop_requested()) added->submit();
      news->tell();
    });
  }

  /// True when all lines of all routes are translated.
  bool take_all_answers() {
    bool is_finished = true;
    for (RoutedLines& lines : routed_) is_finished = take_answers(lines) && is_finished;
    return is_finished;
  }

  /// True when the last model has translated all lines.
  bool take_answers(RoutedLines& lines) {
    const Clock::time_point end = Clock::now() + kTurn;
    while (lines.submitted.valid() || lines.answers) {
      if (!lines.answers) {
        if (lines.submitted.wait_for(Clock::duration::zero()) != std::future_status::ready)
          return false;
        lines.answers = lines.submitted.get();
      }
      while (auto answer = lines.answers->next_if_finished()) {
        check_deadline();
        keep(lines, std::move(*answer));
        if (Clock::now() < end) continue;
        news_->tell();  // the rest later
        return false;
      }
      if (lines.answers->left() > 0) return false;
      lines.answers.reset();
      if (++lines.model < lines.route.size()) submit(lines);
    }
    return true;
  }

  void keep(RoutedLines& lines, Translation answer) {
    const std::size_t number = lines.answered++;
    target_tokens_ += answer.facts.target_tokens;
    TranslatedText& best = answer.n_best.front();
    if (lines.model + 1 < lines.route.size()) {
      lines.pivots.push_back(aligned_text(best));
      lines.lines[number] = std::move(best.text);
      if (task_.reports_words) lines.pivot_words.push_back(std::move(best.words));
      return;
    }
    const LineIndex& at = lines.indices[number];
    TranslatedLine& line = translated_[at.text][at.line];
    for (const TranslatedText& text : answer.n_best) {
      AlignedText aligned = aligned_text(text);
      if (has_tags(at) && !lines.pivots.empty())
        aligned = through_pivot(lines.pivots[number], std::move(aligned));
      line.texts.push_back(std::move(aligned));
    }
    if (!task_.reports_words || !is_line_of_text(at)) return;
    if (!lines.pivot_words.empty())
      best.words = through_pivot(lines.pivot_words[number], std::move(best.words));
    line.words = report_words(layouts_[at.text].lines[at.line], best);
  }

  /// Whether it is not an element's own text.
  bool is_line_of_text(const LineIndex& at) const {
    return at.line < layouts_[at.text].lines.size();
  }

  bool has_tags(const LineIndex& at) const {
    const auto& document = task_.texts[at.text].document;
    return document && is_line_of_text(at) && needs_alignment(document->passages[at.line]);
  }

  /// Each line of a text in its translation of that rank, or its last one.
  std::vector<AlignedText> lines_of_rank(std::size_t text, std::size_t rank) const {
    std::vector<AlignedText> lines;
    for (std::size_t l = 0; l < layouts_[text].lines.size(); ++l) {
      const std::vector<AlignedText>& ranks = translated_[text][l].texts;
      lines.push_back(ranks[std::min(rank, ranks.size() - 1)]);
    }
    return lines;
  }

  ElementTexts element_texts_of(std::size_t text) const {
    ElementTexts texts;
    std::size_t line = layouts_[text].lines.size();
    for (const LostElement& element : lost_[text])
      texts[element] = translated_[text][line++].texts.front().text;
    return texts;
  }

  /// A document that is already in its target language: byte for byte as it came.
  static std::string unchanged(const TextToTranslate& text) {
    const std::string& charset = text.document->charset;
    return charset.empty() ? text.text : in_charset(text.text, charset);
  }

  std::string text_of_rank(std::size_t text, std::size_t rank) const {
    const TextToTranslate& source = task_.texts[text];
    if (source.document && source.route.empty()) return unchanged(source);
    std::vector<AlignedText> aligned = lines_of_rank(text, rank);
    if (source.document)
      return translated_document(*source.document, aligned, element_texts_of(text)).bytes;
    std::vector<std::string> lines;
    for (AlignedText& line : aligned) lines.push_back(std::move(line.text));
    return put_together(layouts_[text], lines);
  }

  /// The words of the best translation of a text, with their places in both texts.
  std::vector<ReportedWord> reported_words_of(std::size_t text) const {
    const TextLayout& layout = layouts_[text];
    std::vector<ReportedWord> all;
    if (task_.texts[text].document) return all;  // places among tags help nobody
    std::size_t source = 0, target = 0;          // code points in front of the line
    for (std::size_t l = 0; l < layout.lines.size(); ++l) {
      const TranslatedLine& line = translated_[text][l];
      const std::size_t between = count_code_points(layout.around[l]);
      source += between;
      target += between;
      for (ReportedWord word : line.words) {
        if (!word.source.empty())
          word.source = {.begin = word.source.begin + source, .end = word.source.end + source};
        word.target = {.begin = word.target.begin + target, .end = word.target.end + target};
        all.push_back(word);
      }
      source += count_code_points(layout.lines[l]);
      target += count_code_points(line.texts.front().text);
    }
    return all;
  }

  TranslatedTexts result() const {
    TranslatedTexts result{.texts = {}, .target_tokens = target_tokens_};
    for (std::size_t t = 0; t < layouts_.size(); ++t) {
      if (task_.reports_words) result.words.push_back(reported_words_of(t));
      std::vector<std::string>& ranks = result.texts.emplace_back();
      for (std::size_t rank = 0; rank <= static_cast<std::size_t>(task_.alternatives); ++rank) {
        std::string text = text_of_rank(t, rank);
        if (std::ranges::find(ranks, text) == ranks.end()) ranks.push_back(std::move(text));
      }
    }
    return result;
  }

  const TextsToTranslate task_;
  Done done_;  // null when it has been called
  const std::shared_ptr<News> news_;
  WorkQueue& long_texts_;
  const HttpError no_memory_{500, "Cannot translate text: no memory is left"};
  std::vector<TextLayout> layouts_;                      // of each text
  std::vector<std::vector<TranslatedLine>> translated_;  // [texts][lines]
  std::int64_t target_tokens_ = 0;
  std::vector<std::set<LostElement>> lost_;  // of each text
  bool begun_ = false, submitted_elements_ = false;
  std::stop_source stop_;
  std::vector<RoutedLines> routed_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

// ---- all translations ---------------------------------------------------------------------------

PendingTranslations::PendingTranslations(WorkQueue& long_texts)
    : long_texts_(long_texts),
      inbox_(std::make_shared<Inbox>()),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

PendingTranslations::~PendingTranslations() {
  thread_.request_stop();
  thread_.join();
  for (const auto& [id, translation] : under_way_) translation->fail(stopping_);
}

void PendingTranslations::post(std::function<void()> work) { inbox_->post(std::move(work)); }

void PendingTranslations::start(TextsToTranslate task, Done done) {
  const std::uint64_t id = ++last_id_;
  under_way_[id] = std::make_unique<PendingTranslation>(
      std::move(task), std::move(done), std::make_shared<News>(inbox_, id), long_texts_);
  advance(under_way_.find(id));
}

void PendingTranslations::advance(UnderWay::iterator translation) {
  if (translation->second->advance()) under_way_.erase(translation);
}

void PendingTranslations::hear(std::list<std::uint64_t> progressed) {
  while (!progressed.empty()) {
    const auto found = under_way_.find(progressed.front());
    if (found == under_way_.end()) {
      progressed.pop_front();
      continue;
    }
    found->second->news().take_back(progressed);
    advance(found);
  }
}

/// If memory runs out, translations and posted work end by themselves; nothing else here takes
/// memory.
void PendingTranslations::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Clock::time_point deadline = Clock::now() + std::chrono::hours(1);
    for (const auto& [id, translation] : under_way_)
      deadline = std::min(deadline, translation->deadline());
    std::vector<std::function<void()>> posted;
    std::list<std::uint64_t> progressed;
    {
      MutexLock lock(inbox_->mutex);
      inbox_->changed.wait_until(lock, stop, deadline, [this]() REQUIRES(inbox_->mutex) {
        return !inbox_->posted.empty() || !inbox_->progressed.empty();
      });
      posted.swap(inbox_->posted);
      progressed.swap(inbox_->progressed);
    }
    for (const auto& work : posted) work();
    hear(std::move(progressed));
    for (auto next = under_way_.begin(); next != under_way_.end();) {
      const auto translation = next++;
      if (Clock::now() >= translation->second->deadline()) advance(translation);
    }
  }
}

}  // namespace dragoman
