// dragoman-lite: the commands that need no LibTorch. It is small, starts quickly, and uses the CPU
// alone.
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/frame/program.h"

namespace dragoman {

namespace {

struct Commands {
  std::vector<Command> here = {};
  std::vector<std::string> elsewhere = {"train"};  // this program does not link its flags
};

Commands make_commands() {
  Commands made;
  for (Command& command :
       common_commands(no_device_engine, open_cpu_scorer, built_extras(no_device_engine))) {
    if (command.needs_training)
      made.elsewhere.push_back(command.name);
    else
      made.here.push_back(std::move(command));
  }
  return made;
}

const Commands& commands() {
  static const Commands made = make_commands();
  return made;
}

constexpr Program kProgram = {
    .name = "dragoman-lite",
    .summary = "translates with the models of dragoman on the CPU.",
    .example =
        "  dragoman-lite translate -m model.safetensors < test.en > test.de\n"
        "  dragoman-lite evaluate -m model.safetensors --src test.en --ref test.de\n",
    .commands = []() -> const std::vector<Command>& { return commands().here; },
    .libraries = [] { return std::string(); },
    .elsewhere = []() -> const std::vector<std::string>& { return commands().elsewhere; },
};

}  // namespace

}  // namespace dragoman

int main(int argc, char** argv) { return dragoman::run_program(dragoman::kProgram, argc, argv); }
