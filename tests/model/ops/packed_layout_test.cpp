#include "model/ops/packed_layout.h"

#include <span>
#include <vector>

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kHeads = 2, kWidth = 3;
const std::vector<std::int32_t> kStarts = {0, 2, 7, 8, 12};

PackedLayout example() { return PackedLayout::from_starts(kStarts, kHeads, test_device()); }

/// Calls check(n, h, place) for each head of each token, with place = (b * heads + h) * L + t.
template <class Check>
void for_each_head(const PackedLayout& layout, Check&& check) {
  for (std::int64_t b = 0; b < layout.sentences; ++b)
    for (std::int64_t n = kStarts[b]; n < kStarts[b + 1]; ++n)
      for (std::int64_t h = 0; h < kHeads; ++h)
        check(n, h, (b * kHeads + h) * layout.longest + n - kStarts[b]);
}

TEST(PackedLayout, SentencesTokensAndPositionsAreCounted) {
  const PackedLayout layout = example();
  EXPECT_EQ(layout.sentences, 4);
  EXPECT_EQ(layout.tokens, 12);
  EXPECT_EQ(layout.longest, 5);
  EXPECT_TRUE(layout.lengths.cpu().equal(torch::tensor({2, 5, 1, 4}, torch::kInt32)));
  EXPECT_TRUE(layout.positions.cpu().equal(
      torch::tensor({0, 1, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3}, torch::kInt64)));
}

TEST(PackedLayout, AStretchOfStartsGivesTheLayoutOfItsSentences) {
  const std::vector<std::int32_t> alone = {0, 5, 6};
  const auto of_stretch =
      PackedLayout::from_starts(std::span(kStarts).subspan(1, 3), kHeads, test_device());
  const auto expected = PackedLayout::from_starts(alone, kHeads, test_device());
  EXPECT_EQ(of_stretch.tokens, expected.tokens);
  EXPECT_EQ(of_stretch.longest, expected.longest);
  EXPECT_TRUE(of_stretch.starts.equal(expected.starts));
  EXPECT_TRUE(of_stretch.positions.equal(expected.positions));
  EXPECT_TRUE(of_stretch.padded().pad_index.equal(expected.padded().pad_index));
  EXPECT_TRUE(of_stretch.padded().unpad_index.equal(expected.padded().unpad_index));
}

TEST(PackedLayout, EachHeadOfEachSentenceIsPaddedToTheLongest) {
  const PackedLayout layout = example();
  const auto x = closed_form({12, kHeads * kWidth});
  const auto padded = pad_heads(x, layout);
  EXPECT_EQ(padded.sizes(), (std::vector<std::int64_t>{4 * kHeads, 5, kWidth}));
  const auto rows = padded.reshape({-1, kWidth});
  for_each_head(layout, [&](std::int64_t n, std::int64_t h, std::int64_t place) {
    EXPECT_TRUE(rows[place].equal(x[n].slice(0, h * kWidth, (h + 1) * kWidth)));
  });
  EXPECT_TRUE(unpad_heads(padded, layout).equal(x));
}

TEST(PackedLayout, GradientsOfPaddingAndUnpaddingAreEachOther) {
  const PackedLayout layout = example();
  const auto x = closed_form({12, kHeads * kWidth}).requires_grad_();
  const auto d_padded = closed_form({4 * kHeads, 5, kWidth}, 0.4);
  pad_heads(x, layout).backward(d_padded);
  // Masks hide the padding, so it adds nothing to the first token's gradient.
  EXPECT_TRUE(x.grad().equal(unpad_heads(d_padded, layout)));

  const auto places = closed_form({4 * kHeads, 5, kWidth}).requires_grad_();
  const auto d_rows = closed_form({12, kHeads * kWidth}, 0.4);
  unpad_heads(places, layout).backward(d_rows);
  auto expected = torch::zeros({4 * kHeads * 5, kWidth}, d_rows.options());
  for_each_head(layout, [&](std::int64_t n, std::int64_t h, std::int64_t place) {
    expected[place] = d_rows[n].slice(0, h * kWidth, (h + 1) * kWidth);
  });
  EXPECT_TRUE(places.grad().equal(expected.view_as(places)));
}

TEST(PackedLayout, KeysOfThePaddedLayoutAreThoseOfTheTokens) {
  PackedLayout layout = example();
  const std::vector<std::int32_t> keys = {9, -8, 7, 6, -5, 4, 3, 2, 1, 10, 11, 12};
  EXPECT_FALSE(layout.padded().row_keys.defined());
  layout.set_row_keys(keys);
  const auto padded = layout.padded().row_keys.cpu();
  EXPECT_EQ(padded.numel(), 4 * 5);
  for_each_head(layout, [&](std::int64_t n, std::int64_t h, std::int64_t place) {
    const std::int64_t b = place / layout.longest / kHeads, t = place % layout.longest;
    if (h == 0) {
      EXPECT_EQ(padded[b * layout.longest + t].item<std::int32_t>(), keys[n]);
    }
  });
}

}  // namespace
}  // namespace dragoman
