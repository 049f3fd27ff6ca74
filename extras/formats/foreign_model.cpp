#include "extras/formats/foreign_model.h"

#include <cmath>
#include <unordered_map>

#include "base/error.h"
#include "base/fields.h"
#include "extras/formats/plain_transformer.h"
#include "inference/search/decode_config.h"
#include "tokenizer/sentencepiece_model.h"

namespace dragoman {

namespace {

/// The range of a flag in a file. Our maximum length of 0 means no limit, which a 0 in a file does
/// not mean.
SettingRange range_of(std::string_view flag) {
  SettingRange range = setting_range(flag).value();
  if (flag == "max-length") range.least = 1;
  return range;
}

}  // namespace

// The comparison is written so that NaN fails, too.
std::string setting_text(std::string_view flag, double value, const std::string& place) {
  const auto [least, most] = range_of(flag);
  if (!(value >= least && value <= most))
    throw Error(place, ": ", value, ": must be from ", least, " to ", most);
  return text_of(value);
}

std::string setting_text(std::string_view flag, std::int64_t value, const std::string& place,
                         std::int64_t more) {
  const SettingRange range = range_of(flag);
  const std::int64_t least = static_cast<std::int64_t>(range.least) + more,
                     most = static_cast<std::int64_t>(range.most) + more;
  if (value < least || value > most)
    throw Error(place, ": ", value, ": must be from ", least, " to ", most);
  return text_of(value - more);
}

namespace {

/// Their column of d_model that is our column c.
std::int64_t their_column(ColumnOrder order, std::int64_t c, std::int64_t d_model) {
  if (order == ColumnOrder::Alternating) return c;
  return c % 2 == 0 ? c / 2 : (d_model + 1) / 2 + c / 2;
}

/// Which axes of a parameter are columns of d_model.
struct StreamAxes {
  bool rows = false, columns = false;
};

StreamAxes stream_axes(std::string_view parameter) {
  const auto ends = [parameter](std::string_view end) { return parameter.ends_with(end); };
  if (parameter.starts_with("embedding.") || parameter.starts_with("positions.") ||
      parameter == "output.weight")
    return {.columns = true};
  if (parameter == "output.bias") return {};
  if (ends("norm.weight") || ends("norm.bias") || ends(".output.weight") || ends(".output.bias") ||
      ends(".outer.weight") || ends(".outer.bias"))
    return {.rows = true};
  return {.columns = ends(".weight")};
}

}  // namespace

std::vector<float> reordered(const ParameterShape& parameter, const std::vector<float>& values,
                             ColumnOrder order, std::int64_t d_model, Direction direction) {
  if (order == ColumnOrder::Alternating) return values;
  const StreamAxes axes = stream_axes(parameter.name);
  const std::int64_t rows = parameter.shape.front();
  const std::int64_t width = parameter.shape.size() == 1 ? 1 : parameter.shape[1];
  std::vector<float> result(values.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t their_row = axes.rows ? their_column(order, row, d_model) : row;
      const std::int64_t column = axes.columns ? their_column(order, c, d_model) : c;
      const auto ours = static_cast<std::size_t>(row * width + c);
      const auto theirs = static_cast<std::size_t>(their_row * width + column);
      if (direction == Direction::ToOurs)
        result[ours] = values[theirs];
      else
        result[theirs] = values[ours];
    }
  return result;
}

std::vector<TokenId> their_tokens(const ForeignVocabulary& vocabulary, const Tokenizer& tokenizer,
                                  TokenId unknown, std::string_view text) {
  std::unordered_map<std::string_view, TokenId> ids;
  for (std::size_t id = 0; id < vocabulary.pieces.size(); ++id)
    ids.emplace(vocabulary.pieces[id], static_cast<TokenId>(id));
  std::vector<TokenId> tokens;
  for (const std::string& piece : tokenizer.pieces(text)) {
    const auto found = ids.find(piece);
    tokens.push_back(found == ids.end() ? unknown : found->second);
  }
  return tokens;
}

namespace {

void scale(std::vector<float>& values, double factor) {
  for (float& value : values) value = static_cast<float>(value * factor);
}

/// x sigmoid(f x) is the Swish of f x divided by f, so the matrices take the factor.
void fold_swish_factor(ForeignModel& model) {
  if (model.swish_factor == 1) return;
  for (auto& [name, values] : model.parameters) {
    if (name.find(".feed_forward.inner.") != name.npos) scale(values, model.swish_factor);
    if (name.ends_with(".feed_forward.outer.weight")) scale(values, 1 / model.swish_factor);
  }
}

/// Our model multiplies embeddings by sqrt(d_model). If theirs has another factor, the embeddings
/// are scaled to make up for it. The output projection stays as it is, so it becomes a matrix of
/// its own.
void fold_embedding_scale(ForeignModel& model) {
  const double ours = std::sqrt(static_cast<double>(model.config.d_model));
  const double factor = model.embedding_scale / ours;
  if (std::abs(factor - 1) < 1e-6) return;
  auto& parameters = model.parameters;
  if (model.config.tying == Tying::ThreeWay) {
    parameters["embedding.source.weight"] = parameters["embedding.target.weight"] =
        parameters["output.weight"] = parameters.at("embedding.weight");
    parameters.erase("embedding.weight");
  } else if (model.config.tying == Tying::TwoWay) {
    parameters["output.weight"] = parameters.at("embedding.target.weight");
  }
  model.config.tying = Tying::None;
  for (const char* side : {"embedding.source.weight", "embedding.target.weight"})
    scale(parameters.at(side), factor);
  scale(model.start, factor);
  model.embedding_scale = ours;
}

/// A formula becomes a table if ours begins at another position, or if something is added to the
/// first position (fold_start).
void fold_positions(ForeignModel& model) {
  if (model.config.positions == Positions::Learned) return;
  if (model.start.empty() && model.first_position == 0) return;
  model.config.max_positions = kTablePositions;
  model.source_positions = model.target_positions = plain_positions(model, kTablePositions);
  model.config.positions = Positions::Learned;
}

/// Position 0 always has the start embedding, and no other position has it, so the table of
/// positions can contain it.
void fold_start(ForeignModel& model) {
  for (std::size_t c = 0; c < model.start.size(); ++c)
    model.target_positions[c] += static_cast<float>(model.embedding_scale * model.start[c]);
  model.start.clear();
}

/// Adds the pieces that are never produced, as our tokenizer names them.
DecodeDefaults decode_defaults_of(const ForeignSearch& search, const std::string& tokenizer) {
  DecodeDefaults defaults = search.defaults;
  if (search.suppressed.empty()) return defaults;
  const Tokenizer target(tokenizer, "the target tokenizer");
  std::vector<std::string> pieces;
  for (const std::int64_t token : search.suppressed)
    pieces.push_back(target.piece(static_cast<TokenId>(token)));
  defaults["suppress"] = text_of(pieces);
  return defaults;
}

std::string tokenizer_of(const ForeignVocabulary& vocabulary) {
  const Tokenizer sound(vocabulary.sentencepiece,
                        vocabulary.file);  // its error names the file
  return renumbered_tokenizer(vocabulary.sentencepiece, vocabulary.pieces, vocabulary.file);
}

}  // namespace

ImportedModel to_imported(const ForeignModel& theirs) {
  ForeignModel model = theirs;
  fold_swish_factor(model);
  fold_embedding_scale(model);
  fold_positions(model);
  fold_start(model);
  if (model.config.positions == Positions::Learned) {
    model.parameters["positions.source.weight"] = std::move(model.source_positions);
    model.parameters["positions.target.weight"] = std::move(model.target_positions);
  }
  const double epsilon = model.config.norm_epsilon;
  if (!(epsilon > 0 && epsilon < 1))
    throw Error(model.kind, ": the epsilon of normalisation cannot be ", epsilon);
  model.config.check();
  ImportedModel imported{.kind = model.kind,
                         .config = model.config,
                         .source_tokenizer = tokenizer_of(model.source),
                         .target_tokenizer = tokenizer_of(model.target)};
  imported.decode_defaults = decode_defaults_of(model.search, imported.target_tokenizer);
  for (const ParameterShape& parameter : parameter_shapes(model.config))
    imported.parameters[parameter.name] =
        reordered(parameter, model.parameters.at(parameter.name), model.columns,
                  model.config.d_model, Direction::ToOurs);
  return imported;
}

TokenizerPair tokenizers_of(const ImportedModel& model) {
  return {
      .source = std::make_shared<const Tokenizer>(model.source_tokenizer, "the source tokenizer"),
      .target = std::make_shared<const Tokenizer>(model.target_tokenizer, "the target tokenizer"),
      .source_eos = model.config.source_eos};
}

std::vector<TensorData> tensors_of(const ImportedModel& model) {
  std::vector<TensorData> tensors;
  for (const ParameterShape& parameter : parameter_shapes(model.config))
    tensors.push_back(
        {parameter.name, Dtype::F32, parameter.shape, model.parameters.at(parameter.name).data()});
  return tensors;
}

void write_imported(const ImportedModel& model, const std::filesystem::path& path,
                    const std::string& command) {
  ModelContents contents{.config = model.config,
                         .tokenizer_source = model.source_tokenizer,
                         .parameters = tensors_of(model),
                         .decode_defaults = model.decode_defaults};
  if (model.target_tokenizer != model.source_tokenizer)
    contents.tokenizer_target = model.target_tokenizer;
  contents.provenance.command = command;
  write_model_file(path, contents);
}

}  // namespace dragoman
