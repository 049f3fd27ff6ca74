#include "data/preparation_work.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "base/files.h"
#include "base/threads.h"
#include "data/text_index.h"

namespace dragoman {

namespace {

std::int64_t total_bytes(const DataConfig& data) {
  std::int64_t total = 0;
  for (const auto* paths :
       {&data.train_source, &data.train_target, &data.valid_source, &data.valid_target,
        &data.keep_valid_source, &data.keep_valid_target, &data.guided_alignment})
    for (const std::string& path : *paths) {
      std::error_code unreadable;  // reported when the file is opened
      const auto size = std::filesystem::file_size(path, unreadable);
      if (!unreadable) total += static_cast<std::int64_t>(size);
    }
  return total;
}

}  // namespace

PreparationWork::PreparationWork(const Preparation& preparation) : Preparation(preparation) {
  if (threads == 0) threads = available_cores();
}

WorkContext PreparationWork::context(std::string_view stage) const {
  return {.threads = threads,
          .stop = stop,
          .report = [this, stage](std::int64_t done, std::int64_t total) {
            observe(stage, done, total);
          }};
}

TextReading reading_of(const PreparationWork& work) {
  return {
      .threads = work.threads,
      .stop = work.stop,
      .report = [&work, total = total_bytes(work.data), read = std::int64_t{0}](
                    std::int64_t more) mutable { work.observe("reading", read += more, total); },
      .index_folder = work.cache_folder};
}

void store_indexes(const PreparationWork& work, const std::vector<TextFile>& files) {
  for (const TextFile& file : files)
    if (file.new_index())
      write_file(index_path(work.cache_folder, file.path()), *file.new_index(), Links::Replace);
}

}  // namespace dragoman
