#include "extras/formats/hf_marian.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "extras/formats/beside_checkpoint.h"
#include "extras/formats/check_config.h"
#include "extras/formats/foreign_tensors.h"
#include "extras/formats/hf_marian_layout.h"
#include "extras/formats/hf_marian_search.h"
#include "extras/formats/json_file.h"
#include "extras/formats/vocabulary_file.h"
#include "extras/formats/weight_file.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// config.json's keys of the sizes and rates that check() checks.
constexpr NamePair kHfMarianKeys[] = {{"d-model", "\"d_model\""},
                                      {"heads", "\"encoder_attention_heads\""},
                                      {"d-ff", "\"encoder_ffn_dim\""},
                                      {"encoder-layers", "\"encoder_layers\""},
                                      {"decoder-layers", "\"decoder_layers\""},
                                      {"attention-dropout", "\"attention_dropout\""},
                                      {"activation-dropout", "\"activation_dropout\""},
                                      {"dropout", "\"dropout\""}};

/// Where a choice that changes the result is not the one that this program computes.
void require(const JsonFile& file, std::string_view key, bool is_it, const char* what) {
  if (!is_it) throw Error(file.path().string(), ": \"", key, "\": ", what);
}

Activation activation_of(const JsonFile& file) {
  const std::string name = file.text("activation_function", "gelu");
  if (const auto known = hf_activation(name)) return *known;
  throw Error(file.path().string(), ": the activation function \"", name,
              "\" is not known; relu, gelu and swish are");
}

Tying tying_of(const JsonFile& file) {
  const bool two = file.flag("tie_word_embeddings", true);
  const bool three = file.flag("share_encoder_decoder_embeddings", true);
  require(file, "tie_word_embeddings", two || !three,
          "embeddings of both sides that are one, with an output apart, are not known");
  return three ? Tying::ThreeWay : two ? Tying::TwoWay : Tying::None;
}

struct Vocabularies {
  std::vector<std::string> source, target;  ///< without padding
  HfPadding padding;
  bool joint = true;
};

/// The piece of padding comes last and stands for no text. Our decoder begins with the zero vector,
/// which is that piece's embedding, so we have no such piece, nor the unused ones of our exports in
/// front of it. Returns how many pieces were dropped.
std::int64_t drop_padding(std::vector<std::string>& pieces, const fs::path& path) {
  if (pieces.empty() || pieces.back() != "<pad>")
    throw Error(path.string(), ": the last piece is not <pad>, as in MarianMTModel's vocabularies");
  const std::size_t size = pieces.size();
  pieces.pop_back();
  while (!pieces.empty() && is_unused_piece(pieces.back())) pieces.pop_back();
  return static_cast<std::int64_t>(size - pieces.size());
}

Vocabularies read_vocabularies(const fs::path& folder) {
  Vocabularies vocabularies;
  vocabularies.source = read_vocabulary(folder / "vocab.json");
  vocabularies.padding.source = drop_padding(vocabularies.source, folder / "vocab.json");
  if (fs::exists(folder / "target_vocab.json")) {
    vocabularies.joint = false;
    vocabularies.target = read_vocabulary(folder / "target_vocab.json");
    vocabularies.padding.target = drop_padding(vocabularies.target, folder / "target_vocab.json");
  } else {
    vocabularies.target = vocabularies.source;
    vocabularies.padding.target = vocabularies.padding.source;
  }
  return vocabularies;
}

ModelConfig read_config(const JsonFile& file, const Vocabularies& vocabularies) {
  require(file, "scale_embedding", file.flag("scale_embedding", false),
          "models whose embeddings are not multiplied by sqrt(d_model) are not known");
  require(file, "normalize_before", !file.flag("normalize_before", false),
          "only normalisation after each sub-layer is known of these models");
  require(file, "normalize_embedding", !file.flag("normalize_embedding", false),
          "normalised embeddings are not known");
  require(file, "add_final_layer_norm", !file.flag("add_final_layer_norm", false),
          "a last normalisation is not known of these models");
  require(file, "decoder_start_token_id",
          file.integer("decoder_start_token_id") == file.integer("pad_token_id"),
          "is not the id of padding");
  const auto last =
      static_cast<std::int64_t>(vocabularies.target.size()) + vocabularies.padding.target - 1;
  require(file, "pad_token_id", file.integer("pad_token_id") == last,
          "is not the id of <pad> in the target vocabulary");
  ModelConfig config;
  config.d_model = file.integer("d_model");
  config.heads = file.integer("encoder_attention_heads");
  require(file, "decoder_attention_heads", file.integer("decoder_attention_heads") == config.heads,
          "encoder and decoder have unlike numbers of heads");
  config.d_ff = file.integer("encoder_ffn_dim");
  require(file, "decoder_ffn_dim", file.integer("decoder_ffn_dim") == config.d_ff,
          "encoder and decoder have feed-forward networks of unlike widths");
  config.encoder_layers = file.integer("encoder_layers");
  config.decoder_layers = file.integer("decoder_layers");
  config.activation = activation_of(file);
  config.dropout = file.number("dropout", 0.1);
  config.attention_dropout = file.number("attention_dropout", 0);
  config.activation_dropout = file.number("activation_dropout", 0);
  config.source_vocabulary = static_cast<std::int64_t>(vocabularies.source.size());
  config.target_vocabulary = static_cast<std::int64_t>(vocabularies.target.size());
  config.tying = tying_of(file);
  require(file, "share_encoder_decoder_embeddings",
          config.tying != Tying::ThreeWay || vocabularies.joint,
          "there are two vocabularies, which cannot have the same embeddings");
  return config;
}

