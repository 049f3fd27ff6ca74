// The reader of fairseq's models: the options in a checkpoint, the dictionaries, the weights.
#include "extras/formats/import_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "extras/formats/foreign_model.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/vocabulary_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr const char* kAdaptive = "adaptive embeddings";
constexpr const char* kWithoutLayers = "a model without some of its layers";
constexpr Feature kFairseqFeatures[] = {
    {"model.adaptive_input", kAdaptive},
    {"model.adaptive_softmax_cutoff", "an adaptive softmax"},
    {"model.base_layers", "layers with experts"},
    {"model.char_inputs", "embeddings of characters"},
    {"model.cross_self_attention", "a decoder that attends to source and target at once"},
    {"model.decoder_layers_to_keep", kWithoutLayers},
    {"model.encoder_layers_to_keep", kWithoutLayers},
    {"model.no_cross_attention", "a decoder without cross-attention"},
    {"model.no_decoder_final_norm", "a decoder without its last normalisation"},
    {"model.no_token_positional_embeddings", "a model without positions"},
    {"model.quant_noise_pq", "quantised weights"},
    {"model.tie_adaptive_weights", kAdaptive},
};

/// Settings of fairseq-generate that change translations and that we lack.
constexpr Feature kUnsupportedFairseq[] = {
    {"generation.constraints"},
    {"generation.diverse_beam_groups", "", -1},
    {"generation.diversity_rate", "", -1},
    {"generation.lm_path"},
    {"generation.match_source_len"},
    {"generation.nbest", "", 1},
    {"generation.prefix_size"},
    {"generation.replace_unk"},
    {"generation.retain_dropout"},
    {"generation.sampling"},
    {"generation.temperature", "", 1},
};

constexpr ConfigOption kFairseqConfig[] = {{"d-model", "model.*_embed_dim", 512},
                                           {"heads", "model.*_attention_heads", 8},
                                           {"d-ff", "model.*_ffn_embed_dim", 2048},
                                           {"encoder-layers", "model.encoder_layers", 6},
                                           {"decoder-layers", "model.decoder_layers", 6},
                                           {"attention-dropout", "model.attention_dropout", 0},
                                           {"activation-dropout", "model.activation_dropout", 0},
                                           {"dropout", "model.dropout", 0.1}};

/// The options in a checkpoint. Until 0.10 all were in "args"; since then they are in groups of
/// "cfg": model, task, bpe, tokenizer, generation. Here names have their group, as in
/// model.dropout. Options of one side may have a group of their own: model.encoder.layers instead
/// of model.encoder_layers.
ForeignOptions fairseq_options(const CheckpointFile& file) {
  const PickleValue* cfg = file.find("cfg");
  const bool has_groups = cfg != nullptr && cfg->as<PickleNone>() == nullptr;
  ForeignOptions options =
      pickled_options(file.name() + (has_groups ? " (cfg)" : " (args)"),
                      has_groups ? *cfg : file.get("args", "checkpoint of fairseq"));
  options.spell([has_groups](const ForeignOptions::Values& values, const std::string& name) {
    const std::size_t dot = name.find('.'), end = name.find('_', dot + 1);
    // In "args", _name is the model's, which arch has, too.
    if (!has_groups)
      return name.starts_with("generation.") || name.ends_with("._name") ? name
                                                                         : name.substr(dot + 1);
    const auto has_value = [&values](const std::string& option) {
      const auto found = values.find(option);
      return found != values.end() && !found->second.empty() && found->second.front() != "~";
    };
    std::string nested = name;
    if (dot != name.npos && end != name.npos) nested[end] = '.';
    return has_value(name) || !has_value(nested) ? name : nested;
  });
  return options;
}

bool is_of_kind(const std::string& architecture) {
  if (!architecture.starts_with("transformer")) return false;
  for (const char* other : {"_lm", "align", "pointer", "xlm", "bart", "roberta", "monotonic"})
    if (architecture.find(other) != architecture.npos) return false;
  return true;
}

/// The option that chooses the kind of a group: of the model, the task, the tokenizer.
std::string kind_option(const ForeignOptions& options, const std::string& group) {
  if (group == "model" && options.has("model.arch")) return "model.arch";
  return options.has(group + "._name") ? group + "._name" : group;
}

void check_fairseq(const ForeignOptions& options) {
  const std::string model = kind_option(options, "model"), name = options.text(model, "");
  options.require(
      model, is_of_kind(name),
      join_text("\"", name, "\" cannot be imported; the architecture \"transformer\" can"));
  // With another bpe or tokenizer, another program cuts the words or pieces.
  for (const auto& [group, kind] :
       {std::pair{"task", "translation"}, {"bpe", "sentencepiece"}, {"tokenizer", "space"}}) {
    const std::string option = kind_option(options, group);
    if (!options.text(option, "").empty()) options.choice(option, kind, {kind});
  }
  options.require_off(kFairseqFeatures);
}

