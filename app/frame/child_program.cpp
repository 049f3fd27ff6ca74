#include "app/frame/child_program.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stop_token>
#include <system_error>

#include "app/frame/signals.h"
#include "base/error.h"
#include "base/json.h"

namespace dragoman {

namespace {

constexpr const char* kPart = "DRAGOMAN_PART";  // of the environment

using PointerList = std::vector<char*>;  // with a null pointer at its end, as execve() takes it

PointerList pointers(std::vector<std::string>& words) {
  PointerList all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// The error with which a command ended, from the file of its messages; empty if there is none.
std::string error_in(const std::string& messages) {
  constexpr std::string_view kText = "dragoman: error: ";
  std::string last;
  std::ifstream file(messages);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  if (last.starts_with(kText)) return last.substr(kText.size());
  const auto json = parse_json_or_discard(last);  // --log-format json
  return json.is_object() ? json.value("message", last) : last;
}

/// What the end of a command means that was not asked to stop.
std::string failure_text(const std::string& command, int status, const std::string& messages) {
  if (WIFSIGNALED(status))
    return join_text(
        "dragoman ", command, " was ended by SIG", sigabbrev_np(WTERMSIG(status)),
        WTERMSIG(status) == SIGKILL ? ", which the system sends if memory runs out" : "");
  const std::string why = messages.empty() ? "" : error_in(messages);
  return join_text("dragoman ", command, " has failed",
                   why.empty() ? "; its last lines say why" : ": " + why);
}

/// Opens a file in place of a standard one.
void redirect(int descriptor, const std::string& path, int flags) {
  if (path.empty()) return;
  const int file = open(path.c_str(), flags, 0666);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
  close(file);
}

/// The child's side of fork(): only calls that are safe there.
[[noreturn]] void become_program(const char* program, const PointerList& arguments,
                                 const PointerList& environment, const ChildOutput& to,
                                 pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, to.output, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, to.messages, O_WRONLY | O_CREAT | O_APPEND);
  // Also if another file has taken its place.
  execve("/proc/self/exe", arguments.data(), environment.data());
  execve(program, arguments.data(), environment.data());
  _exit(127);
}

}  // namespace

std::filesystem::path own_program() {
  std::error_code none;
  std::filesystem::path itself = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none) return itself;
  // In a chroot without /proc: the kernel also says by which path it started the program.
  return "/" / std::filesystem::canonical(std::bit_cast<const char*>(getauxval(AT_EXECFN)), none);
}

bool run_child(const std::vector<std::string>& words, const ChildOutput& to) {
  std::vector<std::string> all = {"dragoman"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<std::string> variables = {std::string(kPart) + "=1"};
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  const PointerList arguments = pointers(all), environment = pointers(variables);
  const std::string program = own_program();
  const std::stop_token stop = listen_for_stop();
  const pid_t parent = getpid(), child = fork();
  if (child == 0) become_program(program.c_str(), arguments, environment, to, parent);
  if (child < 0) throw Error("cannot start ", words.front(), ": ", std::strerror(errno));
  int status = 0;
  {
    // A signal from the terminal has reached the child, too; both are one request for it.
    const std::stop_callback pass_on(stop, [child] { kill(child, SIGTERM); });
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (stop.stop_requested()) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(failure_text(words.front(), status, to.messages));
  return true;
}

bool is_part() { return std::getenv(kPart) != nullptr; }

void require_train(std::string_view what, const Invocation& invocation) {
  if (invocation.command_line.starts_with("dragoman-lite "))
    throw UsageError(what,
                     ": needs train, which is a command of dragoman; dragoman-lite has none "
                     "that needs LibTorch");
}

}  // namespace dragoman
