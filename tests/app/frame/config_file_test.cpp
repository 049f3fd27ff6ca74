#include "app/frame/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

enum class Norm { After, Before };
constexpr std::array<std::string_view, 2> names_of(Norm) { return {"after", "before"}; }

struct Options {
  bool cache = true;
  std::int64_t max_tokens = 4096;
  double lr = 5e-4;
  std::string out = "run/";
  std::vector<std::string> files = {"a", "b"};
  Norm norm = Norm::Before;

  void for_each_field(const auto& visit) {
    const auto data = fields_under("Data", visit), training = fields_under("Training", visit);
    data("cache", cache, "keep it");
    training("max-tokens", max_tokens, "of a batch", {.aliases = "words"});
    training("lr", lr, "peak");
    data("out", out, "folder");
    data("files", files, "read");
    fields_under("Model", visit)("norm", norm, "place");
  }
};

class ConfigFile : public FolderTest {
 protected:
  std::map<std::string, ConfigValue> read(const std::string& text) {
    write_file(path, text);
    return read_config(path, fields_of(options));
  }

  void apply(const std::string& text) {
    const auto values = read(text);
    for (const Field& field : fields_of(options))
      if (const auto found = values.find(std::string(field.info.name)); found != values.end())
        field.assign(found->second.texts);
  }

  /// The message without the file's name.
  std::string refusal(const std::string& text) {
    try {
      apply(text);
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), StartsWith(path.string()));
      return std::string(error.what()).substr(path.string().size());
    }
    return "accepted";
  }

  std::filesystem::path path = folder / "config.toml";
  Options options;
};

TEST_F(ConfigFile, EveryTypeIsRead) {
  apply(
      "cache = false\nmax_tokens = 1_000\nlr = 1e-3\nout = 'x'\nfiles = [\"p\", \"q\"]\n"
      "norm = \"after\"\n");
  EXPECT_FALSE(options.cache);
  EXPECT_EQ(options.max_tokens, 1000);
  EXPECT_EQ(options.lr, 1e-3);
  EXPECT_EQ(options.out, "x");
  EXPECT_THAT(options.files, testing::ElementsAre("p", "q"));
  EXPECT_EQ(options.norm, Norm::After);
}

TEST_F(ConfigFile, AutoMayStandForANumber) {
  const auto values = read("max-tokens = 'auto'\nlr = 'auto'\n");
  EXPECT_THAT(values.at("max-tokens").texts, testing::ElementsAre("auto"));
  EXPECT_THAT(values.at("lr").texts, testing::ElementsAre("auto"));
  EXPECT_THAT(refusal("cache = 'auto'\n"), Names(":1: ... 'cache' ... true ... false"));
}

TEST_F(ConfigFile, TablesAliasesAndShorterFormsAreAllowed) {
  apply("[Training]\nwords = 7\nlr = 1\n[data.files-of-mine]\nfiles = 'one'\n");
  EXPECT_EQ(options.max_tokens, 7);
  EXPECT_EQ(options.lr, 1.0);
  EXPECT_THAT(options.files, testing::ElementsAre("one"));
  apply("files = []\n");
  EXPECT_TRUE(options.files.empty());
}

TEST_F(ConfigFile, AnErrorNamesLineAndKeyOfARefusedValue) {
  EXPECT_THAT(refusal("\nmax-token = 1\n"), Names(":2: ... 'max-token' ... max-tokens"));
  EXPECT_THAT(refusal("lr = 1\n\ncache = 1\n"), Names(":3: ... 'cache' ... true ... false"));
  EXPECT_THAT(refusal("max-tokens = 1.5\n"), Names(":1: ... 'max-tokens' ... whole number"));
  EXPECT_THAT(refusal("max-tokens = '15'\n"), Names(":1: ... 'max-tokens' ... whole number"));
  EXPECT_THAT(refusal("lr = true\n"), Names(":1: ... 'lr' ... number"));
  EXPECT_THAT(refusal("out = 5\n"), Names(":1: ... 'out' ... string ... quotes"));
  EXPECT_THAT(refusal("norm = 2020-01-01\n"), Names(":1: ... 'norm' ... string ... quotes"));
  EXPECT_THAT(refusal("files = [['a']]\n"),
              Names(":1: ... 'files' ... string ... number ... array"));
  EXPECT_THAT(refusal("out = ['a']\n"), Names(":1: ... 'out' ... string ... quotes"));
  EXPECT_THAT(refusal("max-tokens = 1\nwords = 2\n"), Names(":2: ... 'words' ... twice"));
}

TEST_F(ConfigFile, AListMayHaveNumbers) {
  apply("files = [1, 0.5, 'x']\n");
  EXPECT_THAT(options.files, testing::ElementsAre("1", "0.5", "x"));
  apply("files = 2\n");
  EXPECT_THAT(options.files, testing::ElementsAre("2"));
}

TEST_F(ConfigFile, AYamlFileIsNamed) {
  path.replace_extension(".yaml");
  EXPECT_THAT(refusal("lr: 1\nfiles:\n  - a\n"), Names("YAML ... TOML"));
  EXPECT_EQ(refusal("lr = 1\n"), "accepted") << "its text decides";
}

