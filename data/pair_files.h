// Files that have both sides of a parallel text: TMX 1.4, XLIFF 1.2 and 2, catalogues of messages
// (PO), tables of columns with tabs between (TSV), JSON lines, and the zip archives of plain text
// that OPUS gives. All but the archives may be compressed (base/compressed_text.h) and may be
// pipes. A file is read once, from its beginning to its end, in little memory. A training reads the
// plain texts that are made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/language_codes.h"
#include "data/data_config.h"

namespace dragoman {

/// What a pair file does not say itself.
struct PairFileOptions {
  /// Codes of languages: "en" takes "en-GB" too, "en-GB" only itself. "": the file decides.
  std::string source_lang, target_lang;
  /// The columns of a TSV or the fields of JSON lines that have the source and the target: numbers
  /// from 1, or names. Empty: the first two columns, or the usual fields.
  std::vector<std::string> columns;
};

/// What was found in a pair file.
struct PairFileFacts {
  std::int64_t pairs = 0;
  std::int64_t left_out = 0;   ///< units that are broken, or lack a side
  std::string first_left_out;  ///< where and why: "line 17: no text in de"
  std::string remark;          ///< on what may not be meant; "" if there is nothing to say
  LanguagePair languages;      ///< as the file or the options name them; "" if neither does
};

/// Takes the sides of a pair. Neither has a line end.
using PairSink = std::function<void(std::string_view source, std::string_view target)>;

/// Reads all pairs in order. `report` gets the bytes read since its last call; it may throw to stop
/// the reading. Throws Error if the file cannot be read, has none of the forms above, or does not
/// have the languages or columns that are asked for.
PairFileFacts read_pair_file(const std::string& path, const PairFileOptions& options,
                             const PairSink& sink,
                             const std::function<void(std::int64_t bytes)>& report);

/// Throws Error if no pair was found; it says how many units were left out.
void require_pairs(const std::string& path, const PairFileFacts& facts);

/// Writes plain texts of both sides, line by line. They appear when they are whole (AtomicFile).
class PairWriter {
 public:
  PairWriter(const std::filesystem::path& source, const std::filesystem::path& target)
      : source_(source), target_(target) {}

  void write(std::string_view source, std::string_view target) {
    source_.write_line(source);
    target_.write_line(target);
    ++pairs_;
  }
  void commit() {
    source_.commit();
    target_.commit();
  }
  std::int64_t pairs() const { return pairs_; }  ///< written so far

 private:
  AtomicFile source_, target_;
  std::int64_t pairs_ = 0;
};

/// The two sides of a pair file as plain texts, line by line.
struct PlainTexts {
  std::string source, target;  ///< paths
  std::string summary;         ///< "memory.tmx: 2,000 pairs (en to de), 3 left out: line 17: ..."
  LanguagePair languages;      ///< normal_code() of those of the facts
};

/// Writes the plain texts into the folder, or finds those that an earlier call has written there
/// for the same file, unchanged since, and the same options. For a pipe, it takes the texts that
/// are there. Throws as read_pair_file() does, and Error if the file has no pairs.
PlainTexts plain_texts_of(const std::string& path, const PairFileOptions& options,
                          const std::filesystem::path& folder,
                          const std::function<void(std::int64_t bytes)>& report);

/// The settings with two plain texts in place of each file that has both sides, and what was found
/// in those.
struct PlainData {
  DataConfig data;
  std::vector<std::string> summaries;
  std::vector<std::string> valid_names;  ///< of the validation texts, as they were given
  LanguagePair languages;                ///< of the training text; "": not known
};

/// The texts of a training. Throws as DataConfig::check() and plain_texts_of() do.
PlainData plain_data(const DataConfig& data, const std::filesystem::path& folder,
                     const std::function<void(std::int64_t bytes)>& report);

}  // namespace dragoman
