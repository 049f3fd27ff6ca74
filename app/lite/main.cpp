// dragoman-lite: the commands that need no LibTorch. It is small, starts quickly, and uses the CPU
// alone.
#include <algorithm>
#include <array>
#include <string_view>

#include "app/commands/commands.h"
#include "app/frame/program.h"

namespace dragoman {

namespace {

/// They train.
constexpr std::array<std::string_view, 2> kElsewhere = {"train", "best"};

std::vector<Command> commands_without_training() {
  std::vector<Command> all =
      common_commands(no_device_engine, open_cpu_scorer, built_extras(no_device_engine));
  std::erase_if(
      all, [](const Command& command) { return std::ranges::count(kElsewhere, command.name) > 0; });
  return all;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = commands_without_training();
  return all;
}

constexpr Program kProgram = {
    .name = "dragoman-lite",
    .summary = "translates with the models of dragoman on the CPU.",
    .example =
        "  dragoman-lite translate -m model.safetensors < test.en > test.de\n"
        "  dragoman-lite evaluate -m model.safetensors --src test.en --ref test.de\n",
    .commands = commands,
    .libraries = [] { return std::string(); },
    .elsewhere = kElsewhere,
};

}  // namespace

}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::run_program(dragoman::kProgram, argc, argv); }
