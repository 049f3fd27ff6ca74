#include "tests/system/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace dragoman {

const char* const kProgram = DRAGOMAN_PROGRAM;
const char* const kLiteProgram = DRAGOMAN_LITE_PROGRAM;
const char* const kSources = DRAGOMAN_SOURCES;

namespace {

struct Pipe {
  int read_end, write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  return {ends[0], ends[1]};
}

std::vector<std::string> environment_with(const Variables& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Signals as in a shell's foreground, whatever the tests were started by.
void set_default_signals(posix_spawnattr_t& attributes) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

CommandWords program_with(const std::vector<std::string>& arguments) {
  CommandWords command{{kProgram}};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const Variables& environment)
    : Process(program_with(arguments), environment) {}

Process::Process(CommandWords command, const Variables& environment) {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe input = make_pipe(), output = make_pipe(), errors = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_default_signals(attributes);

  std::vector<std::string> variables = environment_with(environment);
  const int failed = posix_spawnp(&id_, command.words.front().c_str(), &actions, &attributes,
                                  pointers_to(command.words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  for (const int end : {input.read_end, output.write_end, errors.write_end}) close(end);
  input_ = input.write_end;
  output_.descriptor = output.read_end;
  errors_.descriptor = errors.read_end;
  if (failed != 0) throw std::runtime_error(command.words.front() + ": cannot be started");
  output_.reader = std::jthread([this] { read(output_); });
  errors_.reader = std::jthread([this] { read(errors_); });
}

Process::~Process() {
  if (id_ > 0) wait(Seconds(0));
}

void Process::read(Stream& stream) {
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(stream.descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (count > 0) stream.text.append(buffer, static_cast<std::size_t>(count));
    if (count <= 0) stream.ended = true;
    changed_.notify_all();
    if (count <= 0) return;
  }
}

void Process::send(const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = write(input_, text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // it reads no more: its exit code tells
    sent += static_cast<std::size_t>(count);
  }
}

void Process::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

void Process::send_signal(int signal) { kill(id_, signal); }

bool Process::wait_for(Stream& stream, const std::string& text, Seconds limit) {
  std::unique_lock lock(mutex_);
  const auto found = [&] { return stream.text.find(text) != std::string::npos; };
  changed_.wait_for(lock, limit, [&] { return stream.ended || found(); });
  return found();
}

bool Process::wait_for_output(const std::string& text, Seconds limit) {
  return wait_for(output_, text, limit);
}

bool Process::wait_for_errors(const std::string& text, Seconds limit) {
  return wait_for(errors_, text, limit);
}

std::string Process::output() {
  const std::lock_guard lock(mutex_);
  return output_.text;
}

std::string Process::errors() {
  const std::lock_guard lock(mutex_);
  return errors_.text;
}

ProcessResult Process::wait(Seconds limit) {
  close_input();
  ProcessResult result;
  {
    std::unique_lock lock(mutex_);
    result.timed_out =
        !changed_.wait_for(lock, limit, [this] { return output_.ended && errors_.ended; });
  }
  if (result.timed_out) kill(id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
  id_ = -1;
  output_.reader.join();
  errors_.reader.join();
  close(output_.descriptor);
  close(errors_.descriptor);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = output_.text;
  result.errors = errors_.text;
  return result;
}

ProcessResult run(const std::vector<std::string>& arguments, const std::string& input,
                  std::chrono::seconds limit) {
  Process process(arguments);
  process.send(input);
  return process.wait(limit);
}

}  // namespace dragoman
