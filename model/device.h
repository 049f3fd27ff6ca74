// The device of a command and its resources: the device that `--device` names, LibTorch's threads
// on the CPU, the memory of a GPU, and the memory that attention takes on the CPU.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/threads.h"
#include "model/file/model_config.h"

namespace dragoman {

/// `text` is auto, cpu, cuda or cuda:N. auto is the CPU: a GPU must be asked for. Without a number,
/// CUDA is device `local_rank`, modulo the number of devices. On CUDA, LibTorch then does without
/// cuDNN's attention. Throws UsageError for other texts, and Error if CUDA is asked for and
/// missing, or has no device of that number.
torch::Device parse_device(const std::string& text, int local_rank = 0);

/// Says that there is a GPU which `text` = auto leaves alone; empty if there is none, or if `text`
/// is not auto.
std::string unused_gpu_notice(const std::string& text);

/// Sets the number of LibTorch's CPU threads to threads_to_use(), and returns it. `threads`: the
/// flag's value, 0 for all cores. `processes`: how many share this machine's cores. Call it
/// before any work.
int use_threads(std::int64_t threads, int processes = 1);

/// Calls task(i) for i < count on the team's threads and waits for all. Each call has operations of
/// its own: threads that share every operation wait for each other hundreds of times, and longer if
/// other programs have their cores. LibTorch's own threads are divided among the calls, at least
/// one for each. Rethrows the exception of the lowest i.
void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task);

/// The bytes of a GPU's memory that this process may use: those that are free, and those that
/// LibTorch has taken already.
std::int64_t device_memory(torch::Device device);
/// Gives the memory that LibTorch keeps unused back to the GPU, and begins to measure the peak.
void reset_peak_device_memory(torch::Device device);
/// The most bytes of a GPU's memory that LibTorch has held since its start or the last reset.
std::int64_t peak_device_memory(torch::Device device);

/// The offsets at which the sentences of a batch start, [B+1] each.
struct SentenceStarts {
  std::span<const std::int32_t> source, target;
};

enum class Pass { Forward, Training };

/// A lower bound of the bytes that attention scores and weights take on the CPU if these sentences
/// are computed together, with elements of `element_size` bytes. 0 if the packed kernel computes
/// all sentences. If one sentence is too long for it, all are padded to the longest. The memory
/// grows with the square of a sentence's length, so one sentence may need more than there is. A
/// forward pass holds the scores of one attention at a time, a training pass those of all layers.
/// Scores that guided alignment computes besides are not counted.
std::int64_t attention_memory(const ModelConfig& config, const SentenceStarts& starts,
                              std::int64_t element_size, Pass pass);

}  // namespace dragoman
