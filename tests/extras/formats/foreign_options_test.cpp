#include "extras/formats/foreign_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "extras/formats/unpickler.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::StartsWith;
using testing::ThrowsMessage;

ForeignOptions options_of(const std::string& opcodes) {
  const Pickle pickle = unpickle(pickle_of(opcodes));
  return pickled_options("m.pt", *pickle.root);
}

void expect_refused(const std::string& opcodes, const std::string& what) {
  EXPECT_THAT([&] { options_of(opcodes); }, ThrowsMessage<Error>(Names(what)));
}

TEST(ForeignOptions, OptionsArePlainDataOfDictsAndNamespaces) {
  const std::string inner =
      global_op("argparse", "Namespace") + ")\x81" +
      dict_op({text_op("layers"), "K\6", text_op("is_on"), "\x88", text_op("none"), "N",
               text_op("rate"), std::string("G") + std::string("\x3f\xb0\0\0\0\0\0\0", 8)}) +
      "b";
  const ForeignOptions options = options_of(
      dict_op({text_op("model"), inner, text_op("list"), std::string("](K\1") + text_op("b") + "e",
               text_op("code"), global_op("os", "system") + "(" + text_op("ls") + "tR"}));
  EXPECT_EQ(options.integer("model.layers", 0), 6);
  EXPECT_TRUE(options.flag("model.is_on", false));
  EXPECT_FALSE(options.has("model.none"));
  EXPECT_EQ(options.text("model.none", "otherwise"), "otherwise");
  EXPECT_EQ(options.number("model.rate", 0), 0.0625);
  EXPECT_THAT(options.list("list"), ElementsAre("1", "b"));
  EXPECT_EQ(options.text("code", ""), "an object of os.system");
  EXPECT_THAT([&] { options.integer("code", 0); },
              ThrowsMessage<Error>(Names("m.pt ... code ... os.system")));
}

TEST(ForeignOptions, APickleThatHoldsItselfOrRepeatsItsTextsIsRefused) {
  expect_refused(std::string("}q\1") + text_op("self") + "h\1s", "8 deep");
  expect_refused("K\7", "options ... 7");
  std::string repeated =
      std::string("}") + text_op("0") + text_op(std::string(1 << 20, 'x')) + "q\1s";
  for (int i = 1; i < 70; ++i) repeated += text_op(std::to_string(i)) + "h\1s";
  expect_refused(repeated, "bytes");
}

ForeignOptions options_of_yaml(const std::string& text) { return yaml_settings("c.yaml", text); }

TEST(ForeignOptions, EncoderAndDecoderMustAgree) {
  const ForeignOptions options = options_of_yaml(
      "encoder: {size: 16, kind: a, is_on: yes}\ndecoder: {size: 16.0, kind: b, is_on: True}\n");
  EXPECT_EQ(options.integer("*.size", 0), 16);
  EXPECT_TRUE(options.flag("*.is_on", false));
  EXPECT_EQ(options.text("*.missing", "otherwise"), "otherwise");
  for (const auto& ask :
       std::vector<std::function<void()>>{[&] { options.text("*.kind", ""); },
                                          [&] {
                                            options.choice("*.kind", "a", {"a", "b"});
                                          }})
    EXPECT_THAT(ask, ThrowsMessage<Error>(Names("c.yaml ... decoder.kind ... encoder")));
}

TEST(ForeignOptions, AnOptionIsOffInManyWays) {
  const ForeignOptions options = options_of_yaml(
      "a: false\nb: No\nc: 0.0\nd: ''\ne: []\nf: null\ng: -1\n"
      "on: true\nmany: [0, 0]\nlist: [x]\none: 1\n");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "missing"})
    EXPECT_TRUE(options.is_off(name)) << name;
  for (const char* name : {"g", "on", "many", "list", "one"})
    EXPECT_FALSE(options.is_off(name)) << name;
  EXPECT_TRUE(options.is_off("g", -1));
  EXPECT_FALSE(options.is_off("c", 1));
  const Feature features[] = {{"a", "one feature"}, {"list", "another feature"}};
  EXPECT_THAT([&] { options.require_off(features); },
              ThrowsMessage<Error>(Names("c.yaml ... list ... another feature")));
}

TEST(ForeignOptions, AChoiceIsOneOfThoseThatAreKnown) {
  const ForeignOptions options = options_of_yaml("kind: b\n");
  EXPECT_EQ(options.choice("kind", "a", {"a", "b"}), 1u);
  EXPECT_EQ(options.choice("missing", "a", {"a", "b"}), 0u);
  EXPECT_THAT(
      [&] {
        options.choice("kind", "a", {"a", "c"});
      },
      ThrowsMessage<Error>(Names("c.yaml ... kind ... \"b\" ... a ... c")));
}

TEST(TheirName, TheLongestPartsAreReplacedOnce) {
  constexpr NamePair kTable[] = {{"embedding", "embedding.embedding"},
                                 {"output", "generator"},
                                 {"encoder.layers.#", "encoder.transformer.#"},
                                 {".self_attention_norm", ".norm1"},
                                 {".self_attention", ".self"},
                                 {".output", ".last"}};
  EXPECT_EQ(their_name(kTable, "embedding.weight"), "embedding.embedding.weight");
  EXPECT_EQ(their_name(kTable, "output.bias"), "generator.bias");
  EXPECT_EQ(their_name(kTable, "encoder.layers.12.self_attention.output.bias"),
            "encoder.transformer.12.self.last.bias");
  EXPECT_EQ(their_name(kTable, "decoder.layers.3.self_attention_norm.weight"),
            "decoder.layers.3.norm1.weight");
}

TEST(ForeignOptions, OptionsOfYamlMayBeNested) {
  const ForeignOptions options = yaml_settings(
      "c.yaml",
      "model:\n  encoder: {layers: 6, scale: True}\n  tied: no\ntest: [1, 2]\nempty: {}\n");
  EXPECT_EQ(options.integer("model.encoder.layers", 0), 6);
  EXPECT_TRUE(options.flag("model.encoder.scale", false));
  EXPECT_FALSE(options.flag("model.tied", true));
  EXPECT_THAT(options.list("test"), ElementsAre("1", "2"));
  const auto refused = [](const std::string& text, const std::string& what) {
    EXPECT_THAT([&] { yaml_settings("c.yaml", text); },
                ThrowsMessage<Error>(AllOf(StartsWith("c.yaml: "), Names(what))));
  };
  std::string deep;
  for (int i = 0; i < 12; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  refused(deep + std::string(12, ' ') + "a: 1\n", "map within the map");
  refused("? " + std::string(5000, 'x') + "\n: {a: 1}\n", "name ... long");
  refused("- 1\n", "line 1: ");
  refused("a: 1\nb: 2\na: 1\n", "line 3 ... a ... twice");
  refused("a: [[1]]\n", "line 1: ");
}

}  // namespace
}  // namespace dragoman
