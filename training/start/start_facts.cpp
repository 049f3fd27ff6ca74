#include "training/start/start_facts.h"

#include <memory>

#include "inference/model_settings.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"

namespace dragoman {

namespace {

/// A file of --tokenizer that is not there; "" if all are there.
std::string missing_file(const TokenizerConfig& config) {
  for (const std::string& path : {config.source_model, config.target_model})
    if (!path.empty() && !std::filesystem::exists(path)) return path;
  return "";
}

std::optional<TokenizerPair> opened_files(const TokenizerConfig& config) {
  if (config.source_model.empty()) return std::nullopt;
  const auto open = [](const std::string& path) {
    return std::make_shared<const Tokenizer>(Tokenizer::from_file(path));
  };
  TokenizerPair files;
  files.source = open(config.source_model);
  files.target = config.target_model.empty() ? files.source : open(config.target_model);
  return files;
}

}  // namespace

void StartFacts::take_checkpoint(const std::optional<FoundCheckpoint>& found, Communicator& ranks) {
  resumes = ranks.broadcast(found ? "found" : "") == "found";
  if (found) {
    begun = found->progress;
    remembered = begun->start;
    initial_checksum = found->initial_checksum;
  }
  if (resumes) share(found ? begun->start : StartRecord{}, ranks);
}

void StartFacts::share(const StartRecord& settings, Communicator& ranks) {
  if (ranks.size() == 1) return;
  ProgressRecord record;
  if (ranks.leads()) record.start = settings;
  record = progress_from_json(ranks.broadcast(to_json(record)));
  if (ranks.leads()) return;
  std::erase_if(record.start.values, [](const auto& value) { return is_of_the_host(value.first); });
  remembered = std::move(record.start);
}

void StartFacts::find_models(const RunSettings& settings,
                             const std::optional<FoundCheckpoint>& found) {
  const std::string& init_from = settings.train.init_from;
  if (found || !init_from.empty()) {
    const ModelFileReader file(found ? found->path : resolve_model_path(init_from));
    model = GivenModel{.name = found ? "this run's checkpoint" : "the model of --init-from",
                       .path = file.path(),
                       .config = file.config(),
                       .tokenizers = load_tokenizers(file)};
  }
  missing_tokenizer = found ? missing_file(settings.tokenizer) : "";
  if (missing_tokenizer.empty()) tokenizer_files = opened_files(settings.tokenizer);
}

}  // namespace dragoman
