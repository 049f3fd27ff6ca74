#include "evaluation/evaluate_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

TEST(EvaluateConfig, EveryOptionReachesItsMetric) {
  EvaluateConfig config;
  const auto set = [&](std::string_view name, const std::string& value) {
    for (Field& field : fields_of(config))
      if (field.info.name == name) return field.assign({value});
    FAIL() << name;
  };
  set("tokenize", "intl"), set("lowercase", "true"), set("smooth-method", "floor");
  set("smooth-value", "0.25"), set("effective-order", "true");
  set("chrf-char-order", "5"), set("chrf-word-order", "1"), set("chrf-beta", "3");
  set("chrf-lowercase", "true"), set("chrf-whitespace", "true"), set("chrf-eps-smoothing", "true");
  config.check();
  EXPECT_EQ(bleu_signature(config.bleu(), "1", "v"),
            "nrefs:1|case:lc|eff:yes|tok:intl|smooth:floor[0.25]|version:v");
  EXPECT_EQ(chrf_name(config.chrf_of("chrf")), "chrF3+");
  EXPECT_EQ(chrf_name(config.chrf_of("chrf++")), "chrF3++");
  EXPECT_EQ(chrf_signature(config.chrf_of("chrf"), "1", "v"),
            "nrefs:1|case:lc|eff:no|nc:5|nw:1|space:yes|version:v");
}

using Config = EvaluateConfig;

/// The fault of the default configuration after the change; "" if there is none.
std::string message_after(void (*change)(Config&)) {
  Config config;
  change(config);
  return message_of<UsageError>([&] { config.check(); });
}

TEST(EvaluateConfig, ErrorsNameTheFlag) {
  EXPECT_EQ(message_after([](Config&) {}), "");
  EXPECT_THAT(message_after([](Config& c) {
                c.metrics = {"bleu", "rouge"};
              }),
              Names("--metrics rouge ... bleu, chrf, chrf++, ter, bleu-tokenized, "
                    "bleu-compound-split"));
  EXPECT_NE(message_after([](Config& c) { c.metrics = {}; }), "");
  EXPECT_THAT(message_after([](Config& c) { c.chrf.beta = -1; }),
              Names("--chrf-beta -1 ... 0 ... 100"));
  EXPECT_NE(message_after([](Config& c) { c.chrf.char_order = 0; }), "");
  EXPECT_NE(message_after([](Config& c) { c.width = 400; }), "");
  EXPECT_NE(message_after([](Config& c) { c.smooth_value = 0.0 / 0.0; }), "");
  EXPECT_NE(message_after([](Config& c) { c.paired_bootstrap_n = 1; }), "");
  EXPECT_NE(message_after([](Config& c) { c.confidence = c.paired_bootstrap = true; }), "");
  EXPECT_NE(message_after([](Config& c) { c.confidence = c.sentence_level = true; }), "");
}

TEST(EvaluateConfig, AValueWithoutEffectIsRefused) {
  EXPECT_THAT(message_after([](Config& c) { c.tokenizer.spm_model = "m"; }),
              Names("--spm-model ... --tokenize spm"));
  EXPECT_THAT(message_after([](Config& c) { c.tokenizer.mecab_dictionary = "d"; }),
              Names("--mecab-dictionary ... ja-mecab"));
  EXPECT_THAT(message_after([](Config& c) { c.smooth_value = 5; }),
              Names("--smooth-value ... --smooth-method floor"));
  EXPECT_THAT(message_after([](Config& c) { c.confidence_n = 50; }),
              Names("--confidence-n ... --confidence"));
  EXPECT_THAT(message_after([](Config& c) { c.paired_bootstrap_n = 50; }),
              Names("--paired-bootstrap-n ... --paired-bootstrap"));
  EXPECT_THAT(message_after([](Config& c) { c.paired_approximate_randomization_n = 50; }),
              Names("--paired-approximate-randomization-n ... --paired-approximate-randomization"));
  EXPECT_EQ(message_after([](Config& c) { c.confidence = true, c.confidence_n = 50; }), "");
}

TEST(EvaluateConfig, AnOptionOfAMetricThatIsNotComputedIsRefused) {
  const std::pair<const char*, const char*> options[] = {{"tokenize", "zh"},
                                                         {"smooth-method", "none"},
                                                         {"effective-order", "true"},
                                                         {"lowercase", "true"},
                                                         {"chrf-word-order", "1"},
                                                         {"chrf-char-order", "5"},
                                                         {"chrf-beta", "3"},
                                                         {"chrf-lowercase", "true"},
                                                         {"chrf-whitespace", "true"},
                                                         {"chrf-eps-smoothing", "true"},
                                                         {"ter-normalized", "true"},
                                                         {"ter-no-punct", "true"},
                                                         {"ter-asian-support", "true"},
                                                         {"ter-case-sensitive", "true"}};
  for (const auto& [option, value] : options) {
    const auto message = [&, name = std::string_view(option),
                          text = std::string(value)](const std::vector<std::string>& metrics) {
      EvaluateConfig config;
      config.metrics = metrics;
      for (Field& field : fields_of(config))
        if (field.info.name == name) field.assign({text});
      return message_of<UsageError>([&] { config.check(); });
    };
    const std::string flag = std::string("--") + option;
    const bool is_of_ter = flag.starts_with("--ter"), is_of_chrf = flag.starts_with("--chrf");
    EXPECT_THAT(message({is_of_ter ? "bleu" : "ter"}), Names(flag + " ... --metrics")) << option;
    EXPECT_EQ(message({is_of_ter ? "ter" : is_of_chrf ? "chrf" : "bleu"}), "") << option;
  }
}

TEST(EvaluateConfig, MetricsMayHaveCommasBetweenThemAndCapitals) {
  EXPECT_EQ(metric_names({"BLEU,chrF++", "ter"}),
            (std::vector<std::string>{"bleu", "chrf++", "ter"}));
  EvaluateConfig config;
  config.metrics = {"chrf", "bleu", "chrf"};
  EXPECT_THAT(message_of<UsageError>([&] { config.check(); }), Names("--metrics ... chrf"));
}

TEST(EvaluateConfig, ALanguageIsACode) {
  EvaluateConfig config;
  config.tokenizer.target_language = "german";
  EXPECT_THAT(message_of<UsageError>([&] { config.check(); }),
              Names("--target-language: ... german"));
  config.tokenizer.target_language = "zh-CN";
  config.check();
  EXPECT_EQ(config.bleu().tokenization.name, "zh");
}

}  // namespace
}  // namespace dragoman
