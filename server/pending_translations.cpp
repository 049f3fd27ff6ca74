#include "server/pending_translations.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "inference/workers.h"

namespace dragoman {

using Clock = std::chrono::steady_clock;

/// Work, and news of progress, that other threads leave for the object's thread. The callbacks that
/// engines hold own it too, as they may live longer than the object.
struct PendingTranslations::Inbox {
  void post(std::function<void()> work) {
    const MutexLock lock(mutex);
    posted.push_back(std::move(work));
    changed.notify_one();
  }
  void tell(std::uint64_t id) {
    const MutexLock lock(mutex);
    if (progressed.insert(id).second) changed.notify_one();
  }

  Mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::function<void()>> posted GUARDED_BY(mutex);
  std::set<std::uint64_t> progressed GUARDED_BY(mutex);
};

namespace {

/// A line of a text.
struct Place {
  std::size_t text, line;
};

/// Lines that take the same route.
struct Passage {
  Route route;
  std::vector<Place> places = {};
  std::vector<std::string> lines = {};  ///< the source of the model that translates now
  std::size_t model = 0;                ///< in the route
  std::size_t answered = 0;
  std::optional<TranslationAnswers> answers = {};
};

HttpError http_error_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const HttpError& known) {
    return known;
  } catch (const ServiceBusy&) {
    return {503, "too many sentences wait already; try again later", 1};
  } catch (const std::exception& other) {
    return {500, join_text("Cannot translate text: ", other.what())};
  }
}

}  // namespace

class PendingTranslations::Translation {
 public:
  Translation(TextsToTranslate asked, Done done, std::function<void()> on_progress)
      : asked_(std::move(asked)), done_(std::move(done)), on_progress_(std::move(on_progress)) {
    for (const TextToTranslate& text : asked_.texts) {
      layouts_.push_back(take_apart(text.text, asked_.line_breaks));
      translated_.emplace_back(layouts_.back().lines.size());
    }
    on_stop_.emplace(asked_.stop, [this] { stop_.request_stop(); });
  }

  Clock::time_point deadline() const { return asked_.deadline; }

  /// Goes on as far as it can. True when it has ended.
  bool go_on() {
    try {
      if (asked_.stop.stop_requested()) throw HttpError(kClientGone, "the client is gone");
      if (Clock::now() >= asked_.deadline)
        throw HttpError(504, "the translation takes too long; send less text at once");
      if (!begun_) begin();
      bool is_finished = true;
      for (Passage& passage : passages_) is_finished = take_answers(passage) && is_finished;
      if (!is_finished) return false;
      done_(result());
    } catch (...) {
      fail(http_error_of(std::current_exception()));
    }
    return true;
  }

  void fail(const HttpError& error) {
    passages_.clear();  // gives up what is under way
    done_(error);
  }

 private:
  void begin() {
    begun_ = true;
    for (std::size_t t = 0; t < layouts_.size(); ++t) {
      const Route& route = asked_.texts[t].route;
      auto passage = std::ranges::find(passages_, route, &Passage::route);
      if (passage == passages_.end()) passage = passages_.insert(passage, Passage{.route = route});
      for (std::size_t l = 0; l < layouts_[t].lines.size(); ++l) {
        passage->places.push_back({t, l});
        passage->lines.push_back(layouts_[t].lines[l]);
      }
    }
    for (Passage& passage : passages_) {
      if (!passage.route.empty() && !passage.lines.empty())
        submit(passage);
      else
        for (const Place& at : passage.places)
          translated_[at.text][at.line] = {layouts_[at.text].lines[at.line]};
    }
  }

  void submit(Passage& passage) {
    const ServedModel& model = *passage.route[passage.model];
    const bool is_last = passage.model + 1 == passage.route.size();
    Submission submission{
        .lines = {},
        .request = model.request(is_last ? asked_.alternatives + 1 : 1, asked_.split),
        .stop = stop_.get_token(),
        .on_progress = on_progress_};
    for (std::string& line : passage.lines) submission.lines.push_back({.text = std::move(line)});
    passage.answered = 0;
    passage.answers = model.service().submit(std::move(submission));
  }

