#include "training/settings/automatic_settings.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace {

/// 1,234 -> 1,200: two digits are enough for a number that nobody asked for.
std::int64_t rounded(double value) {
  if (value < 10) return std::max<std::int64_t>(1, std::llround(value));
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::llround(std::round(value / unit) * unit);
}

constexpr double kMinute = 60, kHour = 60 * kMinute;
/// The longest run: 40 minutes for a text of 430,000 target pieces, within these bounds.
constexpr double kSecondsPerToken = 40 * kMinute / 430'000;
constexpr double kShortestLimit = 15 * kMinute, kLongestLimit = 5 * 24 * kHour;

/// The validations of a run, and the number of them without a gain that ends it.
constexpr double kValidations = 30, kFewestValidations = 5;
constexpr double kPatience = 8, kLeastPatience = 3;
/// The most time that validations take, as a fraction of that of the updates.
constexpr double kMostValidating = 0.15;
/// The fraction of the run in which the rate rises, and the most updates of that.
constexpr double kWarmUp = 0.08;
constexpr std::int64_t kLongestWarmUp = 4000;
/// The moving average reaches back over this fraction of the run.
constexpr double kAverageReach = 0.05;

}  // namespace

Preset preset_for(const TextSize& text) {
  constexpr std::int64_t kTiny = 250'000, kSmall = 150'000'000;
  if (text.target_characters < kTiny) return Preset::Tiny;
  return text.target_characters < kSmall ? Preset::Small : Preset::Base;
}

CorpusSize estimated_size(const TextSize& text) {
  return {.pairs = text.pairs,
          .target_tokens =
              std::llround(static_cast<double>(text.target_characters) / kCharactersPerPiece)};
}

ChosenPreset preset_for(const TextSize& text, const SecondsOf& seconds_of) {
  const auto tokens = static_cast<double>(estimated_size(text).target_tokens);
  const double longest = std::clamp(kSecondsPerToken * tokens, kShortestLimit, kLongestLimit);
  ChosenPreset chosen{preset_for(text), counted(text.pairs, "pair")};
  while (chosen.preset != Preset::Tiny) {
    const std::optional<double> seconds = seconds_of(chosen.preset);
    if (seconds && *seconds <= longest) break;
    chosen.reason += join_text("; ", name_of(chosen.preset),
                               seconds ? " would take " + duration_text(*seconds) + " here"
                                       : std::string(" does not fit into memory"));
    // On 5,000 and 29,000 captions; it was more on other texts.
    if (seconds && chosen.preset == Preset::Small) chosen.reason += ", and reach about 1 BLEU more";
    chosen.preset = static_cast<Preset>(static_cast<int>(chosen.preset) - 1);
  }
  return chosen;
}

std::int64_t vocabulary_for(const TextSize& text) {
  // 8,000 pieces for 29,000 pairs of 70 characters, and half as many for a quarter of the text.
  constexpr double kCharacters = 2e6, kPieces = 8000;
  const double ratio = static_cast<double>(text.target_characters) / kCharacters;
  if (ratio >= 1) return ratio < 75 ? 8000 : ratio < 250 ? 16'000 : 32'000;
  return std::max<std::int64_t>(500, rounded(kPieces * std::sqrt(ratio)));
}

FieldTexts text_settings(Preset preset, const TextSize& text) {
  FieldTexts settings = {{"vocab-size", text_of(vocabulary_for(text))}};
  if (preset == Preset::Tiny || preset == Preset::Small) {
    constexpr std::int64_t kLittle = 6'000'000;
    settings["tokenizer-type"] = "bpe";
    settings["augment-join"] = "0.05";
    settings["max-tokens"] = "2048";
    settings["dropout"] = text.target_characters < kLittle ? "0.3" : "0.1";
    settings["lr"] = preset == Preset::Tiny ? "0.004" : "0.002";
  }
  if (preset == Preset::Small) {
    settings["subword-sampling"] = "0.1";
    settings["activation-dropout"] = "0";
  }
  return settings;
}

FieldTexts noise_settings() {
  return {{"augment-upper-case", "0.07"},          {"augment-title-case", "0.05"},
          {"augment-drop-end-punctuation", "0.2"}, {"augment-typos", "0.05"},
          {"augment-inline-tags", "0.005"},        {"augment-copied-text", "0.01"}};
}

