// The settings for the training text: its files, which pairs are left out, and how pairs are
// changed in each epoch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// What happens to a pair if a line of it is invalid UTF-8 or has a NUL byte.
enum class InvalidLines {
  Error,  ///< the run ends before any training, with file and line
  Skip,   ///< the pair is left out and counted
};
constexpr std::array<std::string_view, 2> names_of(InvalidLines) { return {"error", "skip"}; }

/// What happens to validation pairs that the training text has too, exactly or nearly
/// (likeness_hash).
enum class ValidOverlap {
  Unscored,   ///< they are left out of the validation, unless fewer than half of it would remain
  Untrained,  ///< they are left out of the training
  Ignored,    ///< they are trained on and scored
};
constexpr std::array<std::string_view, 3> names_of(ValidOverlap) {
  return {"unscored", "untrained", "ignored"};
}

/// The probabilities of those kinds of noise that no flag --augment-... sets: 0, or usual ones.
enum class Noise { None, Usual };
constexpr std::array<std::string_view, 2> names_of(Noise) { return {"none", "usual"}; }

/// A stage of the training text.
struct MixStage {
  /// 0: until --patience is used up; the last stage lasts to the end of the run.
  std::int64_t passes;
  std::vector<double> weights;  ///< [files] how often an epoch shows a file's pairs, on average

  bool operator==(const MixStage&) const = default;
};

/// The side of the training pairs that is segmented at random.
enum class SamplingSide { Both, Source, Target };
constexpr std::array<std::string_view, 3> names_of(SamplingSide) {
  return {"both", "source", "target"};
}

/// Throws UsageError unless --columns is empty, or has two values that differ.
void check_columns(const std::vector<std::string>& columns);

struct DataConfig {
  std::vector<std::string> train_source = {},
                           train_target = {};      ///< file i of one translates file i of the other
  std::vector<std::string> train = {};             ///< files with both sides, after those
  std::vector<std::string> corpus_weights = {};    ///< see stages()
  double corpus_temperature = 1;                   ///< see tempered()
  std::vector<std::string> mix = {};               ///< see stages()
  std::vector<std::string> corpus_tags = {};       ///< see tags()
  std::vector<std::string> guided_alignment = {};  ///< see aligns_text(); files as in training
  std::vector<std::string> valid_source = {}, valid_target = {};
  std::vector<std::string> valid = {};             ///< files with both sides, after those
  std::string source_lang = {}, target_lang = {};  ///< codes
  std::vector<std::string> columns = {};           ///< likewise
  std::vector<std::string> keep_valid_source = {}, keep_valid_target = {};  ///< of fine-tuning
  std::int64_t max_length = 256;  ///< pieces per side, without </s>; 0: no limit
  double max_ratio = 9;           ///< see passes_ratio(); 0: no limit
  bool keep_empty = false;
  bool keep_duplicates = false;
  InvalidLines invalid = InvalidLines::Error;
  double valid_fraction = 0.01;  ///< held out if there are no validation files
  ValidOverlap valid_overlap = ValidOverlap::Unscored;

  double subword_sampling = 0;
  SamplingSide subword_sampling_side = SamplingSide::Both;
  std::string train_terms = {};
  double train_terms_share = 0.3;
  double augment_upper_case = 0;
  double augment_title_case = 0;
  double augment_drop_end_punctuation = 0;
  double augment_join = 0;
  Noise noise = Noise::None;
  double augment_typos = 0;
  double augment_inline_tags = 0;
  double augment_copied_text = 0;

  /// Throws UsageError naming the flag.
  void check() const;
  std::size_t training_files() const { return train_source.size() + train.size(); }
  /// The names of the validation texts: of two files, the source's; and the files with both sides.
  std::vector<std::string> valid_names() const;
  /// Whether the program aligns the training text itself, in place of reading alignments.
  bool aligns_text() const { return guided_alignment == std::vector<std::string>{"auto"}; }
  /// The stages of --mix; without it one stage, of --corpus-weights. A weight is 1 by default.
  std::vector<MixStage> stages() const;
  /// The first stage that lasts until --patience is used up, as --mix has it; "": there is none.
  std::string stage_with_patience() const;
  /// For each training file, the token in front of its source lines; "": none.
  std::vector<std::string> tags() const;

