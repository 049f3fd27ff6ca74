#include "base/error.h"

#include <gtest/gtest.h>

#include <locale>
#include <new>

#include "tests/names.h"

namespace dragoman {
namespace {

/// Writes whole numbers only with memory that is not there.
class OutOfMemory : public std::num_put<char> {
  iter_type do_put(iter_type, std::ios_base&, char, long) const override { throw std::bad_alloc(); }
};

TEST(JoinText, WithoutMemoryNoPartIsLeftOut) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new OutOfMemory));
  EXPECT_THROW(join_text("line ", 7), std::bad_alloc);
  std::locale::global(before);
  EXPECT_EQ(join_text("line ", 7), "line 7");
}

TEST(WithPlace, ErrorsGetTheirPlaceAndResultsPass) {
  EXPECT_EQ(with_place("a.npz", [] { return 3; }), 3);
  EXPECT_EQ(message_of<Error>([] { with_place("a.npz", [] { throw Error("is empty"); }); }),
            "a.npz: is empty");
}

}  // namespace
}  // namespace dragoman
