#include "extras/formats/ctranslate2.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "extras/formats/byte_reader.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/plain_transformer.h"
#include "extras/formats/vocabulary_file.h"
#include "tokenizer/sentencepiece_model.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kBinaryVersion = 6;
constexpr ForeignDtype kCTranslate2Types[] = {ForeignDtype::F32, ForeignDtype::I8,
                                              ForeignDtype::I16, ForeignDtype::I32,
                                              ForeignDtype::F16, ForeignDtype::BF16};

/// A text is its length, which counts the final NUL, the characters, and NUL.
std::string take_text(ByteReader& reader, std::string_view what) {
  const std::string_view text = reader.take(reader.number<std::uint16_t>(what), what);
  if (text.empty() || text.find('\0') != text.size() - 1)
    throw Error(what, " is not a text, so the file is damaged");
  return std::string(text.substr(0, text.size() - 1));
}

StridedTensor take_variable(ByteReader& reader) {
  const auto rank = reader.number<std::uint8_t>("its shape");
  std::vector<std::int64_t> shape;
  for (int i = 0; i < rank; ++i) shape.push_back(reader.number<std::uint32_t>("its shape"));
  const auto type = reader.number<std::uint8_t>("its type");
  if (type >= std::size(kCTranslate2Types))
    throw Error("its type has the unknown number ", int{type});
  const auto size = reader.number<std::uint32_t>("its size");
  StridedTensor tensor =
      strided_tensor(kCTranslate2Types[type], shape, dense_strides(shape, Order::RowMajor),
                     reader.take(size, "its data"));
  const auto needed = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.type);
  if (needed != size) throw Error("its shape needs ", needed, " bytes, but it has ", size);
  return tensor;
}

}  // namespace

CTranslate2Model::CTranslate2Model(const std::string& name, std::string_view bytes) {
  with_place(name + ": not a sound model of CTranslate2", [&] { parse(bytes); });
}

void CTranslate2Model::parse(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.number<std::uint32_t>("the version");
  if (version != kBinaryVersion)
    throw Error("it has the binary version ", version, ", only ", kBinaryVersion,
                " is read; convert it again with CTranslate2 2 or later");
  spec_ = take_text(reader, "the name of the spec");
  reader.number<std::uint32_t>("the revision of the spec");
  const auto variables = reader.number<std::uint32_t>("the number of variables");
  for (std::uint32_t i = 0; i < variables; ++i) {
    const std::string name = take_text(reader, "the name of a variable");
    with_place("variable " + name, [&] {
      if (!variables_.emplace(name, take_variable(reader)).second) throw Error("occurs twice");
    });
  }
  const auto aliases = reader.number<std::uint32_t>("the number of aliases");
  for (std::uint32_t i = 0; i < aliases; ++i) {
    const std::string alias = take_text(reader, "an alias");
    add_alias(alias, take_text(reader, "an alias"));
  }
  if (reader.left() > 0) throw Error(reader.left(), " bytes follow the last alias");
}

void CTranslate2Model::add_alias(const std::string& alias, const std::string& variable) {
  const auto found = variables_.find(variable);
  if (found == variables_.end()) throw Error("alias ", alias, ": there is no variable ", variable);
  // A file may state an alias of a scale that was implied before.
  const StridedTensor* known = aliases_.emplace(alias, &found->second).first->second;
  if (variables_.contains(alias) || known != &found->second)
    throw Error("alias ", alias, ": the name occurs twice");
  const auto scale = variables_.find(variable + "_scale");
  if (scale != variables_.end() && !variables_.contains(alias + "_scale"))
    aliases_.emplace(alias + "_scale", &scale->second);
}

const StridedTensor* CTranslate2Model::find(std::string_view name) const {
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) return alias->second;
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

