#include "data/text_size.h"

#include "tests/data/prepare_fixture.h"

namespace dragoman {
namespace {

using TextSizeTest = PrepareTest;

TEST_F(TextSizeTest, PairsAndTheCharactersOfTheTargetSideAreCounted) {
  set_text({"one", "two words"}, {"Über", "東京"});
  const TextSize size = measure_text(preparation());
  EXPECT_EQ(size.pairs, 2);
  EXPECT_EQ(size.target_characters, 6);
}

TEST_F(TextSizeTest, TextThatCannotBeTrainedOnIsRefused) {
  set_text({"one", "two"}, {"eins", "zwei"});
  data.train_target = {write("short.de", "eins\n")};
  EXPECT_THROW(measure_text(preparation()), Error);
}

}  // namespace
}  // namespace dragoman
