#include "extras/server/glossaries.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <set>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "extras/server/access.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".json";

/// Whether random_name() may have made it: nothing else may become part of a path.
bool is_id(std::string_view id) {
  return id.size() == 36 && id.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

/// With microseconds: DeepL's own client reads no time without a fraction of a second.
std::string now_text() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[64];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%06ldZ", now.tv_nsec / 1000);
  return text;
}

std::string text_of(const Glossary& glossary) {
  const GlossaryFacts& facts = glossary.facts;
  Json dictionaries = Json::array();
  for (const Dictionary& dictionary : glossary.dictionaries)
    dictionaries.push_back({{"source", dictionary.languages.source},
                            {"target", dictionary.languages.target},
                            {"entries", dictionary.entries}});
  return json_text(Json{{"name", facts.name},
                        {"created", facts.created},
                        {"owner", facts.owner},
                        {"dictionaries", std::move(dictionaries)}},
                   1) +
         "\n";
}

Dictionary parse_dictionary(const Json& json) {
  Dictionary dictionary{.languages = {json.at("source"), json.at("target")},
                        .entries = json.at("entries").get<GlossaryEntries>()};
  for (const auto& [source, target] : dictionary.entries)
    if (strip(source).empty() || strip(target).empty()) throw Error("an entry is blank");
  return dictionary;
}

void count_entries(Glossary& glossary) {
  glossary.facts.dictionaries.clear();
  for (const Dictionary& dictionary : glossary.dictionaries)
    glossary.facts.dictionaries.emplace_back(dictionary.languages, dictionary.entries.size());
}

/// Without demands. Throws Error naming the file.
Glossary parse(const std::string& id, const std::filesystem::path& file, const std::string& text) {
  if (find_invalid_utf8(text) != std::string::npos)
    throw Error(file.string(), ": is not a glossary: not UTF-8");
  try {
    const Json json = parse_json<Json>(text);
    Glossary glossary{.facts = {.id = id,
                                .name = json.at("name"),
                                .created = json.at("created"),
                                .owner = json.at("owner")},
                      .dictionaries = {}};
    if (json.contains("dictionaries"))
      for (const Json& dictionary : json.at("dictionaries"))
        glossary.dictionaries.push_back(parse_dictionary(dictionary));
    else  // an older file has one dictionary
      glossary.dictionaries.push_back(parse_dictionary(json));
    count_entries(glossary);
    return glossary;
  } catch (const std::exception& error) {
    throw Error(file.string(), ": is not a glossary of this server: ", error.what());
  }
}

/// What `read` returns; nothing if the file is missing. Another server may remove it at any time.
template <class Read>
auto if_exists(const std::filesystem::path& file, Read read)
    -> std::optional<decltype(read(file))> {
  try {
    return read(file);
  } catch (const Error&) {
    std::error_code error;
    if (std::filesystem::exists(file, error) || error) throw;
    return std::nullopt;
  }
}

}  // namespace

Glossaries::Glossaries(std::filesystem::path folder) : folder_(std::move(folder)) {
  create_folders(folder_);
  const MutexLock lock(mutex_);
  look_at_all();
  for (const auto& [id, known] : known_)
    if (!known.facts) parse(id, path_of(id), read_file(path_of(id)));  // throws
}

std::filesystem::path Glossaries::path_of(const std::string& id) const {
  return folder_ / (id + std::string(kEnding));
}

/// Null if the file is missing. Throws Error if it cannot be read at all.
const Glossaries::Known* Glossaries::know(const std::string& id) {
  const std::filesystem::path path = path_of(id);
  const auto stamp = is_id(id) ? if_exists(path, stamp_of) : std::nullopt;
  if (stamp) {
    const auto found = known_.find(id);
    if (found != known_.end() && found->second.stamp == *stamp) return &found->second;
    if (const auto text = if_exists(path, read_file)) {
      Known known{.stamp = *stamp, .facts = {}};
      try {
        known.facts = parse(id, path, *text).facts;
      } catch (const Error&) {
      }
      return &known_.insert_or_assign(id, std::move(known)).first->second;
    }
  }
  known_.erase(id);
  return nullptr;
}

