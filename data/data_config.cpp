#include "data/data_config.h"

#include <algorithm>
#include <cmath>

#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr double kMostWeight = 1000;
constexpr std::string_view kPatience = "patience";

void check_file_lists(std::string_view split, const std::vector<std::string>& source,
                      const std::vector<std::string>& target) {
  if (source.size() != target.size())
    throw UsageError("--", split, "-src names ", counted(std::ssize(source), "file"), " but --",
                     split, "-tgt names ", target.size(),
                     "; each source file needs its target file");
}

void check_one_for_each_file(const std::string& flag, std::size_t values, std::size_t files) {
  if (values != 0 && values != files)
    throw UsageError("--", flag, " has ", counted(static_cast<std::int64_t>(values), "value"),
                     " for ", counted(static_cast<std::int64_t>(files), "training file"),
                     ": give one for each");
}

/// A weight of a training file. Throws UsageError that begins with `place`, the flag and its value.
double parse_weight(std::string_view flag, const std::string& place, const std::string& text) {
  const double weight = parse_number(flag, text);
  if (!(weight >= 0 && weight <= kMostWeight))
    throw UsageError(place, ": a weight must be from 0 to ", kMostWeight);
  return weight;
}

/// The text before the colon of a stage, which says when it ends; "" without a colon.
std::string end_of_stage(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon == text.npos ? "" : std::string(strip(text.substr(0, colon)));
}

/// The passes of a stage "3: 1 0.5"; 0 for "patience: 1 0.5".
std::int64_t parse_passes(const std::string& place, const std::string& end) {
  if (end == kPatience) return 0;
  std::int64_t passes = 0;
  try {
    passes = parse_integer("mix", end);
  } catch (const UsageError&) {
    throw UsageError(place, ": before the colon stands neither a number of passes nor the word ",
                     kPatience);
  }
  if (passes < 1) throw UsageError(place, ": a stage has at least one pass");
  return passes;
}

/// A stage "3: 1 0.5" or "patience: 1 0.5"; "1 0.5" if it is the last.
MixStage parse_stage(const std::string& text, bool is_last) {
  const std::string place = join_text("--mix '", replace_invalid_utf8(text), "'");
  const std::size_t colon = text.find(':');
  if ((colon == text.npos) != is_last)
    throw UsageError(place, is_last
                                ? ": the last stage lasts to the end, so nothing stands before "
                                  "its weights"
                                : ": its number of passes and a colon are missing: '3: 1 0.5'; or "
                                  "'patience: 1 0.5', until --patience is used up");
  MixStage stage{.passes = is_last ? 0 : parse_passes(place, end_of_stage(text)), .weights = {}};
  const std::string weights = is_last ? text : text.substr(colon + 1);
  for (const ByteRange& word : words_between_spaces(weights))
    stage.weights.push_back(parse_weight("mix", place, std::string(word.of(weights))));
  if (std::ranges::all_of(stage.weights, [](double weight) { return weight == 0; }))
    throw UsageError(place, ": shows no file; one weight must be above 0");
  return stage;
}

void check_fraction(std::string_view flag, double value) {
  if (!(value >= 0 && value <= 1)) throw UsageError("--", flag, " ", value, ": is not from 0 to 1");
}

}  // namespace

std::vector<std::string> DataConfig::valid_names() const {
  std::vector<std::string> names = valid_source;
  names.insert(names.end(), valid.begin(), valid.end());
  return names;
}

std::vector<MixStage> DataConfig::stages() const {
  std::vector<MixStage> stages;
  for (const std::string& text : mix) stages.push_back(parse_stage(text, &text == &mix.back()));
  if (!stages.empty()) return stages;
  stages.push_back({.passes = 0, .weights = std::vector<double>(training_files(), 1)});
  if (corpus_weights.empty()) return stages;
  stages[0].weights.clear();
  for (const std::string& text : corpus_weights) {
    const std::string place = "--corpus-weights " + text;
    stages[0].weights.push_back(parse_weight("corpus-weights", place, text));
    if (stages[0].weights.back() == 0) throw UsageError(place, ": must be above 0");
  }
  return stages;
}

std::string DataConfig::stage_with_patience() const {
  const auto found = std::ranges::find(mix, kPatience, end_of_stage);
  return found == mix.end() ? "" : *found;
}

std::vector<std::string> DataConfig::tags() const {
  return corpus_tags.empty() ? std::vector<std::string>(training_files()) : corpus_tags;
}

void check_columns(const std::vector<std::string>& columns) {
  if (columns.empty()) return;
  if (columns.size() != 2)
    throw UsageError("--columns has ", counted(std::ssize(columns), "value"),
                     ": it takes two, the source's and the target's");
  if (columns[0] == columns[1])
    throw UsageError("--columns ", columns[0], " ", columns[1],
                     ": are one; it takes the source's and the target's");
}

