#include "app/torch/start_settler.h"

#include <memory>

#include "app/frame/log.h"
#include "app/torch/train_agreement.h"
#include "base/cpu.h"
#include "inference/model_tokenizers.h"

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

StartSettler::StartSettler(RunRequest request, const std::optional<FoundCheckpoint>& found,
                           Communicator& ranks)
    : request_(std::move(request)), has_begun_(ranks.broadcast(found ? "found" : "") == "found") {
  if (found) {
    facts_.begun = found->progress;
    facts_.remembered = found->progress.start.settings;
  }
  // Of a run that has begun, the other ranks know nothing yet.
  if (ranks.leads() || !has_begun_) settle();
  if (has_begun_) share(ranks);
}

void StartSettler::find_models(const std::optional<FoundCheckpoint>& found) {
  facts_.model = given_model(run_.config.train.init_from, found);
  facts_.tokenizer_files = tokenizer_files(run_.config.tokenizer);
  settle();
}

void StartSettler::share(Communicator& ranks) {
  if (ranks.size() == 1) return;
  auto settings = broadcast_settings(ranks.leads() ? run_.settings : SettingsRecord{}, ranks);
  if (!ranks.leads()) learn(&StartFacts::remembered, std::move(settings));
}

void StartSettler::settle() {
  run_ = dragoman::settle(request_, facts_);
  for (; said_ < run_.remarks.size(); ++said_) {
    const auto& [kind, text] = run_.remarks[said_];
    if (kind == Remark::Kind::Warning)
      log_warning(text);
    else
      log_info(text);
  }
}

InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found) {
  if (init_from.empty()) return {};
  const ModelFileReader model(found ? found->path : resolve_model_path(init_from));
  InitialModel initial{model.checksum(), model.decode_defaults()};
  if (found) {
    const auto& data = model.provenance().data;
    const auto remembered = data.find(kInitFrom);  // settle() refuses a new --init-from
    initial.checksum = remembered == data.end() ? "" : remembered->second;
  }
  return initial;
}

MachineFacts machine_facts(Precision precision, int threads, int ranks) {
  return {.ranks = ranks,
          .precision = std::string(name_of(precision)),
          .threads = std::to_string(threads),
          .processor = cpu_features().model + " (" + cpu_features().instructions + ")"};
}

}  // namespace dragoman
