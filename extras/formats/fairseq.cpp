// The reader of fairseq's models: the options in a checkpoint, the dictionaries, the weights.
#include "extras/formats/import_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/utf8.h"
#include "extras/formats/foreign_model.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

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

/// Settings of fairseq-generate that change translations and that we lack, with the value that
/// means "off".
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

/// The options in a checkpoint. Until 0.10 all were in "args"; since then they are in groups of
/// "cfg": model, task, bpe, tokenizer, generation.
class FairseqOptions {
 public:
  /// Throws Error that names the option that cannot be imported.
  explicit FairseqOptions(const CheckpointFile& file);

  const std::string& file() const { return options_.file(); }
  /// Without vocabularies.
  ModelConfig config() const;
  /// Throws Error that names the option whose size or rate is impossible.
  void check(const ModelConfig& config) const;
  bool has_scale() const;
  /// The settings of fairseq-generate that the checkpoint has, or their defaults.
  ForeignSearch search() const;
  /// "en", or empty.
  std::string language(Side side) const;
  /// A path of the machine that trained it, or empty.
  std::string sentencepiece() const;

 private:
  std::string in(const std::string& group, const std::string& name) const;
  std::string kind(const std::string& group) const;
  void check_kinds() const;
  void check_model() const;
  std::int64_t of_both(const std::string& name, std::int64_t otherwise) const;
  bool flag_of_both(const std::string& name) const;
  void read_lengths(DecodeDefaults& defaults) const;
  bool is_off(const std::string& name, double off) const;

  bool has_groups_;
  ForeignOptions options_;
};

FairseqOptions::FairseqOptions(const CheckpointFile& file)
    : has_groups_(&options_of(file) == file.find("cfg")),
      options_(
          pickled_options(file.name() + (has_groups_ ? " (cfg)" : " (args)"), options_of(file))) {
  check_kinds();
  check_model();
}

/// The full name of an option. In groups it is `model.dropout`. Options of one side may have a
/// group of their own: model.encoder.layers instead of encoder_layers.
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
  // A translation has up to a S + b pieces, and </s>. If a is 0, only b bounds it.
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

/// The first pieces of each dictionary, which its file lacks (dictionary.py).
constexpr const char* kFairseqSpecials[] = {"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int64_t kPaddingId = 1, kEndId = 2;

/// Source: transformer_encoder.py, transformer_decoder.py and transformer_layer.py.
constexpr NamePair kFairseqNames[] = {
    {"embedding.", "encoder.embed_tokens."},
    {"embedding.source.", "encoder.embed_tokens."},
    {"embedding.target.", "decoder.embed_tokens."},
    {"output.", "decoder.output_projection."},
    {"encoder.embedding_norm.", "encoder.layernorm_embedding."},
    {"decoder.embedding_norm.", "decoder.layernorm_embedding."},
    {"encoder.layers.#.self_attention.query.", "encoder.layers.#.self_attn.q_proj."},
    {"encoder.layers.#.self_attention.key.", "encoder.layers.#.self_attn.k_proj."},
    {"encoder.layers.#.self_attention.value.", "encoder.layers.#.self_attn.v_proj."},
    {"encoder.layers.#.self_attention.output.", "encoder.layers.#.self_attn.out_proj."},
    {"encoder.layers.#.self_attention_norm.", "encoder.layers.#.self_attn_layer_norm."},
    {"encoder.layers.#.feed_forward.inner.", "encoder.layers.#.fc1."},
    {"encoder.layers.#.feed_forward.outer.", "encoder.layers.#.fc2."},
    {"encoder.layers.#.feed_forward_norm.", "encoder.layers.#.final_layer_norm."},
    {"encoder.norm.", "encoder.layer_norm."},
    {"decoder.layers.#.self_attention.query.", "decoder.layers.#.self_attn.q_proj."},
    {"decoder.layers.#.self_attention.key.", "decoder.layers.#.self_attn.k_proj."},
    {"decoder.layers.#.self_attention.value.", "decoder.layers.#.self_attn.v_proj."},
    {"decoder.layers.#.self_attention.output.", "decoder.layers.#.self_attn.out_proj."},
    {"decoder.layers.#.self_attention_norm.", "decoder.layers.#.self_attn_layer_norm."},
    {"decoder.layers.#.cross_attention.query.", "decoder.layers.#.encoder_attn.q_proj."},
    {"decoder.layers.#.cross_attention.key.", "decoder.layers.#.encoder_attn.k_proj."},
    {"decoder.layers.#.cross_attention.value.", "decoder.layers.#.encoder_attn.v_proj."},
    {"decoder.layers.#.cross_attention.output.", "decoder.layers.#.encoder_attn.out_proj."},
    {"decoder.layers.#.cross_attention_norm.", "decoder.layers.#.encoder_attn_layer_norm."},
    {"decoder.layers.#.feed_forward.inner.", "decoder.layers.#.fc1."},
    {"decoder.layers.#.feed_forward.outer.", "decoder.layers.#.fc2."},
    {"decoder.layers.#.feed_forward_norm.", "decoder.layers.#.final_layer_norm."},
    {"decoder.norm.", "decoder.layer_norm."},
};

using Views = std::map<std::string, StridedTensor>;

/// Each line has a piece and how often it occurred.
std::vector<std::string> read_dictionary(const fs::path& path) {
  const std::string text = read_file(path);
  if (find_invalid_utf8(text) != text.npos) throw Error(path.string(), ": is not UTF-8");
  std::vector<std::string> pieces(std::begin(kFairseqSpecials), std::end(kFairseqSpecials));
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t space = line.rfind(' ');
    if (space == 0 || space == line.npos ||
        line.find_first_not_of("0123456789", space + 1) != line.npos || space + 1 == line.size())
      throw Error(path.string(), ": line ", number, ": is not a piece and its count");
    pieces.emplace_back(line.substr(0, space));
  }
  return pieces;
}

