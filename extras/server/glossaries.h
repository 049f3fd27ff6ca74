// The glossaries that clients keep on the server: a file of JSON for each in a folder. The folder
// is the truth, so several servers may share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/mutex.h"
#include "extras/server/languages.h"
#include "inference/demands.h"

namespace dragoman {

struct GlossaryFacts {
  std::string id = {};
  std::string name;
  LanguagePair languages;
  std::string created = {};  ///< RFC 3339, UTC
  std::string owner = {};    ///< whose it is (ApiKeys::owner_of); empty: everybody's
  std::size_t entries = 0;   ///< number of them
};

struct Glossary {
  GlossaryFacts facts;
  std::vector<std::pair<std::string, std::string>> entries;  ///< source and target terms
  std::shared_ptr<const Demands> demands = nullptr;          ///< the entries, ready for a request
};
using GlossaryPointer = std::shared_ptr<const Glossary>;

class Glossaries {
 public:
  static constexpr std::size_t kMost = 1000;              ///< of one owner
  static constexpr std::int64_t kMostBytes = 10'485'760;  ///< of the files of one owner
  /// The most bytes of files whose glossaries stay in memory, those used last; one always stays.
  static constexpr std::int64_t kKeptBytes = 4'194'304;

  /// Creates the folder if need be. Throws Error naming the file that is no glossary.
  explicit Glossaries(std::filesystem::path folder);

  /// Keeps a new glossary, and gives it an id and the time. Nothing if its owner would have more
  /// than kMost or kMostBytes. Throws Error if it cannot be written.
  std::optional<GlossaryFacts> add(Glossary glossary);
  /// Null if the owner has no such glossary. Throws Error if its file cannot be read.
  GlossaryPointer find(const std::string& id, const std::string& owner);
  /// The oldest first, without those whose files cannot be read.
  std::vector<GlossaryFacts> all(const std::string& owner);
  /// False if the owner has no such glossary.
  bool remove(const std::string& id, const std::string& owner);

  /// Files that could not be read when all were looked at last.
  std::int64_t damaged() const { return damaged_; }

 private:
  struct Known {
    FileStamp stamp;
    std::optional<GlossaryFacts> facts;  // nothing: the file is no glossary
  };
  struct Kept {
    FileStamp stamp;
    GlossaryPointer glossary;
  };
  std::filesystem::path path_of(const std::string& id) const;
  const Known* know(const std::string& id) REQUIRES(mutex_);
  void look_at_all() REQUIRES(mutex_);
  GlossaryPointer load(const std::string& id, const FileStamp& stamp) REQUIRES(mutex_);

  const std::filesystem::path folder_;
  std::atomic<std::int64_t> damaged_ = 0;
  Mutex mutex_;
  std::map<std::string, Known> known_ GUARDED_BY(mutex_);  // by id
  std::list<Kept> kept_ GUARDED_BY(mutex_);                // the last used first
};

}  // namespace dragoman
