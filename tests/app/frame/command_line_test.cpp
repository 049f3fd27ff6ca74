#include "app/frame/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/frame/flag_names.h"
#include "app/frame/program.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Size { Small, Large };
constexpr std::array<std::string_view, 2> names_of(Size) { return {"small", "large"}; }

struct Options {
  std::string model, spm, language;
  std::vector<std::string> train_src, inputs;
  std::int64_t max_tokens = 4096;
  double dropout = 0.1;
  bool lowercase = false;
  bool cache = true;
  Size preset = Size::Small;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("model", model, "file", {.placeholder = "FILE"});
    field("train-src", train_src, "source", {.placeholder = "FILE"});
    field("inputs", inputs, "inputs");
    field("spm", spm, "pieces", {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("language", language, "language", {.aliases = "lang", .placeholder = "CODE"});
    fields_under("Batches", visit)("max-tokens", max_tokens, "tokens of a batch",
                                   {.aliases = "mini-batch-words,w"});
    const auto model_field = fields_under("Model", visit);
    model_field("dropout", dropout, "rate");
    model_field("lowercase", lowercase, "ignore case");
    model_field("cache", cache, "keep the cache");
    model_field("preset", preset, "a size");
  }
};

class CommandLine : public FolderTest {
 protected:
  CommandLine() {
    command.name = "try";
    command.summary = "tries";
    command.fields = fields_of(options);
    command.positionals = {"model", "inputs"};
    command.short_flags = {{"m", "model"}};
    command.prepare = [this](const GivenValues& given) {
      if (given.contains("preset") && given.at("preset").back() == "large") {
        options.dropout = 0.3;
        options.max_tokens = 100;
      }
    };
  }

  Call configured(const std::vector<std::string>& arguments) {
    return configure("program", command, arguments);
  }

  std::string refusal(const std::vector<std::string>& arguments) {
    return message_of<UsageError>([&] { configure("program", command, arguments); });
  }

  std::string config_file(const std::string& text) { return write("config.toml", text); }

