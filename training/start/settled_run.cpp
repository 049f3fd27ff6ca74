#include "training/start/settled_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/formatted_text.h"
#include "tokenizer/tokenizer.h"
#include "training/start/resume_changes.h"

namespace dragoman {

namespace {

// ---- the model that a run starts from -----------------------------------------------------------

/// Whether a field decides what the model computes, rather than how it is trained.
bool is_architecture(std::string_view name) { return !name.ends_with("dropout"); }

/// Throws Error that names the difference; only equal tokenizers have the same ids.
void require_same(const Tokenizer& given, const std::string& file, const Tokenizer& wanted,
                  const std::string& model) {
  if (given.model_bytes() == wanted.model_bytes()) return;
  const std::string advice =
      "; give no tokenizer (on a resume: --tokenizer \"\") to have the model's";
  if (given.size() != wanted.size())
    throw Error(file, ": has ", given.size(), " pieces, but ", model, " has ", wanted.size(),
                advice);
  for (TokenId id = 0; id < given.size(); ++id)
    if (given.piece(id) != wanted.piece(id))
      throw Error(file, ": piece ", id, " is '", given.piece(id), "', but '", wanted.piece(id),
                  "' in ", model, advice);
  throw Error(file, ": has the pieces of ", model, ", but other scores or another normalisation",
              advice);
}

/// With --init-from the architecture is the model's; dropout rates that were given stay. Throws
/// UsageError naming the flag if another architecture was given.
void take_architecture(const GivenModel& model, RunSettings& settings) {
  ModelConfig taken = model.config;
  const auto given = fields_of(settings.model), of_model = fields_of(taken);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string name(given[i].info.name), text = given[i].text();
    if (!settings.asks_value(name)) settings.keep(name, "the model of --init-from");
    if (!settings.asks_value(name) || text == of_model[i].text()) continue;
    if (is_architecture(name))
      throw UsageError("--", name, " ", text, ": ", model.name, " (", model.path.string(), ") has ",
                       of_model[i].text(), "; leave the flag out");
    of_model[i].assign({text});
  }
  settings.model = taken;
}

/// The tokenizers are always those of the model that a run starts from. Throws Error if there are
/// files of --tokenizer and they are other tokenizers.
void take_tokenizers(const GivenModel& model, const std::optional<TokenizerPair>& files,
                     TokenizerConfig& config) {
  const auto &source = model.tokenizers.source, &target = model.tokenizers.target;
  const std::string name = join_text(model.name, " (", model.path.string(), ")");
  if (files) {
    require_same(*files->source, config.source_model, *source, name);
    require_same(*files->target,
                 config.target_model.empty() ? config.source_model : config.target_model, *target,
                 name);
  }
  config.source_bytes = source->model_bytes();
  config.source_eos = model.tokenizers.source_eos;
  if (target != source) config.target_bytes = target->model_bytes();
}

/// Throws UsageError naming a flag that says how a tokenizer is made, if --init-from or --tokenizer
/// (`by`) gives a tokenizer that is made otherwise.
void refuse_ignored_tokenizer_flags(const RunSettings& settings, const TokenizerPair& given,
                                    std::string_view by) {
  const Tokenizer& source = *given.source;
  const std::map<std::string, std::string> facts = {
      {"vocab-size", text_of(std::int64_t{source.size()})},
      {"tokenizer-type", std::string(source.facts().type)},
      {"joint-vocab", text_of(given.joint())},
      {"source-normalization", normalization_of(source.facts())},
      {"target-normalization", normalization_of(given.target->facts())},
      {"lowercase", text_of(lower_cases(source))},
      {"character-coverage", ""},
      {"user-symbols", ""},
      {"tokenizer-lines", ""}};  // a tokenizer does not tell the last three
  for (const auto& [name, fact] : facts) {
    if (!settings.asks_value(name) || settings.asked.at(name) == fact) continue;
    throw UsageError("--", name, " ", settings.asked.at(name), ": the tokenizer is that of ", by,
                     fact.empty() ? "" : ", which has " + fact, "; leave the flag out");
  }
}

/// The model of --init-from has its own size, which may differ from the preset's.
void inform_of_unused_size(SettledRun& run) {
  const Preset preset = run.settings.train.preset;
  const std::int64_t width = run.settings.model.d_model;
  if (width == ModelConfig::from_preset(preset).d_model) return;
  run.inform(join_text("--preset ", name_of(preset), ": decides how the run trains; the model of ",
                       "--init-from keeps its size, d_model ", width));
}

void choose_by_models(SettledRun& run, const StartFacts& known) {
  RunSettings& settings = run.settings;
  if (!known.missing_tokenizer.empty())
    run.warn(known.missing_tokenizer +
             ": is missing; the run continues with the tokenizer in its checkpoint");
  const bool has_initial_model = !settings.train.init_from.empty();
  if (known.model && has_initial_model) {
    take_architecture(*known.model, settings);
    refuse_ignored_tokenizer_flags(settings, known.model->tokenizers, "--init-from");
    if (!known.begun && settings.asks_value("preset")) inform_of_unused_size(run);
  }
  if (known.model)
    take_tokenizers(*known.model, known.tokenizer_files, settings.tokenizer);
  else if (known.tokenizer_files && !has_initial_model)
    refuse_ignored_tokenizer_flags(settings, *known.tokenizer_files, "--tokenizer");
}

// ---- the device, the text, the tokenizers, the corpus -------------------------------------------

/// Batches are drawn at random if attention needs no padding (model/ops/attention.h).
void choose_for_gpu(RunSettings& settings) {
  const bool pads = settings.model.attention_dropout > 0 ||
                    settings.train.precision == Precision::Fp32 ||
                    !settings.data.guided_alignment.empty();
  if (!pads) settings.choose("batch-lengths", "mixed", "on a GPU");
}

/// Chooses the size of the model, and the settings that are needed before the text is encoded. A
/// preset that was asked for decides only the size.
void choose_by_text(SettledRun& run, const StartFacts& known) {
  const TextSize& text = *known.text;
  const std::optional<ChosenPreset>& chosen = known.preset;
  RunSettings& settings = run.settings;
  std::string reason = counted(text.pairs, "pair");
  if (chosen && settings.is_open("preset")) {
    const Preset preset = chosen->preset;
    reason = chosen->reason;
    settings.take_preset(preset);
    settings.choose("preset", std::string(name_of(preset)), reason);
    if (const Preset full = preset_for(text); full != preset)
      run.inform(join_text("preset ", name_of(preset), ": ", reason, "; --preset ", name_of(full),
                           " takes it all the same"));
  }
  const Preset preset = settings.train.preset;
  if (preset == Preset::Tiny && settings.model.norm == NormPosition::After)
    settings.choose("lr", "0.002", "--norm after");
  // If one of the two was asked for, the other one would not suit it.
  if (known.on_gpu && !settings.asks_value("max-tokens") && !settings.asks_value("update-freq") &&
      !settings.asks_auto("max-tokens"))
    for (const auto& [name, value] : gpu_batch_settings(text, known.ranks))
      settings.choose(name, value, reason + ", on a GPU");
  for (const auto& [name, value] : text_settings(preset, text)) {
    if (name == "vocab-size" && !settings.tokenizer.trains()) continue;
    if (name == "max-tokens" && known.on_gpu && settings.asks_auto("max-tokens"))
      continue;  // to be measured
    if (name == "augment-join" && !settings.data.guided_alignment.empty()) continue;
    settings.choose(name, value, reason);
  }
}

/// Takes the settings of a tokenizer that was given. One of another system may have a normalisation
/// that has no flag.
void take_facts(const TokenizerPair& given, RunSettings& settings) {
  const std::string reason = "of the tokenizer that was given";
  settings.choose("vocab-size", text_of(std::int64_t{given.source->size()}), reason);
  const auto take = [&](const std::string& flag, const Tokenizer& tokenizer) {
    const std::string normalization = normalization_of(tokenizer.facts());
    if (value_named<Normalization>(normalization)) settings.choose(flag, normalization, reason);
  };
  take("source-normalization", *given.source);
  take("target-normalization", *given.target);
}

/// Chooses the settings that follow from the tokenizers: vocabularies, special ids, tying.
void choose_by_tokenizers(SettledRun& run, const TokenizerPair& tokenizers,
                          const std::optional<GivenModel>& given) {
  RunSettings& settings = run.settings;
  ModelConfig& model = settings.model;
  if (!settings.tokenizer.trains()) take_facts(tokenizers, settings);
  // The model of --init-from has them: an imported one may have no <s>, and two tokenizers of one
  // vocabulary.
  if (given && !settings.train.init_from.empty()) return;
  model.source_vocabulary = tokenizers.source->size();
  model.target_vocabulary = tokenizers.target->size();
  model.unk_id = tokenizers.target->unk_id();
  model.bos_id = tokenizers.target->bos_id();
  model.eos_id = tokenizers.target->eos_id();
  model.source_eos = tokenizers.source_eos;
  if (tokenizers.joint() || model.tying != Tying::ThreeWay) return;
  if (settings.asks_value("tying"))
    throw UsageError("--tying three-way needs one vocabulary for both sides (--joint-vocab)");
  model.tying = Tying::TwoWay;
  settings.keep("tying", "two vocabularies");
  run.inform(
      "two vocabularies: the embeddings of target and output are tied, the source's are not");
}

/// BLEU of such a text is 0 if all translations are right.
void choose_by_references(SettledRun& run) {
  RunSettings& settings = run.settings;
  const std::string reason =
      "no validation reference has four words, and BLEU counts groups of four";
  if (settings.is_open("best-metric"))
    run.inform(join_text("--best-metric chrf: ", reason));
  else if (settings.train.best_metric == BestMetric::Bleu)
    run.warn(join_text("--best-metric bleu: ", reason, "; chrf can tell the models apart"));
  settings.choose("best-metric", "chrf", reason);
}

/// Chooses length, warm-up, validations, patience and moving average.
void choose_by_corpus(RunSettings& settings, const EpochFacts& corpus) {
  const TrainConfig& config = settings.train;
  const bool fine_tunes = !config.init_from.empty();
  auto updates = static_cast<double>(
      updates_for(corpus.size, config.preset, corpus.target_tokens_per_update()));
  if (fine_tunes) updates *= kFineTuningLength;
  const std::string reason = counted(corpus.size.pairs, "pair");
  if (config.max_epochs == 0 && config.max_seconds() == 0)
    settings.choose("max-updates", text_of(static_cast<std::int64_t>(updates)), reason);
  if (config.max_updates > 0) updates = static_cast<double>(config.max_updates);
  if (config.max_epochs > 0)
    updates = std::min(updates, static_cast<double>(config.max_epochs) * corpus.updates_per_epoch);
  if (config.max_seconds() > 0 && corpus.seconds_per_update > 0) {
    const RunLength without{config.max_seconds() / corpus.seconds_per_update,
                            corpus.updates_per_validation};
    updates =
        std::min(updates, without.updates - without.validations() * corpus.updates_per_validation);
  }
  const RunLength length{std::max(1.0, updates), corpus.updates_per_validation};
  for (const auto& [name, value] :
       fine_tunes ? fine_tuning_settings(length, settings.model) : length_settings(length)) {
    if (name == "patience" && value == "0" && !settings.data.stage_with_patience().empty())
      continue;  // a stage needs it also in a short run
    settings.choose(name, value, reason);
  }
}

/// Gives the learning rate its end if that is open, unless the corpus is still to decide it.
void choose_lr_end(RunSettings& settings, const StartFacts& known) {
  TrainConfig& config = settings.train;
  if (!config.has_lr_end() || config.lr_end > 0) return;
  const bool has_limit =
      settings.asks_value("max-updates") || config.max_epochs > 0 || config.max_seconds() > 0;
  if (config.max_updates == 0 && !has_limit && !known.corpus) return;
  config.settle_lr_end();
  settings.keep("lr-end", "--max-updates");
}

// ---- flags without effect -----------------------------------------------------------------------

/// The schedule that the run will have; none if the text is still to decide the preset.
std::optional<LrScheduler> known_scheduler(const RunSettings& settings) {
  if (!settings.is_open("lr-scheduler")) return settings.train.scheduler;
  if (!settings.train.init_from.empty()) return LrScheduler::Wsd;  // fine_tuning_settings()
  if (settings.is_open("preset")) return std::nullopt;
  return settings.train.scheduler;
}

/// Whether text is cut at random, or may be once the preset or the text has decided it.
bool may_sample_subwords(const RunSettings& settings) {
  if (settings.data.subword_sampling > 0) return true;
  const bool is_decided =
      !settings.is_open("subword-sampling") || !settings.train.init_from.empty();
  return !is_decided && (settings.is_open("preset") || settings.train.preset == Preset::Small);
}

/// Throws UsageError naming a flag that has no effect, as it needs another one that is not given.
void refuse_idle_flags(const RunSettings& settings) {
  struct Flag {
    const char* name;
    bool has_effect;
    std::string needs;
  };
  const TrainConfig& train = settings.train;
  const DataConfig& data = settings.data;
  const auto scheduler = known_scheduler(settings);
  const auto has = [scheduler](LrScheduler wanted) { return !scheduler || *scheduler == wanted; };
  const bool aligns = !data.guided_alignment.empty();
  const bool has_valid = !data.valid_names().empty();
  const bool validates = has_valid || data.valid_fraction > 0;  // on pairs that are held out
  const std::string valid_text =
      "a validation text: --valid-src and --valid-tgt, or --valid-fraction";
  const std::string rather = scheduler ? join_text(" instead of ", name_of(*scheduler)) : "";
  const Flag flags[] = {
      {"guided-alignment-weight", aligns, "--guided-alignment"},
      {"guided-alignment-layer", aligns, "--guided-alignment"},
      {"guided-alignment-head", aligns, "--guided-alignment"},
      {"cooldown", has(LrScheduler::Wsd), "--lr-scheduler wsd" + rather},
      {"lr-end", has(LrScheduler::Cosine) || has(LrScheduler::Linear) || train.lr_end == 0,
       "--lr-scheduler cosine or linear" + rather},
      {"min-lr", scheduler != LrScheduler::Noam || train.min_lr == 0,
       "a --lr-scheduler other than noam"},
      {"train-terms-share", !data.train_terms.empty(), "--train-terms"},
      {"columns", !data.train.empty() || !data.valid.empty(), "--train or --valid"},
      {"keep-tolerance", !data.keep_valid_source.empty(), "--keep-valid-src"},
      {"valid-fraction", !has_valid || data.valid_fraction == 0,
       "a run without --valid-src and --valid; leave out one of them"},
      {"patience", validates || train.patience == 0, valid_text},
      {"samples", validates || train.samples == 0, valid_text},
      {"best-metric", validates, valid_text},
      {"valid-beam-size", validates, valid_text},
      {"valid-overlap", validates, valid_text},
      {"corpus-temperature", data.training_files() > 1 || data.corpus_temperature == 1,
       "several files of --train-src or --train"},
      {"subword-sampling-side", may_sample_subwords(settings), "--subword-sampling"},
      {"max-positions", settings.model.positions == Positions::Learned || !train.init_from.empty(),
       "--positions learned"}};
  for (const Flag& flag : flags)
    if (!flag.has_effect && settings.asks_value(flag.name))
      throw UsageError("--", flag.name, ": needs ", flag.needs);
}

}  // namespace

