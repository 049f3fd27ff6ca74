#include "app/frame/child_program.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stop_token>
#include <system_error>

#include "app/frame/signals.h"
#include "base/error.h"

namespace dragoman {

namespace {

/// Opens a file in place of a standard one.
void redirect(int descriptor, const std::string& path, int flags) {
  if (path.empty()) return;
  const int file = open(path.c_str(), flags, 0666);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
  close(file);
}

/// The child's side of fork(): only calls that are safe there.
[[noreturn]] void become_program(const char* program, char* const* arguments, const ChildOutput& to,
                                 pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, to.output, O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, to.messages, O_WRONLY | O_CREAT | O_APPEND);
  execv("/proc/self/exe", arguments);  // also if another file has taken its place
  execv(program, arguments);
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
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string program = own_program();
  const std::stop_token stop = listen_for_stop();
  const pid_t parent = getpid(), child = fork();
  if (child == 0) become_program(program.c_str(), arguments.data(), to, parent);
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
    throw Error(to.messages.empty() ? "" : to.messages + ": ", "dragoman ", words.front(),
                " has failed; its last lines say why");
  return true;
}

void require_train(std::string_view what, const Invocation& invocation) {
  if (invocation.command_line.starts_with("dragoman-lite "))
    throw UsageError(what,
                     ": needs train, which is a command of dragoman; dragoman-lite has none "
                     "that needs LibTorch");
}

}  // namespace dragoman
