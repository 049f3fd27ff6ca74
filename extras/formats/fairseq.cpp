#include "extras/formats/fairseq.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/utf8.h"
#include "extras/formats/beside_checkpoint.h"
#include "extras/formats/fairseq_options.h"
#include "extras/formats/foreign_tensors.h"
#include "extras/formats/name_table.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The first pieces of each dictionary, which its file does not have (dictionary.py).
constexpr const char* kFairseqSpecials[] = {"<s>", "<pad>", "</s>", "<unk>"};
constexpr std::int64_t kPaddingId = 1, kEndId = 2;

/// transformer_encoder.py, transformer_decoder.py and transformer_layer.py.
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

/// Lines of a piece and how often it occurred.
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

/// The dictionary of both sides: all that lie there are the same. Empty where they are not.
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

/// A checkpoint names no languages where fairseq has found them by the names of its data.
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

/// Rows of a tensor that holds three of the same shape, one below the other.
StridedTensor third(const StridedTensor& tensor, std::int64_t part) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape.front() /= 3;
  const auto begin = static_cast<std::size_t>(part * shape.front() * tensor.strides.front()) *
                     size_of(tensor.type);
  return strided_tensor(tensor.type, std::move(shape), tensor.strides,
                        tensor.bytes.substr(std::min(begin, tensor.bytes.size())));
}

/// Version 0.12 has parameters of a layer twice: its own, which are trained, and copies of them
/// for PyTorch's kernel of whole layers, such as "encoder.layers.0.fc1_weight".
bool is_copy(std::string_view name) {
  constexpr std::string_view kLayers = "encoder.layers.";
  if (!name.starts_with(kLayers)) return false;
  const std::string_view rest = name.substr(kLayers.size());
  const std::size_t dot = rest.find('.');
  if (dot == rest.npos || rest.find('.', dot + 1) != rest.npos) return false;
  return rest.ends_with("_weight") || rest.ends_with("_bias");
}

/// The names and parts that version 0.6 had otherwise (upgrade_state_dict_named in its successors).
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

/// [positions, D] behind the rows of padding and what comes before it.
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
  if (model.config.tying == Tying::ThreeWay)
    tensors.join("encoder.embed_tokens.weight",
                 {"decoder.embed_tokens.weight", "decoder.output_projection.weight"});
  if (model.config.tying == Tying::TwoWay)
    tensors.join("decoder.embed_tokens.weight", {"decoder.output_projection.weight"});
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
  // Learned positions have added their number, and the dictionaries their sizes.
  options.check(model.config);
  start_with(model, kEndId);
  return model;
}

}  // namespace dragoman
