// dragoman-torch: the program with LibTorch, which can do everything. Its main(), its --version,
// its devices, and the engine and the scorer on the module tree.
#include <ATen/Version.h>
#include <c10/core/DeviceType.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "app/commands/commands.h"
#include "app/frame/log.h"
#include "app/frame/program.h"
#include "app/torch/commands.h"
#include "base/formatted_text.h"
#include "inference/device/recorded_steps.h"
#include "inference/model_settings.h"
#include "inference/torch/scorer.h"
#include "inference/torch/torch_device_model.h"
#include "model/device.h"
#include "model/transformer.h"

namespace dragoman {

namespace {

// LibTorch's static initialisers end the process with std::terminate if `ulimit -v` leaves too
// little for them, before main() can print a message. A function in .preinit_array runs before
// those of all libraries (ELF gABI, "Initialization and Termination Functions").

/// Measured with LibTorch 2.13 for the CPU: below 430 MiB `dragoman --version` fails.
constexpr rlim_t kFloor = rlim_t{440} << 20;

/// The C++ library cannot be used yet.
void require_address_space() {
  constexpr std::string_view kText =
      "dragoman: error: not enough memory to load LibTorch: ulimit -v must leave 440 MiB or more; "
      "raise it, or use dragoman-lite, which needs less\n";
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kFloor) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  _exit(1);
}

__attribute__((section(".preinit_array"),
               used)) void (*const kBeforeLibraries)() = require_address_space;

/// "CUDA 13.0, 1 device" or "CPU only", from the one place where LibTorch tells how it was built.
std::string cuda_text() {
  const std::string configuration = at::show_config();
  constexpr std::string_view kVersion = "CUDA_VERSION=";
  const std::size_t found = configuration.find(kVersion);
  if (found == std::string::npos) return "CPU only";
  const std::size_t begin = found + kVersion.size();
  const std::string version =
      configuration.substr(begin, configuration.find_first_of(", \n", begin) - begin);
  const auto devices =
      at::globalContext().hasCUDA()
          ? at::globalContext().getAcceleratorHooksInterface(at::kCUDA).deviceCount()
          : 0;
  return join_text("CUDA ", version, ", ", int{devices}, devices == 1 ? " device" : " devices");
}

std::string libraries() { return join_text("LibTorch ", TORCH_VERSION, " (", cuda_text(), ")\n"); }

std::unique_ptr<Engine> make_device_engine(const EngineChoice& choice,
                                           std::span<const ModelFileReader> files,
                                           const std::vector<TokenId>& never_emitted) {
  const torch::Device chosen = chosen_device(choice.device);
  if (choice.device_graph && !RecordedSteps::is_available(chosen))
    throw UsageError(
        "--device-graph: needs a GPU, this program's kernels for it, and either LibTorch 2.12 or "
        "CUDA's headers");
  if (chosen.is_cpu()) return nullptr;
  const auto warn = [](std::int64_t rows) {
    log_warning(join_text("the GPU's memory has run out; sentences begin again with ",
                          counted(rows, "row"), " (--batch-size ", rows, ")"));
  };
  std::vector<Transformer> models;
  for (const ModelFileReader& file : files)
    models.push_back(load_transformer(file, chosen, type_on_gpu(choice.compute_type)));
  return device_engine(models, never_emitted, warn,
                       choice.device_graph ? StepLaunch::Graph : StepLaunch::Operations);
}

/// An OpenScorer for the devices of LibTorch.
OpenedScorer open_torch_scorer(const ScorerChoice& choice) {
  const torch::Device device = chosen_device(choice.device);
  const int threads = use_threads(choice.threads);
  const ModelFileReader file(resolve_model_path(choice.model));
  return {.tokenizers = load_tokenizers(file),
          .record = file.provenance(),
          .max_positions = file.config().longest_sentence(),
          .threads = threads,
          .score = [model = load_transformer(file, device), tokens = choice.max_tokens](
                       std::span<const SentencePair> pairs, const std::stop_token& stop) mutable {
            return token_log_probabilities(model, pairs, tokens, stop);
          }};
}

std::vector<Command> all_commands() {
  const std::vector<Extra> extras = built_extras(make_device_engine);
  const auto options = std::make_shared<TrainOptions>();
  for (const Extra& extra : extras) {
    if (extra.examination) options->examination = extra.examination;
    if (extra.longer_training) options->longer_training = extra.longer_training;
  }
  std::vector<Command> all = common_commands(make_device_engine, open_torch_scorer, extras);
  all.insert(all.begin(), train_command(options, [options] { return run_train(*options); }));
  return all;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = all_commands();
  return all;
}

constexpr Program kProgram = {
    .name = "dragoman",
    .summary = "",  // dragoman shows the overview
    .example = "",
    .commands = commands,
    .libraries = libraries,
};

}  // namespace

torch::Device chosen_device(const std::string& text, int local_rank) {
  static std::once_flag said;
  std::call_once(said, [&] {
    const std::string notice = local_rank == 0 ? unused_gpu_notice(text) : "";
    if (!notice.empty()) log_info(notice);
  });
  return parse_device(text, local_rank);
}

}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::run_program(dragoman::kProgram, argc, argv); }
