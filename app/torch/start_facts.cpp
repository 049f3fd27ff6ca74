#include "app/torch/start_facts.h"

#include "base/cpu.h"

namespace dragoman {

InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found) {
  if (init_from.empty()) return {};
  const ModelFileReader model(found ? found->path : resolve_model_path(init_from));
  InitialModel initial{model.checksum(), model.decode_defaults(),
                       model.provenance().copied_fractions, model.provenance().characters};
  if (found) initial.checksum = found->initial_checksum;  // settle() refuses a new --init-from
  return initial;
}

MachineFacts machine_facts(Precision precision, int threads, int ranks) {
  return {.ranks = ranks,
          .precision = std::string(name_of(precision)),
          .threads = std::to_string(threads),
          .processor = cpu_features().model + " (" + cpu_features().instructions + ")"};
}

}  // namespace dragoman