std::vector<CTranslate2Layer> ctranslate2_layers(const ModelConfig& config) {
  const std::int64_t d = config.d_model, f = config.d_ff;
  std::vector<CTranslate2Layer> all;
  for (const std::string side : {"encoder", "decoder"}) {
    const bool is_decoder = side == "decoder";
    if (config.embedding_norm)
      all.push_back({side + "/layernorm_embedding", {side + ".embedding_norm"}, d});
    if (config.norm == NormPosition::Before)
      all.push_back({side + "/layer_norm", {side + ".norm"}, d});
    for (std::int64_t i = 0; i < (is_decoder ? config.decoder_layers : config.encoder_layers);
         ++i) {
      const std::string to = join_text(side, "/layer_", i), from = join_text(side, ".layers.", i);
      const std::string self = from + ".self_attention", cross = from + ".cross_attention",
                        inner = from + ".feed_forward.inner", gate = from + ".feed_forward.gate";
      all.push_back({to + "/self_attention/linear_0",
                     {self + ".query", self + ".key", self + ".value"},
                     d,
                     d});
      all.push_back({to + "/self_attention/linear_1", {self + ".output"}, d, d});
      all.push_back({to + "/self_attention/layer_norm", {self + "_norm"}, d});
      if (is_decoder) {
        all.push_back({to + "/attention/linear_0", {cross + ".query"}, d, d});
        all.push_back({to + "/attention/linear_1", {cross + ".key", cross + ".value"}, d, d});
        all.push_back({to + "/attention/linear_2", {cross + ".output"}, d, d});
        all.push_back({to + "/attention/layer_norm", {cross + "_norm"}, d});
      }
      const bool gated = is_gated(config.activation);
      all.push_back({to + "/ffn/linear_0", {gated ? gate : inner}, f, d});
      if (gated) all.push_back({to + "/ffn/linear_0_noact", {inner}, f, d});
      all.push_back({to + "/ffn/linear_1", {from + ".feed_forward.outer"}, d, f});
      all.push_back({to + "/ffn/layer_norm", {from + ".feed_forward_norm"}, d});
    }
  }
  return all;
}

namespace {

/// The variables that give the sizes that ModelConfig::check() checks.
constexpr NamePair kCTranslate2Keys[] = {{"d-model", "encoder/embeddings_0/weight"},
                                         {"heads", "encoder/num_heads"},
                                         {"d-ff", "encoder/layer_0/ffn/linear_0/weight"},
                                         {"encoder-layers", "encoder/layer_#"},
                                         {"decoder-layers", "decoder/layer_#"}};

/// The variables of a file, taken one by one, so that none is overlooked.
class VariablesReader {
 public:
  VariablesReader(std::string file, const CTranslate2Model& model)
      : file_(std::move(file)), model_(model) {}

  const std::string& file() const { return file_; }
  bool has(const std::string& name) const { return model_.find(name) != nullptr; }
  /// Whether two names mean the same variable.
  bool are_one(const std::string& a, const std::string& b) const {
    return model_.find(a) == model_.find(b);
  }

  /// Rows and columns.
  std::vector<std::int64_t> matrix_shape(const std::string& name) const {
    const std::vector<std::int64_t>& shape = find(name).shape;
    if (shape.size() != 2) throw Error(file_, ": ", name, " is not a matrix");
    return shape;
  }
  bool is_whole(const std::string& name) const {
    return !has(name) || find(name).type == ForeignDtype::I8;
  }

  double scalar(const std::string& name, double otherwise) {
    if (!has(name)) return otherwise;
    const StridedTensor& tensor = find(name);
    if (!tensor.shape.empty()) throw Error(file_, ": ", name, " is not one number");
    taken_.insert(&tensor);
    return contiguous_floats(tensor).front();
  }

  /// Its elements as floats; whole numbers are divided by their scales.
  std::vector<float> take(const std::string& name, const std::vector<std::int64_t>& shape) {
    const StridedTensor& tensor = find(name);
    if (tensor.shape != shape) throw Error(file_, ": ", name, " has another shape than its model");
    std::vector<float> values = contiguous_floats(tensor);
    taken_.insert(&tensor);
    if (tensor.type == ForeignDtype::I8 || tensor.type == ForeignDtype::I16) divide(name, values);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      throw Error(file_, ": ", name, " has numbers that are not finite");
    return values;
  }

  /// Throws Error for the first variable that was not taken, except switches that are off.
  void check_all_taken() {
    for (const auto& [name, tensor] : model_.variables()) {
      if (taken_.contains(&tensor)) continue;
      if (!tensor.shape.empty() || scalar(name, 0) != 0)
        throw Error(file_, ": has a variable ", name,
                    ", which is not known in a model of this kind");
    }
  }