ModelConfig fairseq_config(const ForeignOptions& options) {
  ModelConfig config;
  read_numbers(config, options, kFairseqConfig);
  for (const char* name : {"model.decoder_input_dim", "model.decoder_output_dim"})
    options.require_integer(name, config.d_model, "is not decoder_embed_dim");
  config.norm =
      options.flag("model.*_normalize_before", false) ? NormPosition::Before : NormPosition::After;
  config.embedding_norm = options.flag("model.layernorm_embedding", false);
  config.positions =
      options.flag("model.*_learned_pos", false) ? Positions::Learned : Positions::Marian;
  constexpr Activation kActivations[] = {Activation::Relu, Activation::Gelu};
  config.activation = kActivations[options.choice("model.activation_fn", "relu", {"relu", "gelu"})];
  config.tying = options.flag("model.share_all_embeddings", false)               ? Tying::ThreeWay
                 : options.flag("model.share_decoder_input_output_embed", false) ? Tying::TwoWay
                                                                                 : Tying::None;
  return config;
}

void read_fairseq_lengths(DecodeDefaults& defaults, const ForeignOptions& options) {
  // A translation has up to a S + b pieces, and </s>. If a is 0, only b bounds it.
  const std::string name = "generation.max_len_b";
  const double a = options.number("generation.max_len_a", 0);
  const std::int64_t b = options.integer(name, 200);
  defaults["max-length-ratio"] =
      setting_text("max-length-ratio", a > 0 ? a : 1000, options.place("generation.max_len_a"));
  if (a > 0 || b <= 0) return;
  defaults["max-length"] = setting_text("max-length", b, options.place(name), -1);
  options.require("generation.min_len", std::stoll(defaults.at("min-length")) <= b,
                  "is more than the longest translation may have");
}

/// The settings of fairseq-generate that the checkpoint has, or their defaults.
ForeignSearch fairseq_search(const ForeignOptions& options) {
  const std::string penalty = "generation.lenpen", ngrams = "generation.no_repeat_ngram_size";
  ForeignSearch search{
      .defaults = {{"stop", "fairseq"},
                   {"beam-size", options.setting("beam-size", "generation.beam", 5)},
                   {"min-length", options.setting("min-length", "generation.min_len", 1)}},
      .file = options.file()};
  search.defaults["length-penalty"] =
      options.flag("generation.unnormalized", false)
          ? "0"
          : setting_text("length-penalty", options.number(penalty, 1), options.place(penalty));
  if (!options.is_off(ngrams))
    search.defaults["no-repeat-ngram-size"] = options.setting("no-repeat-ngram-size", ngrams, 0);
  read_fairseq_lengths(search.defaults, options);
  search.left_out = options.those_on(kUnsupportedFairseq);
  return search;
}

/// The first pieces of each dictionary, which its file lacks (dictionary.py).
constexpr const char* kFairseqSpecials[] = {"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int64_t kPaddingId = 1, kEndId = 2;

using Views = std::map<std::string, StridedTensor>;

/// Each line has a piece and how often it occurred.
std::vector<std::string> read_dictionary(const fs::path& path) {
  const std::string text = read_file(path);
  if (find_invalid_utf8(text) != text.npos) throw Error(path.string(), ": is not UTF-8");
  std::vector<std::string> pieces(std::begin(kFairseqSpecials), std::end(kFairseqSpecials));
  LineCursor lines(text);
  for (std::size_t number = 1; !lines.at_end(); ++number) {
    const std::string_view line = lines.next();
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
fs::path dictionary_of(const ForeignOptions& options, const fs::path& folder, Side side) {
  const std::string language = options.text(join_text("task.", name_of(side), "_lang"), "");
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

ForeignVocabulary fairseq_side(const ForeignOptions& options, const fs::path& folder, Side side) {
  // A path on the machine that trained it, under either name, or empty.
  const std::string model =
      options.text("bpe.sentencepiece_model", options.text("bpe.sentencepiece_vocab", ""));
  return vocabulary_beside(folder, side, read_dictionary(dictionary_of(options, folder, side)),
                           model);
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

void read_fairseq_weights(ForeignModel& model, const CheckpointFile& file) {
  const Views views = with_new_names(file.tensors(file.get("model", "checkpoint of fairseq")));
  ForeignTensors tensors(file.name(), views);
  tensors.ignore({"encoder.version", "decoder.version", "encoder.embed_positions._float_tensor",
                  "decoder.embed_positions._float_tensor", "encoder.embed_positions.weights",
                  "decoder.embed_positions.weights"});  // the sinusoids
  read_positions(model, tensors, views);
  take_parameters(model, tensors, kFairseqNames);
}

}  // namespace

bool is_fairseq(const CheckpointFile& file) {
  return file.find("model") != nullptr &&
         (file.find("cfg") != nullptr || file.find("args") != nullptr);
}

ForeignModel read_fairseq(const CheckpointFile& file) {
  const ForeignOptions options = fairseq_options(file);
  check_fairseq(options);
  const fs::path folder = fs::path(file.name()).parent_path();
  ForeignModel model;
  model.kind = "fairseq";
  model.config = fairseq_config(options);
  check_config(model.config, options, kFairseqConfig);
  if (!options.flag("model.no_scale_embedding", false))
    model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  model.source = fairseq_side(options, folder, Side::Source);
  model.target = fairseq_side(options, folder, Side::Target);
  settle_vocabularies(model, options.file());
  model.search = fairseq_search(options);
  read_fairseq_weights(model, file);
  // Checked again: learned positions added their number.
  check_config(model.config, options, kFairseqConfig);
  start_with(model, kEndId);
  return model;
}

}  // namespace dragoman