SettledRun settle(const RunSettings& asked, const StartFacts& known) {
  SettledRun run{.settings = asked};
  RunSettings& settings = run.settings;
  if (known.remembered) recall(settings, *known.remembered);
  if (known.begun) {
    require_same_schedule(settings);
    // Before check(), whose message may name a flag that the run was begun with.
    changed_fields(fields_of(settings.data), known.begun->start.values);
  }
  if (settings.data.noise == Noise::Usual)
    for (const auto& [name, value] : noise_settings())
      settings.choose(name, value, "--noise usual");
  settings.check();
  choose_by_models(run, known);
  if (known.model) settings.check();  // again: its architecture is the model's
  if (known.on_gpu) choose_for_gpu(settings);
  if (known.text) choose_by_text(run, known);
  if (known.tokenizers) choose_by_tokenizers(run, *known.tokenizers, known.model);
  if (known.has_short_references) choose_by_references(run);
  if (known.max_tokens)
    settings.choose("max-tokens", text_of(*known.max_tokens),
                    "the most that fit into the memory of the GPU, measured here");
  if (known.corpus) choose_by_corpus(settings, *known.corpus);
  choose_lr_end(settings, known);
  if (!known.remembered) refuse_idle_flags(settings);  // a run that has begun keeps what it has
  if (known.corpus || settings.asks_value("warmup-updates")) settings.check();
  if (known.begun) compare_with_begun(run, known);
  return run;
}

}  // namespace dragoman