 private:
  const StridedTensor& find(const std::string& name) const {
    const StridedTensor* tensor = model_.find(name);
    if (tensor == nullptr) throw Error(file_, ": has no variable ", name);
    return *tensor;
  }

  /// One scale for each row, or for all.
  void divide(const std::string& name, std::vector<float>& values) {
    const StridedTensor& tensor = find(name + "_scale");
    const std::vector<float> scales = contiguous_floats(tensor);
    taken_.insert(&tensor);
    if (scales.empty() || values.size() % scales.size() != 0)
      throw Error(file_, ": ", name, "_scale has another shape than its model");
    const std::size_t each = values.size() / scales.size();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] /= scales[i / each];
  }

  std::string file_;
  const CTranslate2Model& model_;
  std::set<const StridedTensor*> taken_;
};

class CTranslate2Reader {
  static constexpr double kMostHeads = 1e6;

 public:
  CTranslate2Reader(VariablesReader& variables, ForeignModel& model)
      : variables_(variables), model_(model), config_(model.config) {}

  void run() {
    read_sizes();
    check_switches();
    read_embeddings();
    for (const CTranslate2Layer& layer : ctranslate2_layers(config_)) read_layer(layer);
    read_positions();
    variables_.check_all_taken();
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const char* what) const {
    throw Error(variables_.file(), ": ", name, ": ", what);
  }
  void need(bool is_it, const std::string& name, const char* what) const {
    if (!is_it) refuse(name, what);
  }
  std::int64_t layers(const std::string& side) const {
    std::int64_t count = 0;
    while (variables_.has(join_text(side, "/layer_", count, "/self_attention/linear_0/weight")))
      ++count;
    return count;
  }
  /// A number that must be the same in both stacks.
  double of_both(const std::string& name, double otherwise) {
    const double encoder = variables_.scalar("encoder/" + name, otherwise),
                 decoder = variables_.scalar("decoder/" + name, otherwise);
    need(encoder == decoder, "decoder/" + name, "is not that of the encoder");
    return encoder;
  }

  void read_sizes() {
    config_.d_model = variables_.matrix_shape("encoder/embeddings_0/weight")[1];
    const double heads = of_both("num_heads", 8);
    need(heads >= 1 && heads <= kMostHeads && heads == std::trunc(heads), "encoder/num_heads",
         "is not a number of attention heads");
    config_.heads = static_cast<std::int64_t>(heads);
    config_.encoder_layers = layers("encoder");
    config_.decoder_layers = layers("decoder");
    need(config_.encoder_layers > 0, "encoder", "has no layer of a Transformer");
    need(config_.decoder_layers > 0, "decoder", "has no layer of a Transformer");
    const std::string inner = "encoder/layer_0/ffn/linear_0";
    config_.d_ff = variables_.matrix_shape(inner + "/weight")[0];
    config_.norm = of_both("pre_norm", 1) != 0 ? NormPosition::Before : NormPosition::After;
    read_activation(variables_.has(inner + "_noact/weight"));
    config_.embedding_norm = variables_.has("encoder/layernorm_embedding/gamma");
    const double scale = of_both("scale_embeddings", 1);
    if (variables_.is_whole("encoder/scale_embeddings"))  // a switch; otherwise a factor
      model_.embedding_scale = scale != 0 ? std::sqrt(static_cast<double>(config_.d_model)) : 1;
    else
      model_.embedding_scale = scale;
    config_.dropout = config_.attention_dropout = config_.activation_dropout = 0;
    check_config(config_, variables_.file(), kCTranslate2Keys);
  }

  void read_activation(bool is_gated) {
    const auto number = static_cast<int>(of_both("activation", 0));
    if (number == 4) model_.swish_factor = 1.702;  // GELU as x sigmoid(1.702 x)
    if (number == 0 && !is_gated)
      config_.activation = Activation::Relu;
    else if (number == 3)
      config_.activation = is_gated ? Activation::GatedGelu : Activation::Gelu;
    else if (number == 2 || (number == 4 && !is_gated))
      config_.activation = is_gated ? Activation::GatedSwish : Activation::Swish;
    else
      refuse("encoder/activation", "this activation function is not known");
  }