  Options options;
  Command command;
};

TEST_F(CommandLine, EveryKindOfFieldIsAssigned) {
  configured({"--model", "run/", "--max-tokens", "8k", "--dropout=0.25", "--lowercase",
              "--no-cache", "--preset", "large", "--train-src", "a", "b"});
  EXPECT_EQ(options.model, "run/");
  EXPECT_EQ(options.max_tokens, 8000);
  EXPECT_EQ(options.dropout, 0.25);
  EXPECT_TRUE(options.lowercase);
  EXPECT_FALSE(options.cache);
  EXPECT_EQ(options.preset, Size::Large);
  EXPECT_THAT(options.train_src, ElementsAre("a", "b"));
}

TEST_F(CommandLine, FlagsMayHaveUnderscoresAliasesAndLetters) {
  configured({"--max_tokens", "5"});
  EXPECT_EQ(options.max_tokens, 5);
  configured({"--mini_batch_words=6"});
  EXPECT_EQ(options.max_tokens, 6);
  configured({"-w", "7", "-m", "x_y"});
  EXPECT_EQ(options.max_tokens, 7);
  EXPECT_EQ(options.model, "x_y");
  configured({"-w8"});
  EXPECT_EQ(options.max_tokens, 8);
}

TEST_F(CommandLine, AValueOfAnotherSystemIsTranslated) {
  EXPECT_THAT(refusal({"--preset", "transformer_iwslt_de_en"}),
              Names("--preset ... transformer_iwslt_de_en ... fairseq's ... base"));
  for (const auto& [field, value, here] : {std::array{"norm", "pre", "before"},
                                           {"norm", "post", "after"},
                                           {"markup", "md", "markdown"},
                                           {"format", "huggingface", "hf-marian"},
                                           {"format", "json", "json"},
                                           {"output", "md", "md"}})
    EXPECT_EQ(value_here(field, value), here);
}

TEST_F(CommandLine, FlagsOfOtherSystemsAreTranslated) {
  for (const auto& [flag, here] : {std::pair("--trainpref", "--train-src FILE --train-tgt FILE"),
                                   {"--criterion", "--label-smoothing"},
                                   {"--pre-norm", "--norm before"},
                                   {"--optimizer", "the optimizer is Adam"}})
    EXPECT_THAT(foreign_flag_text("train", flag), HasSubstr(here)) << flag;
}

TEST_F(CommandLine, UnderscoresInValuesStay) {
  configured({"--model=a_b=c_d"});
  EXPECT_EQ(options.model, "a_b=c_d");
}

TEST_F(CommandLine, ListsRepeatAndTheLastOfOtherFlagsCounts) {
  configured({"--train-src", "a", "--max-tokens", "1", "--train-src=b", "--max-tokens", "2"});
  EXPECT_THAT(options.train_src, ElementsAre("a", "b"));
  EXPECT_EQ(options.max_tokens, 2);
}

TEST_F(CommandLine, AValueThatReplacesAnotherIsWarnedAbout) {
  EXPECT_THAT(configured({"--model", "a", "-m", "b"}).warnings,
              ElementsAre(Names("--model ... twice ... b ... a")));
  EXPECT_THAT(configured({"-w", "1", "--max-tokens=2", "--max_tokens", "3"}).warnings,
              ElementsAre(Names("--max-tokens ... 3 times ... 3 ... 1, 2")));
  EXPECT_THAT(
      configured({"--model", "a", "--model", "a", "--inputs", "x", "--inputs", "y"}).warnings,
      testing::IsEmpty());
}

TEST_F(CommandLine, AnErrorNamesTheFlagAsItWasTyped) {
  EXPECT_THAT(refusal({"--mini-batch-words", "many"}),
              Names("--mini-batch-words ... --max-tokens ... 'many' ... whole number"));
  EXPECT_THAT(refusal({"--mini_batch_words=many"}),
              Names("--mini-batch-words ... --max-tokens ... 'many' ... whole number"));
  EXPECT_EQ(with_typed_flag("--max-tokens 0: must be more", {{"max-tokens", "mini-batch-words"}}),
            "--mini-batch-words (here --max-tokens) 0: must be more");
  EXPECT_EQ(with_typed_flag("--max-tokens-too: no", {{"max-tokens", "mini-batch-words"}}),
            "--max-tokens-too: no");
}

TEST_F(CommandLine, AutoIsListedAmongTheValuesIfItIsTaken) {
  for (Field& field : command.fields)
    if (field.info.name == "preset")
      field.assign = [assign = field.assign](const std::vector<std::string>& texts) {
        if (texts.front() != "auto") assign(texts);
      };
  EXPECT_THAT(refusal({"--preset", "huge"}), Names("--preset ... 'huge' ... small, large, auto"));
  const std::string file = config_file("preset = \"huge\"\n");
  EXPECT_THAT(refusal({"-c", file}),
              Names(file + ":1: ... --preset ... 'huge' ... small, large, auto"));
}

TEST_F(CommandLine, AllUnknownFlagsAreNamedAtOnce) {
  command.positionals = {};
  EXPECT_THAT(refusal({"--train-sets", "a", "b", "--lower-cas", "-z", "-z", "--zzzzzzzz=1"}),
              Names("4 unknown flags ... --train-sets ... Marian's ... --train-src FILE ... "
                    "--train-tgt FILE ... --lower-cas ... --lowercase ... -z ... --zzzzzzzz"));
}

TEST_F(CommandLine, AFlagOfAnotherSystemIsAnsweredWithTheFlagToTakeHere) {
  command.name = "train";
  EXPECT_THAT(refusal({"--tied_embeddings_all"}),
              Names("--tied-embeddings-all ... Marian's ... --tying three-way"));
  EXPECT_THAT(refusal({"-rnn_size", "512"}), Names("-rnn_size ... OpenNMT's ... --d-model N"));
  EXPECT_THAT(refusal({"-l", "0.1"}), Names("-l ... Marian's ... --lr"));
  EXPECT_THAT(refusal({"--batch-size", "64"}), Names("--max-sentences N"));
  command.name = "evaluate";
  EXPECT_THAT(refusal({"-l", "en-de"}), Names("-l ... sacreBLEU's ... --target-language"));
  for (const char* flag : {"--valid-sets",
                           "--vocabs",
                           "--devices",
                           "-d",
                           "--after-epochs",
                           "--after-batches",
                           "--after",
                           "--exponential-smoothing",
                           "--workspace",
                           "--maxi-batch",
                           "--mini-batch-fit",
                           "--fp16",
                           "--share-all-embeddings",
                           "--adam-betas",
                           "--encoder-normalize-before",
                           "--restore-file",
                           "--max-len-b",
                           "--path",
                           "--source-lang",
                           "--word_vec_size",
                           "--world_size",
                           "-gpu",
                           "--src_vocab",
                           "--layers",
                           "--num-layers"})
    EXPECT_THAT(refusal({flag}), HasSubstr("'s; here: ")) << flag;
}

TEST_F(CommandLine, AModelWithoutItsFlagIsRecognized) {
  command.positionals = {};
  for (const std::string& model : {folder.string(), write("model.safetensors", "weights")})
    EXPECT_EQ(refusal({model}),
              "unexpected argument '" + model + "'; did you mean -m " + model + "?");
}

TEST_F(CommandLine, SwitchesMayHaveValues) {
  configured({"--lowercase=false", "--cache=no"});
  EXPECT_FALSE(options.lowercase);
  EXPECT_FALSE(options.cache);
  configured({"--no-lowercase=false", "--cache=on"});
  EXPECT_TRUE(options.lowercase);
  EXPECT_TRUE(options.cache);
  EXPECT_THAT(refusal({"--lowercase=perhaps"}),
              Names("--lowercase ... 'perhaps' ... true ... false"));
}

TEST_F(CommandLine, ValuesThatLookLikeSyntaxStayUnchanged) {
  configured({"--inputs", "[SEP]", "[a,b]", "", "{}", "-", "-5", "%%"});
  EXPECT_THAT(options.inputs, ElementsAre("[SEP]", "[a,b]", "", "{}", "-", "-5", "%%"));
  configured({"--model=[x]", "--train-src=--lowercase"});
  EXPECT_EQ(options.model, "[x]");
  EXPECT_THAT(options.train_src, ElementsAre("--lowercase"));
  EXPECT_FALSE(options.lowercase);
  configured({"--inputs="});
  EXPECT_THAT(options.inputs, ElementsAre(""));
}

TEST_F(CommandLine, AnEmptyNameOfAFileIsRefusedUnlessItTakesBackOneOfTheConfiguration) {
  EXPECT_THAT(refusal({"--model="}), Names("--model: ... name is empty"));
  EXPECT_THAT(refusal({""}), Names("--model: ... name is empty"));
  EXPECT_THAT(refusal({"--train-src", "a", ""}), Names("--train-src: ... name after a is empty"));
  const std::string file = config_file("model = 'a'\n");
  configured({"--config", file, "--model", ""});
  EXPECT_EQ(options.model, "") << "the name in the file is taken back";
  configured({"--config", config_file("model = ''\n")});
  EXPECT_EQ(options.model, "");
  EXPECT_THAT(refusal({"--spm", ""}), Names("--spm: ... name is empty ... variable"))
      << "also if a run that is resumed may have another name";
}

TEST_F(CommandLine, OnlyTheCodeOfALanguageIsTakenForOne) {
  for (const char* code : {"en", "gsw", "pt-BR", "EN_gb", "zh-Hant"}) {
    configured({"--language", code});
    EXPECT_EQ(options.language, code);
  }
  for (const char* wrong : {"german", "", "en-german", "e"})
    EXPECT_THAT(refusal({"--language", wrong}),
                Names(std::string("--language: '") + wrong + "' ... code ... de for German"));
  EXPECT_THAT(refusal({"--lang", "german"}), Names("--lang ... --language ... german"));
  EXPECT_THAT(refusal({"--config", config_file("language = 'german'\n")}),
              Names(".toml:1 ... --language ... german"));
}

TEST_F(CommandLine, PositionalArgumentsAreTakenInOrder) {
  configured({"run/", "a", "--max-tokens", "3", "b"});
  EXPECT_EQ(options.model, "run/");
  EXPECT_THAT(options.inputs, ElementsAre("a", "b"));
  configured({"--", "--model", "-x", "[y]"});
  EXPECT_EQ(options.model, "--model");
  EXPECT_THAT(options.inputs, ElementsAre("-x", "[y]"));
}

TEST_F(CommandLine, AnUnknownFlagIsAnsweredWithTheNearestName) {
  EXPECT_THAT(refusal({"--max-token", "5"}), Names("--max-token ... --max-tokens"));
  EXPECT_THAT(refusal({"--max-token=5"}), Names("--max-token ... --max-tokens"));
  EXPECT_THAT(refusal({"--lower_cas"}), Names("--lower-cas ... --lowercase"));
  EXPECT_THAT(refusal({"--mini-batch"}), Names("--mini-batch ... --mini-batch-words"));
  EXPECT_EQ(refusal({"--zzzzzzzz"}), "unknown flag --zzzzzzzz");
  EXPECT_EQ(refusal({"-z"}), "unknown flag -z");
}

TEST_F(CommandLine, AnErrorNamesTheFlagOfABadOrMissingValue) {
  EXPECT_THAT(refusal({"--max-tokens", "many"}), Names("--max-tokens ... 'many' ... whole number"));
  EXPECT_THAT(refusal({"--preset", "huge"}), Names("--preset ... 'huge' ... small, large"));
  EXPECT_THAT(refusal({"--model"}), Names("--model ... value"));
  EXPECT_THAT(refusal({"-m"}), Names("--model ... value"));
  EXPECT_THAT(refusal({"--model", "--lowercase"}), Names("--model ... value"));
}

TEST_F(CommandLine, ArgumentsThatNobodyTakesAreRefused) {
  command.positionals = {"model"};
  EXPECT_EQ(refusal({"a", "b"}), "unexpected argument 'b'");
  command.positionals = {};
  EXPECT_EQ(refusal({"[x]"}), "unexpected argument '[x]'");
}

TEST_F(CommandLine, ASecondValueIsRefusedWithTheFlagThatTakesOne) {
  command.positionals = {};
  EXPECT_THAT(refusal({"-m", "run/", "other/"}), Names("'other/' ... -m takes one value"));
  EXPECT_THAT(refusal({"-m", "run/", "run/"}), Names("'run/' ... -m takes one value"));
  EXPECT_THAT(refusal({"--max-tokens", "5", "6"}), Names("'6' ... --max-tokens takes one value"));
  EXPECT_EQ(refusal({"--lowercase", "a", "b"}), "unexpected argument 'a'");
}

TEST_F(CommandLine, TheCommandLineComesBeforeTheFileAndTheFileBeforeThePreset) {
  const std::string file = config_file("preset = \"large\"\ndropout = 0.2\nlowercase = true\n");
  const Invocation call = configured({"-c", file, "--no-lowercase"}).invocation;
  EXPECT_EQ(options.preset, Size::Large);
  EXPECT_EQ(options.max_tokens, 100);
  EXPECT_EQ(options.dropout, 0.2);
  EXPECT_FALSE(options.lowercase);
  EXPECT_EQ(call.origins.at("preset"), Origin::ConfigFile);
  EXPECT_EQ(call.origins.at("dropout"), Origin::ConfigFile);
  EXPECT_EQ(call.origins.at("max-tokens"), Origin::Preset);
  EXPECT_EQ(call.origins.at("lowercase"), Origin::CommandLine);
  EXPECT_EQ(call.origins.at("model"), Origin::Default);
  const GivenValues given = {
      {"config", {file}}, {"dropout", {"0.2"}}, {"lowercase", {"false"}}, {"preset", {"large"}}};
  EXPECT_EQ(call.given, given);
}

TEST_F(CommandLine, TheKeptCommandLineIsOneThatAShellTakes) {
  const Call call =
      configured({"run/", "--max-tokens=5", "--lowercase", "--inputs", "it's a b", ""});
  EXPECT_EQ(call.invocation.command_line,
            R"(program try run/ --max-tokens=5 --lowercase --inputs 'it'\''s a b' '')");
}

TEST_F(CommandLine, ThePreparationSeesTheCommandLinesValueInPlaceOfTheFiles) {
  const std::string file = config_file("preset = \"large\"\n");
  configured({"-c", file, "--preset", "small"});
  EXPECT_EQ(options.max_tokens, 4096);
}

TEST_F(CommandLine, AnErrorNamesFileAndLineOfABadValue) {
  const std::string file = config_file("\nmax-tokens = 5\npreset = \"huge\"\n");
  EXPECT_THAT(refusal({"--config", file}),
              Names(file + ":3: ... --preset ... 'huge' ... small, large"));
}

TEST_F(CommandLine, CommonFlagsMayStandOnTheCommandLineAndInTheFile) {
  const CommonConfig common =
      configured({"-c", config_file("quiet = true\nlog_format = \"json\"\n")}).common;
  EXPECT_TRUE(common.quiet);
  EXPECT_EQ(common.log_format, LogFormat::Json);
  EXPECT_THAT(refusal({"-c", config_file("config = \"x\"\n")}), HasSubstr("unknown key 'config'"));
}

TEST_F(CommandLine, HelpIsShownWhateverTheOtherArgumentsAre) {
  EXPECT_TRUE(configured({"--max-tokens", "x", "--unknown", "-h"}).common.help);
}

TEST_F(CommandLine, HelpOfOneFlagIsItsLineAlone) {
  const std::string whole = command_help("dragoman", command);
  const std::string line = flags_help(command, {"max-tokens"});
  EXPECT_THAT(line, HasSubstr("-w, --max-tokens N"));
  EXPECT_THAT(whole, HasSubstr(line));
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  for (const char* same : {"max_tokens", "--max-tokens", "mini-batch-words", "w", "-w"})
    EXPECT_EQ(flags_help(command, {same}), line) << same;
  EXPECT_EQ(flags_help(command, {"max-tokens", "quiet"}), line + flags_help(command, {"quiet"}));
  EXPECT_THAT([&] { flags_help(command, {"max-tokns"}); },
              testing::ThrowsMessage<UsageError>(
                  testing::AllOf(HasSubstr("--max-tokns"), HasSubstr("--max-tokens?"))));
}

TEST_F(CommandLine, HelpNamesEveryFlagWithItsDefaultAndStaysWithin96Columns) {
  options.train_src = {"a file whose name is so long that the line must be broken at a space here"};
  const std::string text = command_help("dragoman", command);
  for (const Field& field : command.fields)
    EXPECT_THAT(text, testing::ContainsRegex("--(\\[no-\\])?" + std::string(field.info.name)));
  EXPECT_THAT(text, HasSubstr("[4096]"));
  EXPECT_THAT(text, HasSubstr("small, large [small]"));
  EXPECT_THAT(text, HasSubstr("-w, --max-tokens N"));
  EXPECT_THAT(text, HasSubstr("-m, --model FILE"));
  EXPECT_THAT(text, HasSubstr("--train-src FILE..."));
  EXPECT_THAT(text, HasSubstr("(also --mini-batch-words)"));
  command.automatic = {"max-tokens"};
  EXPECT_THAT(command_help("dragoman", command), HasSubstr("tokens of a batch [auto]"));
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 96u) << text.substr(begin, end - begin);
}

}  // namespace
}  // namespace dragoman
