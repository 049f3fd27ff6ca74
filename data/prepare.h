// Makes the input of training from text files: checked text, tokenizers, the token cache, the
// validation set. A second call with the same text and settings finds its work done in the cache
// folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/language_codes.h"
#include "base/unicode.h"
#include "data/corpus.h"
#include "data/data_config.h"
#include "data/epoch_plan.h"
#include "data/fresh_encoder.h"
#include "data/parallel_text.h"
#include "data/trained_pairs.h"
#include "data/word_alignment.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

/// A stage of the preparation.
struct DataStage {
  std::string_view name;
  std::string_view unit;  ///< what it counts: "bytes" or "pairs"; "" for a single step
};

/// Called now and then from the calling thread. Stages: "reading" (bytes), "checking the
/// alignments" (pairs), "training the tokenizer" (done 0 of 1, then 1 of 1), "encoding" (pairs),
/// "looking at the pairs" (pairs), "aligning the pieces" (pairs, several times), "encoding the
/// validation set" (pairs). A total of 0 is not known. May be empty.
using DataObserver =
    std::function<void(const DataStage& stage, std::int64_t done, std::int64_t total)>;

/// The pairs of one of several validation texts: [first, end) of the lines of the set.
struct ValidPart {
  std::string name;  ///< its file, as the user gave it; of two files that of the source
  std::size_t first = 0, end = 0;
};

struct ValidSet {
  std::vector<std::string> source_lines, target_lines;  ///< raw text of all pairs
  /// [pair] of the lines above: its line over all files, from 1. For held-out pairs it is the line
  /// of the training text.
  std::vector<std::int64_t> line_numbers;
  /// Their tokens for the validation loss, without pairs longer than --max-length. line(pair) is
  /// the index into the lines above.
  Corpus tokens;
  std::int64_t too_long = 0;  ///< pairs that `tokens` lacks
  std::int64_t invalid = 0;   ///< pairs of the text skipped (--invalid skip)
  bool held_out = false;      ///< taken out of the training text
  /// Pairs that are trained on too, or nearly so (likeness_hash): they are not among the lines
  /// above, unless fewer than half of the pairs would remain.
  PairsFound trained;
  bool has_trained = false;  ///< whether they are among the lines all the same
  /// One for each validation text that has pairs, if several were given; else empty.
  std::vector<ValidPart> parts = {};
};

enum class CacheUse {
  Built,    ///< there was none for these inputs
  Reused,   ///< found and intact
  Rebuilt,  ///< found damaged and made again
};

/// The settings of prepare_data().
struct Preparation {
  const DataConfig& data;
  const TokenizerConfig& tokenizer;
  std::filesystem::path cache_folder;
  std::uint64_t seed = 1;
  /// For a run that resumes: the hashes of the files that it was started with; see file_hashes.
  std::map<std::string, std::string> expected_hashes = {};
  DataObserver observer = {};
  std::stop_token stop = {};
  int threads = 0;  ///< 0: all available
};

/// The pairs of one training file, among those of the corpus.
struct CorpusSection {
  std::string name;  ///< its source file; if another one has that, too, also its target file
  std::string tag;
  std::int64_t first_pair, pairs;
  std::vector<double> weights = {};  ///< of each stage, --corpus-temperature included
};

struct PreparedData {
  TokenizerPair tokenizers;
  Corpus train;
  std::vector<CorpusSection> sections;     ///< of `train`
  std::vector<std::int64_t> stage_passes;  ///< [stages] MixStage::passes
  /// Encodes pairs of `train` again for each epoch; null if no setting asks for that.
  std::shared_ptr<const FreshEncoder> encoder;
  std::shared_ptr<const PairAlignments> alignments;  ///< null without --guided-alignment
  ValidSet valid;
  ValidSet keep_valid;  ///< of --keep-valid-src; may be empty
  /// With --train-terms: the fraction of the pairs that have a term and its translation, measured
  /// on a sample.
  std::optional<double> pairs_with_terms;
  std::shared_ptr<const SurveyedText> survey;  ///< of the pairs of `train`
  CorpusReport report;                         ///< the same whether the cache was built or reused
  /// Where and how the tokenizer changes a target line (CorpusReport::changed_target); "" if none.
  std::string changed_target;
  /// The characters of the pairs of `train`, as people have written them, and as the tokenizers
  /// normalise them.
  SeenCharacters characters;
  CacheUse cache = CacheUse::Built;
  std::string cache_problem;                       ///< of CacheUse::Rebuilt: the fault, in one line
  std::vector<std::string> pair_files;             ///< what was found in each, in a line
  LanguagePair languages;                          ///< of the training text; "": not known
  std::string text_hash;                           ///< of the training text, 16 hexadecimal digits
  std::map<std::string, std::string> file_hashes;  ///< of every text file, by its path
  bool tokenizers_trained = false;                 ///< in this call or an earlier one; else given
  std::int64_t asked_vocab_size = 0;  ///< --vocab-size, to be compared with the tokenizers' size()

  /// The weights of the sections, for the plan of an epoch: in a run whose stage `number` (from 0)
  /// has begun with `first_epoch`.
  std::vector<WeightStage> stages(std::int64_t number = 0, std::int64_t first_epoch = 0) const;
  /// [sections]: how often a run of `updates` updates shows a pair, if the first epoch has
  /// `updates_per_epoch`. A stage that lasts until --patience is used up is taken to last to the
  /// end.
  std::vector<double> times_shown(double updates, double updates_per_epoch) const;
};

/// Checks all text before anything else. Trains tokenizers if none are given. The files of the
/// cache are named by the hash of their inputs: text, tokenizers, filters, seed. Uses `threads`
/// threads; the result does not depend on their number. Throws UsageError for unequal numbers of
/// files on the sides; Error for text that cannot be used, or that is not the text that the run was
/// started with; PreparationStopped.
PreparedData prepare_data(const Preparation& preparation);

/// The amount of text, before it is encoded.
struct TextSize {
  std::int64_t pairs = 0;
  std::int64_t target_characters = 0;
};

/// The size of the training files. Reads them once; their indexes are kept in the cache folder for
/// prepare_data(). Throws as prepare_data() does for text.
TextSize measure_text(const Preparation& preparation);

}  // namespace dragoman
