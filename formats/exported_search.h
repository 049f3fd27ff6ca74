// The settings of the search that other systems have, too, for the folders that are written for
// them.
#pragma once

#include <cstdint>
#include <string>

#include "model/file/model_file.h"

namespace dragoman {

/// As a model file asks for, by the names of our flags; else our own.
struct ExportedSearch {
  std::int64_t beam_size = 5;
  double length_penalty = 1;
  double word_penalty = 0;
  std::int64_t no_repeat_ngram_size = 0;
  std::string stop = "full";
  std::int64_t max_length = 0;  ///< 0: none
  double max_length_ratio = 3;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "beam-size", .help = "hypotheses"}, beam_size);
    visit({.name = "length-penalty", .help = "alpha"}, length_penalty);
    visit({.name = "word-penalty", .help = "for each piece"}, word_penalty);
    visit({.name = "no-repeat-ngram-size", .help = "pieces"}, no_repeat_ngram_size);
    visit({.name = "stop", .help = "end of the search"}, stop);
    visit({.name = "max-length", .help = "pieces"}, max_length);
    visit({.name = "max-length-ratio", .help = "pieces for each source piece"}, max_length_ratio);
  }
};

/// Throws Error that names the setting where its text in the model file is none of its values.
ExportedSearch exported_search(const DecodeDefaults& defaults);

}  // namespace dragoman
