#include "app/torch/train_agreement.h"

#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include "app/frame/log.h"
#include "base/hash.h"
#include "training/ranks/rank_agreement.h"
#include "training/start/start_settler.h"

namespace dragoman {

namespace {

std::string hash_of(const std::string& bytes) { return hex16(xxh3(bytes)); }

std::string hash_of(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [path, hash] : files) all += hash;
  return hash_of(all);
}

}  // namespace

void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks) {
  if (const auto text = find_disagreement(
          ranks, {{"dragoman's version", DRAGOMAN_VERSION}, {"LibTorch's version", TORCH_VERSION}});
      !text.empty())
    throw Error(text, "; install the same on all hosts");
  CommonFacts facts;
  for (const auto& [name, value] : configuration)
    if (!is_of_the_host(name)) facts.push_back({join_text("--", name), value});
  if (const auto text = find_disagreement(ranks, facts); !text.empty())
    throw UsageError(text, "; give all ranks the same command");
}

void require_same_data(const TrainingRun& run, Communicator& ranks) {
  const CorpusReport& report = run.data.report;
  const auto text = find_disagreement(
      ranks, {{"the training text's hash", run.data.text_hash},
              {"the hash of all text files", hash_of(run.data.file_hashes)},
              {"the tokenizer's hash",
               hash_of(run.attachments.tokenizer_source + run.attachments.tokenizer_target)},
              {"the number of training pairs", std::to_string(report.kept)},
              {"the number of target pieces", std::to_string(report.target_tokens)},
              {"the precision", std::string(name_of(run.precision))},
              {"the kind of device", c10::DeviceTypeName(run.device.type(), /*lower_case=*/true)}});
  if (!text.empty())
    throw Error(text,
                "; put the same files on all hosts, and give the same --precision and --device");
  const auto processors =
      find_disagreement(ranks, {{"the processor", run.start.machine.processor}});
  if (ranks.leads() && !processors.empty())
    log_warning(processors + ": the ranks' weights may differ in their last digits");
}

}  // namespace dragoman
