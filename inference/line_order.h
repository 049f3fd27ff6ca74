// Lines whose sentences are finished in any order leave in the order in which they came.
#pragma once

#include <cstddef>
#include <vector>

namespace dragoman {

class LineOrder {
 public:
  /// Adds the next line. A line without sentences is finished at once.
  void add(std::size_t sentences) { unfinished_.push_back(sentences); }
  /// One of the line's sentences is finished; lines are counted from 0.
  void finish(std::size_t line) { --unfinished_[line]; }

  /// Lines that have not left.
  std::size_t left() const { return unfinished_.size() - next_; }
  /// Whether the next one may leave.
  bool ready() const { return left() > 0 && unfinished_[next_] == 0; }
  /// Removes the next line and returns its index. Requires ready().
  std::size_t take() { return next_++; }

 private:
  std::vector<std::size_t> unfinished_;  // sentences of each line
  std::size_t next_ = 0;
};

}  // namespace dragoman
