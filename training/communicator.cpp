#include "training/communicator.h"

#include <c10/util/Logging.h>
#include <torch/cuda.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#ifdef DRAGOMAN_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "base/error.h"
#include "training/rank_links.h"

namespace dragoman {

namespace {

constexpr const char* kNotice = "dragoman/links";

/// The first line of what LibTorch says.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// With a pause that is shorter than c10d's, and errors that say what to do.
void wait_for_store(const RankPlace& place, Milliseconds joining) {
  constexpr Milliseconds kPause{200};
  const auto deadline = std::chrono::steady_clock::now() + joining;
  for (;;) {
    try {
      RankSocket::connected_to(place.master_host, place.master_port, joining);
      return;
    } catch (const Error& error) {
      if (std::chrono::steady_clock::now() > deadline)
        throw Error("rank ", place.rank, ": ", error.what(), " (MASTER_ADDR, MASTER_PORT)");
    }
    std::this_thread::sleep_for(kPause);
  }
}

c10::intrusive_ptr<c10d::Store> open_store(const RankPlace& place, Milliseconds joining) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(place.master_port);
  options.isServer = place.rank == 0 && !place.store_is_there;
  options.waitWorkers = false;
  options.timeout = joining;
  if (!options.isServer) wait_for_store(place, joining);
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        join_text("dragoman/", place.attempt),
        c10::make_intrusive<c10d::TCPStore>(place.master_host, options));
  } catch (const std::exception& error) {
    throw Error("rank ", place.rank, options.isServer ? " cannot listen at " : " is refused by ",
                place.master_host, ", port ", place.master_port,
                " (MASTER_ADDR, MASTER_PORT): ", first_line(error));
  }
}

RankLinks::NoticeBoard board_of(const c10::intrusive_ptr<c10d::Store>& store) {
  return {.post = [store](const std::string& text) { store->set(kNotice, text); },
          .read = [store]() -> std::string {
            try {
              return store->get_to_str(kNotice);
            } catch (const std::exception& error) {
              throw Error("rank 0 has not come: ", first_line(error));
            }
          }};
}

}  // namespace

struct Communicator::Group {
  c10::intrusive_ptr<c10d::Store> store;
  RankLinks links;
  c10::intrusive_ptr<c10d::Backend> gloo, nccl;
  std::stop_source stop;
  using Callback = std::stop_callback<std::function<void()>>;
  std::optional<Callback> by_signal, by_loss;

  Group(const RankPlace& place, RankLinks::Limits limits)
      : store(open_store(place, limits.joining)), links(place, limits, board_of(store)) {
    // All ranks are at the same point whenever one of these begins, so that a wait inside of them
    // is no longer than a transfer.
    const auto options = c10d::ProcessGroupGloo::Options::create(limits.silence);
    options->devices = {c10d::ProcessGroupGloo::createDeviceForHostname(links.address())};
    guard([&] {
      gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.size, options);
#ifdef DRAGOMAN_NCCL
      if (torch::cuda::is_available())
        nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
            c10::make_intrusive<c10d::PrefixStore>("nccl", store), place.rank, place.size);
#endif
    });
  }

  /// What fails here fails because of a rank that is lost; the links know which.
  template <class Work>
  void guard(Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      links.throw_loss("the exchange with the other ranks has failed: " + first_line(error));
    }
  }

  /// Runs start(backend, tensors) when all ranks are here, and waits for its end.
  template <class Start>
  void run(torch::Tensor& tensor, Start&& start) {
    const torch::NoGradGuard no_grad;
    links.exchange("");
    const bool through_cpu = !tensor.is_cpu() && !nccl;
    std::vector<at::Tensor> tensors = {through_cpu ? tensor.cpu() : tensor};
    guard([&] {
      const auto work = start(tensor.is_cpu() || through_cpu ? *gloo : *nccl, tensors);
      // NCCL's own wait would leave a rank that is lost to the device.
      while (!tensor.is_cpu() && !through_cpu && !work->isCompleted()) {
        if (links.lost().stop_requested()) links.throw_loss("");
        std::this_thread::yield();
      }
      work->wait();
    });
    if (through_cpu) tensor.copy_(tensors.front());
  }
};

Communicator::Communicator(const RankPlace& place, double silence_seconds) : place_(place) {
  if (place.size == 1) return;
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;  // what fails is thrown; c10d would print it, too
  const Milliseconds silence(std::llround(1000 * silence_seconds));
  group_ = std::make_unique<Group>(place, RankLinks::Limits{silence, 10 * silence});
}

Communicator::~Communicator() = default;

std::string Communicator::name(int rank) const {
  return group_ ? group_->links.name(rank) : "rank 0";
}

void Communicator::sum(torch::Tensor& tensor) {
  if (!group_) return;
  group_->run(tensor, [](c10d::Backend& backend, std::vector<at::Tensor>& tensors) {
    return backend.allreduce(tensors);
  });
}

void Communicator::sum(std::span<double> numbers) {
  if (!group_) return;
  const auto texts =
      gather(std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()));
  std::fill(numbers.begin(), numbers.end(), 0.0);
  std::vector<double> theirs(numbers.size());
  for (const std::string& text : texts) {
    std::memcpy(theirs.data(), text.data(), std::min(text.size(), numbers.size_bytes()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
  }
}

void Communicator::broadcast(torch::Tensor& tensor) {
  if (!group_) return;
  group_->run(tensor, [](c10d::Backend& backend, std::vector<at::Tensor>& tensors) {
    return backend.broadcast(tensors);
  });
}

std::string Communicator::broadcast(const std::string& text) {
  return gather(leads() ? text : "").front();
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  if (!group_) return {text};
  return group_->links.exchange(text);
}

std::vector<std::int64_t> Communicator::gather(const std::vector<std::int64_t>& numbers) {
  std::string bytes;
  for (const std::string& text : gather(std::string(reinterpret_cast<const char*>(numbers.data()),
                                                    numbers.size() * sizeof numbers[0])))
    bytes += text;
  std::vector<std::int64_t> all(bytes.size() / sizeof numbers[0]);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::stop_token Communicator::stop_token(std::stop_token stop) {
  if (!group_) return stop;
  const auto request = [group = group_.get()] { group->stop.request_stop(); };
  group_->by_signal.emplace(std::move(stop), request);
  group_->by_loss.emplace(group_->links.lost(), request);
  return group_->stop.get_token();
}

void Communicator::give_up(const std::string& reason) {
  if (group_) group_->links.give_up(reason);
}

}  // namespace dragoman
