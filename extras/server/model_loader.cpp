#include "extras/server/model_loader.h"

#include "base/error.h"
#include "extras/server/http.h"

namespace dragoman {

namespace {

void load_model(const ServedModel& model) {
  try {
    model.load();
  } catch (const std::exception& error) {
    throw ServerFault(join_text("the model of ", model.languages().name(),
                                " cannot be loaded now; the server's log says why"),
                      error.what());
  }
}

std::exception_ptr fault_of_loading(const ServedModel& model) {
  try {
    load_model(model);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr stopping_error() {
  return std::make_exception_ptr(HttpError(503, "the server is stopping", 1));
}

}  // namespace

ModelLoader::ModelLoader() : thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

void ModelLoader::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::deque<Waiting> left;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    left.swap(waiting_);
  }
  for (const auto& [model, done] : left) done(stopping_error());
}

void ModelLoader::start(std::shared_ptr<const ServedModel> model, Done done) {
  {
    const MutexLock lock(mutex_);
    if (!is_stopped_) {
      waiting_.emplace_back(std::move(model), std::move(done));
      changed_.notify_one();
      return;
    }
  }
  done(stopping_error());
}

void ModelLoader::work(const std::stop_token& stopping) {
  while (true) {
    Waiting next;
    {
      MutexLock lock(mutex_);
      if (!changed_.wait(lock, stopping, [this]() REQUIRES(mutex_) { return !waiting_.empty(); }) ||
          stopping.stop_requested())
        return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next.second(fault_of_loading(*next.first));
  }
}

}  // namespace dragoman
