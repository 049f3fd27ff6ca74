#include "extras/report/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

AttentionFigure attention_figure() {
  return {.title = "Layer 1, <head> 2",
          .rows_title = "target",
          .keys_title = "source",
          .rows = {"a", "b"},
          .keys = {"x", "&y", "z"},
          .weights = {0.25F, 0.75F, 0, 0, 0, 1}};
}

TEST(AttentionFigure, TheFigureIsAnSvgFileThatNeedsNothingElse) {
  const std::string svg = to_svg(attention_figure());
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, EndsWith("</svg>\n"));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
}

TEST(AttentionFigure, TheFigureIsReadableOnADarkPage) {
  const std::string svg = to_svg(attention_figure());
  const std::size_t paper = svg.find("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
  EXPECT_LT(paper, svg.find("<text")) << "under everything else";
}

TEST(AttentionFigure, EachCellSaysItsNumberAndTextIsEscaped) {
  const std::string svg = to_svg(attention_figure());
  EXPECT_THAT(svg, HasSubstr("Layer 1, &lt;head&gt; 2"));
  EXPECT_THAT(svg, HasSubstr("<title>a to &amp;y 0.7500</title>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.500\"><title>a to x 0.2500"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"1.000\"><title>b to z 1.0000"));
}

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

StripsFigure strips_figure() {
  return {.title = "Input at <a>",
          .strips = {{.name = "first", .numbers = {4, -1, 0, 4}, .note = "length & more"},
                     {.name = "second", .numbers = {0, 0}}}};
}

TEST(StripsFigure, LargeNumbersAreDarkAndThoseBelowZeroHaveAnotherColour) {
  const std::string svg = to_svg(strips_figure());
  EXPECT_THAT(svg,
              HasSubstr("fill=\"#0b3a6f\" fill-opacity=\"1.00\" d=\"M0 0h1v1h-1zM3 0h1v1h-1z\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#d55e00\" fill-opacity=\"0.50\" d=\"M1 0h1v1h-1z\""));
}

TEST(StripsFigure, TheFigureSaysNamesNotesAndTheGreatestNumber) {
  const std::string svg = to_svg(strips_figure());
  for (const char* text :
       {"Input at &lt;a&gt;", ">first<", ">length &amp; more<", ">second<", "+4.00"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(StripsFigure, AFigureOfZerosAloneIsEmpty) {
  const std::string svg =
      to_svg(StripsFigure{.title = "", .strips = {{.name = "a", .numbers = {0}}}});
  EXPECT_THAT(svg, HasSubstr("+1.00"));
}

}  // namespace

}  // namespace dragoman
