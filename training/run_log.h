// log.jsonl of a run folder: one JSON object per line, in the order of the updates. A resumed run
// cuts it back to what its checkpoint had seen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace dragoman {

class RunLog {
 public:
  /// Opens for appending after the first `keep_bytes` bytes; what lies behind them is cut off.
  RunLog(const std::filesystem::path& path, std::int64_t keep_bytes);
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  ~RunLog();

  /// Appends one line. Returns false where it could not be written (disk full): a log is no reason
  /// to end a run; what was written of the line is taken back.
  bool append(std::string_view json);
  std::int64_t bytes() const { return bytes_; }
  void sync();

 private:
  int descriptor_;
  std::int64_t bytes_;
};

}  // namespace dragoman
