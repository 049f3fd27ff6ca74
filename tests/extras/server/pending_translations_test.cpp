#include "extras/server/pending_translations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <future>

#include "tests/extras/server/table_server.h"

namespace dragoman {
namespace {

/// The processor time that this thread has used, in seconds.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  const double begin = thread_seconds();
  work();
  return thread_seconds() - begin;
}

/// Lines of texts for which the tokenizer has no words.
std::string long_text() {
  std::string text;
  for (int line = 0; line < 30; ++line) {
    for (int i = 0; i < 300; ++i) text += "𐍈";
    text += " " + std::to_string(line) + "\n";
  }
  return text;
}

TEST(PendingTranslations, AnotherThreadPreparesTheLinesOfALongText) {
  TableServer table({"en-de"});
  const Route route = table.models.route({"en", "de"}).value();
  const std::string text = long_text();
  table.gate.open(false);
  Submission submission{.request = route[0]->request({})};
  for (const std::string& line : take_apart(text, LineBreaks::Kept).lines)
    submission.lines.push_back({.text = line});
  const double alone = seconds_of([&] { route[0]->service().submit(std::move(submission)); });
  std::promise<double> begun;
  WorkQueue long_texts;
  PendingTranslations pending(long_texts);
  pending.post([&] {
    begun.set_value(seconds_of([&] {
      pending.start({.texts = {{.text = text, .route = route}}}, [](const TranslationOutcome&) {});
    }));
  });
  EXPECT_LT(begun.get_future().get(), alone / 3);
}

TEST(PendingTranslations, OthersHaveTheirTurnWhileTheAnswersOfManyLinesAreGathered) {
  TableServer table({"en-de"}, {}, 65'536, 1 << 20);
  const Route route = table.models.route({"en", "de"}).value();
  const std::string even = "one two three Four", odd = "three six, five.";
  // From now on both translations are known.
  table.post("/translate", {{"q", {even, odd}}, {"source", "en"}, {"target", "de"}});
  std::string text;
  Submission submission{.request = route[0]->request({})};
  for (int i = 0; i < 20'000; ++i) {
    submission.lines.push_back({.text = i % 2 == 0 ? even : odd});
    text += submission.lines.back().text + "\n";
  }
  TranslationAnswers answers = route[0]->service().submit(std::move(submission));
  const double alone = seconds_of([&] {
    while (answers.next()) continue;
  });
  std::promise<void> ended;
  bool has_ended = false;
  std::string translation;
  double before = 0, longest = 0;
  WorkQueue long_texts;
  PendingTranslations pending(long_texts);
  const std::function<void()> other = [&] {
    longest = std::max(longest, thread_seconds() - before);
    if (has_ended) return ended.set_value();
    before = thread_seconds();
    pending.post(other);
  };
  pending.post([&] {
    pending.start({.texts = {{.text = text, .route = route}}},
                  [&](const TranslationOutcome& outcome) {
                    translation = std::get<TranslatedTexts>(outcome).texts[0][0];
                    has_ended = true;
                  });
    before = thread_seconds();
    pending.post(other);
  });
  ended.get_future().wait();
  EXPECT_LT(longest, alone / 2);
  EXPECT_EQ(translation, text);
}

TEST(PendingTranslations, ALongTextThatNobodyWaitsForAnyMoreEndsAtOnce) {
  TableServer table({"en-de"});
  const Route route = table.models.route({"en", "de"}).value();
  table.gate.open(false);
  std::stop_source gone;
  std::promise<int> stopped, late;
  WorkQueue long_texts;
  PendingTranslations pending(long_texts);
  const auto status_to = [](std::promise<int>& status) {
    return [&status](const TranslationOutcome& outcome) {
      status.set_value(std::get<HttpError>(outcome).status());
    };
  };
  pending.post([&] {
    pending.start({.texts = {{.text = long_text(), .route = route}}, .stop = gone.get_token()},
                  status_to(stopped));
    pending.start({.texts = {{.text = long_text(), .route = route}},
                   .deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(1)},
                  status_to(late));
  });
  EXPECT_EQ(late.get_future().get(), 504);
  gone.request_stop();
  EXPECT_EQ(stopped.get_future().get(), kClientGone);
}

TEST(PendingTranslations, TheEndOfATextIsReportedOnceEvenIfThatThrows) {
  std::promise<void> passed;
  std::atomic<int> calls = 0;
  bool has_thrown = false;
  {
    WorkQueue long_texts;
    PendingTranslations pending(long_texts);
    pending.post([&] {
      // Without a way the translation has ended before start() returns.
      try {
        pending.start({.texts = {{.text = "one", .route = {}}}}, [&](const TranslationOutcome&) {
          ++calls;
          throw std::runtime_error("the answer cannot be sent");
        });
      } catch (const std::runtime_error&) {
        has_thrown = true;
      }
      passed.set_value();
    });
    passed.get_future().wait();
  }  // what is still under way would end now
  EXPECT_TRUE(has_thrown);
  EXPECT_EQ(calls, 1);
}

TEST(PendingTranslations, TheEndOfATextIsReportedOnce) {
  TableServer table({"en-de"});
  const Route route = table.models.route({"en", "de"}).value();
  std::promise<std::string> translated;
  std::atomic<int> calls = 0;
  {
    WorkQueue long_texts;
    PendingTranslations pending(long_texts);
    pending.post([&] {
      pending.start({.texts = {{.text = "one two", .route = route}}},
                    [&](const TranslationOutcome& outcome) {
                      if (++calls == 1)
                        translated.set_value(std::get<TranslatedTexts>(outcome).texts[0][0]);
                    });
    });
    EXPECT_EQ(translated.get_future().get(), "one two");
  }
  EXPECT_EQ(calls, 1);
}

/// Keeps the sentences that it has translated.
class RememberingEngine : public CopyingEngine {
 public:
  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override {
    read.insert(read.end(), sentences.begin(), sentences.end());
    return CopyingEngine::admit(sentences);
  }
  std::vector<std::vector<TokenId>> read;
};

TEST(PendingTranslations, TheSecondOfTwoModelsReadsWhatADocumentKeeps) {
  RememberingEngine engine;
  TableServer table({"fr-en"});
  SeenCharacters seen;
  seen.source.add_all("onetw. X");
  table.models.set(std::make_shared<ServedModel>(
      parse_language_pair("en-de").value(),
      std::make_shared<TranslationService>(
          std::vector<Engine*>{&engine}, tokenizer_pair(),
          ServiceConfig{.record = {.several_sentences = 0.0, .characters = seen}}),
      table.decode, ServedModel::Facts{}, nullptr));
  const std::string page = "<p>one <code>six,</code> two</p>";
  const HttpResponse answer = table.post(
      "/translate", {{"q", page}, {"source", "fr"}, {"target", "de"}, {"format", "html"}});
  EXPECT_EQ(json_of(answer)["translatedText"], page);
  std::vector<TokenId> tokens = tokenizer().encode("one six, two");
  tokens.push_back(tokenizer().eos_id());
  EXPECT_THAT(engine.read, testing::ElementsAre(tokens));
}

}  // namespace
}  // namespace dragoman
