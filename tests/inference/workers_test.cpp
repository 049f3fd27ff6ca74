#include "inference/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/allocations.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kVocabulary = 12;

using Results = std::map<std::int64_t, std::vector<TokenId>>;

/// Collects the sentences that come.
class Collecting : public SentenceReceiver {
 public:
  std::optional<SourceSentence> finish(SourceSentence sentence) override {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(results_.emplace(sentence.line, sentence.hypotheses.at(0).tokens).second);
    changed_.notify_all();
    return std::nullopt;
  }
  void fail(std::exception_ptr error) noexcept override {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    changed_.notify_all();
  }
  /// Waits for `count` sentences, or a failure, which it throws.
  Results wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_.size() >= count || error_; });
    if (error_) std::rethrow_exception(error_);
    return results_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Results results_;
  std::exception_ptr error_;
};

std::vector<SourceSentence> sentences_for(const std::shared_ptr<SentenceReceiver>& receiver,
                                          std::size_t count, std::int64_t max_length = 20) {
  const auto search = std::make_shared<const SearchSettings>(
      SearchSettings{{.beam_size = 3, .max_length = max_length}, {kEos}});
  std::vector<SourceSentence> list = random_sentences(count, kVocabulary);
  for (SourceSentence& sentence : list) {
    sentence.settings = search;
    sentence.receiver = receiver;
  }
  return list;
}

TableEngine make_engine() { return {kVocabulary, random_distribution(kVocabulary, 1)}; }

Results translate(std::size_t workers, std::size_t count) {
  std::vector<std::unique_ptr<TableEngine>> engines;
  std::vector<Engine*> pointers;
  for (std::size_t i = 0; i < workers; ++i) {
    engines.push_back(std::make_unique<TableEngine>(make_engine()));
    pointers.push_back(engines.back().get());
  }
  const auto collecting = std::make_shared<Collecting>();
  const auto list = sentences_for(collecting, count);
  Results results;
  {
    Workers team(pointers, {});
    // In two portions, the second while the first is under way.
    const auto half = static_cast<std::ptrdiff_t>(count / 2);
    team.add({list.begin(), list.begin() + half});
    team.add({list.begin() + half, list.end()});
    results = collecting->wait_for(count);
    EXPECT_EQ(team.waiting(), 0);
  }
  for (const auto& engine : engines) EXPECT_EQ(engine->slots_in_use(), 0u);
  return results;
}

TEST(Workers, AnyNumberOfWorkersTranslatesTheSame) {
  const Results alone = translate(1, 200);
  for (const std::size_t workers : {2, 3, 8}) EXPECT_EQ(translate(workers, 200), alone);
}

TEST(Workers, ASentenceMayBeSearchedForAgain) {
  class Twice : public Collecting {
   public:
    explicit Twice(SourceSentence again) : again_(std::move(again)) {}
    std::optional<SourceSentence> finish(SourceSentence sentence) override {
      if (sentence.line < 100) {
        SourceSentence again = again_;
        again.line = sentence.line + 100;
        again.receiver = sentence.receiver;
        return again;
      }
      return Collecting::finish(std::move(sentence));
    }

   private:
    SourceSentence again_;
  };
  TableEngine engine = make_engine();
  const auto twice = std::make_shared<Twice>(sentences_for(nullptr, 1)[0]);
  Engine* const engines[] = {&engine};
  Workers team(engines, {});
  team.add(sentences_for(twice, 30));
  EXPECT_EQ(twice->wait_for(30).begin()->first, 100);
}

TEST(Workers, SentencesThatAreToBeSearchedForAgainFailIfNoMemoryIsLeftForTheQueue) {
  class Again : public SentenceReceiver {
   public:
    Again(std::vector<SourceSentence> again, std::optional<FailingMemory>& no_memory)
        : again_(std::move(again)), no_memory_(no_memory) {}
    std::optional<SourceSentence> finish(SourceSentence sentence) override {
      if (again_.size() == 1) no_memory_.emplace(0, FailingMemory::Fails::FromThenOn);
      SourceSentence next = std::move(again_.back());
      again_.pop_back();
      next.receiver = sentence.receiver;
      return next;
    }
    void fail(std::exception_ptr) noexcept override { ++failed; }
    std::atomic<int> failed = 0;

   private:
    std::vector<SourceSentence> again_;
    std::optional<FailingMemory>& no_memory_;
  };
  constexpr std::int64_t kOneStep = 1;
  std::optional<FailingMemory> no_memory;
  const auto again = std::make_shared<Again>(sentences_for(nullptr, 4), no_memory);
  TableEngine engine = make_engine();
  Engine* const engines[] = {&engine};
  {
    Workers team(engines, {.rows = 12});
    team.add(sentences_for(again, 4, kOneStep));
    while (!team.failure()) std::this_thread::yield();
  }
  EXPECT_TRUE(no_memory->has_failed());
  no_memory.reset();
  EXPECT_EQ(again->failed, 4);
}

