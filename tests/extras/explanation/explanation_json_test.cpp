#include "extras/explanation/explanation_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/random.h"
#include "tests/extras/explanation/explained_model.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

using testing::ElementsAre;

TEST(WholeWeights, WeightsOfEveryRowSumToTheWholeAndKeepTheirZeros) {
  RandomStream random(4);
  for (int row = 0; row < 200; ++row) {
    std::vector<float> weights(1 + random.below(40));
    float sum = 0;
    for (float& weight : weights) {
      weight = random.chance(0.3) ? 0.0F : static_cast<float>(random.below(1000)) + 1;
      sum += weight;
    }
    if (sum == 0) continue;
    for (float& weight : weights) weight /= sum;
    const std::vector<std::uint16_t> numbers = whole_weights(weights);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}), kWholeRow);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i] / 65535.0, weights[i], 2e-5);
      if (weights[i] == 0) {
        EXPECT_EQ(numbers[i], 0);
      }
    }
  }
}

TEST(WholeWeights, TheWeightOfOneKeyIsTheWhole) {
  EXPECT_THAT(whole_weights(std::vector{1.0F}), ElementsAre(65535));
}

TEST(WeightsBlock, ABlockHasLittleEndianNumbersInBase64) {
  const nlohmann::ordered_json block = weights_block({.heads = 1,
                                                      .queries = 2,
                                                      .keys = 2,
                                                      .mask = KeyMask::None,
                                                      .values = {1, 0, 0, 1},
                                                      .scores = {}});
  EXPECT_EQ(block["shape"], nlohmann::json({1, 2, 2}));
  EXPECT_EQ(block["data"], "//8AAAAA//8=");  // FF FF 00 00 00 00 FF FF
}

TEST(NumberRows, NumbersHaveFiveDigitsAndStandInRows) {
  EXPECT_EQ(json_text(number_rows(std::vector{1.0F / 3, -2.0F, 1e-6F / 3, 123456.0F}, 2)),
            "[[0.33333,-2.0],[3.3333e-07,123460.0]]");
  const AttentionWeights weights{.heads = 2,
                                 .queries = 1,
                                 .keys = 2,
                                 .mask = KeyMask::None,
                                 .values = {0.25F, 0.75F, 1, 0},
                                 .scores = {}};
  EXPECT_EQ(json_text(weights_of_heads(weights)), "[[[0.25,0.75]],[[1.0,0.0]]]");
}

