#include "extras/formats/numpy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/damage.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

std::string npy_of_header(const std::string& header, const std::string& data, int version = 1) {
  const auto size = static_cast<std::uint32_t>(header.size());
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} +
         (version == 1 ? bytes_of(static_cast<std::uint16_t>(size)) : bytes_of(size)) + header +
         data;
}

std::string npy_of(const std::string& descr, const std::string& shape, const std::string& data,
                   const std::string& fortran = "False") {
  return npy_of_header(
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n",
      data);
}

template <class T>
std::string numbers(const std::vector<T>& values) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of(value);
  return bytes;
}

/// -2, 1 and 3 as numbers of a type.
template <class T>
void expect_numbers(const std::string& descr, ForeignDtype type) {
  const std::string bytes = npy_of(descr, "(3,)", numbers<T>({T(-2), 1, 3}));
  const StridedTensor tensor = parse_npy(bytes);
  EXPECT_EQ(tensor.type, type);
  EXPECT_THAT(contiguous_floats(tensor), ElementsAre(static_cast<float>(T(-2)), 1, 3)) << descr;
}

TEST(Npy, EveryTypeOfNumberIsRead) {
  expect_numbers<float>("<f4", ForeignDtype::F32);
  expect_numbers<double>("<f8", ForeignDtype::F64);
  expect_numbers<std::int8_t>("|i1", ForeignDtype::I8);
  expect_numbers<std::int16_t>("<i2", ForeignDtype::I16);
  expect_numbers<std::int32_t>("<i4", ForeignDtype::I32);
  expect_numbers<std::int64_t>("=i8", ForeignDtype::I64);
  expect_numbers<std::uint8_t>("|u1", ForeignDtype::U8);
  expect_numbers<std::uint16_t>("<u2", ForeignDtype::U16);
  expect_numbers<std::uint32_t>("<u4", ForeignDtype::U32);
  expect_numbers<std::uint64_t>("<u8", ForeignDtype::U64);
  const std::string halves = npy_of("<f2", "(2,)", numbers<std::uint16_t>({0x3C00, 0xC100}));
  EXPECT_THAT(contiguous_floats(parse_npy(halves)), ElementsAre(1, -2.5));
  const std::string truths = npy_of("|b1", "(2,)", std::string("\0\1", 2));
  EXPECT_EQ(parse_npy(truths).type, ForeignDtype::Bool);
  EXPECT_THAT(contiguous_floats(parse_npy(truths)), ElementsAre(0, 1));
}