/// Waits in its first step until it may continue.
class HeldEngine : public TableEngine {
 public:
  using TableEngine::TableEngine;
  void step(const StepRequest& step) override {
    gate_.wait();
    TableEngine::step(step);
  }
  void resume() { gate_.count_down(); }

 private:
  std::latch gate_{1};
};

TEST(Workers, SentencesAreRefusedWhileTooManyWait) {
  HeldEngine engine(kVocabulary, random_distribution(kVocabulary, 1));
  Engine* const engines[] = {&engine};
  const auto first = std::make_shared<Collecting>();
  const auto second = std::make_shared<Collecting>();
  Workers team(engines, {.rows = 3, .waiting = 10});
  std::stop_source stop;
  std::vector<SourceSentence> many = sentences_for(first, 50);
  for (SourceSentence& sentence : many) sentence.stop = stop.get_token();
  team.add(std::move(many));
  EXPECT_THROW(team.add(sentences_for(second, 1)), ServiceBusy);
  stop.request_stop();
  team.add(sentences_for(second, 3));
  engine.resume();
  EXPECT_EQ(second->wait_for(3).size(), 3u) << "what is given up waits no more";
}

/// Notes the order in which the sentences of several receivers are finished.
class InOrder : public Collecting {
 public:
  InOrder(char name, std::string& order) : name_(name), order_(order) {}
  std::optional<SourceSentence> finish(SourceSentence sentence) override {
    order_ += name_;  // a single worker calls it
    return Collecting::finish(std::move(sentence));
  }

 private:
  const char name_;
  std::string& order_;
};

std::string order_of_two(QueueOrder queue_order) {
  HeldEngine engine(kVocabulary, random_distribution(kVocabulary, 1));
  Engine* const engines[] = {&engine};
  std::string order;
  const auto many = std::make_shared<InOrder>('m', order),
             few = std::make_shared<InOrder>('f', order);
  Workers team(engines, {.rows = 3, .order = queue_order});  // one sentence at a time
  team.add(sentences_for(many, 20));
  while (team.waiting() == 20) std::this_thread::yield();
  team.add(sentences_for(few, 3));
  engine.resume();
  few->wait_for(3);
  many->wait_for(20);
  return order;
}

TEST(Workers, ManySentencesDoNotHoldUpAFewThatComeLater) {
  EXPECT_EQ(order_of_two(QueueOrder::Turns), std::string(16, 'm') + "fff" + "mmmm");
  EXPECT_EQ(order_of_two(QueueOrder::Arrival), std::string(20, 'm') + "fff");
}

TEST(Workers, AStreamOfSmallSubmissionsDoesNotHoldUpALargeOne) {
  class Endless : public Collecting {
   public:
    std::optional<SourceSentence> finish(SourceSentence) override {
      if (++finished < 1000)
        team->add(sentences_for(shared, 1));
      else
        shared.reset();
      return std::nullopt;
    }
    Workers* team = nullptr;
    std::shared_ptr<SentenceReceiver> shared;
    std::atomic<int> finished = 0;
  };
  class Large : public Collecting {
   public:
    std::optional<SourceSentence> finish(SourceSentence sentence) override {
      small_before = endless->finished.load();  // the single worker calls both
      return Collecting::finish(std::move(sentence));
    }
    std::shared_ptr<Endless> endless;
    std::atomic<int> small_before = 0;
  };
  HeldEngine engine(kVocabulary, random_distribution(kVocabulary, 1));
  Engine* const engines[] = {&engine};
  const auto endless = std::make_shared<Endless>();
  const auto large = std::make_shared<Large>();
  large->endless = endless;
  Workers team(engines, {.rows = 3, .order = QueueOrder::Turns});
  endless->team = &team;
  endless->shared = endless;
  team.add(sentences_for(large, 10));
  for (int i = 0; i < 3; ++i) team.add(sentences_for(endless, 1));
  engine.resume();
  large->wait_for(10);
  EXPECT_LT(large->small_before, 100);
  while (endless->finished < 1000) std::this_thread::yield();
}

