#include "inference/translation_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <semaphore>
#include <set>
#include <thread>

#include "base/error.h"
#include "inference/translate_text.h"
#include "tests/inference/copying_model.h"
#include "tests/names.h"

namespace dragoman {
namespace {

std::vector<std::string> random_lines(std::uint64_t seed, std::size_t count) {
  const std::vector<std::string> words = {"one", "two", "three", "Four", "five.", "six,"};
  RandomStream random(seed);
  std::vector<std::string> lines(count);
  for (std::string& line : lines)
    for (std::uint64_t w = random.below(12); w > 0; --w) line += random.choice(words) + " ";
  return lines;
}

/// Requests that differ in every setting of a request.
std::vector<TranslationRequest> requests() {
  const auto demands = std::make_shared<const Demands>(
      Demands{.terms = Terms(std::vector<std::pair<std::string, std::string>>{{"two", "six"}}),
              .avoided = {"three"}});
  return {
      {.config = {.beam_size = 1}},
      {.config = {.beam_size = 4, .n_best = 3, .length_penalty = 0.3}},
      {.config = {.n_best = 2, .max_length = 25, .sampling = true, .seed = 5}},
      {.config = {.max_length = 25, .sampling = true, .sampling_topk = 4, .temperature = 2}},
      {.config = {.beam_size = 2, .max_length = 9, .split_length = 8}, .reports_words = true},
      {.config = {.beam_size = 3, .coverage_penalty = 0.2, .no_repeat_ngram_size = 2},
       .reports_attention = true},
      {.config = {.beam_size = 3, .repetition_penalty = 1.4, .min_length = 6}, .demands = demands}};
}

/// Engines whose probabilities make searches of all kinds find different translations.
class Engines {
 public:
  explicit Engines(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      engines_.push_back(std::make_unique<TableEngine>(
          tokenizer().size(), random_distribution(tokenizer().size(), 3, 9, 7)));
  }
  std::vector<Engine*> pointers() const {
    std::vector<Engine*> all;
    for (const auto& engine : engines_) all.push_back(engine.get());
    return all;
  }
  std::size_t slots_in_use() const {
    std::size_t sum = 0;
    for (const auto& engine : engines_) sum += engine->slots_in_use();
    return sum;
  }
  std::int64_t admitted() const { return engines_.front()->admitted; }

 private:
  std::vector<std::unique_ptr<TableEngine>> engines_;
};

bool is_same(const Translation& a, const Translation& b) {
  return a.line == b.line && a.n_best == b.n_best && a.unmet == b.unmet;
}

TEST(TranslationService, ManyThreadsWithDifferentRequestsGetWhatTheyWouldGetAlone) {
  const std::vector<TranslationRequest> asked = requests();
  std::vector<std::vector<std::string>> lines;
  std::vector<std::vector<Translation>> alone;
  for (std::size_t r = 0; r < asked.size(); ++r) {
    lines.push_back(random_lines(r, 12));
    alone.emplace_back();
    for (std::size_t i = 0; i < lines[r].size(); ++i) {
      Engines engines(1);
      TranslationService service(engines.pointers(), tokenizer_pair());
      Submission one{.lines = {{lines[r][i]}},
                     .request = service.prepare(asked[r]),
                     .first_line = static_cast<std::int64_t>(i)};
      alone[r].push_back(service.submit(std::move(one)).next().value());
    }
  }
  for (const std::size_t count : {1, 3}) {
    Engines engines(count);
    TranslationService service(engines.pointers(), tokenizer_pair());
    std::latch together(static_cast<std::ptrdiff_t>(asked.size()));
    std::vector<std::jthread> callers;
    for (std::size_t r = 0; r < asked.size(); ++r)
      callers.emplace_back([&, r] {
        together.arrive_and_wait();
        const auto found = translate_lines(service, lines[r], asked[r]);
        ASSERT_EQ(found.size(), alone[r].size());
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_TRUE(is_same(found[i], alone[r][i])) << r << " " << i;
      });
    callers.clear();
    EXPECT_EQ(service.waiting(), 0);
  }
}

TEST(TranslationService, AnNBestListHoldsEachTextOnceAndIsFilledUp) {
  const std::vector<std::string> lines = random_lines(11, 40);
  const auto texts_of = [&lines](std::int64_t n_best) {
    Engines engines(1);
    TranslationService service(engines.pointers(), tokenizer_pair(), {.cache_bytes = 1 << 20});
    std::vector<std::vector<std::string>> all;
    for (int again = 0; again < 2; ++again)  // the second time from the cache
      for (const Translation& line :
           translate_lines(service, lines, {.config = {.beam_size = 5, .n_best = n_best}})) {
        std::vector<std::string>& texts = all.emplace_back();
        for (const TranslatedText& text : line.n_best) texts.push_back(text.text);
      }
    return all;
  };
  const auto best = texts_of(1), lists = texts_of(5);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lines[i % lines.size()].empty()) continue;
    EXPECT_EQ(lists[i].front(), best[i].front());
    EXPECT_EQ(lists[i].size(), 5U);
    EXPECT_EQ(std::set(lists[i].begin(), lists[i].end()).size(), lists[i].size()) << i;
  }
}

