#include "extras/report/strips_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::HasSubstr;

StripsFigure figure() {
  return {.title = "Input at <a>",
          .strips = {{.name = "first", .numbers = {4, -1, 0, 4}, .note = "length & more"},
                     {.name = "second", .numbers = {0, 0}}}};
}

TEST(StripsFigure, LargeNumbersAreDarkAndThoseBelowZeroHaveAnotherColour) {
  const std::string svg = to_svg(figure());
  EXPECT_THAT(svg,
              HasSubstr("fill=\"#0b3a6f\" fill-opacity=\"1.00\" d=\"M0 0h1v1h-1zM3 0h1v1h-1z\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#d55e00\" fill-opacity=\"0.50\" d=\"M1 0h1v1h-1z\""));
}

TEST(StripsFigure, TheFigureSaysNamesNotesAndTheGreatestNumber) {
  const std::string svg = to_svg(figure());
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
