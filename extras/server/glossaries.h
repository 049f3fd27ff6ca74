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
#include "base/language_codes.h"
#include "base/mutex.h"
#include "inference/demands.h"

namespace dragoman {

struct GlossaryFacts {
  std::string id = {};
  std::string name;
  std::string created = {};  ///< RFC 3339, UTC
  std::string owner = {};    ///< whose it is (ApiKeys::owner_of); empty: everybody's
  /// The languages of each dictionary, and the number of its entries.
  std::vector<std::pair<LanguagePair, std::size_t>> dictionaries = {};
};

using GlossaryEntries = std::vector<std::pair<std::string, std::string>>;  // source, target terms

struct Dictionary {
  LanguagePair languages;
  GlossaryEntries entries;
  std::shared_ptr<const Demands> demands = nullptr;  ///< the entries, ready for a request
};

struct Glossary {
  GlossaryFacts facts;
  std::vector<Dictionary> dictionaries;  ///< no two for the same languages
};
using GlossaryPointer = std::shared_ptr<const Glossary>;

class Glossaries {
 public:
  static constexpr std::size_t kMost = 1000;              ///< of one owner
  static constexpr std::int64_t kMostBytes = 10'485'760;  ///< of the files of one owner
  /// The most bytes of files whose glossaries stay in memory, those used last; one always stays.
  static constexpr std::int64_t kKeptBytes = 4'194'304;

  /// Creates the folder if need be. Throws Error naming a file that is not a glossary.
  explicit Glossaries(std::filesystem::path folder);

  /// Keeps a glossary. One without an id is new, and gets an id and the time. Another takes the
  /// place of the glossary with its id. Nothing if its owner would have more than kMost or
  /// kMostBytes. Throws Error if it cannot be written.
  std::optional<GlossaryFacts> keep(Glossary glossary);
  /// Null if the owner has no such glossary. Throws Error if its file cannot be read.
  GlossaryPointer find(const std::string& id, const std::string& owner);
  /// The oldest first, without those whose files cannot be read.
  std::vector<GlossaryFacts> all(const std::string& owner);
  /// False if the owner has no such glossary.
  bool remove(const std::string& id, const std::string& owner);

  /// The number of files that could not be read when all were last looked at.
  std::int64_t damaged() const { return damaged_; }

 private:
  struct Known {
    FileStamp stamp;
    std::optional<GlossaryFacts> facts;  // nothing: the file is not a glossary
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
