// The common work of prepare_data() and measure_text(): threads, progress, and the reading of text
// with its stored indexes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/blocks.h"
#include "data/parallel_text.h"
#include "data/prepare.h"

namespace dragoman {

/// A preparation with the number of its threads.
struct PreparationWork : Preparation {
  explicit PreparationWork(const Preparation& preparation);

  void observe(std::string_view stage, std::int64_t done, std::int64_t total) const {
    if (observer) observer(stage, done, total);
  }
  WorkContext context(std::string_view stage) const;
};

/// Reports bytes of the stage "reading". `work` must outlive it.
TextReading reading_of(const PreparationWork& work);

/// Writes the new indexes of text files into the cache folder.
void store_indexes(const PreparationWork& work, const std::vector<TextFile>& files);

}  // namespace dragoman
