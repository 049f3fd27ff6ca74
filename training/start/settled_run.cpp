#include "training/start/settled_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/error.h"
#include "base/formatted_text.h"
#include "tokenizer/tokenizer.h"
#include "training/start/resume_changes.h"

namespace dragoman {

namespace {

void inform(SettledRun& run, std::string text) {
  run.remarks.push_back({.kind = Remark::Kind::Info, .text = std::move(text)});
}

void warn(SettledRun& run, std::string text) {
  run.remarks.push_back({.kind = Remark::Kind::Warning, .text = std::move(text)});
}

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
    throw Error(file, ": has ", given.size(), " pieces, but ", model, " ", wanted.size(), advice);
  for (TokenId id = 0; id < given.size(); ++id)
    if (given.piece(id) != wanted.piece(id))
      throw Error(file, ": piece ", id, " is '", given.piece(id), "', but '", wanted.piece(id),
                  "' in ", model, advice);
  throw Error(file, ": has the pieces of ", model, ", but other scores or another normalisation",
              advice);
}

/// With --init-from the architecture is the model's; dropout rates that were given stay. Throws
/// UsageError naming the flag if another architecture was given.
void take_architecture(const GivenModel& model, RunSettings& settings, ModelConfig& config) {
  ModelConfig taken = model.config;
  const auto given = fields_of(config), of_model = fields_of(taken);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string name(given[i].info.name), text = given[i].text();
    if (!settings.asks_value(name)) settings.keep(name, "the model of --init-from");
    if (!settings.asks_value(name) || text == of_model[i].text()) continue;
    if (is_architecture(name))
      throw UsageError("--", name, " ", text, ": ", model.name, " (", model.path.string(), ") has ",
                       of_model[i].text(), "; leave the flag out");
    of_model[i].assign({text});
  }
  config = taken;
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
  const auto asked = settings.record().asked;
  for (const auto& [name, fact] : facts) {
    const auto found = asked.find(name);
    if (found == asked.end() || found->second == kAuto || found->second == fact) continue;
    throw UsageError("--", name, " ", found->second, ": the tokenizer is that of ", by,
                     fact.empty() ? "" : ", which has " + fact, "; leave the flag out");
  }
}

/// The model of --init-from has its own size, which may be another than the preset's.
void tell_of_unused_size(SettledRun& run) {
  const Preset preset = run.config.train.preset;
  const std::int64_t width = run.config.model.d_model;
  if (width == ModelConfig::from_preset(preset).d_model) return;
  inform(run, join_text("--preset ", name_of(preset), ": decides how the run trains; the model of ",
                        "--init-from keeps its size, d_model ", width));
}

void choose_by_models(SettledRun& run, RunSettings& settings, const StartFacts& facts) {
  const bool has_initial_model = !run.config.train.init_from.empty();
  if (facts.model && has_initial_model) {
    take_architecture(*facts.model, settings, run.config.model);
    refuse_ignored_tokenizer_flags(settings, facts.model->tokenizers, "--init-from");
    if (!facts.begun && settings.asks_value("preset")) tell_of_unused_size(run);
  }
  if (facts.model)
    take_tokenizers(*facts.model, facts.tokenizer_files, run.config.tokenizer);
  else if (facts.tokenizer_files && !has_initial_model)
    refuse_ignored_tokenizer_flags(settings, *facts.tokenizer_files, "--tokenizer");
}

// ---- the text, the tokenizers, the corpus -------------------------------------------------------

