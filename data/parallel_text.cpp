#include "data/parallel_text.h"

#include <chrono>
#include <filesystem>

#include "base/compressed_text.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text_lines.h"
#include "base/unnamed_file.h"
#include "data/preparation_stopped.h"

namespace dragoman {

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
    reading.report(static_cast<std::int64_t>(stretch.size()));
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

std::string_view LineCursor::next() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
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
  const auto now = stamp_if_there(path_);
  if (now && now->inode == stamp_.inode &&
      (now->size != stamp_.size || now->modified != stamp_.modified))
    throw Error(path_,
                ": has been changed while it is read; restore it, and give the command again");
}

LineCursor TextFile::cursor(std::int64_t line) const {
  return LineCursor(file_.bytes().substr(index_.start_of(line, file_.bytes())));
}

void ParallelText::require_unchanged() const {
  for (const auto* files : {&source_, &target_})
    for (const TextFile& file : *files) file.require_unchanged();
}

ParallelText::ParallelText(const std::vector<std::string>& source,
                           const std::vector<std::string>& target, InvalidLines invalid,
                           const TextReading& reading) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    const TextFile& from = source_.emplace_back(source[i], reading);
    const TextFile& to = target_.emplace_back(target[i], reading);
    for (const TextFile* file : {&from, &to})
      if (file->lines() == 0) throw Error(file->path(), ": is empty");
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
