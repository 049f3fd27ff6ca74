// Text files of two languages that translate each other line by line, memory-mapped and checked.
// Only \n ends a line. A \r before it, and a byte order mark at the start of a file, do not belong
// to the text. The last line needs no \n.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/lines.h"
#include "base/threads.h"
#include "data/data_config.h"

namespace dragoman {

/// Thrown after a stop was requested while data were prepared. No half-made file remains.
class PreparationStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the preparation of the data was stopped"; }
};

/// Whether a line has neither invalid UTF-8 nor a NUL byte.
bool is_valid_line(std::string_view line);

/// How a file is read.
struct TextReading {
  int threads;
  std::stop_token stop = {};
  /// Gets the bytes that were read since the last call.
  std::function<void(std::int64_t bytes)> report = [](std::int64_t) {};
  std::filesystem::path index_folder = {};  ///< of stored indexes; need not exist
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
};

/// Facts about a text file from one reading of it. A later start reads the stored index instead of
/// the whole file.
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
  std::optional<Problem> first_problem = {};  ///< the first line that fails is_valid_line()
  std::vector<Stretch> stretches = {};
  std::vector<std::uint64_t> starts = {};  ///< offsets of every 64th line of each stretch

  /// The offset of a line in `text`, the text that was indexed.
  std::size_t start_of(std::int64_t line, std::string_view text) const;
};

/// Reads the whole text once, on all threads. Throws PreparationStopped.
TextIndex index_of(std::string_view text, const TextReading& reading);

/// The path and the bytes of a stored index.
std::filesystem::path index_path(const std::filesystem::path& folder, const std::string& file);
std::string stored_index(const TextIndex& index, const FileStamp& stamp);
/// Returns nothing if the bytes are damaged, or belong to another state of the text than `stamp`.
std::optional<TextIndex> read_index(std::string_view stored, const FileStamp& stamp);

/// Throws Error if the path exists and is not a regular file. Opening a pipe would wait for its
/// writer, and a text is read more than once.
void refuse_irregular_file(const std::string& path);

/// One text file, with the offset of one line in 64. Of a compressed file (base/compressed_text.h)
/// it maps a plain copy.
class TextFile {
 public:
  /// Takes the index that an earlier reading has stored, if the file has not changed since; else
  /// reads the whole file. Throws Error if it cannot be read or is not text, and
  /// PreparationStopped.
  TextFile(const std::string& path, const TextReading& reading);

  const std::string& path() const { return path_; }
  std::int64_t lines() const { return index_.lines; }
  std::uint64_t hash() const { return index_.hash; }  ///< of the text's bytes
  const std::optional<TextIndex::Problem>& first_problem() const { return index_.first_problem; }
  std::string_view line(std::int64_t index) const { return cursor(index).next(); }
  LineCursor cursor(std::int64_t line) const;

  /// Throws Error if the mapped file has been written to since. If the file was deleted or replaced
  /// by another, this process still has its contents.
  void require_unchanged() const;

  /// The index to be stored, if this reading has made one that can be trusted later. The index of a
  /// file that changed a moment ago cannot: the file may change again within the same tick of the
  /// file system's clock.
  const std::optional<std::string>& new_index() const { return new_index_; }

 private:
  std::string path_;
  FileStamp stamp_;       ///< before it was mapped
  bool is_copy_ = false;  ///< of a compressed file
  MappedFile file_;
  TextIndex index_;
  std::optional<std::string> new_index_;
};

/// All files of both sides; pairs are numbered over all of them.
class ParallelText {
 public:
  /// Throws Error naming file and line for unequal numbers of lines, empty files, and, unless they
  /// are to be skipped, invalid UTF-8 and NUL bytes.
  ParallelText(const std::vector<std::string>& source, const std::vector<std::string>& target,
               InvalidLines invalid, const TextReading& reading);

  std::int64_t pairs() const { return first_pairs_.back(); }
  /// Whether the lines of a pair, or a line, are valid (is_valid_line()).
  template <class... Lines>
  bool is_valid(const Lines&... lines) const {
    return all_valid_ || (is_valid_line(lines) && ...);
  }
  std::uint64_t hash() const { return hash_; }  ///< of the bytes of all files
  const std::vector<TextFile>& source_files() const { return source_; }
  const std::vector<TextFile>& target_files() const { return target_; }
  void require_unchanged() const;  ///< TextFile::require_unchanged() of all files

  /// The first pair of each file, and pairs() at the end; [files + 1].
  const std::vector<std::int64_t>& first_pairs() const { return first_pairs_; }

  /// The number of the file that has the pair.
  std::size_t file_of(std::int64_t pair) const {
    return static_cast<std::size_t>(
        std::upper_bound(first_pairs_.begin(), first_pairs_.end(), pair) - first_pairs_.begin() -
        1);
  }

  /// The source and the target line of a pair.
  std::pair<std::string_view, std::string_view> lines(std::int64_t pair) const {
    const std::size_t file = file_of(pair);
    const std::int64_t line = pair - first_pairs_[file];
    return {source_[file].line(line), target_[file].line(line)};
  }

  /// Calls visit(pair, source line, target line) for all pairs of [first, last) in order.
  template <class Visit>
  void for_each_pair(std::int64_t first, std::int64_t last, Visit&& visit) const {
    for (std::size_t file = 0; file < source_.size(); ++file) {
      const std::int64_t begin = std::max(first, first_pairs_[file]);
      const std::int64_t end = std::min(last, first_pairs_[file + 1]);
      if (begin >= end) continue;
      LineCursor source = source_[file].cursor(begin - first_pairs_[file]);
      LineCursor target = target_[file].cursor(begin - first_pairs_[file]);
      for (std::int64_t pair = begin; pair < end; ++pair) {
        const std::string_view source_line = source.next();
        visit(pair, source_line, target.next());
      }
    }
  }

 private:
  std::vector<TextFile> source_, target_;
  std::vector<std::int64_t> first_pairs_{0};
  bool all_valid_ = true;
  std::uint64_t hash_ = 0;
};

/// Threads, stop and progress of long work over the pairs of a text.
struct WorkContext {
  int threads;
  std::stop_token stop = {};
  std::function<void(std::int64_t done, std::int64_t total)> report;  ///< never empty
};

inline constexpr std::int64_t kPairsPerBlock = 2048;

/// Calls make(first, last) for each block of pairs [first, last), on all threads. After every few
/// blocks it calls take(result) for the results in order, on this thread, and reports. Throws
/// PreparationStopped.
template <class Make, class Take>
void for_each_block(std::int64_t pairs, const WorkContext& context, Make&& make, Take&& take) {
  const std::int64_t blocks = divide_up(pairs, kPairsPerBlock);
  const std::int64_t at_once = std::int64_t{8} * context.threads;
  std::vector<decltype(make(pairs, pairs))> results(static_cast<std::size_t>(at_once));
  for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t end = std::min(begin + at_once, blocks);
    parallel_for(end - begin, context.threads, [&](std::int64_t i) {
      const std::int64_t first = (begin + i) * kPairsPerBlock;
      results[static_cast<std::size_t>(i)] = make(first, std::min(first + kPairsPerBlock, pairs));
    });
    for (std::int64_t i = 0; i < end - begin; ++i) take(results[static_cast<std::size_t>(i)]);
    context.report(std::min(end * kPairsPerBlock, pairs), pairs);
  }
}

}  // namespace dragoman