/// Chooses the size of the model, and the settings that are needed before the text is encoded. A
/// preset that was asked for decides only the size.
void choose_by_text(SettledRun& run, RunSettings& settings, const TextFacts& text) {
  std::string reason = counted(text.size.pairs, "pair");
  Preset preset = run.config.train.preset;
  if (text.preset && settings.is_open("preset")) {
    preset = text.preset->preset;
    reason = text.preset->reason;
    settings.take_defaults(RunConfig::from_preset(preset).fields(),
                           join_text("--preset ", name_of(preset)));
    settings.choose("preset", std::string(name_of(preset)), reason);
    if (const Preset full = preset_for(text.size); full != preset)
      inform(run, join_text("preset ", name_of(preset), ": ", reason, "; --preset ", name_of(full),
                            " takes it all the same"));
  }
  if (preset == Preset::Tiny && run.config.model.norm == NormPosition::After)
    settings.choose("lr", "0.002", "--norm after");
  for (const Setting& setting : text_settings(preset, text.size)) {
    if (setting.name == "vocab-size" && !run.config.tokenizer.trains()) continue;
    if (setting.name == "max-tokens" && settings.asks_auto("max-tokens")) continue;  // measured
    if (setting.name == "augment-join" && !run.config.data.guided_alignment.empty()) continue;
    settings.choose(setting.name, setting.text, reason);
  }
}

/// Takes the settings of a tokenizer that was given. One of another system may have a normalisation
/// that has no flag.
void take_facts(const TokenizerPair& given, RunSettings& settings) {
  const std::string reason = "of the tokenizer that was given";
  settings.choose("vocab-size", text_of(std::int64_t{given.source->size()}), reason);
  const auto take = [&](const std::string& flag, const Tokenizer& tokenizer) {
    const std::string normalization = normalization_of(tokenizer.facts());
    if (std::ranges::count(names_of(Normalization{}), normalization) > 0)
      settings.choose(flag, normalization, reason);
  };
  take("source-normalization", *given.source);
  take("target-normalization", *given.target);
}

/// Chooses the settings that follow from the tokenizers: vocabularies, special ids, tying.
void choose_by_tokenizers(SettledRun& run, RunSettings& settings, const StartFacts& facts) {
  const TokenizerPair& tokenizers = *facts.tokenizers;
  ModelConfig& model = run.config.model;
  if (!run.config.tokenizer.trains()) take_facts(tokenizers, settings);
  // The model of --init-from has them: an imported one may have no <s>, and two tokenizers of one
  // vocabulary.
  if (facts.model && !run.config.train.init_from.empty()) return;
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
  inform(run, "two vocabularies: the embeddings of target and output are tied, the source's not");
}

/// Chooses length, warm-up, validations, patience and moving average.
void choose_by_corpus(SettledRun& run, RunSettings& settings, const EpochFacts& corpus) {
  const TrainConfig& config = run.config.train;
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
  for (const Setting& setting :
       fine_tunes ? fine_tuning_settings(length, run.config.model) : length_settings(length))
    settings.choose(setting.name, setting.text, reason);
}

/// Gives the learning rate its end if that is open, unless the corpus is still to decide it.
void choose_lr_end(TrainConfig& config, RunSettings& settings, const StartFacts& facts) {
  if (!config.has_lr_end() || config.lr_end > 0) return;
  const bool has_limit =
      settings.asks_value("max-updates") || config.max_epochs > 0 || config.max_seconds() > 0;
  if (config.max_updates == 0 && !has_limit && !facts.corpus) return;
  config.settle_lr_end();
  settings.keep("lr-end", "--max-updates");
}

// ---- a run that is resumed ----------------------------------------------------------------------

/// The learning rate of a run that has begun ends at the update that was planned.
void require_same_schedule(const TrainConfig& config, const RunSettings& settings) {
  if (!config.has_lr_end() || config.lr_end == 0 || settings.asks_value("lr-end")) return;
  if (config.max_updates > 0 && config.max_updates <= config.lr_end) return;
  throw UsageError("--max-updates: this run's learning rate ends at update ", config.lr_end,
                   "; to continue after it with --min-lr, give --lr-end ", config.lr_end,
                   ", or another -o for another run");
}

void warn_of_other_machine(SettledRun& run, const MachineFacts& machine_before,
                           const MachineFacts& machine) {
  const auto compare = [&run](const std::string& fact, const std::string& before,
                              const std::string& now) {
    if (before != now)
      warn(run, join_text(fact, " ", before, " -> ", now,
                          ": the run continues, but not bit-identically"));
  };
  compare("ranks", std::to_string(machine_before.ranks), std::to_string(machine.ranks));
  compare("precision", machine_before.precision, machine.precision);
  compare("threads", machine_before.threads, machine.threads);
  compare("processor", machine_before.processor, machine.processor);
}

