// dragoman: the program with LibTorch, which can do everything.
#include <ATen/Version.h>
#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include "app/commands/commands.h"
#include "app/frame/log.h"
#include "app/frame/program.h"
#include "app/torch/chosen_device.h"
#include "app/torch/commands.h"
#include "app/torch/torch_scorer.h"
#include "base/amounts.h"
#include "base/error.h"
#include "inference/torch/torch_engine.h"
#include "model/load_transformer.h"

namespace dragoman {

namespace {

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

std::unique_ptr<Engine> torch_engine(const std::string& device, const ModelFileReader& file,
                                     const std::vector<TokenId>& never_emitted) {
  const torch::Device chosen = chosen_device(device);
  if (chosen.is_cpu()) return nullptr;
  const auto warn = [](std::int64_t rows) {
    log_warning(join_text("the GPU's memory has run out; sentences begin again with ",
                          counted(rows, "row"), " (--batch-size ", rows, ")"));
  };
  return std::make_unique<TorchEngine>(load_transformer(file, chosen), never_emitted,
                                       SearchPlace::Auto, warn);
}

std::vector<Command> commands() {
  std::vector<Command> all =
      common_commands(torch_engine, open_torch_scorer, built_extras(torch_engine));
  all.insert(all.begin(), train_command());
  return all;
}

constexpr Program kProgram = {
    .name = "dragoman",
    .summary =
        "trains the Transformer of \"Attention Is All You Need\" on two text files, and\n"
        "translates with it.",
    .example =
        "  dragoman sample -o sample/\n"
        "  dragoman train --train-src sample/train.en --train-tgt sample/train.de -o run/\n"
        "  dragoman translate -m run/ < sample/test.en > test.de\n",
    .commands = commands,
    .libraries = libraries,
};

}  // namespace

}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::run_program(dragoman::kProgram, argc, argv); }
