// dragoman, as people call it. It does by itself what needs no LibTorch, and so starts in
// milliseconds. For the rest (train, score, a GPU) the process becomes dragoman-torch, whose start
// takes half a second.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/train_options.h"
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
  std::cerr
      << "dragoman: error: " << program.string() << ": cannot start: " << std::strerror(errno)
      << "; dragoman needs it for train, score, a GPU and --version: install dragoman again, or "
         "copy both files\n";
  _exit(1);
}

std::vector<Command> all_commands() {
  std::vector<Command> all =
      common_commands(no_device_engine, open_cpu_scorer, built_extras(no_device_engine));
  all.insert(all.begin(), train_command(std::make_shared<TrainOptions>(),
                                        []() -> int { become_torch_program(); }));
  return all;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = all_commands();
  return all;
}

using Words = std::span<const std::string_view>;

/// Whether the words are a command that always needs LibTorch. Its help does not.
bool needs_torch(Words words) {
  if (words.empty() || (words[0] != "train" && words[0] != "score")) return false;
  return std::ranges::none_of(words, [](auto word) { return word == "--help" || word == "-h"; });
}

/// Whether the configuration file is a pipe: then only one program can read it.
bool config_is_pipe(Words words) {
  constexpr std::string_view kFlag = "--config", kWithValue = "--config=";
  std::error_code none;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = words[i].starts_with(kWithValue);
    if (!has_value && ((words[i] != kFlag && words[i] != "-c") || i + 1 == words.size())) continue;
    const fs::path file = has_value ? words[i].substr(kWithValue.size()) : words[i + 1];
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

constexpr Program kProgram = {
    .name = "dragoman",
    .summary =
        "trains the Transformer of \"Attention Is All You Need\" on two text files, and "
        "translates with it.",
    .example =
        "  dragoman sample -o sample/\n"
        "  dragoman train --train-src sample/train.en --train-tgt sample/train.de -o run/\n"
        "  dragoman translate -m run/ < sample/test.en > test.de\n",
    .commands = commands,
    .libraries = []() -> std::string { become_torch_program(); },  // which knows LibTorch's version
    .before_run = leave_to_torch};

}  // namespace

}  // namespace dragoman

int main(int argc, char** argv) {
  dragoman::arguments = argv;
  // At once, so that each file of the command line is read once.
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (dragoman::needs_torch(words) || dragoman::config_is_pipe(words))
    dragoman::become_torch_program();
  return dragoman::run_program(dragoman::kProgram, argc, argv);
}