  /// True when the last model has translated all lines.
  bool take_answers(Passage& passage) {
    while (passage.answers) {
      while (auto answer = passage.answers->next_if_finished()) keep(passage, std::move(*answer));
      if (passage.answers->left() > 0) return false;
      passage.answers.reset();
      if (++passage.model < passage.route.size()) submit(passage);
    }
    return true;
  }

  void keep(Passage& passage, dragoman::Translation answer) {
    const std::size_t number = passage.answered++;
    target_tokens_ += answer.facts.target_tokens;
    if (passage.model + 1 < passage.route.size()) {
      passage.lines[number] = std::move(answer.n_best.front().text);
      return;
    }
    const Place& at = passage.places[number];
    for (TranslatedText& text : answer.n_best)
      translated_[at.text][at.line].push_back(std::move(text.text));
  }

  /// The translation of a text where each line has its own of that rank, or its last.
  std::string text_of_rank(std::size_t text, std::size_t rank) const {
    std::vector<std::string> lines;
    for (const std::vector<std::string>& line : translated_[text])
      lines.push_back(line[std::min(rank, line.size() - 1)]);
    return put_together(layouts_[text], lines);
  }

  TranslatedTexts result() const {
    TranslatedTexts result{.texts = {}, .target_tokens = target_tokens_};
    for (std::size_t t = 0; t < layouts_.size(); ++t) {
      std::vector<std::string>& ranks = result.texts.emplace_back();
      for (std::size_t rank = 0; rank <= static_cast<std::size_t>(asked_.alternatives); ++rank) {
        std::string text = text_of_rank(t, rank);
        if (std::ranges::find(ranks, text) == ranks.end()) ranks.push_back(std::move(text));
      }
    }
    return result;
  }

  const TextsToTranslate asked_;
  const Done done_;
  const std::function<void()> on_progress_;
  std::vector<TextLayout> layouts_;                                // of each text
  std::vector<std::vector<std::vector<std::string>>> translated_;  // [texts][lines][ranks]
  std::int64_t target_tokens_ = 0;
  bool begun_ = false;
  std::stop_source stop_;
  std::vector<Passage> passages_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

PendingTranslations::PendingTranslations()
    : inbox_(std::make_shared<Inbox>()),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

PendingTranslations::~PendingTranslations() {
  thread_.request_stop();
  inbox_->post([] {});
  thread_.join();
  for (const auto& [id, translation] : under_way_)
    translation->fail({503, "the server is stopping", 1});
}

void PendingTranslations::post(std::function<void()> work) { inbox_->post(std::move(work)); }

void PendingTranslations::start(TextsToTranslate asked, Done done) {
  const std::uint64_t id = ++last_id_;
  const auto tell = [inbox = inbox_, id] { inbox->tell(id); };
  under_way_[id] = std::make_unique<Translation>(std::move(asked), std::move(done), tell);
  look_at(id);
}

void PendingTranslations::look_at(std::uint64_t id) {
  const auto found = under_way_.find(id);
  if (found != under_way_.end() && found->second->go_on()) under_way_.erase(found);
}

void PendingTranslations::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Clock::time_point deadline = Clock::now() + std::chrono::hours(1);
    for (const auto& [id, translation] : under_way_)
      deadline = std::min(deadline, translation->deadline());
    std::deque<std::function<void()>> posted;
    std::set<std::uint64_t> progressed;
    {
      MutexLock lock(inbox_->mutex);
      while (inbox_->posted.empty() && inbox_->progressed.empty() && Clock::now() < deadline)
        inbox_->changed.wait_until(lock, deadline);
      posted.swap(inbox_->posted);
      progressed.swap(inbox_->progressed);
    }
    for (const auto& work : posted) work();
    for (const std::uint64_t id : progressed) look_at(id);
    std::vector<std::uint64_t> late;
    for (const auto& [id, translation] : under_way_)
      if (Clock::now() >= translation->deadline()) late.push_back(id);
    for (const std::uint64_t id : late) look_at(id);
  }
}

}  // namespace dragoman
