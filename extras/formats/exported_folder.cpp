#include "extras/formats/exported_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace fs = std::filesystem;

NewFolder::NewFolder(fs::path folder) : folder_(std::move(folder)) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
  folder_ = resolved_links(folder_);
  std::error_code ignored;
  if (fs::exists(folder_, ignored) &&
      !(fs::is_directory(folder_, ignored) && fs::is_empty(folder_, ignored)))
    throw Error(folder_.string(), ": is there and not empty; name a new folder");
  if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), ignored);
  part_.emplace(folder_.string() + ".");
  fs::permissions(path(), fs::perms(0755), ignored);  // a ScratchFolder has 0700
}

void NewFolder::commit() {
  std::error_code failure;
  fs::rename(path(), folder_, failure);  // replaces an empty folder
  if (failure) throw Error(folder_.string(), ": cannot be put in place: ", failure.message());
  sync_folder(folder_of(folder_));
}

namespace {

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

DecodeConfig exported_search(const DecodeDefaults& defaults) {
  DecodeConfig settings;
  try {
    for (const Field& field : fields_of(settings))
      if (const auto text = defaults.find(std::string(field.info.name)); text != defaults.end())
        assign_text(field, text->second);
    settings.check();
  } catch (const UsageError& error) {  // a fault of the model file, not of the command line
    throw Error("the model's search settings: ", error.what());
  }
  return settings;
}

std::vector<std::string> unsupported_settings(const DecodeDefaults& defaults,
                                              const FormatSearch& format, Unsupported unsupported) {
  DecodeConfig asked = exported_search(defaults), usual;
  const std::vector<Field> fields = fields_of(asked), usual_fields = fields_of(usual);
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string name(fields[i].info.name), text = fields[i].text();
    if (!defaults.contains(name)) continue;
    const bool is_stop = name == "stop";
    const bool is_held =
        is_stop ? contains(format.stops, asked.stop) : contains(format.flags, name);
    if (is_held) continue;
    if (is_stop || text != usual_fields[i].text())
      settings.push_back(join_text("--", name, " ", text));
  }
  if (!settings.empty() && unsupported == Unsupported::Refused)
    throw Error("the model's search settings: ", format.system, " has no ", joined(settings, ", "),
                "; --drop-search exports the model without such settings");
  return settings;
}

}  // namespace dragoman