/// The dictionary of both sides, if all dictionaries in the folder are the same; else empty.
fs::path joint_dictionary(const fs::path& folder) {
  fs::path joint;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("dict.") || !name.ends_with(".txt")) continue;
    if (!joint.empty() && read_file(joint) != read_file(entry.path())) return {};
    joint = entry.path();
  }
  return joint;
}

/// A checkpoint names no languages if fairseq found them by the names of its data.
fs::path dictionary_of(const FairseqOptions& options, const fs::path& folder, Side side) {
  const std::string language = options.language(side);
  fs::path of_language = folder / ("dict." + language + ".txt"),
           of_side = folder / (side == Side::Source ? "dict.src.txt" : "dict.tgt.txt");
  if (!language.empty() && fs::exists(of_language)) return of_language;
  if (fs::exists(of_side)) return of_side;
  if (language.empty())
    if (fs::path joint = joint_dictionary(folder); !joint.empty()) return joint;
  throw Error(options.file(), ": needs the dictionary of the ", name_of(side), " beside it, as ",
              language.empty() ? "" : of_language.filename().string() + " or ",
              of_side.filename().string());
}

ForeignVocabulary read_side(const FairseqOptions& options, const fs::path& folder, Side side) {
  return vocabulary_beside(folder, side, read_dictionary(dictionary_of(options, folder, side)),
                           options.sentencepiece());
}

/// One of three matrices of the same shape, which a tensor holds one below the other.
StridedTensor third(const StridedTensor& tensor, std::int64_t part) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape.front() /= 3;
  const auto begin = static_cast<std::size_t>(part * shape.front() * tensor.strides.front()) *
                     size_of(tensor.type);
  return strided_tensor(tensor.type, std::move(shape), tensor.strides,
                        tensor.bytes.substr(std::min(begin, tensor.bytes.size())));
}

/// Version 0.12 has the parameters of a layer twice: those that are trained, and copies of them for
/// PyTorch's kernel of whole layers, such as "encoder.layers.0.fc1_weight".
bool is_copy(std::string_view name) {
  constexpr std::string_view kLayers = "encoder.layers.";
  if (!name.starts_with(kLayers)) return false;
  const std::string_view rest = name.substr(kLayers.size());
  const std::size_t dot = rest.find('.');
  if (dot == rest.npos || rest.find('.', dot + 1) != rest.npos) return false;
  return rest.ends_with("_weight") || rest.ends_with("_bias");
}

