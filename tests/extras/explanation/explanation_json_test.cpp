#include "extras/explanation/explanation_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/extras/explanation/explained_model.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

const DecodeConfig kSearch{.beam_size = 2, .max_length = 6};

Json json_of(std::optional<std::string_view> target, Positions positions = Positions::Sinusoidal,
             ExplanationForm form = ExplanationForm::Packed) {
  const auto weights = weights_of_small_model(positions);
  Explainer explainer(weights, tokenizer_pair(), kSearch);
  const ExplainedModel model{
      .program_version = "1", .name = "run/", .weights = weights, .search = kSearch, .form = form};
  return Json::parse(explanation_json(
      model, {sentence_json(model, explainer.explain("one two", target), tokenizer())}));
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

TEST(ExplanationJson, SentencesAreExplainedOnSeveralThreadsInTheirOrder) {
  const auto weights = weights_of_small_model(Positions::Sinusoidal);
  const ExplainedModel model{
      .program_version = "1", .name = "run/", .weights = weights, .search = kSearch};
  const std::vector<GivenSentence> sentences = {{"one"}, {"two one"}, {"three"}, {"one two"}};
  EXPECT_EQ(explain_all(model, tokenizer_pair(), sentences, {}, 3).json,
            explain_all(model, tokenizer_pair(), sentences, {}).json);
}

TEST(ExplanationJson, UnseenCharactersAreMarked) {
  ExplainedModel model{.program_version = "1",
                       .name = "run/",
                       .weights = weights_of_small_model(Positions::Sinusoidal),
                       .search = kSearch};
  const auto marked = [&model] {
    const Json json = Json::parse(
        explain_all(model, tokenizer_pair(), {{.source = "one \u041C\u043E two"}}, {}).json);
    std::string pieces;
    for (const Json& token : json["sentences"][0]["source_tokens"])
      if (token.contains("unseen")) pieces += token["piece"];
    return pieces;
  };
  EXPECT_EQ(marked(), "") << "nothing is known";
  model.characters.emplace().source.add_all("onetw ");
  EXPECT_EQ(marked(), "<0xD0><0x9C><0xD0><0xBE>");
}

TEST(ExplanationJson, TheWayThroughTheStacksIsThere) {
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

TEST(ExplanationJson, TheSearchIsShownWhereThereWasOne) {
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
  const auto weights = weights_of_small_model(Positions::Sinusoidal);
  const ExplainedModel model{
      .program_version = "1", .name = "run/", .weights = weights, .search = kSearch};
  const auto error_of = [&](const std::string& second, const OnStep& on_step) -> std::string {
    try {
      explain_all(
          model, tokenizer_pair(),
          {{.source = "one", .target = {}, .line = 1}, {.source = second, .target = {}, .line = 3}},
          on_step);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of("", [] {}), "line 3: the sentence has no text");
  EXPECT_EQ(error_of("two", [] { throw Error("stopped"); }), "stopped");
}

TEST(ExplanationJson, LearnedPositionsAreShown) {
  const Json positions = json_of("Four", Positions::Learned)["model"]["positions"];
  EXPECT_EQ(positions["source"]["shape"], (Json{30, 4}));
  EXPECT_EQ(positions["target"]["shape"], (Json{30, 4}));
}

}  // namespace
}  // namespace dragoman
