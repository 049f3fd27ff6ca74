#include "training/settings/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/threads.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Texts = std::map<std::string, std::string>;

/// What the flags are refused with; "" if they are not.
std::string refusal(const Texts& texts) {
  RunSettings settings = RunSettings::from_preset(Preset::Base);
  settings.train.output = "run";
  settings.data.train_source = {"a.en"};
  settings.data.train_target = {"a.de"};
  for (const auto& [flag, text] : texts) assign_text(field_named(settings.fields(), flag), text);
  return message_of<UsageError>([&settings] { settings.check(); });
}

TEST(RunSettings, ThePresetsNumbersAreTaken) { EXPECT_EQ(refusal({}), ""); }

TEST(RunSettings, ANegativeNumberIsRefusedByTheNameOfItsFlag) {
  const std::set<std::string_view> may_be_negative = {"seed"};
  RunSettings settings;
  ASSERT_THROW(threads_to_use(-1), UsageError);  // the machine's cores decide
  for (const Field& field : settings.fields()) {
    if (field.kind != Field::Kind::Integer && field.kind != Field::Kind::Number) continue;
    const std::string flag(field.info.name);
    if (flag == "threads") continue;
    if (may_be_negative.contains(flag))
      EXPECT_EQ(refusal({{flag, "-1"}}), "");
    else
      EXPECT_THAT(refusal({{flag, "-1"}}), HasSubstr("--" + flag)) << flag;
  }
}

TEST(RunSettings, ANumberBeyondItsRangeIsRefusedByTheNameOfItsFlag) {
  const std::multimap<std::string, std::string> wrong = {
      {"max-tokens", "0"},      {"update-freq", "0"},        {"lr", "0"},
      {"min-lr", "1"},          {"lr-end", "4000"},          {"cooldown", "0"},
      {"cooldown", "1"},        {"adam-beta1", "1"},         {"adam-beta2", "1"},
      {"adam-eps", "0"},        {"label-smoothing", "1"},    {"ema", "1"},
      {"spike-factor", "1"},    {"valid-every", "0"},        {"save-minutes", "0"},
      {"keep-last", "0"},       {"average-last", "6"},       {"log-every", "0"},
      {"valid-beam-size", "0"}, {"valid-beam-size", "1001"}, {"keep-tolerance", "101"},
      {"rank-timeout", "0"},    {"rank-timeout", "3601"},    {"max-time", "5 minutes"},
      {"dropout", "1"},         {"attention-dropout", "1"},  {"activation-dropout", "1"}};
  for (const auto& [flag, text] : wrong)
    EXPECT_THAT(refusal({{flag, text}}), StartsWith("--" + flag)) << text;
}

TEST(RunSettings, ARateOfDropoutThatRoundsToNoneIsRefused) {
  for (const char* flag : {"dropout", "attention-dropout", "activation-dropout"}) {
    EXPECT_THAT(refusal({{flag, "0.001"}}), HasSubstr("--" + std::string(flag) + " 0.001: rates"));
    EXPECT_EQ(refusal({{flag, "0.002"}}), "");
  }
}

TEST(RunSettings, FlagsThatDoNotFitEachOtherAreRefused) {
  struct Case {
    Texts texts;
    const char* message;
  };
  const Case cases[] = {
      {{{"keep-valid-src", "k.en"}, {"keep-valid-tgt", "k.de"}}, "give --init-from too"},
      {{{"keep-valid-src", "k.en"},
        {"keep-valid-tgt", "k.de"},
        {"init-from", "first"},
        {"valid-fraction", "0"}},
       "--keep-valid-src: needs a validation beside it"},
      {{{"best-valid", "v.en"}, {"valid-src", "v.en"}, {"valid-tgt", "v.de"}},
       "--best-valid: needs several validation texts"},
      {{{"best-valid", "w.en"}, {"valid-src", "v.en,u.en"}, {"valid-tgt", "v.de,u.de"}},
       "--best-valid w.en: is not one of the validation texts: v.en, u.en"},
      {{{"best-valid", "v.en"}, {"valid-src", "v.en,dev/v.en"}, {"valid-tgt", "v.de,u.de"}},
       "--best-valid v.en: is the name of more than one of the validation texts: v.en, dev/v.en"},
      {{{"best-valid", "mean"}, {"best-metric", "loss"}}, "--best-valid: the loss is that of all"},
      {{{"mix", "patience: 1,1"}, {"patience", "0"}}, "--mix 'patience: 1': would never end"},
      {{{"guided-alignment-layer", "7"}}, "--guided-alignment-layer 7: the decoder has 6 layers"},
      {{{"guided-alignment-head", "9"}}, "--guided-alignment-head 9: a layer has 8 heads"},
      {{{"positions", "learned"}, {"max-positions", "100"}, {"max-length", "100"}},
       "--max-length 100: the 100 learned positions"},
      {{{"positions", "learned"}, {"max-positions", "100"}, {"max-length", "0"}},
       "--max-length 0: the 100 learned positions"}};
  for (const Case& flags : cases) EXPECT_THAT(refusal(flags.texts), HasSubstr(flags.message));
  for (const char* best : {"mean", "u.en", "dev/u.en"})
    EXPECT_EQ(refusal({{"best-valid", best},
                       {"valid-src", "v.en,dev/u.en"},
                       {"valid-tgt", "v.de,u.de"},
                       {"train-src", "a.en"},
                       {"train-tgt", "a.de"}}),
              "");
}

}  // namespace
}  // namespace dragoman
