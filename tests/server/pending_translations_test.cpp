#include "server/pending_translations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/server/table_server.h"

namespace dragoman {
namespace {

TEST(PendingTranslations, TheEndOfATextIsToldOnceEvenWhereThatThrows) {
  std::promise<void> passed;
  std::atomic<int> calls = 0;
  bool has_thrown = false;
  {
    PendingTranslations pending;
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

TEST(PendingTranslations, TheEndOfATextIsToldOnce) {
  TableServer table({"en-de"});
  const Route route = table.models.route({"en", "de"}).value();
  std::promise<std::string> translated;
  std::atomic<int> calls = 0;
  {
    PendingTranslations pending;
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

}  // namespace
}  // namespace dragoman
