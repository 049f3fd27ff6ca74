#include "extras/formats/unpickler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/damage.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

void expect_refused(const std::string& opcodes, const std::string& what) {
  EXPECT_THAT([&] { unpickle(pickle_of(opcodes)); }, ThrowsMessage<Error>(Names(what)));
}

std::int64_t integer(const std::string& opcodes) {
  return *unpickle(pickle_of(opcodes)).root->integer();
}

TEST(Unpickler, PlainValuesAreRead) {
  EXPECT_TRUE(unpickle(pickle_of("N")).root->as<PickleNone>());
  EXPECT_TRUE(*unpickle(pickle_of("\x88")).root->as<bool>());
  EXPECT_FALSE(*unpickle(pickle_of("\x89")).root->as<bool>());
  EXPECT_EQ(integer("J\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(integer("K\xff"), 255);
  EXPECT_EQ(integer("M\xff\xff"), 65535);
  EXPECT_EQ(integer(std::string("\x8a\0", 2)), 0);
  EXPECT_EQ(integer("\x8a\x01\xfe"), -2);
  EXPECT_EQ(integer("\x8a\x08\1\2\3\4\5\6\7\x88"), static_cast<std::int64_t>(0x8807060504030201));
  EXPECT_EQ(integer(std::string("\x8b\2\0\0\0\xe8\3", 7)), 1000);
  EXPECT_EQ(unpickle(pickle_of("\x8a\x09"
                               "123456789"))
                .root->as<PickleBigInt>()
                ->bytes,
            "123456789");
  EXPECT_EQ(*unpickle(pickle_of(std::string("G\x3f\xf8\0\0\0\0\0\0", 9))).root->as<double>(), 1.5);
  for (const std::string& opcodes :
       {text_op("\u00e4b"), std::string("\x8c\3\u00e4b"), std::string("U\3\u00e4b"),
        std::string("T\3\0\0\0\u00e4b", 8), std::string("\x8d\3\0\0\0\0\0\0\0\u00e4b", 12)})
    EXPECT_EQ(*unpickle(pickle_of(opcodes)).root->text(), "\u00e4b");
  for (const std::string& opcodes :
       {std::string("C\2\xff!"), std::string("B\2\0\0\0\xff!", 7), std::string("U\2\xff!"),
        std::string("\x8e\2\0\0\0\0\0\0\0\xff!", 11), std::string("\x96\2\0\0\0\0\0\0\0\xff!", 11)})
    EXPECT_EQ(unpickle(pickle_of(opcodes)).root->as<PickleBytes>()->bytes, "\xff!");
}

TEST(Unpickler, ContainersOfEveryFormAreRead) {
  for (const char* opcodes : {"](K\1K\2e", "]K\1aK\2a", "(K\1K\2l", "(K\1K\2t", "K\1K\2\x86",
                              "\x8f(K\1K\2\x90", "(K\1K\2\x91"}) {
    const Pickle pickle = unpickle(pickle_of(opcodes));
    ASSERT_EQ(pickle.root->items().size(), 2u) << opcodes;
    EXPECT_EQ(*pickle.root->items()[1]->integer(), 2);
  }
  for (const std::string& opcodes :
       {dict_op({text_op("a"), "K\1"}), std::string("}") + text_op("a") + "K\1s",
        std::string("(") + text_op("a") + "K\1d"})
    EXPECT_EQ(*unpickle(pickle_of(opcodes)).root->find("a")->integer(), 1);
  EXPECT_THAT(unpickle(pickle_of(")")).root->items(), IsEmpty());
}

TEST(Unpickler, TheMemoIsReadInEveryForm) {
  for (const std::string& opcodes :
       {std::string("K\7q\5\x30h\5", 7),
        std::string("K\7r\5\0\0\0"
                    "0j\5\0\0\0",
                    13),
        std::string("K\7\x94\x30h\0", 6), std::string("K\7") + "2" + "0"})
    EXPECT_EQ(*unpickle(pickle_of(opcodes)).root->integer(), 7);
  EXPECT_EQ(integer("K\7(K\1K\2"
                    "1"),
            7);
  EXPECT_EQ(integer(std::string("\x95\2\0\0\0\0\0\0\0K\7", 11)), 7);
}

TEST(Unpickler, UnknownClassesBecomeObjectsThatAreNeverCalled) {
  const Pickle pickle =
      unpickle(pickle_of(global_op("os", "system") + text_op("touch /tmp/owned") + "\x85R"));
  const PickleObject* object = pickle.root->object();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->type->as<PickleGlobal>()->name, "os.system");
  EXPECT_EQ(object->state, nullptr);
}

TEST(Unpickler, AttributesOfAnObjectAreFoundByName) {
  for (const std::string& made :
       {global_op("argparse", "Namespace") + ")\x81", global_op("argparse", "Namespace") + ")R",
        text_op("argparse") + text_op("Namespace") + "\x93)\x81",
        global_op("argparse", "Namespace") + ")}\x92"}) {
    const Pickle pickle =
        unpickle(pickle_of(made + dict_op({text_op("arch"), text_op("transformer")}) + "b"));
    ASSERT_NE(pickle.root->find("arch"), nullptr);
    EXPECT_EQ(*pickle.root->find("arch")->text(), "transformer");
    EXPECT_EQ(pickle.root->find("other"), nullptr);
    EXPECT_EQ(pickle.root->object()->type->as<PickleGlobal>()->name, "argparse.Namespace");
  }
}

TEST(Unpickler, ObjectsMayHaveItemsAndEntries) {
  const std::string counter = global_op("collections", "Counter") + "}\x85R";
  const Pickle dict = unpickle(pickle_of(counter + text_op("a") + "K\1s"));
  EXPECT_EQ(*dict.root->find("a")->integer(), 1);
  const Pickle list = unpickle(pickle_of(global_op("my", "List") + ")\x81K\1a"));
  EXPECT_EQ(list.root->items().size(), 1u);
}

TEST(Unpickler, AnOrderedDictIsADict) {
  const Pickle pickle = unpickle(
      pickle_of(global_op("collections", "OrderedDict") + ")R" + text_op("a") + "K\1s" + "}b"));
  ASSERT_NE(pickle.root->as<PickleDict>(), nullptr);
  EXPECT_EQ(*pickle.root->find("a")->integer(), 1);
}

TEST(Unpickler, DamagedPicklesAreRefused) {
  EXPECT_THAT([] { unpickle(""); }, ThrowsMessage<Error>(HasSubstr("not a pickle")));
  EXPECT_THAT([] { unpickle("(lp0\n."); }, ThrowsMessage<Error>(HasSubstr("not a pickle")));
  EXPECT_THAT([] { unpickle(pickle_of("N", 6)); }, ThrowsMessage<Error>(HasSubstr("protocol 6")));
  EXPECT_THAT([] { unpickle(pickle_of("N", 1)); }, ThrowsMessage<Error>(HasSubstr("protocol 1")));
  expect_refused("", "value");
  expect_refused("NN", "values left over");
  expect_refused("N(", "value");
  expect_refused("(0", "takes a value");
  expect_refused("N\x86", "takes a value");
  expect_refused("t", "mark");
  expect_refused("h\1", "memo ... 1");
  expect_refused("q\1", "takes a value");
  expect_refused("Na", "takes a value");
  expect_refused("NNa", "not a list");
  expect_refused(")Na", "not a list");
  expect_refused("NNNs", "not a dict");
  expect_refused("}(Nu", "no value");
  expect_refused("NNR", "not a tuple");
  expect_refused("NN\x93", "global ... text");
  expect_refused("cos\nsystem", "ends within ... global");
  expect_refused(global_op(std::string(1000, 'm'), "n"), "512 bytes");
  expect_refused("\x82\1", "opcode 0x82");
  expect_refused("I01\n", "opcode 0x49");
  expect_refused("X\xff\xff\xff\xff", "ends within ... text");
  expect_refused("\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "ends within ... text");
  expect_refused("\x8b\xff\xff\xff\xff", "ends within ... number");
  expect_refused(text_op("\xff"), "not UTF-8");
}

TEST(Unpickler, DeepNestingNeedsNoStackOfTheProgram) {
  std::string opcodes(1'000'000, ']');
  opcodes += std::string(999'999, 'a');
  const std::string bytes = pickle_of(opcodes);
  const Pickle pickle = unpickle(bytes);
  int depth = 0;
  for (const PickleValue* value = pickle.root; !value->items().empty(); value = value->items()[0])
    ++depth;
  EXPECT_EQ(depth, 999'999);
}

TEST(Unpickler, TooManyValuesAreRefused) {
  expect_refused(std::string(8'000'001, 'N'), "8000000 values");
}

TEST(Unpickler, AWalkOverAStateDictGoesNoDeeperThanTheLimit) {
  const std::string itself = pickle_of(std::string("}q\1") + text_op("a") + "h\1s");
  EXPECT_THAT([&] { tensors_of(*unpickle(itself).root); }, ThrowsMessage<Error>(Names("32 deep")));
  // 30 dicts, each of which contains the next one twice: a billion entries.
  std::string twice;
  for (int i = 0; i < 30; ++i) twice += "}";
  for (int i = 0; i < 29; ++i)
    twice +=
        "q\1"
        "0" +
        text_op("a") + "h\1s" + text_op("b") + "h\1s";
  EXPECT_THAT([&] { tensors_of(*unpickle(pickle_of(twice)).root); },
              ThrowsMessage<Error>(Names("1000000 entries")));
}

TEST(Unpickler, DamageIsRefusedOrHarmless) {
  const std::string sound = pickle_of(
      dict_op({text_op("args"), global_op("argparse", "Namespace") + ")\x81q\1}b", text_op("w"),
               TensorOp{}.opcodes(), text_op("n"), "h\1", text_op("f"), "(K\1M\1\1\x88Nt"}));
  EXPECT_THAT(accepted_beginnings(sound, exercise_pickle), IsEmpty());
  EXPECT_GT(refused_flips(sound, exercise_pickle), 5'000);
}

}  // namespace
}  // namespace dragoman
