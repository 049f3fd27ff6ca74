#include "data/parallel_text.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/prepare.h"

namespace dragoman {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::int64_t kLinesPerStart = 64;

/// The offset behind the next \n at or after `from`, or the end.
std::size_t next_line_start(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == text.npos ? text.size() : end + 1;
}

std::size_t find_problem(std::string_view text) {
  return std::min(find_invalid_utf8(text), text.find('\0'));
}

std::string describe(unsigned char byte) {
  if (byte == 0) return "NUL byte";
  constexpr char kDigits[] = "0123456789ABCDEF";
  return std::string("invalid UTF-8 (byte ") + kDigits[byte >> 4] + kDigits[byte & 15] + ")";
}

}  // namespace

bool is_valid_line(std::string_view line) { return find_problem(line) == line.npos; }

std::string_view LineCursor::next() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

TextFile::TextFile(const std::string& path, const Progress& progress) : path_(path), file_(path) {
  const std::string_view bytes = file_.bytes();
  if (bytes.starts_with("\xEF\xBB\xBF")) text_start_ = 3;
  const auto count = static_cast<std::int64_t>((bytes.size() + kPieceBytes - 1) / kPieceBytes);
  pieces_.resize(static_cast<std::size_t>(count));
  const std::int64_t at_once = std::int64_t{8} * progress.threads;
  for (std::int64_t first = 0; first < count; first += at_once) {
    if (progress.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t last = std::min(first + at_once, count);
    parallel_for(last - first, progress.threads, [&](std::int64_t i) {
      const std::size_t begin = static_cast<std::size_t>(first + i) * kPieceBytes;
      pieces_[static_cast<std::size_t>(first + i)] =
          scan(begin, std::min(begin + kPieceBytes, bytes.size()));
    });
    progress.report(static_cast<std::int64_t>(
        std::min(static_cast<std::size_t>(last) * kPieceBytes, bytes.size()) -
        static_cast<std::size_t>(first) * kPieceBytes));
  }
  hash_ = bytes.size();
  for (Piece& piece : pieces_) {
    hash_ = xxh3(&piece.hash, sizeof piece.hash, hash_);
    piece.first_line = lines_;
    if (piece.problem && !first_problem_)
      first_problem_ = Problem{lines_ + piece.problem->line, piece.problem->what};
    lines_ += piece.lines;
  }
}

TextFile::Piece TextFile::scan(std::size_t begin, std::size_t end) const {
  const std::string_view bytes = file_.bytes();
  Piece piece;
  piece.hash = xxh3(bytes.substr(begin, end - begin));
  std::size_t start = text_start_;
  if (begin > 0) start = bytes[begin - 1] == '\n' ? begin : next_line_start(bytes, begin);
  const std::size_t text_begin = start;
  for (; start < end; start = next_line_start(bytes, start)) {
    if (piece.lines % kLinesPerStart == 0) piece.starts.push_back(start);
    ++piece.lines;
  }
  if (piece.lines == 0) return piece;
  const std::string_view text = bytes.substr(text_begin, start - text_begin);
  if (const std::size_t problem = find_problem(text); problem != text.npos)
    piece.problem = Problem{std::count(text.begin(), text.begin() + problem, '\n'),
                            describe(static_cast<unsigned char>(text[problem]))};
  return piece;
}

LineCursor TextFile::cursor(std::int64_t line) const {
  const auto piece =
      std::upper_bound(pieces_.begin(), pieces_.end(), line,
                       [](std::int64_t wanted, const Piece& p) { return wanted < p.first_line; }) -
      1;
  const std::int64_t in_piece = line - piece->first_line;
  std::size_t start = piece->starts[static_cast<std::size_t>(in_piece / kLinesPerStart)];
  for (std::int64_t i = 0; i < in_piece % kLinesPerStart; ++i)
    start = next_line_start(file_.bytes(), start);
  return LineCursor(file_.bytes().substr(start));
}

ParallelText::ParallelText(const std::vector<std::string>& source,
                           const std::vector<std::string>& target, InvalidLines invalid,
                           const TextFile::Progress& progress) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    const TextFile& from = source_.emplace_back(source[i], progress);
    const TextFile& to = target_.emplace_back(target[i], progress);
    for (const TextFile* file : {&from, &to})
      if (file->lines() == 0) throw Error(file->path(), ": is empty");
    if (from.lines() != to.lines())
      throw Error(from.path(), ", ", to.path(), ": ", from.lines(), " source lines but ",
                  to.lines(), " target lines");
    for (const TextFile* file : {&from, &to}) {
      if (!file->first_problem()) continue;
      all_valid_ = false;
      if (invalid == InvalidLines::Error)
        throw Error(file->path(), ":", file->first_problem()->line + 1, ": ",
                    file->first_problem()->what,
                    "; correct the line, or leave such pairs out with --invalid skip");
    }
    first_pairs_.push_back(first_pairs_.back() + from.lines());
    hash_ = xxh3(join_text(from.hash(), ' ', to.hash()), hash_);
  }
}

}  // namespace dragoman
