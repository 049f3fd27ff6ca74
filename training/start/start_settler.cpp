#include "training/start/start_settler.h"

#include <filesystem>
#include <memory>

#include "inference/model_settings.h"

namespace dragoman {

namespace {

std::optional<GivenModel> given_model(const std::string& init_from,
                                      const std::optional<FoundCheckpoint>& found) {
  if (!found && init_from.empty()) return std::nullopt;
  const ModelFileReader file(found ? found->path : resolve_model_path(init_from));
  return GivenModel{.name = found ? "this run's checkpoint" : "the model of --init-from",
                    .path = file.path(),
                    .config = file.config(),
                    .tokenizers = load_tokenizers(file)};
}

/// A file of --tokenizer that is not there; "" if all are there.
std::string missing_file(const TokenizerConfig& config) {
  for (const std::string& path : {config.source_model, config.target_model})
    if (!path.empty() && !std::filesystem::exists(path)) return path;
  return "";
}

std::optional<TokenizerPair> tokenizer_files(const TokenizerConfig& config) {
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

bool is_of_the_host(std::string_view field) {
  return field == "output" || field == "threads" || field == "device";
}

StartSettler::StartSettler(RunRequest request, const std::optional<FoundCheckpoint>& found,
                           Communicator& ranks, Tell tell)
    : request_(std::move(request)),
      tell_(std::move(tell)),
      has_begun_(ranks.broadcast(found ? "found" : "") == "found") {
  if (found) {
    facts_.begun = found->progress;
    facts_.remembered = found->progress.start.settings;
    facts_.initial_checksum = found->initial_checksum;
  }
  // If the run has begun, the other ranks know nothing of it yet.
  if (ranks.leads() || !has_begun_) settle();
  if (has_begun_) share(ranks);
}

void StartSettler::find_models(const std::optional<FoundCheckpoint>& found) {
  facts_.model = given_model(run_.config.train.init_from, found);
  const std::string missing = found ? missing_file(run_.config.tokenizer) : "";
  if (missing.empty())
    facts_.tokenizer_files = tokenizer_files(run_.config.tokenizer);
  else
    tell_({Remark::Kind::Warning,
           missing + ": is missing; the run continues with the tokenizer in its checkpoint"});
  settle();
}

void StartSettler::share(Communicator& ranks) {
  if (ranks.size() == 1) return;
  ProgressRecord record;
  if (ranks.leads()) record.start.settings = run_.settings;
  record = progress_from_json(ranks.broadcast(to_json(record)));
  if (ranks.leads()) return;
  SettingsRecord& settings = record.start.settings;
  std::erase_if(settings.values, [](const auto& value) { return is_of_the_host(value.first); });
  learn(&StartFacts::remembered, std::move(settings));
}

void StartSettler::settle() {
  run_ = dragoman::settle(request_, facts_);
  for (; told_ < run_.remarks.size(); ++told_) tell_(run_.remarks[told_]);
}

}  // namespace dragoman