FieldTexts gpu_batch_settings(const TextSize& text, int gpus) {
  constexpr std::int64_t kTokens = 25'000, kUpdatesOfPass = 1000;
  if (estimated_size(text).target_tokens < kUpdatesOfPass * kTokens * gpus) return {};
  return {{"max-tokens", text_of(kTokens)}, {"update-freq", "1"}};
}

std::int64_t target_tokens_to_see(const CorpusSize& corpus, Preset preset) {
  constexpr double kTokens = 430'000, kTokensOfTiny = 23e6, kTokensOfSmall = 18e6;
  constexpr double kPassesOfThePaper = 21;
  const auto tokens = static_cast<double>(std::max<std::int64_t>(1, corpus.target_tokens));
  const double as_in_the_paper = kPassesOfThePaper * tokens;
  if (preset == Preset::Base || preset == Preset::Big) return rounded(as_in_the_paper);
  const double of_short_text = preset == Preset::Tiny ? kTokensOfTiny : kTokensOfSmall;
  return rounded(std::max(of_short_text * std::sqrt(tokens / kTokens), as_in_the_paper));
}

double target_tokens_of_run(const CorpusSize& corpus, const TrainConfig& config, int ranks) {
  auto tokens = static_cast<double>(target_tokens_to_see(corpus, config.preset));
  const auto limit = [&tokens](std::int64_t times, std::int64_t each) {
    if (times > 0)
      tokens = std::min(tokens, static_cast<double>(times) * static_cast<double>(each));
  };
  limit(config.max_updates, config.max_tokens * config.update_freq * ranks);
  limit(config.max_epochs, corpus.target_tokens);
  return tokens;
}

std::int64_t updates_for(const CorpusSize& corpus, Preset preset, double target_tokens_per_update) {
  const double updates = static_cast<double>(target_tokens_to_see(corpus, preset)) /
                         std::max(1.0, target_tokens_per_update);
  return rounded(std::max(updates, 10 * kValidations));
}

double updates_per_validation(std::int64_t target_tokens, double target_tokens_per_update) {
  constexpr double kCostOfPiece = 4;  // to write one, in pieces that are trained on
  return kCostOfPiece * static_cast<double>(target_tokens) /
         std::max(1.0, target_tokens_per_update);
}

double RunLength::validations() const {
  if (updates_per_validation <= 0) return kValidations;
  return std::clamp(kMostValidating * updates / updates_per_validation, kFewestValidations,
                    kValidations);
}

FieldTexts length_settings(const RunLength& run) {
  const double length = std::floor(run.updates), validations = run.validations();
  const double decay = std::clamp(1 - 1 / (kAverageReach * length), 0.9, 0.999);
  // A run of so few updates would end by patience before it has begun to learn.
  constexpr double kFewUpdates = 200;
  const double patience = std::max(kLeastPatience, kPatience * validations / kValidations);
  const std::int64_t patience_of_run = length < kFewUpdates ? 0 : std::llround(patience);
  return {{"valid-every", text_of(rounded(length / validations))},
          {"patience", text_of(patience_of_run)},
          {"warmup-updates", text_of(std::min(kLongestWarmUp, rounded(kWarmUp * length)))},
          {"ema", text_of(std::round(decay * 1e4) / 1e4)}};
}

FieldTexts fine_tuning_settings(const RunLength& length, const ModelConfig& model) {
  constexpr std::int64_t kShortWarmUp = 200;
  FieldTexts settings = length_settings(length);
  settings["lr-scheduler"] = "wsd";
  // 3e-4 for d_model 128, 1.5e-4 for 512.
  settings["lr"] = text_of(3e-4 * std::sqrt(128.0 / static_cast<double>(model.d_model)));
  settings["warmup-updates"] =
      text_of(std::min(kShortWarmUp, rounded(0.02 * std::floor(length.updates))));
  return settings;
}

