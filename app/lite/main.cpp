// dragoman-lite: what needs no LibTorch. Small and quick to start, on the CPU alone.
#include "app/open_translator.h"
#include "app/program.h"
#include "base/error.h"

namespace dragoman {

namespace {

std::vector<Command> commands() {
  return {translate_command(), evaluate_command(), average_command(), export_command(),
          quantize_command(),  sample_command(),   inspect_command(), plot_command()};
}

constexpr Program kProgram = {
    .name = "dragoman-lite",
    .summary = "translates with the models of dragoman on the CPU.",
    .example =
        "  dragoman-lite translate -m model.safetensors < test.en > test.de\n"
        "  dragoman-lite evaluate -m model.safetensors --src test.en --ref test.de\n",
    .commands = commands,
    .libraries = [] { return std::string(); },
};

}  // namespace

std::unique_ptr<Engine> engine_on_device(const std::string& device, const ModelFileReader&,
                                         const std::vector<TokenId>&) {
  if (device == "auto" || device == "cpu") return nullptr;
  if (device.starts_with("cuda"))
    throw Error("--device ", device,
                ": dragoman-lite works on the CPU; dragoman can use CUDA devices");
  throw UsageError("--device: '", device, "' is none of auto, cpu, cuda, cuda:N");
}

}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::run_program(dragoman::kProgram, argc, argv); }