  /// Text files may have other names on resume. The hash of their contents decides.
  void for_each_field(const auto& visit) {
    text_fields(visit);
    validation_fields(visit);
    filter_fields(visit);
    augmentation_fields(visit);
  }

 private:
  template <class Visit>
  void text_fields(Visit& visit) {
    const auto field = fields_under("Data", visit);
    field(
        "train-src", train_source,
        "source side of the training text, one sentence per line; one file or more",
        {.aliases = "source,train-source", .on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field(
        "train-tgt", train_target,
        "target side of the training text: line i translates line i of --train-src",
        {.aliases = "target,train-target", .on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("train", train,
          "training text with both sides in each file: TMX, XLIFF, PO, TSV, JSON lines, or a zip "
          "archive of OPUS; takes the place of --train-src and --train-tgt, or comes after them",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("source-lang", source_lang,
          "language of the source, for example en or en-GB: the one to read from the files of "
          "--train and --valid, and to record in the model file; default: what these files say, or "
          "the endings of text files (train.en)",
          {.placeholder = "CODE"});
    field("target-lang", target_lang, "language of the target, likewise", {.placeholder = "CODE"});
    field("columns", columns,
          "source and target column of TSV files, or fields of JSON lines: numbers from 1, or "
          "names; default: the first two columns; the fields source and target",
          {.placeholder = "COLUMN"});
    field("corpus-weights", corpus_weights,
          "for each training file, how many times an epoch shows its pairs; 0.5: in every second "
          "epoch; default: 1");
    field(
        "corpus-temperature", corpus_temperature,
        "show the pairs of small training files more often: with T, the fraction of an epoch that "
        "a file of n pairs has is proportional to n^(1/T); the pairs of the largest file are seen "
        "once; --corpus-weights multiply these numbers; 1: all pairs alike");
    field("mix", mix,
          "stages of the run, in place of --corpus-weights: for each stage the number of passes "
          "and the weights of the training files, for example '3: 1 0' '1 0.5'; with the word "
          "patience in place of the number, the stage lasts until --patience is used up; the last "
          "stage has neither, and lasts to the end; 0: not in this stage",
          {.placeholder = "STAGE"});
    field("corpus-tags", corpus_tags,
          "for each training file, a tag to put before its source lines, for example '' '<bt>'; a "
          "tag is never split; '': no tag");
    field("guided-alignment", guided_alignment,
          "for each training file, a file in Pharaoh format that links the words of each pair, "
          "like 0-0 1-2; the links teach the decoder's attention; auto: find the links of pieces "
          "in the text itself, before the training",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
  }

  template <class Visit>
  void validation_fields(Visit& visit) {
    const auto field = fields_under("Data", visit);
    field("valid-src", valid_source,
          "source side of the validation text, one file or more; without it, some training pairs "
          "are held out",
          {.aliases = "validation-source,valid-source",
           .on_resume = OnResume::Allowed,
           .placeholder = "FILE"});
    field("valid-tgt", valid_target, "target side of the validation text",
          {.aliases = "validation-target,valid-target",
           .on_resume = OnResume::Allowed,
           .placeholder = "FILE"});
    field("valid", valid, "validation text with both sides in each file, as for --train",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("keep-valid-src", keep_valid_source,
          "with --init-from: source side of a second validation text, from the domain that the "
          "model came from; an update that makes its score worse by more than --keep-tolerance "
          "does not become the model",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("keep-valid-tgt", keep_valid_target, "target side of --keep-valid-src",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("valid-fraction", valid_fraction,
          "fraction of the pairs to hold out if there is no --valid-src, 100 to 2,000 pairs; with "
          "fewer than 1,000 pairs a tenth, or this fraction if it is larger; 0: none");
    field("valid-overlap", valid_overlap,
          "what to do with validation pairs that are also in the training text, or nearly so; "
          "unscored: leave them out of the validation; untrained: leave those of --valid-src out "
          "of the training; ignored: do nothing");
  }

  template <class Visit>
  void filter_fields(Visit& visit) {
    const auto field = fields_under("Data", visit);
    field("max-length", max_length,
          "maximum number of pieces on a side; longer training pairs are left out; 0: no limit",
          {.aliases = "max-seq-len,max-source-positions,src-seq-length"});
    field("max-ratio", max_ratio,
          "largest ratio between the lengths of a pair's sides; training pairs above it are left "
          "out if their longer side has more than 10 pieces; 0: no limit");
    field("keep-empty", keep_empty, "also train on pairs with an empty side");
    field("keep-duplicates", keep_duplicates,
          "train on every copy of a pair, not only on the first");
    field("invalid", invalid,
          "pairs with invalid UTF-8 or NUL; error: stop; skip: leave them out and count them");
  }

  template <class Visit>
  void augmentation_fields(Visit& visit) {
    const auto field = fields_under("Augmentation", visit);
    field("subword-sampling", subword_sampling,
          "cut training pairs into pieces differently in each epoch; with bpe, the probability of "
          "leaving out a merge (for example 0.1); with unigram, alpha (for example 0.2; smaller is "
          "more random); 0: never",
          {.aliases = "subword-alpha,bpe-dropout"});
    field("subword-sampling-side", subword_sampling_side, "the side to cut differently");
    field("train-terms", train_terms,
          "glossary in the format of translate --terms; in some of the pairs that have a term and "
          "its translation, the source shows the translation after the term, so that the model "
          "learns to use it",
          {.on_resume = OnResume::Allowed, .placeholder = "FILE"});
    field("train-terms-share", train_terms_share,
          "probability that such a pair shows it, drawn again in each epoch");
    field("augment-upper-case", augment_upper_case,
          "probability that a training pair is seen in upper case, drawn again in each epoch");
    field("augment-title-case", augment_title_case,
          "probability that a training pair is seen with Every Word Capitalised, drawn again in "
          "each epoch");
    field("augment-drop-end-punctuation", augment_drop_end_punctuation,
          "probability that a training pair is seen without the full stop, question or exclamation "
          "mark at the end, drawn again in each epoch");
    field("augment-join", augment_join,
          "probability that a training pair is seen with another pair of its file after it, as two "
          "sentences on a line, drawn again in each epoch");
    field("noise", noise,
          "usual: all kinds of noise that people's text has, with usual probabilities: upper case "
          "0.07, title case 0.05, no end punctuation 0.2, typos 0.05, inline tags 0.005, copied "
          "text 0.01; a flag of one kind (--augment-...) overrides its probability");
    field("augment-typos", augment_typos,
          "probability that a training pair is seen with mistyped words in the source, drawn again "
          "in each epoch");
    field("augment-inline-tags", augment_inline_tags,
          "probability that a training pair is seen with an inline tag on both sides, like "
          "<b>word</b>, drawn again in each epoch");
    field("augment-copied-text", augment_copied_text,
          "probability that a training pair is seen with the same random code on both sides, at "
          "the beginning or the end, drawn again in each epoch");
  }
};

/// The weight of a file of `pairs` pairs by --corpus-temperature, if the largest file has `most`:
/// (pairs / most)^(1/temperature - 1), at most 1,000 (Devlin 2018, multilingual BERT).
double tempered(double temperature, std::int64_t pairs, std::int64_t most);

/// Pairs with no more pieces than this on either side pass any --max-ratio, because the lengths of
/// short sentences vary widely.
inline constexpr std::int64_t kRatioFreeLength = 10;

/// Whether the longer side has at most kRatioFreeLength pieces, or at most max_ratio times as many
/// as the shorter side.
bool passes_ratio(std::int64_t source, std::int64_t target, double max_ratio);

/// The tokens that --corpus-tags puts in front of source lines. They tell the model which corpus a
/// line comes from (tagged back-translation, Caswell et al. 2019), or which language is wanted.
class SourceTags {
 public:
  /// Throws UsageError if the tokenizer would split a tag.
  SourceTags(const DataConfig& data, const Tokenizer& tokenizer);

  const std::string& tag(std::size_t file) const { return tags_[file]; }
  /// The text that is encoded for a source line. In translation the same text has the same tokens.
  std::string tagged(std::size_t file, std::string_view line) const;
  /// The number of pieces that the tag adds to a line.
  std::size_t pieces(std::size_t file) const { return pieces_[file]; }

 private:
  std::vector<std::string> tags_;    ///< [files]
  std::vector<std::size_t> pieces_;  ///< [files]
};

}  // namespace dragoman
