#include "model/file/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "base/compressed_text.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"
#include "base/json.h"

namespace dragoman {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::size_t kAlignment = 64;
constexpr const char* kMetadataKey = "__metadata__";

/// A breach of the format's rules, found by code that does not know the path.
struct Malformed {
  std::string breach;
};

/// The offset just after the header. Throws Error for a file that is not safetensors, or that ends
/// within its header.
std::size_t find_data(const std::filesystem::path& path, std::string_view bytes) {
  std::uint64_t length = 0;
  refuse_lfs_pointer(bytes, path.string());
  if (bytes.size() < kLengthBytes + 2) {
    if (bytes.empty()) throw Error(path.string(), ": the file is empty");
    throw Error(path.string(), ": not a safetensors file (only ", bytes.size(), " bytes)");
  }
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length < 2 || length > kMaxHeader || bytes[kLengthBytes] != '{')
    throw Error(path.string(), ": not a safetensors file");
  if (length > bytes.size() - kLengthBytes)
    throw Error(path.string(), ": the file is truncated within its header (", bytes.size(),
                " bytes are there); restore it from a copy");
  return kLengthBytes + length;
}

/// JSON as nlohmann::json reads it, but no deeper than the format goes and without double keys,
/// which it would silently accept.
Json parse_header(std::string_view text) {
  constexpr int kMaxDepth = 3;  // header, tensor, shape
  std::array<std::set<std::string>, kMaxDepth + 2> keys;
  const auto check = [&keys](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kMaxDepth) throw Malformed{"the header is nested too deeply"};
      keys[depth + 1].clear();
    }
    if (event == Event::key && !keys[depth].insert(parsed.get<std::string>()).second)
      throw Malformed{join_text("\"", parsed.get<std::string>(), "\" occurs twice in the header")};
    return true;
  };
  try {
    Json header = parse_json(text, check);
    if (header.is_object()) return header;
  } catch (const Json::exception&) {
  }
  throw Malformed{"the header is not JSON"};
}

Metadata parse_metadata(const Json& json) {
  Metadata metadata;
  if (!json.is_object()) throw Malformed{"the metadata are not a JSON object"};
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) throw Malformed{join_text("the metadata \"", key, "\" are not text")};
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// A whole number of a header, at most what a signed 64-bit integer holds.
std::int64_t parse_size(const Json& json, const std::string& name) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMax)
    throw Malformed{join_text("tensor ", name, ": sizes and offsets must be whole numbers")};
  return json.get<std::int64_t>();
}

struct Entry {
  TensorData tensor;
  std::size_t begin, end;  ///< offsets into the data
};

Entry parse_entry(const std::string& name, const Json& json) {
  const bool complete = json.is_object() && json.size() == 3 && json.contains("dtype") &&
                        json.contains("shape") && json.contains("data_offsets");
  if (!complete || !json["dtype"].is_string() || !json["shape"].is_array() ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2)
    throw Malformed{
        join_text("tensor ", name, ": expected exactly dtype, shape and two data_offsets")};
  Entry entry;
  entry.tensor.name = name;
  const auto name_of_type = json["dtype"].get<std::string>();
  const auto dtype = value_named<Dtype>(name_of_type);
  if (!dtype)
    throw Error("tensor ", name, ": elements of type ", name_of_type, " are not supported");
  entry.tensor.dtype = *dtype;
  std::size_t bytes = size_of(entry.tensor.dtype);
  for (const Json& dimension : json["shape"]) {
    entry.tensor.shape.push_back(parse_size(dimension, name));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(entry.tensor.shape.back()), &bytes))
      throw Malformed{join_text("tensor ", name, ": its shape is too large")};
  }
  entry.begin = static_cast<std::size_t>(parse_size(json["data_offsets"][0], name));
  entry.end = static_cast<std::size_t>(parse_size(json["data_offsets"][1], name));
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    throw Malformed{join_text("tensor ", name, ": its offsets do not fit its shape")};
  return entry;
}

/// In the order of their data, which must be without holes and overlaps.
std::vector<Entry> parse_entries(const Json& header) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items())
    if (name != kMetadataKey) entries.push_back(parse_entry(name, json));
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::size_t expected = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != expected)
      throw Malformed{join_text("tensor ", entry.tensor.name, ": its data begin at ", entry.begin,
                                " instead of ", expected)};
    expected = entry.end;
  }
  return entries;
}

