// The glossaries that clients keep on the server: a file of JSON for each in a folder. The folder
// is the truth, so several servers may share it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_stamp.h"
#include "base/mutex.h"
#include "inference/demands.h"
#include "server/language_codes.h"

namespace dragoman {

struct Glossary {
  std::string id = {};
  std::string name;
  LanguagePair languages;
  std::string created = {};  ///< RFC 3339, UTC
  std::string owner;         ///< whose it is (ApiKeys::owner_of); empty: everybody's
  std::vector<std::pair<std::string, std::string>> entries;  ///< source and target terms
  std::shared_ptr<const Demands> demands = nullptr;          ///< the entries, ready for a request
};
using GlossaryPointer = std::shared_ptr<const Glossary>;

class Glossaries {
 public:
  static constexpr std::size_t kMost = 1000;  ///< of one owner

  /// Creates the folder if need be. Throws Error naming the file that is no glossary.
  explicit Glossaries(std::filesystem::path folder);

  /// Keeps a new glossary, and gives it an id and the time. Nothing where its owner has kMost.
  /// Throws Error where it cannot be written.
  GlossaryPointer add(Glossary glossary);
  /// Null where the owner has no such glossary.
  GlossaryPointer find(const std::string& id, const std::string& owner);
  /// The oldest first.
  std::vector<GlossaryPointer> all(const std::string& owner);
  /// False where the owner has no such glossary.
  bool remove(const std::string& id, const std::string& owner);

 private:
  struct Read {
    FileStamp stamp;
    GlossaryPointer glossary;
  };
  std::filesystem::path path_of(const std::string& id) const;
  GlossaryPointer read(const std::string& id) REQUIRES(mutex_);

  const std::filesystem::path folder_;
  Mutex mutex_;
  std::map<std::string, Read> known_ GUARDED_BY(mutex_);  // by id
};

}  // namespace dragoman
