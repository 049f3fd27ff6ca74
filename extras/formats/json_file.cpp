#include "extras/formats/json_file.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json_depth.h"

namespace dragoman {

namespace {

constexpr std::uintmax_t kLargestJson = 64 << 20;

nlohmann::json parse(const std::filesystem::path& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw Error(path.string(), ": cannot be read: ", failure.message());
  if (size > kLargestJson)
    throw Error(path.string(), ": has ", size >> 20, " MiB, too many for a JSON file");
  const std::string text = read_file(path);
  try {
    return nlohmann::json::parse(text, check_json_depth<nlohmann::json>);
  } catch (const nlohmann::json::exception&) {
    throw Error(path.string(), ": is not valid JSON");
  } catch (const Error& error) {
    throw Error(path.string(), ": ", error.what());
  }
}

}  // namespace

JsonFile::JsonFile(std::filesystem::path path)
    : path_(std::move(path)), json_(std::make_unique<nlohmann::json>(parse(path_))) {
  if (!json_->is_object()) throw Error(path_.string(), ": is not a JSON object");
}

JsonFile::JsonFile(JsonFile&&) noexcept = default;
JsonFile::~JsonFile() = default;

const nlohmann::json* JsonFile::find(std::string_view key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonFile::has(std::string_view key) const { return find(key) != nullptr; }

std::int64_t JsonFile::integer(std::string_view key) const {
  if (!has(key)) throw Error(path_.string(), ": has no \"", key, "\"");
  return integer(key, 0);
}

std::int64_t JsonFile::integer(std::string_view key, std::int64_t otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number_integer())
    throw Error(path_.string(), ": \"", key, "\" is not a whole number");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    throw Error(path_.string(), ": \"", key, "\" is too large");
  return value->get<std::int64_t>();
}

double JsonFile::number(std::string_view key, double otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) throw Error(path_.string(), ": \"", key, "\" is not a number");
  return value->get<double>();
}

bool JsonFile::flag(std::string_view key, bool otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) throw Error(path_.string(), ": \"", key, "\" is not true or false");
  return value->get<bool>();
}

std::string JsonFile::text(std::string_view key, std::string_view otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) throw Error(path_.string(), ": \"", key, "\" is not a text");
  return value->get<std::string>();
}

const nlohmann::json& JsonFile::all() const { return *json_; }

}  // namespace dragoman