/// Earlier versions had other rules about pairs: makes the settings of their runs say so.
SettingsRecord with_earlier_rules(SettingsRecord remembered) {
  if (remembered.values.empty()) return remembered;
  remembered.values.try_emplace("pair-identity", name_of(PairIdentity::Bytes));
  remembered.values.try_emplace("valid-overlap", name_of(ValidOverlap::Ignored));
  return remembered;
}

/// A resumed run has its own settings if nothing else is asked. But a length that the program chose
/// gives way to one that is asked for now.
void recall(RunSettings& settings, const SettingsRecord& remembered) {
  SettingsRecord recalled = with_earlier_rules(remembered);
  const auto asked = remembered.asked.find("max-updates");
  const bool was_chosen = asked == remembered.asked.end() || asked->second == kAuto;
  if (was_chosen && (settings.asks_value("max-epochs") || settings.asks_value("max-time")))
    recalled.values.erase("max-updates");
  settings.recall(recalled);
}

/// Throws UsageError if a new --max-updates is less than the updates that were made.
void require_later_end(const TrainConfig& config, const ProgressRecord& begun) {
  const auto& values = begun.start.settings.values;
  const auto before = values.find("max-updates");
  const bool is_new = before == values.end() || before->second != text_of(config.max_updates);
  if (is_new && config.max_updates > 0 && config.max_updates < begun.update)
    throw UsageError("--max-updates: ", config.max_updates, " is less than the ",
                     counted(begun.update, "update"),
                     " that this run has made; give more, or leave the flag out");
}

/// Refuses changes that would make another run, and reports all others.
void compare_with_begun(SettledRun& run, const StartFacts& facts) {
  const ProgressRecord& begun = *facts.begun;
  const auto fields = run.config.fields();
  const ResumeChanges changes = compare_configuration(
      fields, with_earlier_rules(begun.start.settings).values, facts.initial_checksum);
  run.expected_hashes = dragoman::expected_hashes(fields, begun.start);
  require_later_end(run.config.train, begun);
  if (begun.update > 0 && begun.keep_value < 0 && !run.config.data.keep_valid_source.empty())
    throw UsageError(
        "--keep-valid-src: this run was started without it, so nothing is known to compare with; "
        "leave it out, or give another -o for another run");
  if (!facts.machine) return;
  for (const std::string& change : changes.allowed) inform(run, "changed: " + change);
  for (const std::string& change : changes.not_exact)
    warn(run, "changed: " + change + "; the run continues, but not bit-identically");
  warn_of_other_machine(run, begun.start.machine, *facts.machine);
}

}  // namespace

bool SettledRun::wants_max_tokens() const {
  const auto asked = settings.asked.find("max-tokens");
  return asked != settings.asked.end() && asked->second == kAuto && open.contains("max-tokens");
}

SettledRun settle(const RunRequest& request, const StartFacts& facts) {
  SettledRun run{.config = request.config};
  const std::vector<Field> fields = run.config.fields();
  RunSettings settings(fields, request.settings);  // writes into run.config
  if (facts.remembered) recall(settings, *facts.remembered);
  if (facts.begun) require_same_schedule(run.config.train, settings);
  run.config.check();
  choose_by_models(run, settings, facts);
  if (facts.model) run.config.check();  // again: its architecture is the model's
  if (facts.text) choose_by_text(run, settings, *facts.text);
  if (facts.tokenizers) choose_by_tokenizers(run, settings, facts);
  if (facts.max_tokens)
    settings.choose("max-tokens", text_of(*facts.max_tokens),
                    "the fewest that are nearly as fast as any, measured here");
  if (facts.corpus) choose_by_corpus(run, settings, *facts.corpus);
  choose_lr_end(run.config.train, settings, facts);
  if (facts.corpus || settings.asks_value("warmup-updates")) run.config.check();
  if (facts.begun) compare_with_begun(run, facts);
  run.settings = settings.record();
  for (const Field& field : fields)
    if (const auto name = field.info.name; settings.is_open(name) && !is_of_the_call(name))
      run.open.emplace(name);
  return run;
}

}  // namespace dragoman