std::vector<float> read_tensor(ForeignTensors& tensors, const HfTensor& tensor) {
  std::vector<float> values = tensors.take(tensor.theirs, tensor.their_shape());
  // The decoder begins with padding.
  const bool begins = tensor.ours == "embedding.weight" || tensor.ours == "embedding.target.weight";
  const auto padding = values.end() - static_cast<std::ptrdiff_t>(tensor.padding());
  if (begins && std::any_of(padding, values.end(), [](float value) { return value != 0; }))
    throw Error(tensors.file(), ": ", tensor.theirs,
                ": the row of <pad>, with which the decoder begins, is not zero");
  values.erase(padding, values.end());
  return values;
}

/// Files may have a matrix that is used twice under either name, or both.
void join_names(ForeignTensors& tensors, const ModelConfig& config) {
  if (config.tying == Tying::ThreeWay)
    tensors.join("model.shared.weight", {"model.encoder.embed_tokens.weight",
                                         "model.decoder.embed_tokens.weight", "lm_head.weight"});
  if (config.tying == Tying::TwoWay)
    tensors.join("model.decoder.embed_tokens.weight", {"lm_head.weight"});
  if (config.tying != Tying::ThreeWay) tensors.ignore("model.shared.weight");
  for (const char* side : {"encoder", "decoder"})  // the sinusoids
    tensors.ignore(join_text("model.", side, ".embed_positions.weight"));
}

/// Whether the output has a bias: it is always there, and zero in a model that has been trained
/// without one.
bool has_bias(ForeignTensors& tensors, std::int64_t pieces, std::int64_t padding) {
  constexpr const char* kName = "final_logits_bias";
  if (!tensors.has(kName)) return false;
  const std::vector<float> bias = tensors.take(kName, {1, pieces + padding});
  return std::any_of(bias.begin(), bias.end() - padding, [](float value) { return value != 0; });
}

fs::path weights_of(const fs::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                           "pytorch_model.bin.index.json"})
    if (fs::exists(folder / name)) return folder / name;
  throw Error(folder.string(),
              ": has neither model.safetensors nor pytorch_model.bin, nor an index of their parts");
}

void read_weights(ForeignModel& model, const fs::path& path, const HfPadding& padding) {
  const WeightFile file(path);
  ForeignTensors tensors(path.string(), file.tensors());
  join_names(tensors, model.config);
  model.config.output_bias = has_bias(tensors, model.config.target_vocabulary, padding.target);
  for (const HfTensor& tensor : hf_tensors(model.config, padding))
    model.parameters[tensor.ours] = read_tensor(tensors, tensor);
  tensors.check_all_taken();
}

/// generation_config.json, or in older folders config.json.
ForeignSearch read_search(const fs::path& folder, const Vocabularies& vocabularies,
                          const ModelConfig& config) {
  const fs::path path = folder / "generation_config.json";
  const JsonFile file(fs::exists(path) ? path : folder / "config.json");
  const std::int64_t pieces = config.target_vocabulary;
  return read_hf_search(file, {.all = pieces + vocabularies.padding.target,
                               .padding = pieces,
                               .unk = config.unk_id,
                               .eos = config.eos_id});
}

}  // namespace

bool is_hf_marian(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  return fs::exists(path) && JsonFile(path).text("model_type", "") == "marian";
}

ForeignModel read_hf_marian(const fs::path& folder) {
  const JsonFile config(folder / "config.json");
  const Vocabularies vocabularies = read_vocabularies(folder);
  ForeignModel model;
  model.kind = "MarianMTModel";
  model.columns = ColumnOrder::Halves;
  model.config = read_config(config, vocabularies);
  check_config(model.config, config.path().string(), kHfMarianKeys);
  model.embedding_scale = std::sqrt(static_cast<double>(model.config.d_model));
  model.config.unk_id = piece_id(vocabularies.target, "<unk>", folder.string());
  model.config.eos_id = piece_id(vocabularies.target, "</s>", folder.string());
  model.config.bos_id = model.config.eos_id;
  require(config, "eos_token_id", config.integer("eos_token_id") == model.config.eos_id,
          "is not the id of </s> in the vocabulary");
  const fs::path source = folder / "source.spm", target = folder / "target.spm";
  model.source = {vocabularies.source, read_file(source), source.string()};
  model.target = {vocabularies.target, read_file(target), target.string()};
  model.search = read_search(folder, vocabularies, model.config);
  read_weights(model, weights_of(folder), vocabularies.padding);
  return model;
}

}  // namespace dragoman