TEST(VectorsBlock, ABlockHasHalvesInBase64) {
  const nlohmann::ordered_json block = vectors_block(std::vector<float>{1, -2, 0, 0.5F}, 2);
  EXPECT_EQ(block["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(block["data"], "ADwAwAAAADg=");  // 3C00 C000 0000 3800
}

TEST(VectorsBlock, NoHalfIsBeyondTheLargest) {
  EXPECT_EQ(vectors_block(std::vector<float>{1e6F, -65519}, 2)["data"], "/3v/+w==");  // 7BFF FBFF
}

const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The whole numbers of a block's text, each written with this many digits.
std::vector<std::int64_t> numbers_of(const Json& block, std::size_t digits) {
  const std::string text = block["data"];
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size(); begin += digits) {
    std::int64_t number = 0, middle = 1;
    for (const char digit : text.substr(begin, digits)) {
      number = number * 64 + static_cast<std::int64_t>(kDigits.find(digit));
      middle *= 64;
    }
    numbers.push_back(number - middle / 2);
  }
  return numbers;
}

TEST(StripsBlock, EachNumberHasADigitAndEachVectorAScale) {
  const Json block = strips_block(std::vector<float>{31, -15.4F, 0, 0, 2, -2}, 2);
  EXPECT_EQ(block["shape"], Json({3, 2}));
  EXPECT_EQ(numbers_of(block, 1), (std::vector<std::int64_t>{31, -15, 0, 0, 31, -31}));
  EXPECT_NEAR(block["scales"][0].get<double>(), 1, 1e-4);
  EXPECT_EQ(block["scales"][1], 0);
  EXPECT_NEAR(block["scales"][2].get<double>(), 2.0 / 31, 1e-5);
}

TEST(ScoresBlock, EachHeadHasAScaleAndNumbersToAHundredThousandth) {
  const std::vector<double> scores = {3.14159, -2.71828, 0.00007, 1, 1e-3, -4e-3, 2e-3, 3e-3};
  const Json block = scores_block(
      {.heads = 2, .queries = 2, .keys = 2, .mask = KeyMask::None, .values = {}, .scores = scores});
  EXPECT_EQ(block["shape"], Json({2, 2, 2}));
  EXPECT_EQ(block["causal"], false);
  const std::vector<std::int64_t> numbers = numbers_of(block, 3);
  ASSERT_EQ(numbers.size(), scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto scale = block["scales"][i / 4].get<double>();
    EXPECT_NEAR(static_cast<double>(numbers[i]) * scale, scores[i], (i < 4 ? 1.3e-5 : 1.6e-8));
  }
}

TEST(ScoresBlock, MaskedKeysHaveNoScores) {
  const Json block = scores_block({.heads = 1,
                                   .queries = 2,
                                   .keys = 2,
                                   .mask = KeyMask::Causal,
                                   .values = {},
                                   .scores = {0, -1, 1}});
  EXPECT_EQ(block["causal"], true);
  EXPECT_EQ(numbers_of(block, 3).size(), 3u);
}

const DecodeConfig kSearch{.beam_size = 2, .max_length = 6};

ExplainedModel model_of(std::shared_ptr<const CpuModel> weights,
                        const TokenizerPair& tokenizers = tokenizer_pair()) {
  return {.program_version = "1",
          .name = "run/",
          .tokenizers = tokenizers,
          .weights = std::move(weights),
          .search = kSearch};
}

Json json_of(std::optional<std::string_view> target, Positions positions = Positions::Sinusoidal,
             ExplanationForm form = ExplanationForm::Packed) {
  const auto weights = weights_of_small_model(positions);
  Explainer explainer(weights, tokenizer_pair(), kSearch);
  ExplainedModel model = model_of(weights);
  model.form = form;
  return parse_json<Json>(
      explanation_json(model, {sentence_json(model, explainer.explain("one two", target))}));
}

TEST(ExplanationJson, ShapesAreThoseOfTheModelAndTheSentence) {
  const Json json = json_of("Four five. six,");
  EXPECT_EQ(json["format"], "dragoman explanation");
  EXPECT_EQ(json["model"]["config"]["d-model"], 4);
  EXPECT_EQ(json["model"]["alignment"], (Json{{"layer", 0}, {"head", nullptr}}));
  EXPECT_EQ(json["model"]["parameters"][0]["shape"], (Json{tokenizer().size(), 4}));
  EXPECT_FALSE(json["model"].contains("positions"));
  const Json& sentence = json["sentences"][0];
  const std::size_t sources = sentence["source_tokens"].size();
  const std::size_t targets = sentence["target_tokens"].size();
  EXPECT_EQ(sentence["attention"]["encoder"][0]["shape"], (Json{2, sources, sources}));
  EXPECT_EQ(sentence["attention"]["decoder"][0]["shape"], (Json{2, targets, targets}));
  EXPECT_EQ(sentence["attention"]["cross"][0]["shape"], (Json{2, targets, sources}));
  EXPECT_EQ(sentence["vectors"]["cross"][0]["q"]["shape"], (Json{targets, 4}));
  EXPECT_EQ(sentence["vectors"]["cross"][0]["k"]["shape"], (Json{sources, 4}));
  EXPECT_EQ(sentence["vectors"]["decoder"][0]["output"]["shape"], (Json{targets, 4}));
  EXPECT_EQ(sentence["embedding"]["target"]["position"]["shape"], (Json{targets, 4}));
  EXPECT_EQ(sentence["target_tokens"][0]["top"].size(), 10);
  EXPECT_EQ(sentence["source_tokens"].back(),
            (Json{{"piece", "</s>"}, {"id", 2}, {"word", nullptr}}));
}

TEST(ExplanationJson, NumbersAreListsThatAnyProgramReads) {
  const Json json = json_of("Four five. six,", Positions::Learned, ExplanationForm::Numbers);
  const Json packed = json_of("Four five. six,", Positions::Learned);
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(packed["version"], 2);
  const Json &sentence = json["sentences"][0], &blocks = packed["sentences"][0];
  const auto shape = [](const Json& lists) {
    Json sizes = Json::array();
    for (const Json* list = &lists; list->is_array(); list = &list->front())
      sizes.push_back(list->size());
    return sizes;
  };
  EXPECT_EQ(shape(sentence["attention"]["cross"][0]), blocks["attention"]["cross"][0]["shape"]);
  EXPECT_EQ(shape(sentence["vectors"]["encoder"][0]["stream"]),
            blocks["vectors"]["encoder"][0]["stream"]["shape"]);
  EXPECT_EQ(shape(sentence["feed_forward"]["decoder"][0]["hidden"]),
            blocks["feed_forward"]["decoder"][0]["hidden"]["shape"]);
  EXPECT_EQ(shape(json["model"]["positions"]["target"]),
            packed["model"]["positions"]["target"]["shape"]);
  double sum = 0;
  for (const Json& weight : sentence["attention"]["encoder"][0][1][0]) sum += weight.get<double>();
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(ExplanationJson, SentencesAreExplainedOnSeveralThreadsInOrder) {
  const ExplainedModel model = model_of(weights_of_small_model());
  const std::vector<GivenSentence> sentences = {{"one"}, {"two one"}, {"three"}, {"one two"}};
  EXPECT_EQ(explain_all(model, sentences, {}, 3).json, explain_all(model, sentences, {}).json);
}

TEST(ExplanationJson, UnseenCharactersAreMarked) {
  ExplainedModel model = model_of(weights_of_small_model());
  const auto marked = [&model] {
    const Json json =
        parse_json<Json>(explain_all(model, {{.source = "one \u041C\u043E two"}}, {}).json);
    std::string pieces;
    for (const Json& token : json["sentences"][0]["source_tokens"])
      if (token.contains("unseen")) pieces += token["piece"];
    return pieces;
  };
  EXPECT_EQ(marked(), "") << "nothing is known";
  model.characters.emplace().source.add_all("onetw ");
  EXPECT_EQ(marked(), "<0xD0><0x9C><0xD0><0xBE>");
}

TEST(ExplanationJson, ATagIsNotUnseen) {
  TokenizerConfig config;
  config.vocab_size = 300;
  config.type = TokenizerType::Bpe;
  config.user_symbols = {"<2de>"};
  const std::vector<std::string> lines(100, "one two three");
  const TokenizerPair tokenizers = both_sides(train_on(lines, config));
  ExplainedModel model = model_of(weights_of(SmallModel(tokenizers.source->size())), tokenizers);
  model.characters.emplace().source.add_all("onetw ");
  const Json json = parse_json<Json>(explain_all(model, {{.source = "<2de> one \u041C"}}, {}).json);
  std::string pieces;
  for (const Json& token : json["sentences"][0]["source_tokens"])
    if (token.contains("unseen")) pieces += token["piece"];
  EXPECT_EQ(pieces, "<0xD0><0x9C>");
}

TEST(ExplanationJson, TheActivationsOfTheStacksAreThere) {
  const Json json = json_of("Four five. six,");
  const Json& sentence = json["sentences"][0];
  const std::size_t sources = sentence["source_tokens"].size();
  const std::size_t targets = sentence["target_tokens"].size();
  const std::int64_t d_ff = json["model"]["config"]["d-ff"];
  for (const auto& [stack, tokens] :
       {std::pair("encoder", sources), std::pair("decoder", targets)}) {
    for (const char* name : {"stream", "input", "output"})
      EXPECT_EQ(sentence["feed_forward"][stack][0][name]["shape"], (Json{tokens, 4}));
    EXPECT_EQ(sentence["feed_forward"][stack][0]["hidden"]["shape"], (Json{tokens, d_ff}));
    EXPECT_EQ(sentence["vectors"][stack][0]["stream"]["shape"], (Json{tokens, 4}));
    EXPECT_EQ(sentence["stacks"][stack]["shape"], (Json{tokens, 4}));
  }
  EXPECT_EQ(sentence["vectors"]["cross"][0]["stream"]["shape"], (Json{targets, 4}));
}

TEST(ExplanationJson, ThePageGetsWhatItDraws) {
  const Json json = json_of("Four five. six,", Positions::Sinusoidal, ExplanationForm::Page);
  const Json& sentence = json["sentences"][0];
  const std::size_t sources = sentence["source_tokens"].size();
  const std::size_t targets = sentence["target_tokens"].size();
  const Json& decoder = sentence["attention"]["decoder"][0];
  EXPECT_EQ(decoder["shape"], (Json{2, targets, targets}));
  EXPECT_EQ(decoder["data"].get<std::string>().size(), 3 * 2 * targets * (targets + 1) / 2);
  EXPECT_EQ(sentence["vectors"]["cross"][0]["k"]["data"].get<std::string>().size(), sources * 4);
  for (const char* name : {"feed_forward", "stacks"}) EXPECT_FALSE(sentence.contains(name));
  EXPECT_FALSE(sentence["vectors"]["cross"][0].contains("stream"));
  EXPECT_FALSE(sentence["embedding"]["source"].contains("position"));
  const Json learned = json_of("Four", Positions::Learned, ExplanationForm::Page);
  EXPECT_TRUE(learned["sentences"][0]["embedding"]["source"].contains("position"));
}

TEST(ExplanationJson, TheSearchIsShownIfThereWasOne) {
  EXPECT_FALSE(json_of("Four")["sentences"][0].contains("search"));
  EXPECT_EQ(json_of("Four")["sentences"][0]["given"], true);
  const Json sentence = json_of(std::nullopt)["sentences"][0];
  EXPECT_EQ(sentence["given"], false);
  const Json& nodes = sentence["search"]["nodes"];
  EXPECT_EQ(nodes[0]["piece"], "<s>");
  EXPECT_EQ(nodes[0]["parent"], nullptr);
  const Json& best = nodes[sentence["search"]["best"].get<std::size_t>()];
  EXPECT_EQ(best["state"], "best");
  std::string pieces;
  for (Json node = best; !node["parent"].is_null(); node = nodes[node["parent"].get<std::size_t>()])
    if (node["piece"] != "</s>") pieces = node["piece"].get<std::string>() + pieces;
  std::string expected;
  for (const Json& token : sentence["target_tokens"])
    if (token["piece"] != "</s>") expected += token["piece"].get<std::string>();
  EXPECT_EQ(pieces, expected);
  EXPECT_EQ(sentence["search"]["greedy"]["pieces"].back(), "</s>");
}

TEST(ExplanationJson, AFaultOfASentenceIsNamedWithItsLineAndAStopIsNot) {
  const ExplainedModel model = model_of(weights_of_small_model());
  const auto error_of = [&](const std::string& second, const OnStep& on_step) -> std::string {
    return message_of<Error>([&] {
      explain_all(
          model,
          {{.source = "one", .target = {}, .line = 1}, {.source = second, .target = {}, .line = 3}},
          on_step);
    });
  };
  EXPECT_THAT(error_of("", [] {}), Names("line 3 ... no text"));
  EXPECT_EQ(error_of("two", [] { throw Error("stopped"); }), "stopped");
}

TEST(ExplanationJson, LearnedPositionsAreShown) {
  const Json positions = json_of("Four", Positions::Learned)["model"]["positions"];
  EXPECT_EQ(positions["source"]["shape"], (Json{30, 4}));
  EXPECT_EQ(positions["target"]["shape"], (Json{30, 4}));
}

}  // namespace

}  // namespace dragoman
