#include "data/parallel_text.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::size_t kScannedBytes = std::size_t{4} << 20;
constexpr std::int64_t kLinesPerStart = 64;
constexpr std::uint64_t kIndexVersion = 2;

/// The offset after the next \n at or after `from`, or the end.
std::size_t next_line_start(std::string_view text, std::size_t from) {
  const std::size_t end = text.find('\n', from);
  return end == text.npos ? text.size() : end + 1;
}

std::size_t find_problem(std::string_view text) {
  return std::min(find_invalid_utf8(text), text.find('\0'));
}

std::string describe(unsigned char byte) {
  return byte == 0 ? "NUL byte" : "invalid UTF-8 (byte " + hexadecimal(byte) + ")";
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
  index.stretches.push_back({.first_line = index.lines, .first_start = std::ssize(index.starts)});
  index.starts.insert(index.starts.end(), stretch.starts.begin(), stretch.starts.end());
  index.lines += stretch.lines;
}

using Json = nlohmann::json;

/// The elements as bytes, in the machine's byte order.
template <class T>
Json binary_of(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  return Json::binary({bytes, bytes + values.size() * sizeof(T)});
}

template <class T>
void take_binary(const Json& json, std::vector<T>& values) {
  const auto& bytes = json.get_binary();
  values.resize(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
}

Json json_of(const FileStamp& stamp) {
  return {stamp.size, stamp.inode, stamp.modified, stamp.changed};
}

}  // namespace

bool is_valid_line(std::string_view line) { return find_problem(line) == line.npos; }

std::size_t TextIndex::start_of(std::int64_t line, std::string_view text) const {
  const auto stretch = std::ranges::upper_bound(stretches, line, {}, &Stretch::first_line) - 1;
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
  Json json = {{"version", kIndexVersion},
               {"stamp", json_of(stamp)},
               {"hash", index.hash},
               {"lines", index.lines},
               {"stretches", binary_of(index.stretches)},
               {"starts", binary_of(index.starts)}};
  if (index.first_problem)
    json["problem"] = {{"line", index.first_problem->line}, {"fault", index.first_problem->fault}};
  std::string bytes;
  Json::to_cbor(json, bytes);
  return with_checksum(std::move(bytes));
}

std::optional<TextIndex> read_index(std::string_view stored, const FileStamp& stamp) {
  const auto bytes = without_checksum(stored);
  if (!bytes) return std::nullopt;
  const Json json = Json::from_cbor(*bytes, /*strict=*/true, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("version", std::uint64_t{0}) != kIndexVersion ||
      json.at("stamp") != json_of(stamp))
    return std::nullopt;
  TextIndex index{.hash = json.at("hash"), .lines = json.at("lines")};
  if (const auto problem = json.find("problem"); problem != json.end())
    index.first_problem = TextIndex::Problem{problem->at("line"), problem->at("fault")};
  take_binary(json.at("stretches"), index.stretches);
  take_binary(json.at("starts"), index.starts);
  return index;
}

namespace {

/// Longer than a tick of any file system's clock.
constexpr std::chrono::seconds kClockTick(2);

std::optional<TextIndex> stored_index_of(const std::string& path, const FileStamp& stamp,
                                         const std::filesystem::path& folder) {
  const auto stored = index_path(folder, path);
  if (folder.empty() || !std::filesystem::exists(stored)) return std::nullopt;
  return read_index(MappedFile(stored).bytes(), stamp);
}

bool may_change_unseen(const FileStamp& stamp, std::chrono::system_clock::time_point now) {
  const auto last = std::max(stamp.modified, stamp.changed);
  return std::chrono::nanoseconds(last) + kClockTick > now.time_since_epoch();
}

/// The text of a compressed file, in a file without a name that disappears with this process.
MappedFile decompressed(Decompressor& decompressor, std::string_view bytes,
                        const TextReading& reading) {
  constexpr std::size_t kStretchBytes = std::size_t{1} << 20;
  if (!reading.index_folder.empty()) create_folders(reading.index_folder);
  UnnamedFile text(reading.index_folder.empty() ? std::filesystem::temp_directory_path()
                                                : reading.index_folder);
  while (!bytes.empty()) {
    if (reading.stop.stop_requested()) throw PreparationStopped();
    const std::string_view stretch = bytes.substr(0, kStretchBytes);
    decompressor.add(stretch,
                     [&text](std::string_view more) { text.append(more.data(), more.size()); });
    bytes.remove_prefix(stretch.size());
    reading.report(std::ssize(stretch));
  }
  decompressor.finish();
  return text.map();
}

FileStamp stamp_of_text(const std::string& path) {
  refuse_irregular_file(path);
  return stamp_of(path);
}

}  // namespace

