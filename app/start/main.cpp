// dragoman, as people call it. It does by itself what needs no LibTorch, and so starts in
// milliseconds. For the rest (train, score, a GPU) the process becomes dragoman-torch, whose start
// takes half a second.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/commands/commands.h"
#include "app/frame/child_program.h"
#include "app/frame/flag_names.h"
#include "app/frame/program.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

char** arguments = nullptr;  ///< of main()

/// Beside this program, or where cmake --install or an image has it.
fs::path torch_program() {
  std::error_code none;
  const fs::path folder = own_program().parent_path();
  for (const char* place : {"", DRAGOMAN_LIBRARIES, "../lib/dragoman"})
    if (fs::path found = (folder / place / "dragoman-torch").lexically_normal();
        fs::exists(found, none))
      return found;
  return folder / "dragoman-torch";
}

[[noreturn]] void become_torch_program() {
  const fs::path program = torch_program();
  execv(program.c_str(), arguments);
  std::cerr << "dragoman: error: " << program.string() << ": cannot start: " << std::strerror(errno)
            << "; dragoman needs it for train, score, a GPU and --help: install dragoman again, or "
               "copy both files\n";
  _exit(1);
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all =
      common_commands(no_device_engine, open_cpu_scorer, built_extras(no_device_engine));
  return all;
}

bool is_known(const std::string& name) {
  return std::ranges::count(commands(), name, &Command::name) > 0;
}

/// Whether the configuration file is a pipe: then only one program can read it.
bool config_is_pipe(int argc, char** argv) {
  constexpr std::string_view kFlag = "--config", kWithValue = "--config=";
  std::error_code none;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = word.starts_with(kWithValue);
    if (!has_value && ((word != kFlag && word != "-c") || i + 1 == argc)) continue;
    const fs::path file = has_value ? word.substr(kWithValue.size()) : argv[i + 1];
    if (fs::exists(file, none) && !fs::is_regular_file(file, none)) return true;
  }
  return false;
}

/// Only LibTorch sees GPUs; if there may be one, it says what it makes of --device auto.
void leave_to_torch(const Command& command) {
  const auto value = [&command](const char* flag) {
    const Field* field = find_field(command.fields, flag);
    return field == nullptr ? std::string() : field->text();
  };
  const std::string device = value("device");
  const bool may_have_gpu = access("/dev/nvidiactl", F_OK) == 0;
  if (command.name == "score" || device.starts_with("cuda") || value("device-graph") == "true" ||
      (device == "auto" && may_have_gpu))
    become_torch_program();
}

constexpr Program kProgram = {.name = "dragoman",
                              .summary = "",
                              .example = "",
                              .commands = commands,
                              .libraries = [] { return std::string(); },
                              .before_run = leave_to_torch};

}  // namespace

}  // namespace dragoman

int main(int argc, char** argv) {
  dragoman::arguments = argv;
  if (argc < 2 || !dragoman::is_known(argv[1]) || dragoman::config_is_pipe(argc, argv))
    dragoman::become_torch_program();
  return dragoman::run_program(dragoman::kProgram, argc, argv);
}