  void check_switches() {
    for (const char* name : {"decoder/alibi", "encoder/embeddings_merge",
                             "encoder/multi_query_attention", "decoder/multi_query_attention"})
      need(variables_.scalar(name, 0) == 0, name, "is not known");
    for (const char* name : {"decoder/alibi_use_positive_positions", "decoder/scale_alibi",
                             "decoder/alignment_layer", "decoder/alignment_heads"})
      variables_.scalar(name, 0);
    const double scale = variables_.scalar("decoder/scale_outputs", 1);
    need(scale == 1, "decoder/scale_outputs",
         "outputs that are multiplied by a factor are not known");
  }

  void read_embeddings() {
    const std::string source = "encoder/embeddings_0/weight", target = "decoder/embeddings/weight",
                      output = "decoder/projection/weight";
    const std::int64_t d = config_.d_model;
    const bool two = variables_.are_one(target, output);
    const bool three = two && variables_.are_one(source, target);
    config_.tying = three ? Tying::ThreeWay : two ? Tying::TwoWay : Tying::None;
    auto& parameters = model_.parameters;
    parameters[three ? "embedding.weight" : "embedding.source.weight"] =
        variables_.take(source, {config_.source_vocabulary, d});
    if (!three)
      parameters["embedding.target.weight"] =
          variables_.take(target, {config_.target_vocabulary, d});
    if (!two) parameters["output.weight"] = variables_.take(output, {config_.target_vocabulary, d});
    config_.output_bias = variables_.has("decoder/projection/bias");
    if (config_.output_bias)
      parameters["output.bias"] =
          variables_.take("decoder/projection/bias", {config_.target_vocabulary});
  }

  void read_layer(const CTranslate2Layer& layer) {
    const bool is_norm = layer.inputs == 0;
    const std::int64_t rows = layer.outputs * std::ssize(layer.ours);
    std::vector<std::int64_t> shape = {rows};
    if (!is_norm) shape.push_back(layer.inputs);
    const std::string bias_name = layer.theirs + (is_norm ? "/beta" : "/bias");
    const auto weights = variables_.take(layer.theirs + (is_norm ? "/gamma" : "/weight"), shape);
    std::vector<float> bias(static_cast<std::size_t>(rows));
    if (is_norm || variables_.has(bias_name)) bias = variables_.take(bias_name, {rows});
    for (std::size_t i = 0; i < layer.ours.size(); ++i) {
      const auto part = [&](const std::vector<float>& all) {
        const auto size = std::ssize(all) / std::ssize(layer.ours);
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i) * size;
        return std::vector<float>(begin, begin + size);
      };
      model_.parameters[layer.ours[i] + ".weight"] = part(weights);
      model_.parameters[layer.ours[i] + ".bias"] = part(bias);
    }
  }

  /// [positions, D]. If a file has no table, CTranslate2 computes tensor2tensor's from position 1.
  std::vector<float> positions_of(const std::string& side) {
    const std::string name = side + "/position_encodings/encodings";
    if (variables_.has(name)) {
      return variables_.take(name, {variables_.matrix_shape(name)[0], config_.d_model});
    }
    config_.positions = Positions::Marian;
    model_.columns = ColumnOrder::Halves;
    std::vector<float> table = plain_positions(model_, kTablePositions + 1);
    table.erase(table.begin(), table.begin() + config_.d_model);
    return table;
  }

  /// Whether both tables are those of a formula, up to the rounding of their type.
  bool is_formula(const std::vector<float>& table) const {
    const std::size_t rows =
        std::min<std::size_t>(table.size() / static_cast<std::size_t>(config_.d_model), 512);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::int64_t c = 0; c < config_.d_model; ++c) {
        const double value = plain_position(model_, static_cast<std::int64_t>(row), c);
        const auto at = row * static_cast<std::size_t>(config_.d_model);
        if (std::abs(table[at + static_cast<std::size_t>(c)] - value) > 6e-4) return false;
      }
    return true;
  }

  void read_positions() {
    std::vector<float> source = positions_of("encoder"), target = positions_of("decoder");
    for (const Positions kind : {Positions::Sinusoidal, Positions::Marian})
      for (const ColumnOrder order : {ColumnOrder::Alternating, ColumnOrder::Halves}) {
        config_.positions = kind;
        model_.columns = order;
        if (config_.d_model % 2 == 0 && is_formula(source) && is_formula(target)) return;
      }
    config_.positions = Positions::Learned;
    model_.columns = ColumnOrder::Alternating;
    source.resize(std::min(source.size(), target.size()));
    target.resize(source.size());
    config_.max_positions = static_cast<std::int64_t>(source.size()) / config_.d_model;
    need(config_.max_positions > 0, "encoder/position_encodings/encodings", "has no position");
    model_.source_positions = std::move(source);
    model_.target_positions = std::move(target);
  }

  VariablesReader& variables_;
  ForeignModel& model_;
  ModelConfig& config_;
};

