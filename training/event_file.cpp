#include "training/event_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/little_endian.h"
#include "base/wire_format.h"

namespace dragoman {

namespace {

std::string number_field(std::uint64_t field, std::int64_t value) {
  WireWriter writer;
  writer.number(field, static_cast<std::uint64_t>(value));
  return writer.message();
}
template <std::floating_point Real>
std::string real_field(std::uint64_t field, Real value) {
  WireWriter writer;
  writer.real(field, value);
  return writer.message();
}
std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  WireWriter writer;
  writer.bytes(field, bytes);
  return writer.message();
}

// TensorFlow's messages.

/// Event { wall_time = 1, step = 2, and `field` }.
std::string event(std::int64_t step, const std::string& field) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return real_field(1, now) + number_field(2, step) + field;
}

/// Event.file_version = 3: readers of version 2 obey session_start.
std::string file_version() { return bytes_field(3, "brain.Event:2"); }

/// Event.session_log = 7 { status = 1: START }.
std::string session_start() { return bytes_field(7, number_field(1, 1)); }

/// Summary.value = 1 { tag = 1, simple_value = 2 }.
std::string scalar(const std::string& tag, double value) {
  return bytes_field(1, bytes_field(1, tag) + real_field(2, static_cast<float>(value)));
}

/// Summary.value = 1 { tag = 1, tensor = 8 { dtype = 1: DT_STRING, tensor_shape = 2: no dimension,
/// string_val = 8 }, metadata = 9 { plugin_data = 1 { plugin_name = 1 }, data_class = 4: TENSOR }
/// }.
std::string text(const std::string& tag, const std::string& markdown) {
  constexpr std::int64_t kString = 7, kTensor = 2;
  return bytes_field(
      1,
      bytes_field(1, tag) +
          bytes_field(8, number_field(1, kString) + bytes_field(2, "") + bytes_field(8, markdown)) +
          bytes_field(9, bytes_field(1, bytes_field(1, "text")) + number_field(4, kTensor)));
}

/// TFRecord: length, its checksum, payload, its checksum.
std::string record(const std::string& payload) {
  const auto masked = [](std::string_view bytes) {
    return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8u);
  };
  const std::string length = little_endian(static_cast<std::uint64_t>(payload.size()));
  return length + masked(length) + payload + masked(payload);
}

// The log's lines.

std::string group_of(const std::string& type) {
  if (type == "update") return "train";
  if (type == "validation") return "valid";
  return type;
}

/// "source: ...", "translation: ...", "reference: ..." as a block of code, in which Markdown leaves
/// every character as it is.
std::string sample_text(const nlohmann::ordered_json& sample) {
  std::string markdown;
  for (const auto& [name, line] : sample.items())
    markdown += "    " + name + ": " + line.get<std::string>() + "\n";
  return markdown;
}

/// Readers take the files with "tfevents" in their names, in the order of the names.
std::filesystem::path next_path(const std::filesystem::path& folder) {
  long long number = static_cast<long long>(std::time(nullptr));
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
    long long other = 0;
    if (std::sscanf(entry.path().filename().c_str(), "events.out.tfevents.%lld", &other) == 1)
      number = std::max(number, other + 1);
  }
  if (fault) throw Error(folder.string(), ": cannot list the folder: ", fault.message());
  return folder / join_text("events.out.tfevents.", number, ".dragoman");
}

std::filesystem::path made(const std::filesystem::path& folder) {
  create_folders(folder);
  return folder;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      entries[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        entries[i] = entries[i] >> 1 ^ ((entries[i] & 1) != 0 ? 0x82f63b78u : 0u);
    }
    return entries;
  }();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

EventFile::EventFile(const std::filesystem::path& folder, std::int64_t first_update)
    : file_(next_path(made(folder)), 0) {
  if (!file_.append(record(event(0, file_version())) +
                    record(event(first_update, session_start()))))
    throw Error(folder.string(), ": cannot write an event file");
}

bool EventFile::append(const nlohmann::ordered_json& line) {
  const auto update = line.find("update");
  if (update == line.end()) return true;
  const std::string group = group_of(line.at("type").get<std::string>());
  std::string values;
  for (const auto& [name, value] : line.items()) {
    if (value.is_number() && name != "update")
      values += scalar(join_text(group, "/", name), value.get<double>());
    if (name != "samples") continue;
    for (std::size_t i = 0; i < value.size(); ++i)
      values += text(join_text("samples/", i + 1), sample_text(value[i]));
  }
  return file_.append(record(event(update->get<std::int64_t>(), bytes_field(5, values))));
}

}  // namespace dragoman
