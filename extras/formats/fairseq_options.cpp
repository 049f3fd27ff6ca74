#include "extras/formats/fairseq_options.h"

#include "base/error.h"
#include "base/fields.h"
#include "extras/formats/check_config.h"
#include "extras/formats/search_setting.h"

namespace dragoman {

namespace {

/// Switches that must be off.
constexpr std::pair<const char*, const char*> kFairseqSwitches[] = {
    {"adaptive_input", "adaptive embeddings"},
    {"char_inputs", "embeddings of characters"},
    {"no_token_positional_embeddings", "a model without positions"},
    {"no_cross_attention", "a decoder without cross-attention"},
    {"cross_self_attention", "a decoder that attends to source and target at once"},
    {"no_decoder_final_norm", "a decoder without its last normalisation"},
    {"tie_adaptive_weights", "adaptive embeddings"},
};

/// Settings of fairseq-generate that change translations and that we do not have, with the value
/// that means "off".
constexpr std::pair<const char*, double> kUnsupportedFairseq[] = {
    {"constraints", 0}, {"diverse_beam_groups", -1}, {"diversity_rate", -1},
    {"lm_path", 0},     {"match_source_len", 0},     {"nbest", 1},
    {"prefix_size", 0}, {"replace_unk", 0},          {"retain_dropout", 0},
    {"sampling", 0},    {"temperature", 1}};

const PickleValue& options_of(const CheckpointFile& file) {
  const PickleValue* cfg = file.find("cfg");
  if (cfg != nullptr && cfg->as<PickleNone>() == nullptr) return *cfg;
  return file.get("args", "checkpoint of fairseq");
}

bool is_of_kind(const std::string& architecture) {
  if (!architecture.starts_with("transformer")) return false;
  for (const char* other : {"_lm", "align", "pointer", "xlm", "bart", "roberta", "monotonic"})
    if (architecture.find(other) != architecture.npos) return false;
  return true;
}

}  // namespace

FairseqOptions::FairseqOptions(const CheckpointFile& file)
    : has_groups_(&options_of(file) == file.find("cfg")),
      options_(
          pickled_options(file.name() + (has_groups_ ? " (cfg)" : " (args)"), options_of(file))) {
  check_kinds();
  check_model();
}

/// The full name of an option. Since version 0.10 options have groups: `model.dropout`. Options of
/// one side may have a group of their own: model.encoder.layers instead of encoder_layers.
std::string FairseqOptions::in(const std::string& group, const std::string& name) const {
  if (!has_groups_) return name;
  std::string flat = join_text(group, ".", name);
  const std::size_t end = name.find('_');
  if (options_.has(flat) || end == name.npos) return flat;
  const std::string nested = join_text(group, ".", name.substr(0, end), ".", name.substr(end + 1));
  return options_.has(nested) ? nested : flat;
}

/// The choice of a group: its architecture, its task, its tokenizer.
std::string FairseqOptions::kind(const std::string& group) const {
  if (!has_groups_) return options_.text(group == "model" ? "arch" : group, "");
  const std::string of_group = options_.text(group + "._name", options_.text(group, ""));
  return group == "model" ? options_.text("model.arch", of_group) : of_group;
}

void FairseqOptions::check_kinds() const {
  const auto require = [this](const std::string& group, bool is_it, std::string_view what) {
    const std::string name = has_groups_ ? group + "._name" : group == "model" ? "arch" : group;
    options_.require(name, is_it, join_text("\"", kind(group), "\" ", what));
  };
  require("model", is_of_kind(kind("model")),
          "cannot be imported; the architecture \"transformer\" can");
  const std::string task = kind("task");
  require("task", task.empty() || task == "translation",
          "cannot be imported; models of one source and one target language (translation) can");
  const std::string bpe = kind("bpe");
  require("bpe", bpe.empty() || bpe == "sentencepiece",
          "cannot be imported: only pieces of SentencePiece can be made here");
  const std::string words = kind("tokenizer");
  require("tokenizer", words.empty() || words == "space",
          "cannot be imported: it cuts words before SentencePiece");
}

void FairseqOptions::check_model() const {
  for (const auto& [name, what] : kFairseqSwitches)
    options_.require(in("model", name), !options_.flag(in("model", name), false),
                     join_text(what, " cannot be imported"));
  const auto require_none = [this](const char* name, const char* what) {
    const std::string full = in("model", name);
    const std::string value = options_.text(full, "0");
    options_.require(full, value == "0" || value == "0.0", join_text(what, " cannot be imported"));
  };
  const std::string cutoff = in("model", "adaptive_softmax_cutoff");
  options_.require(cutoff, options_.list(cutoff).empty() || !options_.has(cutoff),
                   "an adaptive softmax cannot be imported");
  require_none("base_layers", "layers with experts");
  require_none("quant_noise_pq", "quantised weights");
  for (const char* layers : {"encoder_layers_to_keep", "decoder_layers_to_keep"})
    options_.require(in("model", layers), !options_.has(in("model", layers)),
                     "a model without some of its layers cannot be imported");
}

std::int64_t FairseqOptions::of_both(const std::string& name, std::int64_t otherwise) const {
  const std::int64_t value = options_.integer(in("model", "encoder_" + name), otherwise);
  const std::string decoder = in("model", "decoder_" + name);
  options_.require(decoder, options_.integer(decoder, otherwise) == value,
                   "is not that of the encoder");
  return value;
}

bool FairseqOptions::flag_of_both(const std::string& name) const {
  const bool value = options_.flag(in("model", "encoder_" + name), false);
  const std::string decoder = in("model", "decoder_" + name);
  options_.require(decoder, options_.flag(decoder, false) == value, "is not that of the encoder");
  return value;
}

ModelConfig FairseqOptions::config() const {
  ModelConfig config;
  config.d_model = of_both("embed_dim", 512);
  config.d_ff = of_both("ffn_embed_dim", 2048);
  config.heads = of_both("attention_heads", 8);
  config.encoder_layers = options_.integer(in("model", "encoder_layers"), 6);
  config.decoder_layers = options_.integer(in("model", "decoder_layers"), 6);
  for (const char* name : {"decoder_input_dim", "decoder_output_dim"})
    options_.require(in("model", name),
                     options_.integer(in("model", name), config.d_model) == config.d_model,
                     "is not decoder_embed_dim");
  config.norm = flag_of_both("normalize_before") ? NormPosition::Before : NormPosition::After;
  config.embedding_norm = options_.flag(in("model", "layernorm_embedding"), false);
  config.positions = flag_of_both("learned_pos") ? Positions::Learned : Positions::Marian;
  const std::string activation = in("model", "activation_fn");
  const std::string function = options_.text(activation, "relu");
  options_.require(activation, function == "relu" || function == "gelu",
                   join_text("\"", function, "\" cannot be imported; relu and gelu can"));
  config.activation = function == "relu" ? Activation::Relu : Activation::Gelu;
  config.dropout = options_.number(in("model", "dropout"), 0.1);
  config.attention_dropout = options_.number(in("model", "attention_dropout"), 0);
  config.activation_dropout = options_.number(in("model", "activation_dropout"), 0);
  const bool two = options_.flag(in("model", "share_decoder_input_output_embed"), false);
  const bool three = options_.flag(in("model", "share_all_embeddings"), false);
  config.tying = three ? Tying::ThreeWay : two ? Tying::TwoWay : Tying::None;
  return config;
}

void FairseqOptions::check(const ModelConfig& config) const {
  const std::string width = in("model", "encoder_embed_dim"),
                    heads = in("model", "encoder_attention_heads"),
                    inner = in("model", "encoder_ffn_embed_dim"),
                    encoder = in("model", "encoder_layers"),
                    decoder = in("model", "decoder_layers"),
                    attention = in("model", "attention_dropout"),
                    activation = in("model", "activation_dropout"),
                    dropout = in("model", "dropout");
  const NamePair keys[] = {{"d-model", width},
                           {"heads", heads},
                           {"d-ff", inner},
                           {"encoder-layers", encoder},
                           {"decoder-layers", decoder},
                           {"attention-dropout", attention},
                           {"activation-dropout", activation},
                           {"dropout", dropout}};
  check_config(config, file(), keys);
}

bool FairseqOptions::has_scale() const {
  return !options_.flag(in("model", "no_scale_embedding"), false);
}

ForeignSearch FairseqOptions::search() const {
  ForeignSearch search{.defaults = {{"stop", "fairseq"}}, .file = file()};
  const auto whole = [&](const char* flag, const std::string& name, std::int64_t otherwise) {
    search.defaults[flag] =
        setting_text(flag, options_.integer(name, otherwise), options_.place(name));
  };
  whole("beam-size", "generation.beam", 5);
  const std::string penalty = "generation.lenpen";
  search.defaults["length-penalty"] =
      options_.flag("generation.unnormalized", false)
          ? "0"
          : setting_text("length-penalty", options_.number(penalty, 1), options_.place(penalty));
  whole("min-length", "generation.min_len", 1);
  const std::string ngrams = "generation.no_repeat_ngram_size";
  if (options_.integer(ngrams, 0) != 0) whole("no-repeat-ngram-size", ngrams, 0);
  read_lengths(search.defaults);
  for (const auto& [name, off] : kUnsupportedFairseq)
    if (const std::string full = join_text("generation.", name); !is_off(full, off))
      search.left_out.push_back(full);
  return search;
}

void FairseqOptions::read_lengths(DecodeDefaults& defaults) const {
  // A translation has up to a S + b pieces, and </s>. Where a is 0, b bounds it.
  const std::string name = "generation.max_len_b";
  const double a = options_.number("generation.max_len_a", 0);
  const std::int64_t b = options_.integer(name, 200);
  defaults["max-length-ratio"] =
      setting_text("max-length-ratio", a > 0 ? a : 1000, options_.place("generation.max_len_a"));
  if (a > 0 || b <= 0) return;
  defaults["max-length"] = setting_text("max-length", b, options_.place(name), -1);
  const std::string least = "generation.min_len";
  options_.require(least, std::stoll(defaults.at("min-length")) <= b,
                   "is more than the longest translation may have");
}

bool FairseqOptions::is_off(const std::string& name, double off) const {
  if (!options_.has(name)) return true;
  const std::string value = options_.text(name, "");
  if (value == "true" || value == "false") return options_.flag(name, false) == (off != 0);
  return value == text_of(off);
}

std::string FairseqOptions::language(Side side) const {
  return options_.text(in("task", join_text(name_of(side), "_lang")), "");
}

std::string FairseqOptions::sentencepiece() const {
  for (const char* name : {"sentencepiece_model", "sentencepiece_vocab"})
    if (options_.has(in("bpe", name))) return options_.text(in("bpe", name), "");
  return "";
}

}  // namespace dragoman
