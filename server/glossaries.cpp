#include "server/glossaries.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/json_depth.h"
#include "base/utf8.h"
#include "server/random_name.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".json";

/// As random_name() makes them: nothing else may become part of a path.
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
  return Json{{"name", glossary.name},
              {"source", glossary.languages.source},
              {"target", glossary.languages.target},
              {"created", glossary.created},
              {"owner", glossary.owner},
              {"entries", glossary.entries}}
             .dump(1) +
         "\n";
}

void add_demands(Glossary& glossary) {
  for (const auto& [source, target] : glossary.entries)
    if (strip(source).empty() || strip(target).empty()) throw Error("an entry is blank");
  glossary.demands = std::make_shared<const Demands>(Demands{.terms = Terms(glossary.entries)});
}

GlossaryPointer parse(const std::string& id, const std::filesystem::path& file) {
  const std::string text = read_file(file);
  if (find_invalid_utf8(text) != std::string::npos)
    throw Error(file.string(), ": is no glossary: not UTF-8");
  try {
    const Json json = Json::parse(text, check_json_depth<Json>);
    Glossary glossary{
        .id = id,
        .name = json.at("name"),
        .languages = {json.at("source"), json.at("target")},
        .created = json.at("created"),
        .owner = json.at("owner"),
        .entries = json.at("entries").get<std::vector<std::pair<std::string, std::string>>>()};
    add_demands(glossary);
    return std::make_shared<const Glossary>(std::move(glossary));
  } catch (const std::exception& error) {
    throw Error(file.string(), ": is no glossary of this server: ", error.what());
  }
}

}  // namespace

Glossaries::Glossaries(std::filesystem::path folder) : folder_(std::move(folder)) {
  create_folders(folder_);
  all({});
}

std::filesystem::path Glossaries::path_of(const std::string& id) const {
  return folder_ / (id + std::string(kEnding));
}

GlossaryPointer Glossaries::add(Glossary glossary) {
  if (all(glossary.owner).size() >= kMost) return nullptr;
  glossary.id = random_name();
  glossary.created = now_text();
  add_demands(glossary);
  write_file(path_of(glossary.id), text_of(glossary));
  return std::make_shared<const Glossary>(std::move(glossary));
}

/// Null where the file is missing.
GlossaryPointer Glossaries::read(const std::string& id) {
  const std::filesystem::path path = path_of(id);
  if (!is_id(id) || !std::filesystem::exists(path)) {
    known_.erase(id);
    return nullptr;
  }
  const FileStamp stamp = stamp_of(path);
  Read& read = known_[id];
  if (!read.glossary || read.stamp != stamp) read = {.stamp = stamp, .glossary = parse(id, path)};
  return read.glossary;
}

GlossaryPointer Glossaries::find(const std::string& id, const std::string& owner) {
  const MutexLock lock(mutex_);
  GlossaryPointer found = read(id);
  return found && found->owner == owner ? found : nullptr;
}

std::vector<GlossaryPointer> Glossaries::all(const std::string& owner) {
  const MutexLock lock(mutex_);
  std::vector<GlossaryPointer> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != kEnding) continue;
    GlossaryPointer glossary = read(path.stem().string());
    if (glossary && glossary->owner == owner) found.push_back(std::move(glossary));
  }
  std::ranges::sort(found, [](const GlossaryPointer& a, const GlossaryPointer& b) {
    return std::tie(a->created, a->id) < std::tie(b->created, b->id);
  });
  return found;
}

bool Glossaries::remove(const std::string& id, const std::string& owner) {
  if (!find(id, owner)) return false;
  std::error_code error;
  if (!std::filesystem::remove(path_of(id), error) && error)
    throw Error(path_of(id).string(), ": cannot remove: ", error.message());
  const MutexLock lock(mutex_);
  known_.erase(id);
  return true;
}

}  // namespace dragoman
