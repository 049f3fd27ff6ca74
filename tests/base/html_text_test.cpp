#include "base/html_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dragoman {
namespace {

TEST(HtmlText, ValuesTakeThePlacesOfTheirNames) {
  EXPECT_EQ(filled("<p>{{a}}</p>{{b}}{{a}}", {{"a", "x"}, {"b", "{{a}}"}}), "<p>x</p>{{a}}x");
  EXPECT_EQ(filled("none", {}), "none");
  EXPECT_THROW(filled("{{a}}", {}), std::logic_error);
  EXPECT_THROW(filled("{{a", {{"a", "x"}}), std::logic_error);
}

}  // namespace
}  // namespace dragoman
