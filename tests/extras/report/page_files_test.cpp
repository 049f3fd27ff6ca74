#include "extras/report/page_files.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dragoman {
namespace {

TEST(PageFiles, AFileIsFilledOnceSoThatANameInAValueStaysText) {
  EXPECT_EQ(filled_page_file("figure.html", {{"title", "{{drawing}}"}, {"drawing", "{{x"}}),
            "<figure><figcaption>{{drawing}}</figcaption>\n{{x\n</figure>\n");
}

TEST(PageFiles, AFileOrAValueThatIsMissingIsOurDefect) {
  EXPECT_THROW(page_file("none.html"), std::logic_error);
  EXPECT_THROW(filled_page_file("figure.html", {{"title", ""}}), std::logic_error);
}

}  // namespace
}  // namespace dragoman