TEST(TranslationService, SentencesThatAreKeptHaveTheTranslationsThatTheyWouldGetAgain) {
  Engines engines(1), others(1);
  TranslationService keeping(engines.pointers(), tokenizer_pair(), {.cache_bytes = 1 << 20}),
      forgetful(others.pointers(), tokenizer_pair());
  const std::vector<std::string> lines = random_lines(3, 20);
  const auto translate = [&lines](TranslationService& service, const auto& request) {
    Submission submission{.request = request};
    for (const std::string& line : lines) submission.lines.push_back({.text = line});
    TranslationAnswers answers = service.submit(std::move(submission));
    std::vector<Translation> all;
    while (auto answer = answers.next()) all.push_back(*std::move(answer));
    return all;
  };
  for (const TranslationRequest& asked : requests()) {
    const auto request = keeping.prepare(asked);
    const auto expected = translate(forgetful, forgetful.prepare(asked));
    for (int time = 0; time < 3; ++time) {
      const std::int64_t admitted = engines.admitted();
      const auto found = translate(keeping, request);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(is_same(found[i], expected[i])) << time << " " << i;
      if (time > 0) {
        EXPECT_EQ(engines.admitted() > admitted, asked.config.sampling || asked.demands != nullptr);
      }
    }
  }
  EXPECT_GT(keeping.cache_counts().found, 0);
  EXPECT_EQ(forgetful.cache_counts().found, 0);
}

TEST(TranslationService, LinesOfASubmissionMayHaveRequestsOfTheirOwn) {
  Engines engines(2);
  TranslationService service(engines.pointers(), tokenizer_pair());
  const auto plain = service.prepare({.config = {.beam_size = 1}}),
             wide = service.prepare({.config = {.beam_size = 4, .n_best = 4}});
  auto answers = service.submit(
      {.lines = {{"one two"}, {.text = "one two", .request = wide}}, .request = plain});
  EXPECT_EQ(answers.next().value().n_best.size(), 1u);
  EXPECT_EQ(answers.next().value().n_best.size(), 4u);
  EXPECT_FALSE(answers.next());
}

/// Waits before each step until the test lets it continue.
class HeldEngine : public CopyingEngine {
 public:
  void step(const StepRequest& step) override {
    under_way.release();
    may_continue.acquire();
    CopyingEngine::step(step);
  }
  void let_go() { may_continue.release(1 << 20); }
  std::counting_semaphore<> under_way{0}, may_continue{0};
};

TEST(TranslationService, RowsInUseAreThoseOfSentencesUnderWay) {
  HeldEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  EXPECT_EQ(service.rows_in_use(), 0);
  auto answers = service.submit({.lines = {{"one two"}, {"three"}},
                                 .request = service.prepare({.config = {.beam_size = 3}})});
  engine.under_way.acquire();
  engine.may_continue.release();
  engine.under_way.acquire();
  EXPECT_EQ(service.rows_in_use(), 6);
  engine.let_go();
  while (answers.next()) continue;
  while (service.rows_in_use() != 0) std::this_thread::yield();
}

TEST(TranslationService, AStopFreesTheRowsAndEndsTheAnswers) {
  HeldEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const auto request = service.prepare({.config = {.beam_size = 1}});
  std::stop_source stop;
  const std::vector<LineInput> lines(500, LineInput{.text = "one two three Four"});
  auto answers = service.submit({.lines = lines, .request = request, .stop = stop.get_token()});
  engine.under_way.acquire();
  stop.request_stop();
  EXPECT_FALSE(answers.next()) << "does not wait for the engine";
  engine.let_go();
  auto others = service.submit({.lines = {{"six"}}, .request = request});
  EXPECT_EQ(others.next().value().n_best.at(0).text, "six");
  EXPECT_LE(engine.admitted, 17) << "16 rows, and the other line";
}

TEST(TranslationService, ACallerThatDropsTheAnswersGivesUpTheWork) {
  HeldEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const auto request = service.prepare({.config = {.beam_size = 1}});
  {
    const auto answers = service.submit(
        {.lines = std::vector<LineInput>(500, LineInput{.text = "one two"}), .request = request});
    engine.under_way.acquire();
  }
  engine.let_go();
  EXPECT_TRUE(service.submit({.lines = {{"six"}}, .request = request}).next());
  EXPECT_LE(engine.admitted, 17);
}

TEST(TranslationService, LinesAreRefusedWhileTooManySentencesWait) {
  HeldEngine engine;
  TranslationService service({&engine}, tokenizer_pair(), {.limits = {.waiting = 20}});
  const auto request = service.prepare({.config = {.beam_size = 1}});
  const std::vector<LineInput> lines(50, LineInput{.text = "one two"});
  auto first = service.submit({.lines = lines, .request = request});
  engine.under_way.acquire();
  EXPECT_THROW(service.submit({.lines = lines, .request = request}), ServiceBusy);
  engine.let_go();
  std::size_t count = 0;
  while (first.next()) ++count;
  EXPECT_EQ(count, 50u) << "a refusal changes nothing for the others";
  EXPECT_TRUE(service.submit({.lines = lines, .request = request}).next());
}

