#include "training/start/given_model.h"

#include <map>
#include <string>

#include "base/error.h"
#include "tokenizer/text_rule.h"

namespace dragoman {

namespace {

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

}  // namespace

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

}  // namespace dragoman
