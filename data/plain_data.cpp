#include "data/plain_data.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "data/pair_files.h"
#include "data/parallel_text.h"

namespace dragoman {

namespace {

/// The languages that the settings name, or else those that all files agree on.
LanguagePair training_languages(const DataConfig& data, const std::vector<LanguagePair>& files) {
  LanguagePair languages;
  const auto settle = [&](std::string LanguagePair::*side, const std::string& asked) {
    std::string& language = languages.*side;
    language = normal_code(asked);
    const auto agrees = [&](const LanguagePair& file) { return file.*side == files[0].*side; };
    if (asked.empty() && !files.empty() && std::ranges::all_of(files, agrees))
      language = files[0].*side;
  };
  settle(&LanguagePair::source, data.source_lang);
  settle(&LanguagePair::target, data.target_lang);
  return languages.source == languages.target ? LanguagePair() : languages;
}

}  // namespace

PlainData plain_data(const Preparation& preparation) {
  preparation.data.check();
  PlainData plain{preparation.data, {}, preparation.data.valid_names(), {}};
  DataConfig& data = plain.data;
  std::vector<LanguagePair> languages;  // of the training files
  for (std::size_t i = 0; i < std::min(data.train_source.size(), data.train_target.size()); ++i)
    languages.push_back(
        {language_of_file(data.train_source[i]), language_of_file(data.train_target[i])});
  std::int64_t read = 0;
  const auto report = [&](std::int64_t more) {
    if (preparation.stop.stop_requested()) throw PreparationStopped();
    if (preparation.observer) preparation.observer("reading", read += more, 0);
  };
  const auto move_all = [&](std::vector<std::string>& files, std::vector<std::string>& source,
                            std::vector<std::string>& target) {
    for (const std::string& file : files) {
      PlainTexts texts = plain_texts_of(file, {data.source_lang, data.target_lang, data.columns},
                                        preparation.cache_folder, report);
      source.push_back(std::move(texts.source));
      target.push_back(std::move(texts.target));
      plain.summaries.push_back(std::move(texts.summary));
      languages.push_back(std::move(texts.languages));
    }
    files.clear();
  };
  move_all(data.train, data.train_source, data.train_target);
  plain.languages = training_languages(data, languages);
  move_all(data.valid, data.valid_source, data.valid_target);
  return plain;
}

}  // namespace dragoman