/// After this, known_ has the folder's files and no others.
void Glossaries::look_at_all() {
  std::set<std::string> there;
  std::int64_t damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != kEnding) continue;
    const std::string id = path.stem().string();
    try {
      const Known* known = know(id);
      if (known == nullptr) continue;
      there.insert(id);
      if (!known->facts) ++damaged;
    } catch (const Error&) {
      ++damaged;
    }
  }
  std::erase_if(known_, [&](const auto& known) { return !there.contains(known.first); });
  std::erase_if(kept_, [&](const Kept& kept) { return !there.contains(kept.glossary->facts.id); });
  damaged_ = damaged;
}

std::optional<GlossaryFacts> Glossaries::keep(Glossary glossary) {
  GlossaryFacts& facts = glossary.facts;
  if (facts.id.empty()) {
    facts.id = random_name();
    facts.created = now_text();
  }
  count_entries(glossary);
  const std::string text = text_of(glossary);
  const MutexLock lock(mutex_);
  look_at_all();
  std::size_t number = 0;
  auto bytes = static_cast<std::int64_t>(text.size());
  for (const auto& [id, known] : known_) {
    if (!known.facts || known.facts->owner != facts.owner || id == facts.id) continue;
    ++number;
    bytes += known.stamp.size;
  }
  if (number >= kMost || bytes > kMostBytes) return std::nullopt;
  write_file(path_of(facts.id), text);
  return facts;
}

/// The glossary whose file has this stamp; null if the file is missing.
GlossaryPointer Glossaries::load(const std::string& id, const FileStamp& stamp) {
  const auto found = std::ranges::find(
      kept_, id, [](const Kept& kept) -> const std::string& { return kept.glossary->facts.id; });
  if (found != kept_.end() && found->stamp == stamp) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().glossary;
  }
  if (found != kept_.end()) kept_.erase(found);
  const auto text = if_exists(path_of(id), read_file);
  if (!text) return nullptr;
  Glossary glossary = parse(id, path_of(id), *text);
  for (Dictionary& dictionary : glossary.dictionaries)
    dictionary.demands =
        std::make_shared<const Demands>(Demands{.terms = Terms(dictionary.entries)});
  kept_.push_front(
      {.stamp = stamp, .glossary = std::make_shared<const Glossary>(std::move(glossary))});
  std::int64_t bytes = 0;
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    bytes += kept->stamp.size;
    kept = bytes > kKeptBytes && kept != kept_.begin() ? kept_.erase(kept) : std::next(kept);
  }
  return kept_.front().glossary;
}

GlossaryPointer Glossaries::find(const std::string& id, const std::string& owner) {
  const MutexLock lock(mutex_);
  const Known* known = know(id);
  if (known == nullptr || (known->facts && known->facts->owner != owner)) return nullptr;
  return load(id, known->stamp);
}

std::vector<GlossaryFacts> Glossaries::all(const std::string& owner) {
  const MutexLock lock(mutex_);
  look_at_all();
  std::vector<GlossaryFacts> found;
  for (const auto& [id, known] : known_)
    if (known.facts && known.facts->owner == owner) found.push_back(*known.facts);
  std::ranges::sort(found, {},
                    [](const GlossaryFacts& facts) { return std::tie(facts.created, facts.id); });
  return found;
}

bool Glossaries::remove(const std::string& id, const std::string& owner) {
  const MutexLock lock(mutex_);
  const Known* known = know(id);
  if (known == nullptr || !known->facts || known->facts->owner != owner) return false;
  std::error_code error;
  const bool is_removed = std::filesystem::remove(path_of(id), error);
  if (error) throw Error(path_of(id).string(), ": cannot remove: ", error.message());
  known_.erase(id);
  std::erase_if(kept_, [&](const Kept& kept) { return kept.glossary->facts.id == id; });
  return is_removed;
}

}  // namespace dragoman
