// Coroutines over Asio that survive if memory runs out. Asio's own (boost::asio::awaitable) end the
// process if there is no memory for the operation that they begin, and are lost if there is none
// for its end. All coroutines of a thread, and their operations, belong to that thread.
#pragma once

#include <boost/system/error_code.hpp>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace dragoman {

// ---- coroutines ---------------------------------------------------------------------------------

/// The end of a coroutine: the one that waits for it continues.
struct ContinueWaiting {
  std::coroutine_handle<> waiting;

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return waiting; }
  void await_resume() const noexcept {}
};

struct TaskPromise {
  std::coroutine_handle<> waiting = {};
  std::exception_ptr fault = {};

  std::suspend_always initial_suspend() const noexcept { return {}; }
  ContinueWaiting final_suspend() const noexcept { return {waiting}; }
  void unhandled_exception() noexcept { fault = std::current_exception(); }
};

template <class Value>
struct ValuePromise : TaskPromise {
  std::optional<Value> value = {};

  template <class Given>
  void return_value(Given&& given) {
    value.emplace(std::forward<Given>(given));
  }
  Value take() { return *std::move(value); }
};

template <>
struct ValuePromise<void> : TaskPromise {
  void return_void() const noexcept {}
  void take() const noexcept {}
};

/// A coroutine that another one waits for. It begins when awaited; its exceptions are thrown there.
template <class Value>
class [[nodiscard]] Task {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the language decides the name
  struct promise_type : ValuePromise<Value> {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { handle_.destroy(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
    handle_.promise().waiting = waiting;
    return handle_;
  }
  Value await_resume() const {
    if (handle_.promise().fault) std::rethrow_exception(handle_.promise().fault);
    return handle_.promise().take();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  const std::coroutine_handle<promise_type> handle_;
};

/// A coroutine that nobody waits for. Its maker resumes it once. It destroys itself at its end, and
/// an exception ends it. It may be destroyed while it waits.
struct Root {
  // NOLINTNEXTLINE(readability-identifier-naming): the language decides the name
  struct promise_type {
    Root get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
  };

  std::coroutine_handle<> handle;
};

// ---- operations ---------------------------------------------------------------------------------

class PendingOperation;

/// Operations whose handlers Asio destroyed because an exception passed through it.
class LostOperations {
 public:
  void add(PendingOperation& operation);
  /// Continues their coroutines.
  void resume();

 private:
  PendingOperation* first_ = nullptr;
};

/// An operation of Asio: what its handler and the coroutine that waits for it know of each other.
class PendingOperation {
 public:
  /// What Asio calls at the end of the operation.
  class Handler {
   public:
    explicit Handler(PendingOperation& operation) : operation_(&operation) {
      operation.handler_ = this;
    }
    Handler(Handler&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {
      if (operation_ != nullptr) operation_->handler_ = this;
    }
    Handler& operator=(Handler&&) = delete;
    ~Handler() {
      if (operation_ != nullptr) operation_->lose();
    }

    void operator()(boost::system::error_code fault, std::size_t count = 0) {
      PendingOperation& operation = *std::exchange(operation_, nullptr);
      operation.handler_ = nullptr;
      operation.fault_ = fault;
      operation.count_ = count;
      operation.waiting_.resume();
    }

   private:
    friend class PendingOperation;
    PendingOperation* operation_;
  };

  explicit PendingOperation(LostOperations& lost) : lost_(lost) {}
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;
  ~PendingOperation() {
    if (handler_ != nullptr) handler_->operation_ = nullptr;
  }

  /// `not_enough_memory` if there is no memory to begin or to end the operation.
  boost::system::error_code fault() const { return fault_; }
  std::size_t count() const { return count_; }  ///< of bytes

 protected:
  std::coroutine_handle<> waiting_ = {};
  Handler* handler_ = nullptr;  // null: none is there
  bool is_beginning_ = false;

 private:
  friend class LostOperations;

  void lose() {
    handler_ = nullptr;
    count_ = 0;
    fault_ = make_error_code(boost::system::errc::not_enough_memory);
    if (!is_beginning_) lost_.add(*this);
  }

  LostOperations& lost_;
  PendingOperation* next_lost_ = nullptr;
  boost::system::error_code fault_ = {};
  std::size_t count_ = 0;
};

inline void LostOperations::add(PendingOperation& operation) {
  operation.next_lost_ = std::exchange(first_, &operation);
}

inline void LostOperations::resume() {
  while (first_ != nullptr) {
    PendingOperation& operation = *first_;
    first_ = std::exchange(operation.next_lost_, nullptr);
    operation.waiting_.resume();
  }
}

/// An operation that begins when it is awaited. `Begin` gets the handler.
template <class Begin>
class Operation : public PendingOperation {
 public:
  Operation(LostOperations& lost, Begin begin) : PendingOperation(lost), begin_(std::move(begin)) {}

  bool await_ready() const noexcept { return false; }
  /// False if it has not begun.
  bool await_suspend(std::coroutine_handle<> waiting) {
    waiting_ = waiting;
    is_beginning_ = true;
    try {
      begin_(Handler(*this));
    } catch (const std::exception&) {
      // The handler has been destroyed, or waits for the end of what has begun.
    }
    is_beginning_ = false;
    return handler_ != nullptr;
  }
  void await_resume() const noexcept {}

 private:
  Begin begin_;
};

}  // namespace dragoman
