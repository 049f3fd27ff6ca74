#include "data/text_size.h"

#include <cstdint>
#include <string_view>

#include "base/files.h"
#include "base/utf8.h"
#include "data/preparation_work.h"

namespace dragoman {

TextSize measure_text(const Preparation& preparation) {
  const PreparationWork work(preparation);
  work.data.check();
  const ParallelText text(work.data.train_source, work.data.train_target, work.data.invalid,
                          reading_of(work));
  create_folders(work.cache_folder);
  store_indexes(work, text.source_files());
  store_indexes(work, text.target_files());
  TextSize size{.pairs = text.pairs()};
  text.for_each_pair(
      0, text.pairs(), [&size](std::int64_t, std::string_view, std::string_view target) {
        size.target_characters += static_cast<std::int64_t>(count_code_points(target));
      });
  return size;
}

}  // namespace dragoman