/// Renames what version 0.6 named or cut differently (upgrade_state_dict_named in its successors).
Views with_new_names(const Views& views) {
  constexpr std::pair<std::string_view, std::string_view> kEncoderNorms[] = {
      {".layer_norms.0.", ".self_attn_layer_norm."}, {".layer_norms.1.", ".final_layer_norm."}};
  constexpr std::pair<std::string_view, std::string_view> kDecoderNorms[] = {
      {".layer_norms.0.", ".self_attn_layer_norm."},
      {".layer_norms.1.", ".encoder_attn_layer_norm."},
      {".layer_norms.2.", ".final_layer_norm."}};
  constexpr std::string_view kPacked = "in_proj_";
  Views result;
  for (const auto& [name, tensor] : views) {
    if (is_copy(name)) continue;
    const std::size_t packed = name.rfind(kPacked);
    if (packed != name.npos && !tensor.shape.empty() && tensor.shape.front() % 3 == 0) {
      std::int64_t part = 0;
      for (const char* kind : {"q_proj.", "k_proj.", "v_proj."})
        result[name.substr(0, packed) + kind + name.substr(packed + kPacked.size())] =
            third(tensor, part++);
      continue;
    }
    std::string renamed = name == "decoder.embed_out" ? "decoder.output_projection.weight" : name;
    const auto rename = [&renamed](const auto& pairs) {
      for (const auto& [from, to] : pairs)
        if (const std::size_t at = renamed.find(from); at != renamed.npos)
          renamed = join_text(renamed.substr(0, at), to, renamed.substr(at + from.size()));
    };
    if (name.starts_with("decoder."))
      rename(kDecoderNorms);
    else
      rename(kEncoderNorms);
    result[renamed] = tensor;
  }
  return result;
}

/// [positions, D], without the rows up to that of padding.
std::vector<float> learned_positions(ForeignTensors& tensors, const Views& views,
                                     const std::string& side, std::int64_t d_model) {
  const std::string name = side + ".embed_positions.weight";
  const auto found = views.find(name);
  const std::int64_t rows =
      found == views.end() || found->second.shape.empty() ? 0 : found->second.shape.front();
  std::vector<float> table = tensors.take(name, {rows, d_model});
  if (rows <= kPaddingId + 1) throw Error(tensors.file(), ": ", name, " has no position");
  table.erase(table.begin(), table.begin() + (kPaddingId + 1) * d_model);
  return table;
}

void read_positions(ForeignModel& model, ForeignTensors& tensors, const Views& views) {
  if (model.config.positions != Positions::Learned) {
    model.columns = ColumnOrder::Halves;
    model.first_position = kPaddingId + 1;
    return;
  }
  const std::int64_t d_model = model.config.d_model;
  model.source_positions = learned_positions(tensors, views, "encoder", d_model);
  model.target_positions = learned_positions(tensors, views, "decoder", d_model);
  const std::size_t size = std::min(model.source_positions.size(), model.target_positions.size());
  model.source_positions.resize(size);
  model.target_positions.resize(size);
  model.config.max_positions = static_cast<std::int64_t>(size) / d_model;
}

void read_weights(ForeignModel& model, const CheckpointFile& file) {
  const Views views = with_new_names(file.tensors(file.get("model", "checkpoint of fairseq")));
  ForeignTensors tensors(file.name(), views);
  for (const char* side : {"encoder", "decoder"})
    for (const char* name : {".version", ".embed_positions._float_tensor",
                             ".embed_positions.weights"})  // the sinusoids
      tensors.ignore(std::string(side) + name);
  read_positions(model, tensors, views);
  take_parameters(model, tensors, kFairseqNames);
}

}  // namespace

bool is_fairseq(const CheckpointFile& file) {
  return file.find("model") != nullptr &&
         (file.find("cfg") != nullptr || file.find("args") != nullptr);
}

ForeignModel read_fairseq(const CheckpointFile& file) {
  const FairseqOptions options(file);
  const fs::path folder = fs::path(file.name()).parent_path();
  ForeignModel model;
  model.kind = "fairseq";
  model.config = options.config();
  options.check(model.config);
  model.embedding_scale =
      options.has_scale() ? std::sqrt(static_cast<double>(model.config.d_model)) : 1;
  model.source = read_side(options, folder, Side::Source);
  model.target = read_side(options, folder, Side::Target);
  settle_vocabularies(model, options.file());
  model.search = options.search();
  read_weights(model, file);
  // Again: learned positions added their number, and the dictionaries their sizes.
  options.check(model.config);
  start_with(model, kEndId);
  return model;
}

}  // namespace dragoman
