// Files that the server translates: their kinds, and those that wait to be fetched.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "extras/markup/document.h"
#include "extras/server/http.h"

namespace dragoman {

/// A kind of files, known by the endings of their names.
struct FileKind {
  std::string_view ending;  ///< ".html"
  MarkupFormat markup;
  std::string_view media_type;
};

std::span<const FileKind> file_kinds();

/// ".txt, .html, ..."
std::string known_file_endings();

/// The kind of a file with this name, in letters of any case; null if it is none of them.
const FileKind* file_kind_of(std::string_view name);

/// A file that is to be translated.
struct FileToTranslate {
  std::string byte_order_mark;  ///< of UTF-8; empty if there is none
  std::string text;             ///< what follows it, in UTF-8
  std::string charset;          ///< MarkupOptions::charset
};

/// HTML and XML are read in the charset that they declare, all else as UTF-8. Throws Error ("is not
/// UTF-8 at byte 3") if the bytes cannot be read so, or have no text.
FileToTranslate file_to_translate(const FileKind& kind, std::string bytes);

struct TranslatedFile {
  enum class State { Done, Waiting, Failed };
  std::string name;          ///< as its reader knows it: "letter_de.txt"
  std::string text;          ///< the body of the error's answer if it has failed
  std::string charset = {};  ///< of the text, which declares it; empty: UTF-8
  State state = State::Done;
  std::int64_t characters = 0;  ///< of the source's text
};

/// The answer with the file, to be saved under its name. A file of no known kind is plain text.
HttpResponse attachment(TranslatedFile file);

/// Translated files stay in memory for a while, under names that nobody can guess.
class TranslatedFiles {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::int64_t bytes = 67'108'864;  ///< of memory; the oldest files make room for new ones
    std::chrono::seconds age{1800};
  };

  TranslatedFiles() = default;
  explicit TranslatedFiles(const Limits& limits) : limits_(limits) {}

  /// Returns the name under which the file can be fetched: a UUID, a full stop and its own name.
  std::string keep(TranslatedFile file, Time now);
  /// Keeps it under this name, which no other file has.
  void keep(std::string name, TranslatedFile file, Time now);
  /// Puts another file in the place of the one with this name, if that is still there. From now on
  /// it is as old as a new one. Takes no memory.
  void replace(const std::string& name, TranslatedFile file, Time now) noexcept;
  /// Nothing if there is no such file (any more).
  std::optional<TranslatedFile> find(std::string_view name, Time now);
  void remove(std::string_view name);

 private:
  struct Kept {
    std::string name;
    TranslatedFile file;
    Time since;

    std::int64_t bytes() const;
  };
  using Place = std::list<Kept>::iterator;
  void drop_old(Time now) REQUIRES(mutex_);
  void drop(Place place) REQUIRES(mutex_);
  void make_room() REQUIRES(mutex_);

  const Limits limits_ = {};
  Mutex mutex_;
  std::list<Kept> files_ GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<std::string_view, Place> by_name_ GUARDED_BY(mutex_);
  std::int64_t bytes_ GUARDED_BY(mutex_) = 0;
};

/// The last part of a path, without characters that mean something to a shell, a header or a file
/// system; "file" if nothing is left.
std::string safe_file_name(std::string_view name);

}  // namespace dragoman