void DataConfig::check() const {
  if (train_source.empty() && train_target.empty() && train.empty())
    throw UsageError(
        "--train-src and --train-tgt are missing: the training text of both sides (or --train, for "
        "files that have both)");
  check_columns(columns);
  check_file_lists("train", train_source, train_target);
  check_file_lists("valid", valid_source, valid_target);
  check_file_lists("keep-valid", keep_valid_source, keep_valid_target);
  check_one_for_each_file("corpus-tags", corpus_tags.size(), training_files());
  if (!aligns_text())
    check_one_for_each_file("guided-alignment", guided_alignment.size(), training_files());
  if (!mix.empty() && !corpus_weights.empty())
    throw UsageError("--mix takes the place of --corpus-weights; leave out one of them");
  const std::vector<MixStage> all = stages();
  for (std::size_t i = 0; i < all.size(); ++i)
    check_one_for_each_file(
        mix.empty() ? "corpus-weights" : "mix '" + replace_invalid_utf8(mix[i]) + "'",
        all[i].weights.size(), training_files());
  if (const std::string stage = stage_with_patience();
      !stage.empty() && valid_names().empty() && valid_fraction == 0)
    throw UsageError("--mix '", replace_invalid_utf8(stage),
                     "': ends by the scores of a validation text, and there is none; give "
                     "--valid-src and --valid-tgt, or raise --valid-fraction");
  if (!(corpus_temperature >= 1))
    throw UsageError("--corpus-temperature ", corpus_temperature, ": must be at least 1");
  for (const std::string& tag : corpus_tags)
    if (find_invalid_utf8(tag) != tag.npos || std::ranges::any_of(code_points(tag), is_space))
      throw UsageError("--corpus-tags ", replace_invalid_utf8(tag),
                       ": must be UTF-8 without white space");
  for (const std::string& tag : corpus_tags)
    if (is_reserved_piece(tag))
      throw UsageError("--corpus-tags ", tag, ": is a piece of every vocabulary; take another tag");
  if (max_length < 0) throw UsageError("--max-length ", max_length, ": must not be negative");
  if (!(max_ratio == 0 || max_ratio >= 1))
    throw UsageError("--max-ratio ", max_ratio, ": must be 0 (no limit) or at least 1");
  if (!(valid_fraction >= 0 && valid_fraction <= 0.5))
    throw UsageError("--valid-fraction ", valid_fraction, ": is not from 0 to 0.5");
  check_fraction("subword-sampling", subword_sampling);
  check_fraction("train-terms-share", train_terms_share);
  if (!guided_alignment.empty() && (!train_terms.empty() || augment_join > 0))
    throw UsageError(
        "--guided-alignment: its links count the words as the file has them, without other words "
        "between or after them; leave out ",
        train_terms.empty() ? "--augment-join" : "--train-terms");
  check_fraction("augment-upper-case", augment_upper_case);
  check_fraction("augment-title-case", augment_title_case);
  check_fraction("augment-drop-end-punctuation", augment_drop_end_punctuation);
  check_fraction("augment-join", augment_join);
  check_fraction("augment-typos", augment_typos);
  check_fraction("augment-inline-tags", augment_inline_tags);
  check_fraction("augment-copied-text", augment_copied_text);
  if (augment_upper_case + augment_title_case > 1)
    throw UsageError(
        "--augment-upper-case and --augment-title-case: more than 1 together, but a "
        "pair can be only one of them");
}

double tempered(double temperature, std::int64_t pairs, std::int64_t most) {
  if (pairs == 0) return 1;
  const double part = static_cast<double>(pairs) / static_cast<double>(most);
  return std::min(kMostWeight, std::pow(part, 1 / temperature - 1));
}

bool passes_ratio(std::int64_t source, std::int64_t target, double max_ratio) {
  const auto [shorter, longer] = std::minmax(source, target);
  if (max_ratio == 0 || longer <= kRatioFreeLength) return true;
  return static_cast<double>(longer) <=
         max_ratio * static_cast<double>(std::max<std::int64_t>(shorter, 1));
}

SourceTags::SourceTags(const DataConfig& data, const Tokenizer& tokenizer) : tags_(data.tags()) {
  for (const std::string& tag : tags_) {
    const std::vector<TokenId> pieces = tokenizer.encode(tag);
    pieces_.push_back(pieces.size());
    const auto is_tag = [&](TokenId id) { return tokenizer.piece(id) == tag; };
    if (!tag.empty() && std::ranges::none_of(pieces, is_tag))
      throw UsageError(
          "--corpus-tags ", tag,
          ": the tokenizer has no such piece; let one be trained, or give one that has "
          "it as a user-defined symbol");
  }
}

std::string SourceTags::tagged(std::size_t file, std::string_view line) const {
  return dragoman::tagged(tags_[file], line);
}

}  // namespace dragoman
