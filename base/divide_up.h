// Division of whole numbers that rounds up: how many blocks of a size hold all items.
#pragma once

namespace dragoman {

/// count / size, rounded up. `count` may not be negative, and `size` must be positive.
template <class T>
constexpr T divide_up(T count, T size) {
  return (count + size - 1) / size;
}

}  // namespace dragoman