TEST(TranslationService, ProgressIsReportedAndTheOrderKept) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  std::counting_semaphore<> progress{0};
  auto answers = service.submit({.lines = {{"one"}, {"two three"}, {""}, {"six"}},
                                 .request = service.prepare({.config = {.beam_size = 1}}),
                                 .first_line = 7,
                                 .on_progress = [&] { progress.release(); }});
  std::vector<std::string> texts;
  while (answers.left() > 0) {
    while (const auto translation = answers.next_if_finished()) {
      EXPECT_EQ(translation->line, 7 + static_cast<std::int64_t>(texts.size()));
      texts.push_back(translation->n_best.at(0).text);
    }
    if (answers.left() > 0) progress.acquire();
  }
  EXPECT_THAT(texts, testing::ElementsAre("one", "two three", "", "six"));
  EXPECT_FALSE(answers.next_if_finished());
}

TEST(TranslationService, ProgressIsReportedForLinesWithoutTextToo) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  std::counting_semaphore<> progress{0};
  auto answers =
      service.submit({.lines = {{""}, {" "}}, .request = service.prepare({}), .on_progress = [&] {
                        progress.release();
                      }});
  EXPECT_TRUE(progress.try_acquire_for(std::chrono::seconds(5)));
  EXPECT_TRUE(answers.next_if_finished());
  EXPECT_TRUE(answers.next_if_finished());
  EXPECT_EQ(answers.left(), 0u);
}

TEST(TranslationService, DrawsWithTermsAreRefusedWhoeverAsks) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  LineInput line{.text = "one two"};
  line.terms = Terms(std::vector<std::pair<std::string, std::string>>{{"two", "six"}});
  const auto draws = service.prepare({.config = {.sampling = true}});
  EXPECT_THROW(service.submit({.lines = {{"one"}, line}, .request = draws}), UsageError);
  EXPECT_EQ(engine.admitted, 0);
  EXPECT_TRUE(service.submit({.lines = {line}, .request = service.prepare({})}).next());
}

TEST(TranslationService, AServiceThatEndsWithWorkUnderWaySaysSo) {
  Engines engines(2);
  std::optional<TranslationAnswers> answers;
  {
    TranslationService service(engines.pointers(), tokenizer_pair());
    std::vector<LineInput> lines;
    for (const std::string& line : random_lines(1, 3000)) lines.push_back({line});
    answers = service.submit({.lines = std::move(lines), .request = service.prepare({})});
    answers->next();
  }
  EXPECT_THROW(
      {
        while (answers->next()) {
        }
      },
      Error);
  EXPECT_EQ(engines.slots_in_use(), 0u);
}

TEST(TranslationService, AFailingEngineIsReportedToAllWhoseLinesItHeld) {
  class Failing : public HeldEngine {
   public:
    void step(const StepRequest& step) override {
      HeldEngine::step(step);
      throw Error("out of something");
    }
  } engine;
  TranslationService service({&engine}, tokenizer_pair());
  const auto request = service.prepare({.config = {.beam_size = 1}});
  std::vector<TranslationAnswers> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(service.submit({.lines = {{"one"}, {"two"}}, .request = request}));
  EXPECT_EQ(service.failure(), nullptr);
  engine.let_go();
  for (TranslationAnswers& answers : all)
    EXPECT_THAT([&] { answers.next(); }, testing::ThrowsMessage<Error>("out of something"));
  EXPECT_NE(service.failure(), nullptr);
  EXPECT_THROW(service.submit({.lines = {{"one"}}, .request = request}), Error);
}

TEST(TranslationService, WrongRequestsNameTheirFlag) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const auto message = [&](const TranslationRequest& request) -> std::string {
    return message_of<UsageError>([&] { service.prepare(request); });
  };
  const auto protects = std::make_shared<const Demands>(Demands{.protects = true});
  EXPECT_EQ(message({}), "");
  EXPECT_THAT(message({.config = {.beam_size = 0}}), testing::HasSubstr("--beam-size"));
  EXPECT_THAT(message({.config = {.suppress = {"no piece"}}}), testing::HasSubstr("--suppress"));
  EXPECT_THAT(message({.config = {.attention_layer = 2}}), testing::HasSubstr("--attention-layer"));
  EXPECT_THAT(message({.config = {.sampling = true}, .demands = protects}),
              testing::HasSubstr("--sampling"));
}

TEST(TranslationService, ALineThatComesAloneIsAnsweredAtOnce) {
  CopyingEngine one, two;
  TranslationService service({&one, &two}, tokenizer_pair());
  const auto request = service.prepare({.config = {.beam_size = 1}});
  std::vector<double> milliseconds;
  for (int i = 0; i < 21; ++i) {
    const auto start = std::chrono::steady_clock::now();
    service.submit({.lines = {{"one two three"}}, .request = request}).next();
    const auto spent = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(std::chrono::duration<double, std::milli>(spent).count());
  }
  std::ranges::nth_element(milliseconds, milliseconds.begin() + 10);
  EXPECT_LT(milliseconds[10], 15);
}

}  // namespace
}  // namespace dragoman
