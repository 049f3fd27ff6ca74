// Facts about a text file from one reading of it: its hash, the number of its lines, their starts,
// and the first invalid line. A later start reads the stored index instead of the whole file.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_stamp.h"

namespace dragoman {

/// Whether a line has neither invalid UTF-8 nor a NUL byte.
bool is_valid_line(std::string_view line);

/// Settings of the reading of a file.
struct TextReading {
  int threads;
  std::stop_token stop;
  std::function<void(std::int64_t bytes)> report;  ///< bytes read since the last call
  std::filesystem::path index_folder = {};         ///< of stored indexes; need not exist
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
};

struct TextIndex {
  struct Problem {
    std::int64_t line;  ///< from 0
    std::string fault;  ///< "invalid UTF-8 (byte FF)"
  };
  /// The lines that start in one stretch of the file.
  struct Stretch {
    std::int64_t first_line = 0;
    std::int64_t first_start = 0;  ///< of `starts`
  };

  std::uint64_t hash = 0;  ///< of the bytes
  std::int64_t lines = 0;
  std::optional<Problem> first_problem;  ///< the first line that fails is_valid_line()
  std::vector<Stretch> stretches;
  std::vector<std::uint64_t> starts;  ///< offsets of every 64th line of each stretch

  /// The offset of a line in `text`, the text that was indexed.
  std::size_t start_of(std::int64_t line, std::string_view text) const;
};

/// Reads the whole text once, on all threads. Throws PreparationStopped.
TextIndex index_of(std::string_view text, const TextReading& reading);

/// The path of a stored index.
std::filesystem::path index_path(const std::filesystem::path& folder, const std::string& file);
/// The bytes of a stored index, for read_index().
std::string stored_index(const TextIndex& index, const FileStamp& stamp);
/// Returns nothing where the bytes are damaged, or belong to another state of the text than
/// `stamp`.
std::optional<TextIndex> read_index(std::string_view stored, const FileStamp& stamp);

}  // namespace dragoman
