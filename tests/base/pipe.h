// A pipe whose ends close themselves.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>

namespace dragoman {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  int out() const { return ends[0]; }
  int in() const { return ends[1]; }
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
  void send(std::string_view text) {
    EXPECT_EQ(write(in(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  int ends[2];
};

}  // namespace dragoman
