// Requests while no memory is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "tests/allocations.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"

/// CLD2, which finds the language of a text, loses its table of 16 KiB where memory runs out.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:CLD2::DetectLanguageSummaryV2";
}

namespace dragoman {
namespace {

using testing::HasSubstr;

HttpRequest page_form() {
  return {.method = "POST",
          .path = "/",
          .headers = {{"content-type", "application/x-www-form-urlencoded"}},
          .body = "q=one+two&source=en&target=de&api_key=alpha&terms=one%3Dthree"};
}

HttpRequest html_text() {
  return TableServer::request_of("/translate", {{"q", {"<p>one <b>two</b>", "three"}},
                                                {"source", "auto"},
                                                {"target", "de"},
                                                {"format", "html"},
                                                {"alignment", true},
                                                {"alternatives", 1},
                                                {"api_key", "alpha"}});
}

HttpRequest text_to_explain() {
  return TableServer::request_of(
      "/explain", {{"q", "one two"}, {"source", "en"}, {"target", "de"}, {"api_key", "alpha"}});
}

/// Sends the request while memory runs out after so many allocations. Whatever becomes of it, it is
/// answered, or its connection closed, and what was counted for it is right. False where there was
/// enough memory.
bool runs_out(const HttpRequest& request, std::int64_t allocations, FailingMemory::Fails fails) {
  const ScratchFile file("keys.txt", "alpha 1000\n");
  const auto keys = std::make_shared<ApiKeys>(file.path());
  TableServer table({"en-de"}, {.cors_origins = {"https://example.org"}, .api_keys = keys}, 65'536,
                    1 << 20);
  table.add("en-de", 65'536, [](const std::string& text, ExplanationUse, const auto&) {
    return TextExplanation{.json = "{}" + text, .target_tokens = 1};
  });
  std::future<HttpResponse> response;
  HttpRequest sent = request;
  bool has_failed = false, is_answered = true;
  {
    const FailingMemory memory(allocations, fails);
    try {
      response = table.send(std::move(sent));
      is_answered = response.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    } catch (const std::bad_alloc&) {  // closes the connection
    }
    has_failed = memory.has_failed();
  }
  EXPECT_TRUE(is_answered);
  if (!is_answered) return false;
  const HttpResponse answer = response.valid() ? response.get() : HttpResponse{.status = 0};
  EXPECT_TRUE(answer.status == 0 || answer.status == 200 || answer.status == 500) << answer.status;
  EXPECT_EQ(keys->use_of(0).characters > 0, answer.status == 200);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("\ndragoman_requests_under_way 1\n"));
  return has_failed;
}

class Memory : public testing::TestWithParam<FailingMemory::Fails> {};

TEST_P(Memory, ARequestIsAnsweredWhereverItRunsOut) {
  for (const HttpRequest& request : {page_form(), html_text(), text_to_explain()}) {
    constexpr std::int64_t kEnough = 10'000'000;
    ASSERT_FALSE(runs_out(request, kEnough, GetParam()));
    // The later ones are mostly the engine's, and much alike.
    for (std::int64_t before = 0; runs_out(request, before, GetParam()); before += 1 + before / 25)
      ASSERT_FALSE(HasFailure()) << request.path << ", after " << before << " allocations";
  }
}

INSTANTIATE_TEST_SUITE_P(Fails, Memory,
                         testing::Values(FailingMemory::Fails::Once,
                                         FailingMemory::Fails::FromThenOn));

}  // namespace
}  // namespace dragoman