float float_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31)
    return std::copysign(fraction == 0 ? INFINITY : std::numeric_limits<float>::quiet_NaN(), sign);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

/// The header for the data in the order of `sorted`. It ends at a multiple of 64 bytes of the file.
std::string make_header(const std::vector<const TensorData*>& sorted, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::size_t offset = 0;
  for (const TensorData* tensor : sorted) {
    if (tensor->name == kMetadataKey || header.contains(tensor->name))
      throw Error("cannot write two tensors named ", tensor->name);
    const std::size_t end = offset + tensor->bytes();
    header[tensor->name] = {{"dtype", std::string(name_of(tensor->dtype))},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  const std::size_t size = kLengthBytes + text.size();
  text.append((kAlignment - size % kAlignment) % kAlignment, ' ');
  if (text.size() > kMaxHeader)
    throw Error("cannot write: the header would be larger than the format allows");
  return text;
}

}  // namespace

std::size_t size_of(Dtype dtype) {
  constexpr std::array<std::size_t, names_of(Dtype()).size()> kSizes = {4, 2, 2, 1, 1, 4, 8, 8};
  return kSizes[static_cast<std::size_t>(dtype)];
}

std::int64_t TensorData::elements() const {
  std::uint64_t product = 1;  // before a dimension of 0 the product may exceed the signed range
  for (const std::int64_t dimension : shape) product *= static_cast<std::uint64_t>(dimension);
  return static_cast<std::int64_t>(product);
}

void copy_as_floats(const TensorData& tensor, std::span<float> values) {
  const auto count = static_cast<std::size_t>(tensor.elements());
  if (values.size() != count)
    throw std::logic_error("copy_as_floats: the span does not fit " + tensor.name);
  const char* bytes = static_cast<const char*>(tensor.data);
  if (tensor.dtype == Dtype::F32) {
    if (count > 0) std::memcpy(values.data(), bytes, count * sizeof(float));
    return;
  }
  if (tensor.dtype != Dtype::BF16 && tensor.dtype != Dtype::F16)
    throw Error("tensor ", tensor.name, " holds no floating-point numbers");
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, sizeof bits);
    values[i] = tensor.dtype == Dtype::F16
                    ? float_of_half(bits)
                    : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  const std::string_view bytes = file_.bytes();
  const std::size_t data = find_data(path, bytes);
  try {
    const Json header = parse_header(bytes.substr(kLengthBytes, data - kLengthBytes));
    if (header.contains(kMetadataKey)) metadata_ = parse_metadata(header[kMetadataKey]);
    std::size_t end = data;
    for (Entry& entry : parse_entries(header)) {
      end = data + entry.end;
      entry.tensor.data = bytes.data() + data + entry.begin;
      index_.emplace(entry.tensor.name, tensors_.size());
      tensors_.push_back(std::move(entry.tensor));
    }
    if (end > bytes.size())
      throw Error("the file is truncated, ",
                  with_separators(static_cast<std::int64_t>(end - bytes.size())),
                  " of its bytes are missing; restore it from a copy");
    if (end < bytes.size())
      throw Malformed{join_text(bytes.size() - end, " bytes follow the last tensor")};
  } catch (const Malformed& malformed) {
    throw Error(path.string(), ": not a well-formed safetensors file (", malformed.breach,
                "); restore it from a copy if it was one");
  } catch (const Error& error) {
    throw Error(path.string(), ": ", error.what());
  }
}

const TensorData* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

std::size_t write_safetensors(const std::filesystem::path& path,
                              std::span<const TensorData> tensors, const Metadata& metadata) {
  std::vector<const TensorData*> sorted;
  for (const TensorData& tensor : tensors) sorted.push_back(&tensor);
  // By falling alignment, so that each tensor begins at a multiple of its own alignment.
  const auto alignment = [](const TensorData* tensor) {
    return tensor->bytes() == 0 ? kAlignment
                                : std::min(kAlignment, tensor->bytes() & -tensor->bytes());
  };
  std::ranges::stable_sort(sorted, std::greater{}, alignment);
  const std::string header =
      with_place(path.string(), [&] { return make_header(sorted, metadata); });
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(header);
  for (const TensorData* tensor : sorted) file.write(tensor->raw());
  file.commit();
  return file.size();
}

}  // namespace dragoman