void refuse_irregular_file(const std::string& path) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
    throw Error(path, ": is not a regular file");
}

TextFile::TextFile(const std::string& path, const TextReading& reading)
    : path_(path), stamp_(stamp_of_text(path)), file_(path) {
  TextReading rest = reading;
  if (const auto decompressor = make_decompressor(coding_of(file_.bytes(), true, path), path)) {
    file_ = decompressed(*decompressor, file_.bytes(), reading);
    is_copy_ = true;
    rest.report = [](std::int64_t) {};  // progress counts the compressed bytes
  }
  if (auto stored = stored_index_of(path, stamp_, reading.index_folder)) {
    index_ = std::move(*stored);
    rest.report(static_cast<std::int64_t>(file_.size()));
    return;
  }
  index_ = index_of(file_.bytes(), rest);
  if (!may_change_unseen(stamp_, reading.now)) new_index_ = stored_index(index_, stamp_);
}

void TextFile::require_unchanged() const {
  if (is_copy_) return;
  const auto now = stamp_if_exists(path_);
  if (now && now->inode == stamp_.inode &&
      (now->size != stamp_.size || now->modified != stamp_.modified))
    throw Error(path_,
                ": has changed while it was being read; restore it, and give the command again");
}

LineCursor TextFile::cursor(std::int64_t line) const {
  return LineCursor(file_.bytes().substr(index_.start_of(line, file_.bytes())));
}

void ParallelText::require_unchanged() const {
  for (const auto* files : {&source_, &target_})
    for (const TextFile& file : *files) file.require_unchanged();
}

namespace {

/// One line for us, with several of another system in it.
bool has_old_line_ends(const TextFile& file) {
  return file.lines() == 1 && std::ranges::count(file.line(0), '\r') > 1;
}

}  // namespace

ParallelText::ParallelText(const std::vector<std::string>& source,
                           const std::vector<std::string>& target, InvalidLines invalid,
                           const TextReading& reading) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    const TextFile& from = source_.emplace_back(source[i], reading);
    const TextFile& to = target_.emplace_back(target[i], reading);
    for (const TextFile* file : {&from, &to}) {
      if (file->lines() == 0) throw Error(file->path(), ": is empty");
      if (has_old_line_ends(*file))
        throw Error(file->path(), ": its lines end with CR alone, as on old Macs; convert it: ",
                    "tr '\\r' '\\n' < FILE > NEW");
    }
    require_same_lines(from.path(), static_cast<std::size_t>(from.lines()), to.path(),
                       static_cast<std::size_t>(to.lines()));
    for (const TextFile* file : {&from, &to}) {
      if (!file->first_problem()) continue;
      all_valid_ = false;
      if (invalid == InvalidLines::Error)
        throw Error(file->path(), ":", file->first_problem()->line + 1, ": ",
                    file->first_problem()->fault,
                    "; correct the line, or leave such pairs out with --invalid skip");
    }
    first_pairs_.push_back(first_pairs_.back() + from.lines());
    hash_ = xxh3(join_text(from.hash(), ' ', to.hash()), hash_);
  }
}

}  // namespace dragoman
