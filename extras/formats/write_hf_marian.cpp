#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/formats/exported_folder.h"
#include "extras/formats/foreign_model.h"
#include "extras/formats/hf_marian.h"
#include "model/file/safetensors.h"
#include "tokenizer/sentencepiece_model.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The text of a piece as MarianTokenizer knows it.
std::string piece_text(const Tokenizer& tokenizer, TokenId id) {
  return without_tag_space(tokenizer.piece(id));
}

/// {"piece": id}, with `padding` more pieces at the end.
void write_vocabulary(const fs::path& path, const Tokenizer& tokenizer, std::int64_t padding) {
  Json pieces = Json::object();
  for (TokenId id = 0; id < tokenizer.size(); ++id) pieces[piece_text(tokenizer, id)] = id;
  if (pieces.contains("<pad>"))
    throw Error("the tokenizer has a piece <pad>, which MarianMTModel needs for itself");
  for (std::int64_t i = 0; i + 1 < padding; ++i) pieces[unused_piece(i)] = tokenizer.size() + i;
  pieces["<pad>"] = tokenizer.size() + padding - 1;
  write_file(path, json_text(pieces, 1) + "\n");
}

/// The id of <pad> on both sides.
std::int64_t padding_id(const ModelConfig& config) {
  return config.target_vocabulary + hf_padding(config).target - 1;
}

/// The settings of GenerationConfig, which has no ratio of lengths.
const FormatSearch kHfMarianSearch = {
    .system = "MarianMTModel",
    .flags = {"beam-size", "length-penalty", "repetition-penalty", "no-repeat-ngram-size",
              "suppress", "min-length", "max-length"},
    .stops = {Stop::Full, Stop::Exact, Stop::Hf}};

/// The settings that GenerationConfig lacks. A ratio of lengths may be left out if it allows the
/// longest translation for every source.
std::vector<std::string> unsupported_by_hf(const ModelFileReader& model, Unsupported unsupported) {
  FormatSearch search = kHfMarianSearch;
  const DecodeConfig settings = exported_search(model.decode_defaults());
  constexpr double kLargestRatio = 1000;
  const auto longest = static_cast<double>(settings.max_length);
  if (longest > 0 && settings.max_length_ratio >= std::min(longest, kLargestRatio))
    search.flags.emplace_back("max-length-ratio");
  return unsupported_settings(model.decode_defaults(), search, unsupported);
}

/// Sequences of one id each: padding, and the pieces that are never produced.
Json bad_words(const DecodeConfig& settings, const Tokenizer& target, std::int64_t padding) {
  Json words = {{padding}};
  for (const std::string& piece : settings.suppress) {
    const TokenId id = target.id(piece);
    if (target.piece(id) != piece)
      throw Error("the model's search settings: --suppress ", piece, ": it has no such piece");
    words.push_back({id});
  }
  return words;
}

/// The search that the model asks for, under their names.
Json generation_config(const ModelFileReader& model, const Tokenizer& target) {
  const DecodeConfig settings = exported_search(model.decode_defaults());
  const std::int64_t padding = padding_id(model.config());
  Json early_stopping = settings.stop != Stop::Hf;
  if (settings.stop == Stop::Exact) early_stopping = "never";
  return {{"num_beams", settings.beam_size},
          {"length_penalty", settings.length_penalty},
          {"max_length", (settings.max_length > 0 ? settings.max_length : 511) + 1},
          {"min_length", settings.min_length > 0 ? settings.min_length + 1 : 0},
          {"early_stopping", early_stopping},
          {"no_repeat_ngram_size", settings.no_repeat_ngram_size},
          {"repetition_penalty", settings.repetition_penalty},
          {"bad_words_ids", bad_words(settings, target, padding)},
          {"decoder_start_token_id", padding},
          {"pad_token_id", padding},
          {"bos_token_id", model.config().eos_id},
          {"eos_token_id", model.config().eos_id},
          {"forced_eos_token_id", model.config().eos_id}};
}

