#include "extras/server/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/names.h"

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

TEST(HttpMessages, LimitsAreWrittenInUnitsForPeople) {
  EXPECT_EQ(size_text(2 << 20), "2 MiB");
  EXPECT_EQ(size_text(1000), "1000 bytes");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(2'000'000), "1.9 MiB");
  EXPECT_EQ(size_text(100'000), "98 KiB");
  EXPECT_EQ(size_text(std::int64_t{5} << 40), "5120 GiB");
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

HttpRequest json(const std::string& body) {
  return {.method = "POST",
          .path = "/",
          .headers = {{"content-type", "Application/JSON; charset=utf-8"}},
          .body = body};
}

HttpRequest form(const std::string& body) {
  return {.method = "POST",
          .path = "/",
          .headers = {{"content-type", "application/x-www-form-urlencoded"}},
          .body = body};
}

/// The fault that reading a request's fields finds; "" if there is none.
template <class Read>
std::string fault_of(const HttpRequest& request, Read read) {
  try {
    read(RequestFields(request));
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.what();
  }
  return "";
}

constexpr auto kNothing = [](const RequestFields&) {};

TEST(RequestFields, JsonHasManyMediaTypes) {
  HttpRequest request = json(R"({"q": "a"})");
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8",
                           "application/ld+json", "application/vnd.api+json;v=1"}) {
    request.headers["content-type"] = type;
    EXPECT_EQ(RequestFields(request).text("q"), "a") << type;
  }
}