namespace {

using Doubts = std::vector<std::string>;

void doubt_times(const TrainConfig& config, const RunPace& pace, Doubts& doubts) {
  constexpr double kFirstValidation = 0.05;
  const auto end = outlook(config, {}, pace).end;
  const double updates = end ? end->updates_left : 0;
  const auto every = static_cast<double>(config.valid_every);
  const double first = every * pace.seconds_per_update;
  const double validation =
      pace.seconds_per_update > 0 ? pace.seconds_per_validation / pace.seconds_per_update : 0;
  const double validations = RunLength{updates, validation}.validations();
  // A value within a factor of 1.5 of the choice that would be made here is near enough.
  const bool is_late = every > 1.5 * updates / validations;
  const bool is_early = 1.5 * every < updates / validations;
  if (updates > 0 && updates < 2) {
    doubts.push_back(
        "the run ends after about one update, so it learns nothing; give more by "
        "--max-updates, --max-epochs or --max-time");
    return;
  }
  if (!pace.validates)
    doubts.push_back(
        "there is no validation text, so the last model is taken for the best and "
        "nothing ends the run early; give --valid-src and --valid-tgt");
  else if (first > kHour && is_late)
    doubts.push_back(join_text("the first validation comes after ", duration_text(first),
                               "; --valid-every ", rounded(kHour / 4 / pace.seconds_per_update),
                               " would bring it in a quarter of an hour"));
  else if (every < validation && is_early)
    doubts.push_back(
        join_text("a validation takes about ", duration_text(pace.seconds_per_validation),
                  ", longer than the updates between two of them; --valid-every ",
                  rounded(updates / validations), " makes ", std::lround(validations), " of them"));
  else if (updates > 0 && every > kFirstValidation * updates && is_late && every > 1)
    doubts.push_back(join_text("the first validation comes after ",
                               std::lround(100 * std::min(1.0, every / updates)),
                               " % of the run; --valid-every ", rounded(updates / validations),
                               " makes ", std::lround(validations), " of them"));
  if (updates > 0 && static_cast<double>(config.warmup_updates) >= updates)
    doubts.push_back(
        join_text("the warm-up (--warmup-updates ", config.warmup_updates,
                  ") is as long as the run (", counted(std::llround(updates), "update"),
                  "), so the rate never reaches its peak; give a tenth of the updates"));
}

void doubt_sizes(const ModelConfig& model, const ModelSize& size, const CorpusSize& corpus,
                 Doubts& doubts) {
  constexpr std::int64_t kFewPairs = 10'000, kSmallCorpus = 100'000;
  if (corpus.pairs < kFewPairs)
    doubts.push_back(
        join_text("only ", counted(corpus.pairs, "pair"),
                  ": the model will translate sentences like these and hardly any others; tens of "
                  "thousands are usual"));
  if (size.parameters > corpus.target_tokens && size.parameters > 2 * size.fitting)
    doubts.push_back(join_text("the model has ", with_separators(size.parameters),
                               " parameters for ", with_separators(corpus.target_tokens),
                               " target pieces of text; --preset auto takes ",
                               with_separators(size.fitting)));
  if (model.dropout == 0 && corpus.pairs < kSmallCorpus)
    doubts.push_back(join_text("--dropout 0 and ", counted(corpus.pairs, "pair"),
                               ": the model will learn them by heart; 0.3 is better"));
}

void doubt_vocabulary(const ModelConfig& model, const CorpusSize& corpus, Doubts& doubts) {
  constexpr std::int64_t kFewPieces = 1200;  // 259 are bytes and marks
  constexpr std::int64_t kLeastUses = 8;
  if (model.target_vocabulary > kFewPieces &&
      model.target_vocabulary * kLeastUses > corpus.target_tokens)
    doubts.push_back(
        join_text(with_separators(model.target_vocabulary), " pieces of vocabulary for ",
                  with_separators(corpus.target_tokens),
                  " target pieces of text: most are seen too rarely to be learned; lower "
                  "--vocab-size, or give a smaller --tokenizer"));
}

}  // namespace

std::vector<std::string> doubtful_choices(const TrainConfig& config, const ModelConfig& model,
                                          const ModelSize& size, const CorpusSize& corpus,
                                          const RunPace& pace) {
  Doubts doubts;
  doubt_times(config, pace, doubts);
  doubt_sizes(model, size, corpus, doubts);
  if (config.init_from.empty()) doubt_vocabulary(model, corpus, doubts);
  return doubts;
}

}  // namespace dragoman