/// Fails after some steps.
class FailingEngine : public TableEngine {
 public:
  using TableEngine::TableEngine;
  void step(const StepRequest& step) override {
    if (++steps_ == 5) throw Error("out of something");
    TableEngine::step(step);
  }

 private:
  int steps_ = 0;
};

TEST(Workers, AnErrorOfOneEngineReachesTheCallerAndTheOthersContinue) {
  TableEngine sound = make_engine();
  FailingEngine failing(kVocabulary, random_distribution(kVocabulary, 1));
  Engine* const engines[] = {&sound, &failing};
  Workers team(engines, {});
  EXPECT_EQ(team.failure(), nullptr);
  const auto first = std::make_shared<Collecting>();
  team.add(sentences_for(first, 200));
  EXPECT_THROW(first->wait_for(200), Error);
  EXPECT_NE(team.failure(), nullptr);
  const auto second = std::make_shared<Collecting>();
  team.add(sentences_for(second, 20));
  EXPECT_EQ(second->wait_for(20).size(), 20u);
}

TEST(Workers, WaitingSentencesFailWithTheLastEngine) {
  FailingEngine failing(kVocabulary, random_distribution(kVocabulary, 1, 3, -60));
  Engine* const engines[] = {&failing};
  const auto under_way = std::make_shared<Collecting>(), waiting = std::make_shared<Collecting>();
  Workers team(engines, {.rows = 9});
  std::vector<SourceSentence> all = sentences_for(under_way, 3);
  for (SourceSentence& sentence : sentences_for(waiting, 3)) {
    sentence.tokens = {3, kEos};
    all.push_back(std::move(sentence));
  }
  team.add(std::move(all));
  EXPECT_THROW(under_way->wait_for(3), Error);
  EXPECT_THROW(waiting->wait_for(3), Error);
  EXPECT_THROW(team.add(sentences_for(waiting, 1)), Error);
  EXPECT_EQ(failing.slots_in_use(), 0u);
}

TEST(Workers, ProbabilitiesThatAreNotNumbersFailTheirSentenceAlone) {
  constexpr TokenId kBroken = 11;
  TableEngine engine(
      kVocabulary, [](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
        if (source.front() == kBroken && prefix.size() == 3)
          return std::vector<float>(kVocabulary, std::numeric_limits<float>::quiet_NaN());
        return random_distribution(kVocabulary, 1, 3, -3)(source, prefix);
      });
  Engine* const engines[] = {&engine};
  const auto sound = std::make_shared<Collecting>(), broken = std::make_shared<Collecting>();
  std::vector<SourceSentence> all = sentences_for(sound, 4);
  for (SourceSentence& sentence : all) sentence.tokens.front() = 3;
  all.push_back(sentences_for(broken, 1).front());
  all.back().tokens = {kBroken, kEos};
  {
    Workers team(engines, {});
    team.add(std::move(all));
    EXPECT_EQ(sound->wait_for(4).size(), 4u);
    EXPECT_THROW(broken->wait_for(1), Error);
    EXPECT_EQ(team.failure(), nullptr);
    const auto later = std::make_shared<Collecting>();
    std::vector<SourceSentence> more = sentences_for(later, 4);
    for (SourceSentence& sentence : more) sentence.tokens.front() = 3;
    team.add(std::move(more));
    EXPECT_EQ(later->wait_for(4), sound->wait_for(4));
  }
  EXPECT_EQ(engine.slots_in_use(), 0u);
}

TEST(Workers, WorkersMayEndInTheMiddleOfTheWork) {
  TableEngine one = make_engine(), two = make_engine();
  Engine* const engines[] = {&one, &two};
  const auto collecting = std::make_shared<Collecting>();
  const auto start = std::chrono::steady_clock::now();
  {
    Workers team(engines, {});
    team.add(sentences_for(collecting, 5000, 40));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_THROW(collecting->wait_for(5000), Error);
  EXPECT_EQ(one.slots_in_use() + two.slots_in_use(), 0u);
}

}  // namespace
}  // namespace dragoman