TEST(RequestFields, ABodyThatIsEncodedIsRefusedByTheNameOfItsEncoding) {
  HttpRequest request = json(R"({"q": "a"})");
  for (const char* plain : {"", "identity", "Identity", "identity, identity"}) {
    request.headers["content-encoding"] = plain;
    EXPECT_EQ(RequestFields(request).text("q"), "a") << plain;
  }
  for (const auto& [encodings, named] :
       {std::pair("gzip", "'gzip'"), std::pair("x-GZip", "'x-gzip'"),
        std::pair("identity , br", "'br'")}) {
    request.headers["content-encoding"] = encodings;
    try {
      RequestFields{request};
      ADD_FAILURE() << encodings;
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 415);
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(RequestFields({.method = "GET",
                           .path = "/",
                           .query = {{"q", "a"}},
                           .headers = {{"content-encoding", "gzip"}}})
                .text("q"),
            "a")
      << "it has no body";
}

TEST(RequestFields, JsonAndFormsSayTheSame) {
  for (const HttpRequest& request :
       {json(R"({"q": ["a", "ä"], "n": 3, "f": true, "e": "", "s": "de", "x": null})"),
        form("q=a&q=%C3%A4&n=3&f=true&e=&s=de"), form("q[]=a&q%5B%5D=%C3%A4&n=3&f=1&e=&s=de")}) {
    const RequestFields fields(request);
    EXPECT_TRUE(fields.is_list("q"));
    EXPECT_EQ(fields.texts("q"), (std::vector<std::string>{"a", "\u00e4"}));
    EXPECT_EQ(fields.number("n"), 3);
    EXPECT_EQ(fields.flag("f"), true);
    EXPECT_EQ(fields.text("s"), "de");
    EXPECT_FALSE(fields.is_list("s"));
    EXPECT_EQ(fields.texts("s"), std::vector<std::string>{"de"});
    EXPECT_EQ(fields.text("e"), "");
    EXPECT_FALSE(fields.has("x"));
    EXPECT_EQ(fields.text("x"), "");
    EXPECT_EQ(fields.number("x"), std::nullopt);
    EXPECT_EQ(fields.flag("x"), std::nullopt);
    EXPECT_TRUE(fields.texts("x").empty());
  }
}

TEST(RequestFields, AListMayHaveNumbersInItsName) {
  using Texts = std::vector<std::string>;
  for (const auto& [body, texts] : std::vector<std::pair<std::string, Texts>>{
           {"q%5B0%5D=a&q%5B1%5D=b", {"a", "b"}},
           {"q[0]=a", {"a"}},
           {"q[2]=c&q[10]=d&q[0]=a&q[1]=b", {"a", "b", "c", "d"}},
           {"q[1]=b&q[0]=a&q[]=c", {"a", "b", "c"}},
           {"q[1]=a&q[1]=b&q[0]=c", {"c", "a", "b"}},
           {"q=a&q[]=b&q[7]=d&q[2]=c", {"a", "b", "c", "d"}}}) {
    const RequestFields fields(form(body));
    EXPECT_TRUE(fields.is_list("q")) << body;
    EXPECT_EQ(fields.texts("q"), texts) << body;
  }
  for (const char* name : {"q[a]", "q[-1]", "q[1", "q1]", "q[1]x", "q[1][2]", "q[12345678901]"})
    EXPECT_FALSE(RequestFields(form(std::string(name) + "=a")).has("q")) << name;
  EXPECT_FALSE(RequestFields(json(R"({"q[0]": "a"})")).has("q")) << "JSON has lists of its own";
  HttpRequest request{.method = "GET", .path = "/", .query = {{"q[1]", "b"}, {"q[0]", "a"}}};
  EXPECT_EQ(RequestFields(request).texts("q"), (Texts{"a", "b"}));
}

TEST(RequestFields, AParameterThatIsGivenTwiceIsRefusedByName) {
  const Names twice("Invalid request ... a parameter ... once");
  using Fields = const RequestFields&;
  HttpRequest in_query = form("");
  in_query.query = {{"a", "1"}, {"a", "1"}};
  for (const HttpRequest& request : {form("a=1&a=1"), form("a=1&a=1&a=1"), in_query}) {
    EXPECT_THAT(fault_of(request, [](Fields fields) { fields.text("a"); }), twice);
    EXPECT_THAT(fault_of(request, [](Fields fields) { fields.scalar("a"); }), twice);
    EXPECT_THAT(fault_of(request, [](Fields fields) { fields.number("a"); }), twice);
    EXPECT_THAT(fault_of(request, [](Fields fields) { fields.flag("a"); }), twice);
  }
  HttpRequest in_both = form("a=1");
  in_both.query = {{"a", "2"}};
  EXPECT_EQ(RequestFields(in_both).text("a"), "1");
  for (const HttpRequest& list : {json(R"({"a": ["1", "1"]})"), form("a[]=1&a[]=1")})
    EXPECT_THAT(fault_of(list, [](Fields fields) { fields.text("a"); }),
                Names("Invalid request ... a parameter ... text"));
}

TEST(RequestFields, TheQueryFillsInWhatTheBodyLacks) {
  HttpRequest request = form("a=body");
  request.query = {{"a", "query"}, {"type", "target"}};
  const RequestFields fields(request);
  EXPECT_EQ(fields.text("a"), "body");
  EXPECT_EQ(fields.text("type"), "target");
}

TEST(RequestFields, ABodyThatIsNotJsonIsRefused) {
  for (const char* body :
       {"", "{", "[1]", "3", "{\"a\": 1e999}", "{\"a\": \"\\ud800\"}", "{\"a\":1} x", "nonsense"})
    EXPECT_NE(fault_of(json(body), kNothing).find("Invalid JSON format"), std::string::npos)
        << body;
  EXPECT_THAT(fault_of(json("{\"a\":" + std::string(100'000, '[')), kNothing), Names("64 deep"));
  EXPECT_THAT(fault_of(json(std::string("{\"a\":1}\0", 8)), kNothing), Names("at byte 8"));
}

TEST(RequestFields, ABodyThatIsNotUtf8IsRefused) {
  EXPECT_THAT(fault_of(json("{\"a\": \"\xff\"}"), kNothing),
              Names("Invalid request ... body ... UTF-8 ... byte 8"));
  EXPECT_THAT(fault_of(form("q=a%FF"), kNothing),
              Names("Invalid request ... q parameter ... UTF-8 ... byte 2"));
}

TEST(RequestFields, JsonThatIsSentAsAFormIsNamed) {
  EXPECT_NE(fault_of(form(R"({"q": "a"})"), kNothing).find("Content-Type: application/json"),
            std::string::npos);
  EXPECT_EQ(fault_of(form("{a}=1"), kNothing), "") << "a form may have such a name";
}

TEST(RequestFields, AWholeNumberMayBeWrittenWithAFraction) {
  const RequestFields fields(json(R"({"two": 2.0, "ten": 1e1, "none": -0.0, "less": -3.0})"));
  EXPECT_EQ(fields.number("two"), 2);
  EXPECT_EQ(fields.number("ten"), 10);
  EXPECT_EQ(fields.number("none"), 0);
  EXPECT_EQ(fields.number("less"), -3);
  for (const char* number : {"2.5", "1e-9", "1e30", "-1e19"})
    EXPECT_THAT(fault_of(json(std::string(R"({"n": )") + number + "}"),
                         [](const RequestFields& wrong) { wrong.number("n"); }),
                Names("Invalid request ... n parameter ... whole number"))
        << number;
}

TEST(RequestFields, TruthValuesMayHaveCapitals) {
  for (const HttpRequest& request :
       {form("yes=True&no=FALSE"), json(R"({"yes": "TRUE", "no": "False"})")}) {
    const RequestFields fields(request);
    EXPECT_EQ(fields.flag("yes"), true);
    EXPECT_EQ(fields.flag("no"), false);
  }
}

TEST(RequestFields, ValuesOfTheWrongKindAreRefusedByName) {
  const HttpRequest request =
      json(R"({"t": 7, "l": ["a", 1], "n": "x", "r": 1.5, "big": 18446744073709551615, "f": 2})");
  const auto fault = [&](auto read) { return fault_of(request, read); };
  using Fields = const RequestFields&;
  EXPECT_THAT(fault([](Fields fields) { fields.text("t"); }),
              Names("Invalid request ... t parameter ... text"));
  EXPECT_THAT(fault([](Fields fields) { fields.texts("l"); }),
              Names("Invalid request ... l parameter ... item ... text"));
  EXPECT_NE(fault([](Fields fields) { fields.text("l"); }), "");
  EXPECT_NE(fault([](Fields fields) { fields.scalar("l"); }), "");
  for (const char* name : {"n", "r", "big", "l"})
    EXPECT_NE(fault([&](Fields fields) { fields.number(name); }), "") << name;
  EXPECT_NE(fault([](Fields fields) { fields.flag("f"); }), "");
}

}  // namespace

}  // namespace dragoman
