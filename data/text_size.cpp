#include "data/text_size.h"

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "data/preparation_work.h"

namespace dragoman {

TextSize measure_text(const Preparation& preparation) {
  const PreparationWork work(preparation);
  work.data.validate();
  const ParallelText text(work.data.train_source, work.data.train_target, work.data.invalid,
                          reading_of(work));
  create_folders(work.cache_folder);
  store_indexes(work, text.source_files());
  store_indexes(work, text.target_files());
  TextSize size{.pairs = text.pairs()};
  text.for_each_pair(
      0, text.pairs(), [&size](std::int64_t, std::string_view, std::string_view target) {
        size.target_characters += std::count_if(target.begin(), target.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        });
      });
  return size;
}

}  // namespace dragoman
