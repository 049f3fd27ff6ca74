#include "app/commands/translate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

std::string fault(const TranslateConfig& config) {
  return message_of<UsageError>([&] { config.check(); });
}

TEST(TranslateConfig, OneFlagAloneReadsStandardInput) {
  const std::string stream = "-";
  TranslateConfig config;
  config.files.models = {"run/"};
  ASSERT_EQ(fault(config), "") << "the input";
  for (std::string* file :
       {&config.files.prefix_file, &config.demands.terms, &config.demands.avoid}) {
    *file = stream;
    EXPECT_THAT(fault(config), Names("standard input"));
    config.files.input = "in.txt";
    EXPECT_EQ(fault(config), "");
    config.files.input = stream;
    *file = "file.txt";
    EXPECT_EQ(fault(config), "");
  }
}

TEST(TranslateConfig, AnEmptyNameIsNotAFileAndForceNeedsTerms) {
  TranslateConfig config;
  config.files.models = {""};
  EXPECT_THAT(fault(config), testing::StartsWith("--model: "));
  config.files.models = {"run/"};
  config.files.output = "";
  EXPECT_THAT(fault(config), testing::StartsWith("--output: "));
  config.files.output = "-";
  config.files.input = "";
  EXPECT_THAT(fault(config), testing::StartsWith("--input: "));
  config.files.input = "-";
  config.demands.terms_force = true;
  EXPECT_THAT(fault(config), testing::StartsWith("--terms-force: "));
  config.files.json = true;
  EXPECT_EQ(fault(config), "") << "each line may have terms";
}

TEST(TranslateConfig, StandardInputIsNotAmongTheFilesThatAreRead) {
  TranslateConfig config;
  config.demands = {.terms = "terms.tsv", .avoid = "-", .number_format = {}};
  EXPECT_THAT(config.read_besides(), testing::ElementsAre("terms.tsv"));
}

}  // namespace
}  // namespace dragoman
