#include "data/text_index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/divide_up.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "data/preparation_stopped.h"

namespace dragoman {

namespace {

constexpr std::size_t kScannedBytes = std::size_t{4} << 20;
constexpr std::int64_t kLinesPerStart = 64;
constexpr std::uint64_t kIndexVersion = 1;

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

struct ScannedStretch {
  std::int64_t lines = 0;
  std::vector<std::uint64_t> starts;
  std::uint64_t hash = 0;
  std::optional<TextIndex::Problem> problem;
};

ScannedStretch scan(std::string_view text, std::size_t begin) {
  const std::size_t end = std::min(begin + kScannedBytes, text.size());
  ScannedStretch stretch;
  stretch.hash = xxh3(text.substr(begin, end - begin));
  std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (begin > 0) start = text[begin - 1] == '\n' ? begin : next_line_start(text, begin);
  const std::size_t lines_begin = start;
  for (; start < end; start = next_line_start(text, start)) {
    if (stretch.lines % kLinesPerStart == 0) stretch.starts.push_back(start);
    ++stretch.lines;
  }
  if (stretch.lines == 0) return stretch;
  const std::string_view lines = text.substr(lines_begin, start - lines_begin);
  if (const std::size_t problem = find_problem(lines); problem != lines.npos)
    stretch.problem = TextIndex::Problem{std::count(lines.begin(), lines.begin() + problem, '\n'),
                                         describe(static_cast<unsigned char>(lines[problem]))};
  return stretch;
}

void append(TextIndex& index, const ScannedStretch& stretch) {
  index.hash = xxh3(&stretch.hash, sizeof stretch.hash, index.hash);
  if (stretch.problem && !index.first_problem)
    index.first_problem =
        TextIndex::Problem{index.lines + stretch.problem->line, stretch.problem->fault};
  index.stretches.push_back(
      {.first_line = index.lines, .first_start = static_cast<std::int64_t>(index.starts.size())});
  index.starts.insert(index.starts.end(), stretch.starts.begin(), stretch.starts.end());
  index.lines += stretch.lines;
}

/// Writes numbers one after the other, in the machine's byte order.
class Packer {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void add_all(const T& values) {
    add(values.size());
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  }

  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  template <class T>
  T take_all() {
    T values;
    values.resize(take<std::size_t>());
    std::memcpy(values.data(), rest_.data(), values.size() * sizeof values[0]);
    rest_.remove_prefix(values.size() * sizeof values[0]);
    return values;
  }

 private:
  std::string_view rest_;
};

}  // namespace

bool is_valid_line(std::string_view line) { return find_problem(line) == line.npos; }

std::size_t TextIndex::start_of(std::int64_t line, std::string_view text) const {
  const auto stretch = std::upper_bound(stretches.begin(), stretches.end(), line,
                                        [](std::int64_t wanted, const Stretch& p) {
                                          return wanted < p.first_line;
                                        }) -
                       1;
  const std::int64_t in_stretch = line - stretch->first_line;
  std::size_t start =
      starts[static_cast<std::size_t>(stretch->first_start + in_stretch / kLinesPerStart)];
  for (std::int64_t i = 0; i < in_stretch % kLinesPerStart; ++i)
    start = next_line_start(text, start);
  return start;
}

TextIndex index_of(std::string_view text, const TextReading& reading) {
  TextIndex index;
  index.hash = text.size();
  const auto count = static_cast<std::int64_t>(divide_up(text.size(), kScannedBytes));
  const std::int64_t at_once = std::int64_t{8} * reading.threads;
  for (std::int64_t first = 0; first < count; first += at_once) {
    if (reading.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t last = std::min(first + at_once, count);
    std::vector<ScannedStretch> stretches(static_cast<std::size_t>(last - first));
    parallel_for(last - first, reading.threads, [&](std::int64_t i) {
      stretches[static_cast<std::size_t>(i)] =
          scan(text, static_cast<std::size_t>(first + i) * kScannedBytes);
    });
    for (const ScannedStretch& stretch : stretches) append(index, stretch);
    reading.report(static_cast<std::int64_t>(
        std::min(static_cast<std::size_t>(last) * kScannedBytes, text.size()) -
        static_cast<std::size_t>(first) * kScannedBytes));
  }
  return index;
}

std::filesystem::path index_path(const std::filesystem::path& folder, const std::string& file) {
  std::error_code unknown;
  const auto absolute = std::filesystem::weakly_canonical(file, unknown);
  return folder / ("text-" + hex16(xxh3(unknown ? file : absolute.string())) + ".bin");
}

std::string stored_index(const TextIndex& index, const FileStamp& stamp) {
  Packer packer;
  packer.add(kIndexVersion);
  packer.add(stamp);
  packer.add(index.hash);
  packer.add(index.lines);
  packer.add(index.first_problem ? index.first_problem->line : std::int64_t{-1});
  packer.add_all(index.first_problem ? index.first_problem->fault : std::string());
  packer.add_all(index.stretches);
  packer.add_all(index.starts);
  packer.add(xxh3(packer.bytes));
  return std::move(packer.bytes);
}

std::optional<TextIndex> read_index(std::string_view stored, const FileStamp& stamp) {
  std::uint64_t checksum;
  if (stored.size() < sizeof checksum) return std::nullopt;
  const std::string_view bytes = stored.substr(0, stored.size() - sizeof checksum);
  std::memcpy(&checksum, stored.data() + bytes.size(), sizeof checksum);
  if (checksum != xxh3(bytes)) return std::nullopt;
  Unpacker unpacker(bytes);
  if (unpacker.take<std::uint64_t>() != kIndexVersion) return std::nullopt;
  if (unpacker.take<FileStamp>() != stamp) return std::nullopt;
  TextIndex index;
  index.hash = unpacker.take<std::uint64_t>();
  index.lines = unpacker.take<std::int64_t>();
  const auto line = unpacker.take<std::int64_t>();
  const auto fault = unpacker.take_all<std::string>();
  if (line >= 0) index.first_problem = TextIndex::Problem{line, fault};
  index.stretches = unpacker.take_all<std::vector<TextIndex::Stretch>>();
  index.starts = unpacker.take_all<std::vector<std::uint64_t>>();
  return index;
}

}  // namespace dragoman
