#include "extras/server/text_layout.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dragoman {
namespace {

TEST(TextLayout, LinesStandWithoutTheWhiteSpaceAroundThem) {
  const TextLayout layout = take_apart("\n  One.  Two. \r\n\r\n\tThree\u00a0\n", LineBreaks::Kept);
  EXPECT_EQ(layout.lines, (std::vector<std::string>{"One.  Two.", "Three"}));
  EXPECT_EQ(layout.around, (std::vector<std::string>{"\n  ", " \r\n\r\n\t", "\u00a0\n"}));
  EXPECT_EQ(put_together(layout, {"1", "3"}), "\n  1 \r\n\r\n\t3\u00a0\n");
}

TEST(TextLayout, WithItsOwnLinesATextIsItself) {
  RandomStream random(5);
  const std::vector<std::string> ends = {
      "\n",   "\r",   "\v",     "\f",     "\x1C",   std::string(1, '\0'),
      "\x1D", "\x1E", "\u0085", "\u2028", "\u2029", "\x1F"};
  std::vector<std::string> parts = {"a",      "a",      "b c",    " ",    "\t",
                                    "\u2003", "\u00e4", "\uFEFF", "\r\n", "\u2027"};
  parts.insert(parts.end(), ends.begin(), ends.end());
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint64_t count = random.below(12); count > 0; --count) text += random.choice(parts);
    const TextLayout layout = take_apart(text, LineBreaks::Kept);
    EXPECT_EQ(put_together(layout, layout.lines), text);
    EXPECT_EQ(layout.around.size(), layout.lines.size() + 1);
    for (const std::string& line : layout.lines)
      for (const std::string& end : ends) EXPECT_EQ(line.find(end), std::string::npos);
  }
}

TEST(TextLayout, AByteOrderMarkAtTheBeginIsNoPartOfALine) {
  for (const LineBreaks breaks : {LineBreaks::Kept, LineBreaks::Blanks}) {
    const TextLayout layout = take_apart("\uFEFF One.", breaks);
    EXPECT_EQ(layout.lines, std::vector<std::string>{"One."});
    EXPECT_EQ(layout.around, (std::vector<std::string>{"\uFEFF ", ""}));
  }
}

TEST(TextLayout, LineEndsMayBeBlanks) {
  const TextLayout layout = take_apart(" one\r\ntwo\nthree\n", LineBreaks::Blanks);
  EXPECT_EQ(layout.lines, std::vector<std::string>{"one  two three"});
  EXPECT_EQ(layout.around, (std::vector<std::string>{" ", "\n"}));
  EXPECT_EQ(take_apart("one\u2028two\u0085three\vfour", LineBreaks::Blanks).lines,
            std::vector<std::string>{"one two three four"});
  EXPECT_TRUE(take_apart(" \n", LineBreaks::Blanks).lines.empty());
}

}  // namespace
}  // namespace dragoman
