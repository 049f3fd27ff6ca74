#include "extras/server/translated_files.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/charset.h"
#include "extras/server/access.h"

namespace dragoman {

std::span<const FileKind> file_kinds() {
  static constexpr FileKind kKinds[] = {
      {".txt", MarkupFormat::None, "text/plain"},
      {".html", MarkupFormat::Html, "text/html"},
      {".htm", MarkupFormat::Html, "text/html"},
      {".xml", MarkupFormat::Xml, "application/xml"},
      {".xlf", MarkupFormat::Xml, "application/xliff+xml"},
      {".xliff", MarkupFormat::Xml, "application/xliff+xml"},
      {".srt", MarkupFormat::Srt, "application/x-subrip"},
      {".vtt", MarkupFormat::Vtt, "text/vtt"},
      {".po", MarkupFormat::Po, "text/x-gettext-translation"},
      {".pot", MarkupFormat::Po, "text/x-gettext-translation"},
      {".md", MarkupFormat::Markdown, "text/markdown"},
      {".markdown", MarkupFormat::Markdown, "text/markdown"},
  };
  return kKinds;
}

std::string known_file_endings() { return joined(file_kinds(), ", ", &FileKind::ending); }

const FileKind* file_kind_of(std::string_view name) {
  const std::string ending = ascii_lower(name.substr(std::min(name.rfind('.'), name.size())));
  const auto kind = std::ranges::find(file_kinds(), ending, &FileKind::ending);
  return kind == file_kinds().end() ? nullptr : &*kind;
}

FileToTranslate file_to_translate(const FileKind& kind, std::string bytes) {
  FileText read = file_text(kind.markup, std::move(bytes));
  FileToTranslate file{
      .byte_order_mark = {}, .text = std::move(read.text), .charset = std::move(read.charset)};
  if (file.charset.empty() && file.text.starts_with(kByteOrderMark)) {
    file.byte_order_mark = kByteOrderMark;
    file.text.erase(0, kByteOrderMark.size());
  }
  if (const std::size_t bad = find_invalid_utf8(file.text); bad != std::string::npos)
    throw Error("is not UTF-8 at byte ", file.byte_order_mark.size() + bad + 1);
  if (strip(file.text).empty()) throw Error("is empty");
  return file;
}

HttpResponse attachment(TranslatedFile file) {
  const FileKind* kind = file_kind_of(file.name);
  return {.body = std::move(file.text),
          .type = join_text(kind == nullptr ? "text/plain" : kind->media_type,
                            file.charset.empty() ? "; charset=utf-8" : ""),
          .headers = {{"Content-Disposition", join_text("attachment; filename=\"", file.name, '"')},
                      {"X-Content-Type-Options", "nosniff"}}};
}

// ---- files that wait to be fetched --------------------------------------------------------------

namespace {

bool is_safe(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
         c == '-' || c == '_';
}

/// Its safe characters, and an underscore for each stretch of others.
std::string safe_part(std::string_view part) {
  std::string safe;
  for (const char c : part)
    if (is_safe(c))
      safe += c;
    else if (!safe.ends_with('_'))
      safe += '_';
  return safe;
}

}  // namespace

std::int64_t TranslatedFiles::Kept::bytes() const {
  constexpr std::size_t kBesides = 300;  // the objects, their places in list and map
  return static_cast<std::int64_t>(kBesides + name.size() + file.name.size() + file.text.size());
}

std::string TranslatedFiles::keep(TranslatedFile file, Time now) {
  std::string name = random_name() + "." + file.name;
  keep(name, std::move(file), now);
  return name;
}

void TranslatedFiles::keep(std::string name, TranslatedFile file, Time now) {
  std::list<Kept> added;
  added.push_back({.name = std::move(name), .file = std::move(file), .since = now});
  const MutexLock lock(mutex_);
  drop_old(now);
  by_name_[added.front().name] = added.begin();
  bytes_ += added.front().bytes();
  files_.splice(files_.end(), added);
  make_room();
}

void TranslatedFiles::replace(const std::string& name, TranslatedFile file, Time now) noexcept {
  const MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return;
  const Place place = found->second;
  bytes_ -= place->bytes();
  place->file = std::move(file);
  place->since = now;
  bytes_ += place->bytes();
  files_.splice(files_.end(), files_, place);
  make_room();
}

std::optional<TranslatedFile> TranslatedFiles::find(std::string_view name, Time now) {
  const MutexLock lock(mutex_);
  drop_old(now);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second->file;
}

void TranslatedFiles::remove(std::string_view name) {
  const MutexLock lock(mutex_);
  if (const auto found = by_name_.find(name); found != by_name_.end()) drop(found->second);
}

void TranslatedFiles::drop_old(Time now) {
  while (!files_.empty() && now - files_.front().since >= limits_.age) drop(files_.begin());
}

void TranslatedFiles::make_room() {
  while (bytes_ > limits_.bytes && files_.size() > 1) drop(files_.begin());
}

void TranslatedFiles::drop(Place place) {
  bytes_ -= place->bytes();
  by_name_.erase(place->name);
  files_.erase(place);
}

std::string safe_file_name(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  name.remove_prefix(std::min(name.size(), name.find_last_of("/\\") + 1));  // npos + 1 is 0
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  std::string stem = safe_part(name.substr(0, dot)), ending = safe_part(name.substr(dot));
  const auto first_letter = [](const std::string& part) {
    return std::min(part.find_first_not_of("._-"), part.size());
  };
  stem.erase(0, first_letter(stem));
  if (stem.empty()) stem = "file";
  // The ending gives the kind of the file.
  if (first_letter(ending) == ending.size()) ending.clear();
  const std::string safe = stem + ending;
  return safe.substr(safe.size() - std::min(safe.size(), kLongest));
}

}  // namespace dragoman
