// TensorBoard's event files: the numbers and samples of log.jsonl, for TensorBoard.
//
// A file is a sequence of TFRecords: length, payload, and the masked CRC-32C of each. A payload is
// one Event message. The few fields of event.proto, summary.proto and tensor.proto
// (tensorflow/core) that scalars and texts need are encoded here by hand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/append_file.h"

namespace dragoman {

class EventFile {
 public:
  /// Makes the folder, and a new file in it behind the files of earlier starts. Readers forget the
  /// content of those files from `first_update` on. Throws Error where the file cannot be written.
  EventFile(const std::filesystem::path& folder, std::int64_t first_update);

  /// Writes the members of a log line that has an "update": numbers as scalars "train/loss" (of the
  /// type "update"), "valid/bleu" ("validation"), otherwise "<type>/<name>"; "samples" as texts
  /// "samples/1". Returns false where the disk is full; nothing is half written.
  bool append(const nlohmann::ordered_json& line);

 private:
  AppendFile file_;
};

/// CRC-32C (Castagnoli), RFC 3720 appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace dragoman
