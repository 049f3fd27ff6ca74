#include "extras/report/attention_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

AttentionFigure figure() {
  return {.title = "Layer 1, <head> 2",
          .rows_title = "target",
          .keys_title = "source",
          .rows = {"a", "b"},
          .keys = {"x", "&y", "z"},
          .weights = {0.25F, 0.75F, 0, 0, 0, 1}};
}

TEST(AttentionFigure, TheFigureIsAnSvgFileThatNeedsNothingElse) {
  const std::string svg = to_svg(figure());
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
}

TEST(AttentionFigure, TheFigureIsReadableOnADarkPage) {
  const std::string svg = to_svg(figure());
  const std::size_t paper = svg.find("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
  EXPECT_LT(paper, svg.find("<text")) << "behind all else";
}

TEST(AttentionFigure, EachCellSaysItsNumberAndTextIsEscaped) {
  const std::string svg = to_svg(figure());
  EXPECT_THAT(svg, HasSubstr("Layer 1, &lt;head&gt; 2"));
  EXPECT_THAT(svg, HasSubstr("<title>a to &amp;y 0.7500</title>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.500\"><title>a to x 0.2500"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"1.000\"><title>b to z 1.0000"));
}

}  // namespace
}  // namespace dragoman
