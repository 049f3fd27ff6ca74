#include "training/ranks/c10d.h"

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <torch/cuda.h>

#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#ifdef DRAGOMAN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "base/error.h"

namespace dragoman {

std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

RankStore::RankStore(const RankInfo& info, Milliseconds limit) {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;  // c10d prints failures that it also throws
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(info.master_port);
  options.isServer = info.rank == 0 && !info.launcher_serves_store;
  options.waitWorkers = false;
  options.timeout = limit;
  try {
    // Each of torchrun's attempts has keys of its own.
    store_ = c10::make_intrusive<c10d::PrefixStore>(
        join_text("dragoman/", info.attempt),
        c10::make_intrusive<c10d::TCPStore>(info.master_host, options));
  } catch (const std::exception& error) {
    throw Error("rank ", info.rank,
                options.isServer ? " cannot listen at " : " cannot reach rank 0 at ",
                info.master_host, ", port ", info.master_port,
                " (MASTER_ADDR, MASTER_PORT): ", first_line(error));
  }
}

RankStore::~RankStore() = default;

void RankStore::set(const std::string& key, const std::string& text) { store_->set(key, text); }

std::string RankStore::set_first(const std::string& key, const std::string& text) {
  return store_->compareSet(key, "", text);
}

void RankStore::remove(const std::string& key) { store_->deleteKey(key); }

std::optional<std::vector<std::string>> RankStore::get(const std::vector<std::string>& keys,
                                                       Milliseconds limit) {
  std::vector<std::string> texts;
  try {
    store_->setTimeout(limit);
    for (const auto& bytes : store_->multiGet(keys)) texts.emplace_back(bytes.begin(), bytes.end());
  } catch (const c10::DistStoreError&) {  // the limit was reached
    return std::nullopt;
  }
  return texts;
}

TensorExchange::TensorExchange(const RankStore& store, const RankInfo& info,
                               const std::string& address, Milliseconds limit) {
  // A connection of its own, because the backends use it in their own threads.
  const auto own = store.store_->clone();
  const auto options = c10d::ProcessGroupGloo::Options::create(limit);
  options->devices = {c10d::ProcessGroupGloo::createDeviceForHostname(address)};
  gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(own, info.rank, info.size, options);
#ifdef DRAGOMAN_NCCL
  if (torch::cuda::is_available())
    nccl_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::make_intrusive<c10d::PrefixStore>("nccl", own), info.rank, info.size);
#endif
}

TensorExchange::~TensorExchange() = default;

void TensorExchange::run(TensorWork work, torch::Tensor& tensor, const std::stop_token& lost) {
  const torch::NoGradGuard no_grad;
  const bool through_cpu = !tensor.is_cpu() && !nccl_;
  const bool on_cpu = tensor.is_cpu() || through_cpu;
  c10d::Backend& backend = on_cpu ? *gloo_ : *nccl_;
  std::vector<at::Tensor> tensors = {through_cpu ? tensor.cpu() : tensor};
  const auto running =
      work == TensorWork::Sum ? backend.allreduce(tensors) : backend.broadcast(tensors);
  // NCCL's own wait would never notice that a rank is lost.
  while (!on_cpu && !running->isCompleted()) {
    if (lost.stop_requested()) throw Error("a rank is lost");
    std::this_thread::sleep_for(std::chrono::microseconds(30));
  }
  running->wait();
  if (through_cpu) tensor.copy_(tensors.front());
}

}  // namespace dragoman