TEST_F(ConfigFile, AnErrorNamesTheLineThatIsNotToml) {
  EXPECT_THAT(refusal("lr = 1\nlr 2\n"), StartsWith(":2: "));
  EXPECT_THAT(refusal("lr = 1\nlr = 2\n"), StartsWith(":2: "));
  EXPECT_THAT(refusal("out = \"\xff\"\n"), StartsWith(":1: "));
  EXPECT_THAT(refusal("max-tokens = 99999999999999999999\n"), StartsWith(":1: "));
  EXPECT_THAT(refusal(std::string(100'000, '[')), StartsWith(":1: "));
  EXPECT_THAT(refusal(std::string("lr = \0 1", 8)), StartsWith(":1: "));
}

TEST_F(ConfigFile, ATextWithoutQuotesIsExplained) {
  EXPECT_THAT(refusal("lr = 1\nout = run/new  # mine\n"), Names("quotes ... out = \"run/new\""));
  EXPECT_THAT(refusal("out = train.en"), Names("quotes ... out = \"train.en\""));
  EXPECT_THAT(refusal("cache = True\n"), Names("small letters ... cache = true"));
  EXPECT_THAT(refusal("max-tokens = 10k\n"), Not(HasSubstr("quotes")));
  EXPECT_THAT(refusal("out = \"a"), Not(HasSubstr("; texts")));
}

TEST_F(ConfigFile, AValueIsExplainedByItsField) {
  EXPECT_THAT(refusal("out = 30s\n"), Names("quotes ... out = \"30s\""));
  EXPECT_THAT(refusal("max-tokens = 10k\n"), Names("max-tokens = 10000"));
  EXPECT_THAT(refusal("files = [s/train.en]\n"), Names("quotes ... files = [\"s/train.en\"]"));
  EXPECT_THAT(refusal("cache = yes\n"), Names("cache = true"));
  EXPECT_THAT(refusal("cache = off\n"), Names("cache = false"));
  EXPECT_THAT(refusal("files = [\"a\"\n"), Names("bracket ... files = [\"a\"]"));
  EXPECT_THAT(refusal("files = [a, 'b c' , \"d\"]  # both\n"),
              Names("quotes ... files = [\"a\", \"b c\", \"d\"]"));
  EXPECT_THAT(refusal("norm: after\n"), Names("= ... norm = \"after\""));
  EXPECT_THAT(refusal("max-tokens: 5\n"), Names("= ... max-tokens = 5"));
}

TEST_F(ConfigFile, APathWithBackslashesIsExplained) {
  for (const char* path : {"\"C:\\data\\x\"", "C:\\data\\x", "\"C:\\data\\x\"  # there"})
    EXPECT_THAT(refusal(join_text("out = ", path, "\n")),
                Names("single quotes ... out = 'C:\\data\\x'"));
  apply("out = 'C:\\data\\x'\n");
  EXPECT_EQ(options.out, "C:\\data\\x");
}

TEST_F(ConfigFile, AMissingFileIsAnError) {
  EXPECT_THROW(read_config("/nowhere/x.toml", fields_of(options)), Error);
}

TEST_F(ConfigFile, WrittenValuesAreReadBack) {
  options.cache = false;
  options.lr = 1.0 / 3;
  options.out = "quote \" backslash \\ line\nend tab\t umlaut \xc3\xa4 #";
  options.files = {"", "[x]", "a,b", "no UTF-8: \xE9t\xE9"};
  const Options before = options;
  const std::string text = config_text(fields_of(options));
  options = Options{};
  apply(text);
  EXPECT_EQ(options.cache, before.cache);
  EXPECT_EQ(options.max_tokens, before.max_tokens);
  EXPECT_EQ(options.lr, before.lr);
  EXPECT_EQ(options.out, before.out);
  EXPECT_EQ(options.files, before.files);
  EXPECT_EQ(options.norm, before.norm);
}

TEST_F(ConfigFile, EveryKeyIsWrittenUnderItsGroupAndHelp) {
  EXPECT_EQ(config_text(fields_of(options)),
            "# ---- Data\n\n"
            "# keep it\ncache = true\n"
            "# folder\nout = \"run/\"\n"
            "# read\nfiles = [\"a\", \"b\"]\n\n"
            "# ---- Training\n\n"
            "# of a batch\nmax-tokens = 4096\n"
            "# peak\nlr = 5e-04\n\n"
            "# ---- Model\n\n"
            "# place\n# one of after before\nnorm = \"before\"\n");
}

TEST(ParseConfig, EveryKindOfValueIsAText) {
  const auto settings = parse_config(
      "a = 2026-01-31\nb = [1.5, 07:30:00]\n[c]\nd = true\ne = [[1], {f = 2}]\ng = 'h'\n", "name");
  const std::map<std::string, std::string> expected = {
      {"a", "2026-01-31"}, {"b", "1.5, 07:30:00"}, {"d", "true"}, {"e", ""}, {"g", "h"}};
  EXPECT_EQ(settings, expected);
  EXPECT_THROW(parse_config("a = ", "name"), UsageError);
}

}  // namespace
}  // namespace dragoman
