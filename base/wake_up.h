// Wakes a thread that waits in poll(): a descriptor that is readable from wake() until clear().
#pragma once

namespace dragoman {

class WakeUp {
 public:
  /// Throws Error where the system has no descriptor left.
  WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp();

  int descriptor() const { return descriptor_; }
  void wake() const;  ///< from any thread
  void clear() const;

 private:
  int descriptor_;
};

}  // namespace dragoman
