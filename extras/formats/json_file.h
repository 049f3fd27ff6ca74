// JSON files of other systems, read without trust.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dragoman {

/// A file whose content is one JSON object.
class JsonFile {
 public:
  /// Throws Error where the file is missing, larger than 64 MiB, nested more than 64 deep, no JSON
  /// or no object.
  explicit JsonFile(std::filesystem::path path);
  JsonFile(JsonFile&&) noexcept;
  ~JsonFile();

  bool has(std::string_view key) const;  ///< and it is not null
  /// Each throws Error, naming file and key, where the value is missing or of another type; with
  /// `otherwise` a missing one is that.
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  const nlohmann::json& all() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  const nlohmann::json* find(std::string_view key) const;

  std::filesystem::path path_;
  std::unique_ptr<nlohmann::json> json_;
};

}  // namespace dragoman
