#include "extras/report/heads_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(HeadsFigure, EachLayerHasARowAndEachHeadAColumn) {
  const HeadPicture diagonal{.weights = {1, 0, 0, 1}, .note = "0.0 bits"};
  const HeadPicture even{.weights = {0.25F, 0.25F, 0.25F, 0.25F}, .note = "1.0 bits"};
  const std::string svg = to_svg(HeadsFigure{.title = "All heads",
                                             .note = "a row is a piece",
                                             .rows = 2,
                                             .keys = 2,
                                             .layers = {{diagonal, even}, {even, even}}});
  for (const char* text : {">head 1<", ">head 2<", ">layer 1<", ">layer 2<", ">0.0 bits<",
                           ">1.0 bits<", ">a row is a piece<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"1.00\" d=\"M0 0h1v1h-1zM1 1h1v1h-1z\""));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.50\" d=\"M0 0h2v1h-2zM0 1h2v1h-2z\""))
      << "neighbours of the same weight are one rectangle";
}

}  // namespace
}  // namespace dragoman
