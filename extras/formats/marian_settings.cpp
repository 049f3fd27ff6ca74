#include "extras/formats/marian_settings.h"

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/foreign_options.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSettings = "decoder.yml";

/// decoder.yml, or what Marian's training calls model.npz.decoder.yml. None where there is no one
/// file of that kind.
std::optional<fs::path> settings_of(const fs::path& path) {
  if (!fs::is_directory(path)) {
    if (path.filename().string().ends_with(kSettings)) return path;
    for (const fs::path& beside :
         {fs::path(path.string() + ".decoder.yml"), path.parent_path() / kSettings})
      if (fs::exists(beside)) return beside;
    return std::nullopt;
  }
  if (fs::exists(path / kSettings)) return path / kSettings;
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (!entry.path().filename().string().ends_with(".decoder.yml")) continue;
    if (found) return std::nullopt;
    found = entry.path();
  }
  return found;
}

/// A name in decoder.yml is a path of the machine that wrote it, or relative to the file. The file
/// that it means lies beside.
fs::path named_file(const ForeignOptions& options, const std::string& name) {
  const fs::path folder = fs::path(options.file()).parent_path();
  for (const fs::path& candidate : {folder / name, folder / fs::path(name).filename()})
    if (fs::is_regular_file(candidate)) return candidate;
  throw Error(options.file(), ": names ", name, ", which is not there");
}

void check_kind(const fs::path& model) {
  if (model.extension() == ".npz") return;
  const std::string kind =
      model.extension() == ".bin"
          ? "a binary model of Marian (.bin), as students with weights of 8 bits (intgemm) are"
          : "no .npz file";
  throw Error(model.string(), ": is ", kind, "; only Marian's model.npz can be imported");
}

/// Settings that change translations and that we do not have; they are usually off.
constexpr const char* kUnsupportedMarian[] = {"allow-unk",         "force-decode",    "n-best",
                                              "output-approx-knn", "output-sampling", "shortlist"};

bool is_off(const ForeignOptions& options, const std::string& name) {
  const std::vector<std::string> values = options.list(name);
  return values.empty() || (values.size() == 1 && (values[0] == "false" || values[0] == "0" ||
                                                   values[0].empty() || values[0] == "~"));
}

ForeignSearch search_of(const ForeignOptions& options) {
  ForeignSearch search{.defaults = {{"stop", "marian"}}, .file = options.file()};
  search.defaults["beam-size"] =
      setting_text("beam-size", options.integer("beam-size", 12), options.place("beam-size"));
  const auto number = [&](const char* flag, const char* name, double otherwise) {
    search.defaults[flag] =
        setting_text(flag, options.number(name, otherwise), options.place(name));
  };
  number("length-penalty", "normalize", 0);
  number("max-length-ratio", "max-length-factor", 3);
  if (options.number("word-penalty", 0) != 0) number("word-penalty", "word-penalty", 0);
  for (const char* name : kUnsupportedMarian)
    if (!is_off(options, name)) search.left_out.emplace_back(name);
  return search;
}

}  // namespace

bool is_marian(const fs::path& path) {
  if (fs::is_directory(path)) return settings_of(path).has_value();
  return path.extension() == ".npz" || path.filename().string().ends_with(kSettings);
}

MarianFiles find_marian_files(const fs::path& path) {
  const auto settings = settings_of(path);
  if (!settings)
    throw Error(path.string(), ": needs Marian's decoder.yml beside it (or ",
                path.filename().string(), ".decoder.yml), which names the vocabularies");
  const ForeignOptions options = yaml_options(settings->string(), read_file(*settings));
  const std::vector<std::string> models = options.list("models"), names = options.list("vocabs");
  if (models.size() != 1)
    throw Error(options.file(), ": \"models\" names ", models.size(),
                " models; import each of an ensemble by itself");
  if (names.size() != 2)
    throw Error(options.file(), ": \"vocabs\" names ", names.size(),
                " vocabularies, not those of source and target");
  const fs::path named = named_file(options, models.front());
  check_kind(named);
  return {.model = path.extension() == ".npz" ? path : named,
          .source_vocabulary = named_file(options, names[0]),
          .target_vocabulary = named_file(options, names[1]),
          .search = search_of(options)};
}

}  // namespace dragoman
