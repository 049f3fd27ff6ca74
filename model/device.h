// The device of a command: `--device auto|cpu|cuda|cuda:N`.
#pragma once

#include <torch/types.h>

#include <string>

namespace dragoman {

/// auto is the CPU: a GPU must be asked for. Without a number, CUDA is device `local_rank`, modulo
/// the number of devices; LibTorch then does without cuDNN's attention. Throws UsageError
/// for other texts, and Error where CUDA is asked for and missing, or has no device of that number.
torch::Device parse_device(const std::string& text, int local_rank = 0);

/// Says that there is a GPU which `text` = auto leaves alone; empty if there is none, or the text
/// is another one.
std::string unused_gpu_notice(const std::string& text);

/// Sets the number of LibTorch's CPU threads to threads_to_use(), and returns it. `threads`: the
/// flag's value, 0 for all cores. `processes`: that share this machine's cores. To be called before
/// any work.
int use_threads(std::int64_t threads, int processes = 1);

}  // namespace dragoman
