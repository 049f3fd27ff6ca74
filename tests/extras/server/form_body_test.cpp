#include "extras/server/form_body.h"

#include <gtest/gtest.h>

#include <string>

#include "extras/server/http.h"

namespace dragoman {
namespace {

int status_of(std::string_view body, std::string_view type) {
  try {
    parse_multipart(body, type);
  } catch (const HttpError& error) {
    return error.status();
  }
  return 200;
}

TEST(FormBody, UrlencodedFieldsAreDecoded) {
  EXPECT_EQ(parse_urlencoded("q=a+b%26%C3%A4&x=&q=2&=e&y"),
            (FormFields{{"q", "a b&\u00e4"}, {"x", ""}, {"q", "2"}, {"", "e"}, {"y", ""}}));
  EXPECT_EQ(parse_urlencoded(""), FormFields());
  EXPECT_EQ(parse_urlencoded("&&"), FormFields());
}

TEST(FormBody, TooManyFieldsAreRefused) {
  std::string urlencoded, multipart;
  for (std::size_t i = 0; i < kMostFormFields; ++i) {
    urlencoded += "q&";
    multipart += "--x\r\nContent-Disposition: form-data; name=q\r\n\r\n\r\n";
  }
  EXPECT_EQ(parse_urlencoded(urlencoded).size(), kMostFormFields);
  EXPECT_THROW(parse_urlencoded(urlencoded + "q"), HttpError);
  const std::string another = multipart.substr(0, multipart.size() / kMostFormFields);
  EXPECT_EQ(status_of(multipart + "--x--", "multipart/form-data; boundary=x"), 200);
  EXPECT_EQ(status_of(another + multipart + "--x--", "multipart/form-data; boundary=x"), 400);
}

TEST(FormBody, APercentSignThatBeginsNoByteStandsForItself) {
  EXPECT_EQ(parse_urlencoded("a=100%&b=%g1&c=%4&d=%41"),
            (FormFields{{"a", "100%"}, {"b", "%g1"}, {"c", "%4"}, {"d", "A"}}));
}

TEST(FormBody, MultipartFieldsAreFoundBetweenTheirBoundaries) {
  const std::string body =
      "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\ntwo\r\nlines --x\r\n"
      "--x\r\ncontent-disposition: form-data; filename=\"name=f\"; name=source\r\n"
      "Content-Type: text/plain\r\n\r\n\r\n"
      "--x--\r\n";
  for (const char* type : {"multipart/form-data; boundary=x", "multipart/form-data;BOUNDARY=\"x\""})
    EXPECT_EQ(parse_multipart(body, type),
              (FormFields{{"q", "two\r\nlines --x"}, {"source", "", "name=f"}}));
  EXPECT_EQ(parse_multipart("preamble\r\n" + body, "multipart/form-data; boundary=x").size(), 2u);
}

/// The one part of a body, whose Content-Disposition has these parameters.
FormField part_with(const std::string& parameters) {
  return parse_multipart(
             "--x\r\nContent-Type: a/b; name=wrong\r\nContent-Disposition: form-data; " +
                 parameters + "\r\nX: y; filename=wrong\r\n\r\ntext\r\n--x--",
             "multipart/form-data; boundary=x")
      .at(0);
}

TEST(FormBody, NamesMayHaveQuotesAsBrowsersOrAsProgramsWriteThem) {
  for (const char* name : {R"("\"x\".txt")", R"("%22x%22.txt")"})
    EXPECT_EQ(part_with(std::string("name=file; filename=") + name),
              (FormField{"file", "text", "\"x\".txt"}));
  EXPECT_EQ(part_with(R"(name="a;b \"q\" \\"; filename="c:\d\100%25.txt")"),
            (FormField{"a;b \"q\" \\", "text", R"(c:\d\100%25.txt)"}))
      << "a backslash stands for itself, but in front of a quote or another";
  EXPECT_EQ(part_with(R"(name="x; filename=y.txt")").file_name, "");
}

TEST(FormBody, AnEncodedNameOfAFileIsDecodedAndComesFirst) {
  const FormField expected{"file", "text", "\u00e4 +.txt"};
  for (const char* names :
       {"filename*=UTF-8''%C3%A4%20+.txt", "filename=a.txt; filename*=utf-8'de'%c3%a4%20+.txt",
        "filename*=UTF-8''%C3%A4%20+.txt ; filename=\"a.txt\""})
    EXPECT_EQ(part_with(std::string("name=file; ") + names), expected) << names;
  EXPECT_EQ(part_with("name=file; filename=a.txt; filename*=nonsense").file_name, "a.txt");
}

TEST(FormBody, ABrokenMultipartBodyIsRefused) {
  const std::string type = "multipart/form-data; boundary=x";
  EXPECT_EQ(status_of("", type), 400);
  EXPECT_EQ(status_of("--x", type), 400);
  EXPECT_EQ(status_of("--x\r\n\r\nno headers\r\n--x--", type), 400);
  EXPECT_EQ(status_of("--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--", type), 400);
  EXPECT_EQ(status_of("--x\r\nContent-Disposition: form-data; name=q\r\n\r\na\r\n", type), 400);
  EXPECT_EQ(status_of("--x--", "multipart/form-data"), 400);
  EXPECT_EQ(status_of("--x--", type), 200);
}

}  // namespace
}  // namespace dragoman
