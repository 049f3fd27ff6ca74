#include "extras/formats/ctranslate2_model.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "extras/formats/byte_reader.h"

namespace dragoman {

namespace {

constexpr std::uint32_t kBinaryVersion = 6;
constexpr ForeignDtype kCTranslate2Types[] = {ForeignDtype::F32, ForeignDtype::I8,
                                              ForeignDtype::I16, ForeignDtype::I32,
                                              ForeignDtype::F16, ForeignDtype::BF16};

/// A length with the NUL at the end, the text, NUL.
std::string take_text(ByteReader& reader, std::string_view what) {
  const std::string_view text = reader.take(reader.number<std::uint16_t>(what), what);
  if (text.empty() || text.find('\0') != text.size() - 1)
    throw Error(what, " is no text, so the file is damaged");
  return std::string(text.substr(0, text.size() - 1));
}

StridedTensor take_variable(ByteReader& reader) {
  const auto rank = reader.number<std::uint8_t>("its shape");
  std::vector<std::int64_t> shape;
  for (int i = 0; i < rank; ++i) shape.push_back(reader.number<std::uint32_t>("its shape"));
  const auto type = reader.number<std::uint8_t>("its type");
  if (type >= std::size(kCTranslate2Types))
    throw Error("its type has the unknown number ", int{type});
  const auto size = reader.number<std::uint32_t>("its size");
  StridedTensor tensor =
      strided_tensor(kCTranslate2Types[type], shape, dense_strides(shape, Order::RowMajor),
                     reader.take(size, "its data"));
  const auto needed = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.type);
  if (needed != size) throw Error("its shape needs ", needed, " bytes, but it has ", size);
  return tensor;
}

}  // namespace

CTranslate2Model::CTranslate2Model(const std::string& name, std::string_view bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    throw Error(name, ": not a sound model of CTranslate2: ", error.what());
  }
}

void CTranslate2Model::parse(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.number<std::uint32_t>("the version");
  if (version != kBinaryVersion)
    throw Error("it has the binary version ", version, ", only ", kBinaryVersion,
                " is read; convert it anew with CTranslate2 2 or later");
  spec_ = take_text(reader, "the name of the spec");
  reader.number<std::uint32_t>("the revision of the spec");
  const auto variables = reader.number<std::uint32_t>("the number of variables");
  for (std::uint32_t i = 0; i < variables; ++i) {
    std::string name = take_text(reader, "the name of a variable");
    try {
      if (!variables_.emplace(name, take_variable(reader)).second) throw Error("occurs twice");
    } catch (const Error& error) {
      throw Error("variable ", name, ": ", error.what());
    }
  }
  const auto aliases = reader.number<std::uint32_t>("the number of aliases");
  for (std::uint32_t i = 0; i < aliases; ++i) {
    const std::string alias = take_text(reader, "an alias");
    add_alias(alias, take_text(reader, "an alias"));
  }
  if (reader.left() > 0) throw Error(reader.left(), " bytes follow the last alias");
}

void CTranslate2Model::add_alias(const std::string& alias, const std::string& variable) {
  const auto found = variables_.find(variable);
  if (found == variables_.end()) throw Error("alias ", alias, ": there is no variable ", variable);
  // An alias of a scale may be implied before it is stated.
  const StridedTensor* known = aliases_.emplace(alias, &found->second).first->second;
  if (variables_.contains(alias) || known != &found->second)
    throw Error("alias ", alias, ": the name occurs twice");
  const auto scale = variables_.find(variable + "_scale");
  if (scale != variables_.end() && !variables_.contains(alias + "_scale"))
    aliases_.emplace(alias + "_scale", &scale->second);
}

const StridedTensor* CTranslate2Model::find(std::string_view name) const {
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) return alias->second;
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace dragoman