Json model_config(const ModelConfig& config) {
  const std::int64_t padding = padding_id(config);
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"is_encoder_decoder", true},
          {"vocab_size", padding + 1},
          {"decoder_vocab_size", padding + 1},
          {"d_model", config.d_model},
          {"encoder_layers", config.encoder_layers},
          {"decoder_layers", config.decoder_layers},
          {"encoder_attention_heads", config.heads},
          {"decoder_attention_heads", config.heads},
          {"encoder_ffn_dim", config.d_ff},
          {"decoder_ffn_dim", config.d_ff},
          {"activation_function", name_of(config.activation)},
          {"dropout", config.dropout},
          {"attention_dropout", config.attention_dropout},
          {"activation_dropout", config.activation_dropout},
          {"scale_embedding", true},
          {"static_position_embeddings", true},
          {"max_position_embeddings", 1024},
          {"normalize_before", false},
          {"normalize_embedding", false},
          {"add_final_layer_norm", false},
          {"share_encoder_decoder_embeddings", config.tying == Tying::ThreeWay},
          {"tie_word_embeddings", config.tying != Tying::None},
          {"decoder_start_token_id", padding},
          {"pad_token_id", padding},
          {"bos_token_id", config.eos_id},
          {"eos_token_id", config.eos_id},
          {"forced_eos_token_id", config.eos_id},
          {"torch_dtype", "float32"}};
}

/// transformers includes padding in the softmax. This bias leaves it no probability.
constexpr float kPaddingBias = -10'000;

/// The elements in order, with padding at the end. The embedding of padding is zero, because our
/// decoder begins with the zero vector.
std::vector<float> to_theirs(const HfTensor& tensor, const ModelFileReader& model) {
  std::vector<float> values =
      reordered({tensor.ours, tensor.shape}, model.floats(tensor.ours), ColumnOrder::Halves,
                model.config().d_model, Direction::ToTheirs);
  values.resize(values.size() + tensor.padding(), tensor.shape.size() == 1 ? kPaddingBias : 0);
  return values;
}

void write_safetensors_weights(const ModelFileReader& model, const fs::path& path) {
  const ModelConfig& config = model.config();
  std::vector<std::vector<float>> values;
  std::vector<TensorData> tensors;
  const HfPadding padding = hf_padding(config);
  for (const HfTensor& tensor : hf_tensors(config, padding)) {
    values.push_back(to_theirs(tensor, model));
    tensors.push_back({tensor.theirs, Dtype::F32, tensor.their_shape(), values.back().data()});
  }
  if (!config.output_bias) {
    values.emplace_back(static_cast<std::size_t>(config.target_vocabulary), 0.0F);
    values.back().resize(static_cast<std::size_t>(padding_id(config)) + 1, kPaddingBias);
    tensors.push_back(
        {"final_logits_bias", Dtype::F32, {1, padding_id(config) + 1}, values.back().data()});
  }
  write_safetensors(path, tensors, {{"format", "pt"}});
}

}  // namespace

std::vector<std::string> write_hf_marian(const ModelFileReader& model, const fs::path& folder,
                                         Unsupported unsupported) {
  const ModelConfig& config = model.config();
  std::vector<std::string> left_out = unsupported_by_hf(model, unsupported);
  const Tokenizer source(std::string(model.tokenizer_source()), "the source tokenizer");
  const Tokenizer target(std::string(model.tokenizer_target()), "the target tokenizer");
  const bool separate = config.tying != Tying::ThreeWay;
  const HfPadding padding = hf_padding(config);
  NewFolder made(folder);
  const fs::path& part = made.path();
  write_safetensors_weights(model, part / "model.safetensors");
  write_file(part / "config.json", json_text(model_config(config), 2) + "\n");
  write_file(part / "generation_config.json",
             json_text(generation_config(model, target), 2) + "\n");
  const Json tokenizer = {{"tokenizer_class", "MarianTokenizer"},
                          {"separate_vocabs", separate},
                          {"eos_token", target.piece(target.eos_id())},
                          {"unk_token", target.piece(target.unk_id())},
                          {"pad_token", "<pad>"},
                          {"model_max_length", 512}};
  write_file(part / "tokenizer_config.json", json_text(tokenizer, 2) + "\n");
  write_vocabulary(part / "vocab.json", source, padding.source);
  if (separate) write_vocabulary(part / "target_vocab.json", target, padding.target);
  write_file(part / "source.spm", model.tokenizer_source());
  write_file(part / "target.spm", model.tokenizer_target());
  made.commit();
  return left_out;
}

}  // namespace dragoman