TEST(Npy, BothOrdersAreRead) {
  const std::string data = numbers<float>({1, 2, 3, 4, 5, 6});
  const std::string c = npy_of("<f4", "(2, 3)", data);
  EXPECT_THAT(parse_npy(c).shape, ElementsAre(2, 3));
  EXPECT_THAT(parse_npy(c).strides, ElementsAre(3, 1));
  EXPECT_THAT(contiguous_floats(parse_npy(c)), ElementsAre(1, 2, 3, 4, 5, 6));
  const std::string fortran = npy_of("<f4", "(2, 3)", data, "True");
  EXPECT_THAT(parse_npy(fortran).strides, ElementsAre(1, 2));
  EXPECT_THAT(contiguous_floats(parse_npy(fortran)), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, ScalarsAndEmptyArraysAreRead) {
  const std::string scalar = npy_of("<f4", "()", numbers<float>({7}));
  EXPECT_THAT(parse_npy(scalar).shape, IsEmpty());
  EXPECT_THAT(contiguous_floats(parse_npy(scalar)), ElementsAre(7));
  const std::string empty = npy_of("<f4", "(0, 3)", "");
  EXPECT_THAT(parse_npy(empty).shape, ElementsAre(0, 3));
  EXPECT_THAT(contiguous_floats(parse_npy(empty)), IsEmpty());
}

TEST(Npy, VersionsOneToThreeAreRead) {
  const std::string header = R"({"shape":(1L,),'fortran_order':False,'descr':'<f4'})";
  for (const int version : {1, 2, 3}) {
    const std::string bytes = npy_of_header(header, numbers<float>({7}), version);
    EXPECT_THAT(contiguous_floats(parse_npy(bytes)), ElementsAre(7)) << version;
  }
}

void expect_refused(const std::string& bytes, const std::string& what) {
  EXPECT_THAT([&] { parse_npy(bytes); }, ThrowsMessage<Error>(Names(what))) << bytes;
}

TEST(Npy, OtherArraysAreRefused) {
  expect_refused("", "not an array");
  expect_refused("\x93NUMPX\1", "not an array");
  expect_refused(npy_of_header("{}", "", 4), "version 4");
  expect_refused(npy_of_header("{}", "", 0), "version 0");
  expect_refused(npy_of(">f4", "(1,)", "1234"), "big endian");
  expect_refused(npy_of("|O", "(1,)", "1234"), "type |O");
  expect_refused(npy_of("<c8", "(1,)", "12345678"), "type <c8");
  expect_refused(npy_of("|f4", "(1,)", "1234"), "type |f4");
  expect_refused(npy_of("", "(1,)", "1234"), "type ");
  expect_refused(
      npy_of_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
      "records");
}

TEST(Npy, BrokenHeadersAreRefused) {
  const std::string what = "header is not one of NumPy's";
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'fortran_order': False, 'shape': (), 'descr': '<f4}"})
    expect_refused(npy_of_header(header, "1234"), what);
}

TEST(Npy, ShapesThatDoNotFitAreRefused) {
  expect_refused(npy_of("<f4", "(2,)", "1234567"), "8 bytes ... 7");
  expect_refused(npy_of("<f4", "(1,)", "12345"), "1 bytes follow");
  expect_refused(npy_of("<f4", "(0,)", "1"), "1 bytes follow");
  expect_refused(npy_of("<f4", "(-1,)", "1234"), "negative");
  expect_refused(npy_of("<f4", "(4611686018427387904, 4)", ""), "too large");
  expect_refused(npy_of("<f4", "(4611686018427387904, 4, 0)", ""), "too large");
  expect_refused(npy_of("<f4", "(9223372036854775807,)", "1234"), "too large");
  expect_refused(npy_of("<f4", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", "1234"), "17 dimensions");
}

std::string sound_npy() {
  return npy_of("<f4", "(2, 3)", numbers<float>({1, 2, 3, 4, 5, 6}), "True");
}

/// As Marian writes it: stored, with its options as a member.
std::string sound_npz() {
  return zip_of({{.name = "Wemb.npy", .bytes = sound_npy()},
                 {.name = "special:model.yml.npy", .bytes = npy_of("|i1", "(6,)", "a: 12\n")},
                 {.name = "b.npy", .bytes = npy_of("<f8", "()", "12345678"), .is_deflated = true}});
}

TEST(Npz, MembersAreReadByName) {
  const std::string bytes = sound_npz();
  NpzFile file("model.npz", bytes, 1000);
  EXPECT_THAT(file.names(), ElementsAre("Wemb", "special:model.yml", "b"));
  EXPECT_TRUE(file.contains("Wemb"));
  EXPECT_FALSE(file.contains("Wemb.npy"));
  EXPECT_EQ(file.read("special:model.yml").bytes, "a: 12\n");
  EXPECT_THAT(contiguous_floats(file.read("Wemb")), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(file.read("b").type, ForeignDtype::F64);
}

TEST(Npz, ErrorsNameFileAndMember) {
  const std::string bytes = zip_of({{.name = "a.npy", .bytes = npy_of("|O", "()", "")}});
  EXPECT_THAT([&] { NpzFile("m.npz", bytes, 0).read("a"); },
              ThrowsMessage<Error>(AllOf(StartsWith("m.npz: a: "), HasSubstr("|O"))));
  EXPECT_THAT([&] { NpzFile("m.npz", bytes, 0).read("b"); },
              ThrowsMessage<Error>(Names("m.npz ... b.npy")));
  const std::string other = zip_of({{.name = "word/document.xml", .bytes = ""}});
  EXPECT_THAT([&] { NpzFile("m.npz", other, 0); },
              ThrowsMessage<Error>(Names("word/document.xml")));
}

TEST(Npz, DamageIsRefusedOrHarmless) {
  EXPECT_THAT(accepted_beginnings(sound_npy(), exercise_npy), IsEmpty());
  EXPECT_THAT(accepted_beginnings(sound_npz(), exercise_npz), IsEmpty());
  EXPECT_GT(refused_flips(sound_npy(), exercise_npy), 10'000);
  EXPECT_GT(refused_flips(sound_npz(), exercise_npz), 12'000);
}

}  // namespace
}  // namespace dragoman
