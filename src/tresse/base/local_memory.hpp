#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>

#include <tresse/base/types.hpp>

namespace tresse {

/// Memory for what a function needs while it runs: the first `size` bytes stand on its stack, more comes from the heap.
template <std::size_t size>
class LocalMemory {
 public:
  LocalMemory() = default;
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;
  LocalMemory(LocalMemory&&) = delete;
  LocalMemory& operator=(LocalMemory&&) = delete;
  ~LocalMemory() = default;

  /// `count` entries whose numbers are not set, from the begin of a cache line on.
  template <typename T>
  std::span<T> array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    auto* first = static_cast<T*>(resource_.allocate(count * sizeof(T), std::max(alignof(T), line)));
    std::uninitialized_default_construct_n(first, count);
    return {first, count};
  }
  /// A matrix or a column whose entries are not set.
  template <typename Matrix>
  Eigen::Map<Matrix> matrix(Eigen::Index rows, Eigen::Index columns = 1) {
    double* first = array<double>(static_cast<std::size_t>(rows * columns)).data();
    if constexpr (Matrix::IsVectorAtCompileTime) {
      return {first, rows};
    } else {
      return {first, rows, columns};
    }
  }
  /// For containers that end before this does.
  std::pmr::memory_resource* resource() { return &resource_; }

 private:
  static constexpr std::size_t line = 64;
  alignas(line) std::array<std::byte, size> own_;
  std::pmr::monotonic_buffer_resource resource_{own_.data(), size};
};

}  // namespace tresse
