// Text files of two languages, line by line translations of each other, memory-mapped and checked.
// Only \n ends a line; a \r before it and a byte order mark at the start of a file are no part of
// the text; a last line needs no \n.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "data/data_config.h"

namespace dragoman {

/// Whether a line has neither invalid UTF-8 nor a NUL byte.
bool is_valid_line(std::string_view line);

/// Lines one after the other, from some line of a file on.
class LineCursor {
 public:
  explicit LineCursor(std::string_view rest) : rest_(rest) {}
  /// The next line, without its end; there must be one.
  std::string_view next();

 private:
  std::string_view rest_;
};

/// One file; it keeps an offset for one line in 64.
class TextFile {
 public:
  struct Progress {
    int threads;
    std::stop_token stop;
    std::function<void(std::int64_t bytes)> report;  ///< bytes read since the last call
  };
  struct Problem {
    std::int64_t line;  ///< from 0
    std::string what;   ///< "invalid UTF-8 (byte FF)"
  };

  /// Reads the whole file once, on all threads. Throws Error where it cannot be read,
  /// PreparationStopped.
  TextFile(const std::string& path, const Progress& progress);

  const std::string& path() const { return path_; }
  std::int64_t lines() const { return lines_; }
  std::uint64_t hash() const { return hash_; }  ///< of the bytes
  /// The first line that is_valid_line() would refuse.
  const std::optional<Problem>& first_problem() const { return first_problem_; }
  std::string_view line(std::int64_t index) const { return cursor(index).next(); }
  LineCursor cursor(std::int64_t line) const;

 private:
  /// The lines that start in one piece of the file.
  struct Piece {
    std::int64_t first_line = 0, lines = 0;
    std::vector<std::size_t> starts;  ///< offsets of every 64th line
    std::uint64_t hash = 0;
    std::optional<Problem> problem;
  };
  Piece scan(std::size_t begin, std::size_t end) const;

  std::string path_;
  MappedFile file_;
  std::size_t text_start_ = 0;  ///< behind the byte order mark
  std::vector<Piece> pieces_;
  std::int64_t lines_ = 0;
  std::uint64_t hash_ = 0;
  std::optional<Problem> first_problem_;
};

/// All files of both sides; pairs are numbered over all of them.
class ParallelText {
 public:
  /// Throws Error naming file and line: unequal numbers of lines, empty files, and, unless they
  /// are to be skipped, invalid UTF-8 and NUL bytes.
  ParallelText(const std::vector<std::string>& source, const std::vector<std::string>& target,
               InvalidLines invalid, const TextFile::Progress& progress);

  std::int64_t pairs() const { return first_pairs_.back(); }
  bool all_valid() const { return all_valid_; }
  std::uint64_t hash() const { return hash_; }  ///< of the bytes of all files

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
  std::vector<std::int64_t> first_pairs_{0};  ///< [files + 1]
  bool all_valid_ = true;
  std::uint64_t hash_ = 0;
};

}  // namespace dragoman
