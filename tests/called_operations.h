// The names of the tensor operations that a thread calls, for tests of what a device would wait
// for.
#pragma once

#include <ATen/record_function.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace dragoman {

/// Operations whose result, or its shape, the host must read from a device before it goes on.
inline const std::set<std::string> kHostWaits = {"aten::item",
                                                 "aten::_local_scalar_dense",
                                                 "aten::is_nonzero",
                                                 "aten::equal",
                                                 "aten::nonzero",
                                                 "aten::masked_select",
                                                 "aten::unique",
                                                 "aten::_unique2",
                                                 "aten::allclose",
                                                 "aten::bincount",
                                                 "aten::repeat_interleave"};

/// Notes operations from its beginning to its end, on this thread. The fused step of Adam reads its
/// scalars by item() on the CPU, and where they stand on a GPU: they are left out.
class CalledOperations {
 public:
  CalledOperations() {
    noted_ = &names_;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
              if (noted_ == nullptr) return nullptr;
              if (inside_ == 0) noted_->insert(function.name());
              if (!reads_in_place(function)) return nullptr;
              ++inside_;
              return std::make_unique<Inside>();
            },
            [](const at::RecordFunction&, at::ObserverContext* inside) {
              if (inside != nullptr) --inside_;
            })
            .scopes({at::RecordScope::FUNCTION}));
  }
  CalledOperations(const CalledOperations&) = delete;
  CalledOperations& operator=(const CalledOperations&) = delete;
  ~CalledOperations() {
    at::removeCallback(handle_);
    noted_ = nullptr;
  }

  const std::set<std::string>& names() const { return names_; }
  /// Those of kHostWaits that were called.
  std::set<std::string> host_waits() const {
    std::set<std::string> found;
    for (const std::string& name : names_)
      if (kHostWaits.contains(name)) found.insert(name);
    return found;
  }

 private:
  struct Inside : at::ObserverContext {};

  static bool reads_in_place(const at::RecordFunction& function) {
    return std::string_view(function.name()) == "aten::_fused_adamw_";
  }

  static inline thread_local std::set<std::string>* noted_ = nullptr;
  static inline thread_local int inside_ = 0;  // such a step
  std::set<std::string> names_;
  at::CallbackHandle handle_;
};

}  // namespace dragoman
