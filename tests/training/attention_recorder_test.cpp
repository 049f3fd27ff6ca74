#include "training/attention_recorder.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

TokenizerPair pair_of_tokenizers() {
  const auto one = std::make_shared<Tokenizer>(tokenizer().model_bytes(), "test");
  return {one, one};
}

std::string repeated(const std::string& word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += word + " ";
  return text;
}

TEST(AttentionRecorder, TheLongestPairThatIsShortEnoughIsTaken) {
  CopyingEngine engine;
  const AttentionRecorder recorder(
      pair_of_tokenizers(), {"one", repeated("one", 40), "one two three", "two two two two", ""},
      {"two", "one", "three two", "one", ""});
  const RecordedAttention found = recorder.record(engine);
  ASSERT_EQ(found.source.size(), tokenizer().encode("one two three").size() + 1);
  EXPECT_EQ(found.source.back(), "</s>");
  EXPECT_EQ(found.target.size(), tokenizer().encode("three two").size() + 1);
  EXPECT_EQ(engine.slots_in_use(), 0u);
}

TEST(AttentionRecorder, ARowIsOfThePositionThatPredictsItsPiece) {
  CopyingEngine engine;
  const AttentionRecorder recorder(pair_of_tokenizers(), {"one two three"}, {"three two"});
  const RecordedAttention found = recorder.record(engine);
  const std::size_t keys = found.source.size();
  ASSERT_EQ(found.weights.size(), keys * found.target.size());
  std::vector<float> expected;
  std::vector<TokenId> source = tokenizer().encode("one two three"), read;
  source.push_back(tokenizer().eos_id());
  for (std::size_t t = 0; t < found.target.size(); ++t) {
    TableEngine::append_attention(source, read, expected);
    read.push_back(0);  // its length alone counts
  }
  EXPECT_EQ(found.weights, expected);
}

TEST(AttentionRecorder, NothingIsRecordedWhereNothingFits) {
  CopyingEngine engine(2);
  const auto recorded = [&](const std::string& source, const std::string& target) {
    return AttentionRecorder(pair_of_tokenizers(), {source}, {target}).record(engine);
  };
  EXPECT_TRUE(recorded(repeated("one", 40), "one").empty());
  EXPECT_TRUE(recorded("", "").empty());
  EXPECT_TRUE(recorded("one two three", "one").empty()) << "more than the model has positions for";
  EXPECT_TRUE(AttentionRecorder(pair_of_tokenizers(), {}, {}).record(engine).empty());
}

}  // namespace
}  // namespace dragoman
