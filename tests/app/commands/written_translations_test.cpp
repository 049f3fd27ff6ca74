#include "app/commands/written_translations.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

/// A disk that has room for some lines.
class SmallOutput : public Output {
 public:
  explicit SmallOutput(int room) : room_(room) {}
  void write_line(const std::string&) override {
    if (room_-- == 0) throw Error("no space left");
  }

 private:
  int room_;
};

TEST(WrittenTranslations, ALineThatCannotBeWrittenIsNotCounted) {
  SmallOutput output(1);
  WrittenTranslations written(output, TranslationFormat{});
  written.write({.line = 0, .n_best = {{.text = "a"}}});
  EXPECT_EQ(written.lines(), 1);
  EXPECT_THROW(written.write({.line = 1, .n_best = {{.text = "b"}}}), Error);
  EXPECT_EQ(written.lines(), 1);
}

TEST(WrittenTranslations, ALineThatStopsTheWorkIsNotCounted) {
  SmallOutput output(2);
  JsonRequests requests([](const TranslationRequest&) { return nullptr; }, {}, {});
  WrittenTranslations written(output, requests, JsonErrors::Stop, "in.json");
  requests.read(R"({"text": "a"})");
  requests.read("no object");
  written.write({.line = 0, .n_best = {{.text = "a"}}});
  EXPECT_THROW(written.write({.line = 1, .n_best = {{.text = ""}}}), Error);
  EXPECT_EQ(written.lines(), 1);
}

}  // namespace
}  // namespace dragoman