/// The vocabulary of a side or of both; empty if there is none.
fs::path vocabulary_of(const fs::path& folder, Side side) {
  for (const std::string_view name : {name_of(side), std::string_view("shared")})
    for (const char* ending : {".json", ".txt"})
      if (fs::path path = folder / join_text(name, "_vocabulary", ending); fs::exists(path))
        return path;
  return {};
}

/// Packages of Argos Translate have the SentencePiece model next to the folder.
ForeignVocabulary read_side(const fs::path& folder, Side side) {
  const fs::path path =
      sentencepiece_of(folder, side, "", folder.parent_path() / "sentencepiece.model");
  const fs::path vocabulary = vocabulary_of(folder, side);
  if (vocabulary.empty())
    throw Error(folder.string(), ": has neither ", name_of(side),
                "_vocabulary nor shared_vocabulary (.json or .txt)");
  std::vector<std::string> pieces = read_vocabulary(vocabulary);
  for (std::string& piece : pieces) piece = without_tag_space(piece);
  return {std::move(pieces), read_file(path), path.string()};
}

/// Reads config.json, which the first versions lack, and returns the piece that the decoder begins
/// with. Models converted from Marian start from zero, and their sources always end with </s>: if
/// CTranslate2 does not add it, its callers do. Our exports start from zero, too, and say so if
/// their sources have no end ("source_eos").
std::string read_config(const fs::path& folder, ForeignModel& model, bool starts_from_zero) {
  const fs::path path = folder / "config.json";
  if (!fs::exists(path)) return "<s>";
  const ForeignOptions config = json_options(path);
  config.require("add_source_bos", !config.flag("add_source_bos", false),
                 "sources that begin with <s> are not known");
  model.config.source_eos =
      config.flag("add_source_eos", false) || (starts_from_zero && config.flag("source_eos", true));
  config.require("eos_token", config.text("eos_token", "</s>") == "</s>", "is not </s>");
  config.require("unk_token", config.text("unk_token", "<unk>") == "<unk>", "is not <unk>");
  model.config.norm_epsilon = config.number("layer_norm_epsilon", 1e-5);
  return config.text("decoder_start_token", "<s>");
}

}  // namespace

bool is_ctranslate2(const fs::path& folder) {
  return fs::is_directory(folder) && fs::exists(folder / "model.bin") &&
         !vocabulary_of(folder, Side::Source).empty();
}

ForeignModel read_ctranslate2(const fs::path& folder) {
  const fs::path path = folder / "model.bin";
  const MappedFile mapped(path);
  const CTranslate2Model file(path.string(), mapped.bytes());
  if (file.spec() != "TransformerSpec")
    throw Error(path.string(), ": is a model of the type ", file.spec(),
                "; only TransformerSpec, encoder and decoder, can be imported");
  ForeignModel model;
  model.kind = "CTranslate2";
  model.source = read_side(folder, Side::Source);
  model.target = read_side(folder, Side::Target);
  set_sizes_and_ids(model, folder.string());
  VariablesReader variables(path.string(), file);
  const bool starts_from_zero = variables.scalar("decoder/start_from_zero_embedding", 0) != 0;
  const std::string start = read_config(folder, model, starts_from_zero);
  CTranslate2Reader(variables, model).run();
  if (!starts_from_zero) start_with(model, piece_id(model.target.pieces, start, folder.string()));
  return model;
}

}  // namespace dragoman
