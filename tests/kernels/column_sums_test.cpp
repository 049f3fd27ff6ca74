#include <cmath>
#include <string>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class ColumnSumsKernel : public KernelTest {
 protected:
  /// More rows than are summed at once.
  static constexpr std::int64_t kRows = 131;

  static ColumnSumsArguments arguments(Elements& x, Elements& sums) {
    return {x.data(), sums.data(), kRows, sums.size()};
  }
};

TEST_P(ColumnSumsKernel, AllRowsAreAddedUp) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 127, 128, 129, 260}) {
    auto values = uniform_values(random_, kRows * columns, 3);
    for (double& value : values) value = std::round(8 * value) / 8;  // whose sums fp32 has exactly
    Elements x(type(), values), sums(type(), columns);
    run_rows(table().column_sums, type(), arguments(x, sums),
             (columns + kColumnBlock - 1) / kColumnBlock, 1);
    EXPECT_TRUE(sums.guards_stand());
    const reference::Numbers expected = reference::column_sums(x.values(), columns);
    for (std::int64_t c = 0; c < columns; ++c)
      expect_rounded(sums[c], expected[c], "column " + std::to_string(c));
  }
}

TEST_P(ColumnSumsKernel, BlocksDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t columns = 3 * kColumnBlock - 5;
  Elements x = random_elements(kRows * columns);
  expect_same_when_split<ColumnSumsArguments>(
      table().column_sums, [&](Elements& sums) { return arguments(x, sums); },
      Elements(type(), columns), 3);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(ColumnSumsKernel);

}  // namespace
}  // namespace dragoman
