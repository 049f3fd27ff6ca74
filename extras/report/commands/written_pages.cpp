#include "extras/report/commands/written_pages.h"

#include <fstream>
#include <memory>
#include <system_error>

#include "app/commands/input_output.h"
#include "app/commands/open_model.h"
#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "extras/report/translation_pages.h"
#include "inference/model_settings.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

bool is_page_name(std::string_view name) {
  constexpr std::string_view kEnd = ".html";
  if (!name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

/// Whether the file is a page that this program has written (extras/report/page/page.html).
bool is_page(const std::string& path) {
  constexpr std::string_view kSign = "<meta name=\"generator\" content=\"dragoman\">";
  std::string begin(200, '\0');
  std::ifstream(path, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find(kSign) != std::string::npos;
}

}  // namespace

void check_page_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  check_replaced(flag, path, "a page of this program", is_page);
}

void log_page(const std::string& html, const std::string& content, std::int64_t explained) {
  const std::string beside = explained == 0 ? ""
                                            : join_text("; ", counted(explained, "page"), " in ",
                                                        explanations_folder(html));
  log_info(join_text(html, ": ", content, beside, "; open it in a browser"));
}

std::string explanations_folder(const std::string& html) {
  return fs::path(html).replace_extension("explanations").string();
}

ExplanationPages::ExplanationPages(const std::string& html) : folder_(explanations_folder(html)) {}

std::string ExplanationPages::write(std::size_t system, std::size_t line, const std::string& json) {
  create_folders(folder_);
  const std::string name = join_text(system + 1, '-', line + 1, ".html");
  write_file(folder_ / name, explanation_page(json));
  names_.insert(name);
  return (folder_.filename() / name).string();
}

void ExplanationPages::remove_others() const {
  std::error_code error;  // there may be no folder
  for (const fs::directory_entry& file : fs::directory_iterator(folder_, error)) {
    const std::string name = file.path().filename().string();
    if (!is_page_name(name) || names_.contains(name) || !is_page(file.path().string())) continue;
    std::error_code removal;
    if (!fs::remove(file.path(), removal))
      log_warning(file.path().string() + ": is from an earlier call and cannot be removed");
  }
}

ExplainedModel explained_model(const std::string& model, const DecodeConfig& decode,
                               const Origins& origins) {
  const ModelFileReader file(resolve_model_path(model), Verify::Header);
  return {.program_version = DRAGOMAN_VERSION,
          .name = model,
          .tokenizers = load_tokenizers(file),
          .weights = std::make_shared<const CpuModel>(file, ComputeType::Float32),
          .search = search_with(decode, origins, file.decode_defaults()),
          .several_sentences = file.provenance().several_sentences,
          .characters = file.provenance().characters};
}

}  // namespace dragoman
