// The settings of the search in the folders that are written for other systems: which of ours a
// format has, and which it has not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// As a model file asks for, by the names of our flags; else our own. The fields are those of our
/// search that change translations.
struct ExportedSearch {
  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  double length_penalty = 1;
  std::string length_penalty_kind = "average";
  double word_penalty = 0;
  double coverage_penalty = 0;
  double repetition_penalty = 1;
  std::int64_t no_repeat_ngram_size = 0;
  std::vector<std::string> suppress = {};
  std::string stop = "full";
  std::int64_t min_length = 0;
  std::int64_t max_length = 0;  ///< 0: none
  double max_length_ratio = 3;
  std::string split_sentences = "auto";
  std::int64_t split_length = 150;
  std::int64_t attention_layer = 0;
  std::int64_t attention_head = 0;
  bool sampling = false;
  std::int64_t sampling_topk = 0;
  double sampling_topp = 1;
  double temperature = 1;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "beam-size", .help = "hypotheses"}, beam_size);
    visit({.name = "n-best", .help = "translations"}, n_best);
    visit({.name = "length-penalty", .help = "alpha"}, length_penalty);
    visit({.name = "length-penalty-kind", .help = "divisor"}, length_penalty_kind);
    visit({.name = "word-penalty", .help = "for each piece"}, word_penalty);
    visit({.name = "coverage-penalty", .help = "beta"}, coverage_penalty);
    visit({.name = "repetition-penalty", .help = "factor"}, repetition_penalty);
    visit({.name = "no-repeat-ngram-size", .help = "pieces"}, no_repeat_ngram_size);
    visit({.name = "suppress", .help = "pieces"}, suppress);
    visit({.name = "stop", .help = "end of the search"}, stop);
    visit({.name = "min-length", .help = "pieces"}, min_length);
    visit({.name = "max-length", .help = "pieces"}, max_length);
    visit({.name = "max-length-ratio", .help = "pieces for each source piece"}, max_length_ratio);
    visit({.name = "split-sentences", .help = "when"}, split_sentences);
    visit({.name = "split-length", .help = "pieces"}, split_length);
    visit({.name = "attention-layer", .help = "from 1"}, attention_layer);
    visit({.name = "attention-head", .help = "from 1"}, attention_head);
    visit({.name = "sampling", .help = "draws tokens"}, sampling);
    visit({.name = "sampling-topk", .help = "tokens"}, sampling_topk);
    visit({.name = "sampling-topp", .help = "probability"}, sampling_topp);
    visit({.name = "temperature", .help = "of the draws"}, temperature);
  }
};

/// The settings that a format has.
struct FormatSearch {
  const char* system;                   ///< for messages
  std::vector<std::string_view> flags;  ///< of ours, without "stop"
  std::vector<std::string_view> stops;  ///< values of "stop"
};

/// What becomes of the settings that a format has not.
enum class Unheld { Refused, LeftOut };

/// Throws Error that names the setting where its text in the model file is none of its values.
ExportedSearch exported_search(const DecodeDefaults& defaults);

/// The settings that the model file asks for and the format has not, as "--FLAG VALUE". A setting
/// with our default value asks for nothing, except for "stop". Throws as exported_search().
std::vector<std::string> unheld_settings(const DecodeDefaults& defaults,
                                         const FormatSearch& format);

/// Throws Error that names the settings where there are any and they are refused.
void check_unheld(const std::vector<std::string>& settings, const FormatSearch& format,
                  Unheld unheld);

}  // namespace dragoman
