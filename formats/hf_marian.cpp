#include "formats/hf_marian.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "formats/foreign_tensors.h"
#include "formats/json_file.h"
#include "formats/marian_layout.h"
#include "tokenizer/renumbered_tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// Where a choice that changes the result is not the one that this program computes.
void require(const JsonFile& file, std::string_view key, bool is_it, const char* what) {
  if (!is_it) throw Error(file.path().string(), ": \"", key, "\": ", what);
}

Activation activation_of(const JsonFile& file) {
  const std::string name = file.text("activation_function", "gelu");
  if (name == "swish" || name == "silu") return Activation::Swish;
  if (name == "relu") return Activation::Relu;
  if (name == "gelu") return Activation::Gelu;
  throw Error(file.path().string(), ": the activation function \"", name,
              "\" is not known; relu, gelu and swish are");
}

struct Vocabularies {
  std::vector<std::string> source, target;
  bool joint = true;
};

/// The piece of padding comes last and stands for no text. Our decoder begins with the zero vector,
/// which is that piece's embedding, so we have no such piece.
void drop_padding(std::vector<std::string>& pieces, const fs::path& path) {
  if (pieces.empty() || pieces.back() != "<pad>")
    throw Error(path.string(), ": the last piece is not <pad>, as in MarianMTModel's vocabularies");
  pieces.pop_back();
}

Vocabularies read_vocabularies(const fs::path& folder) {
  Vocabularies vocabularies;
  vocabularies.source = read_json_vocabulary(folder / "vocab.json");
  drop_padding(vocabularies.source, folder / "vocab.json");
  if (fs::exists(folder / "target_vocab.json")) {
    vocabularies.joint = false;
    vocabularies.target = read_json_vocabulary(folder / "target_vocab.json");
    drop_padding(vocabularies.target, folder / "target_vocab.json");
  } else {
    vocabularies.target = vocabularies.source;
  }
  return vocabularies;
}

std::int64_t id_of(const std::vector<std::string>& pieces, const char* piece,
                   const fs::path& folder) {
  const auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) throw Error(folder.string(), ": the vocabulary has no ", piece);
  return found - pieces.begin();
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
  config.tying = vocabularies.joint ? Tying::ThreeWay : Tying::TwoWay;
  if (vocabularies.joint)
    require(file, "share_encoder_decoder_embeddings",
            file.flag("share_encoder_decoder_embeddings", true),
            "unlike embeddings of one vocabulary are not known");
  require(file, "tie_word_embeddings", file.flag("tie_word_embeddings", true),
          "an output projection apart from the target embedding is not known of these models");
  return config;
}

/// Reads the weights into our names and order of columns.
class Weights {
 public:
  Weights(ForeignTensors& tensors, const ModelConfig& config)
      : tensors_(tensors),
        config_(config),
        d_(config.d_model),
        columns_(marian_columns(config.d_model)) {}

  std::map<std::string, std::vector<float>> read() {
    stack("encoder", config_.encoder_layers);
    stack("decoder", config_.decoder_layers);
    return std::move(ours_);
  }

  /// `name`'s rows without the last, padding's, which must be zero if the decoder begins with it.
  std::vector<float> embedding(const std::string& name, std::int64_t pieces, bool of_target) {
    std::vector<float> rows = tensors_.take(name, {pieces + 1, d_});
    const auto padding = rows.end() - d_;
    if (of_target && std::any_of(padding, rows.end(), [](float value) { return value != 0; }))
      throw Error(name, ": the embedding of <pad>, with which the decoder begins, is not zero");
    rows.erase(padding, rows.end());
    return permuted_columns(rows, d_);
  }

 private:
  void put(const std::string& name, std::vector<float> values) { ours_[name] = std::move(values); }

  /// Rows of `width` numbers that are columns of d_model.
  std::vector<float> permuted_columns(const std::vector<float>& rows, std::int64_t width) const {
    std::vector<float> result(rows.size());
    for (std::size_t row = 0; row < rows.size(); row += static_cast<std::size_t>(width))
      for (std::size_t c = 0; c < columns_.size(); ++c) result[row + c] = rows[row + columns_[c]];
    return result;
  }
  /// A matrix whose rows are columns of d_model.
  std::vector<float> permuted_rows(const std::vector<float>& rows, std::int64_t width) const {
    std::vector<float> result;
    result.reserve(rows.size());
    for (const std::size_t row : columns_) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(row) * width;
      result.insert(result.end(), begin, begin + width);
    }
    return result;
  }

  /// A linear layer that reads the residual stream.
  void reader(const std::string& to, const std::string& from, std::int64_t outputs) {
    put(to + ".weight", permuted_columns(tensors_.take(from + ".weight", {outputs, d_}), d_));
    put(to + ".bias", tensors_.take(from + ".bias", {outputs}));
  }
  /// A linear layer whose output goes into the residual stream.
  void writer(const std::string& to, const std::string& from, std::int64_t inputs) {
    put(to + ".weight", permuted_rows(tensors_.take(from + ".weight", {d_, inputs}), inputs));
    put(to + ".bias", permuted_columns(tensors_.take(from + ".bias", {d_}), d_));
  }
  void norm(const std::string& to, const std::string& from) {
    for (const char* kind : {".weight", ".bias"})
      put(to + kind, permuted_columns(tensors_.take(from + kind, {d_}), d_));
  }
  void attention(const std::string& to, const std::string& from) {
    reader(to + ".query", from + ".q_proj", d_);
    reader(to + ".key", from + ".k_proj", d_);
    reader(to + ".value", from + ".v_proj", d_);
    writer(to + ".output", from + ".out_proj", d_);
    norm(to + "_norm", from + "_layer_norm");
  }

  void stack(const std::string& side, std::int64_t layers) {
    tensors_.ignore("model." + side + ".embed_positions.weight");  // the sinusoids
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string to = side + ".layers." + std::to_string(i);
      const std::string from = "model." + to;
      attention(to + ".self_attention", from + ".self_attn");
      if (side == "decoder") attention(to + ".cross_attention", from + ".encoder_attn");
      reader(to + ".feed_forward.inner", from + ".fc1", config_.d_ff);
      writer(to + ".feed_forward.outer", from + ".fc2", config_.d_ff);
      norm(to + ".feed_forward_norm", from + ".final_layer_norm");
    }
  }

  ForeignTensors& tensors_;
  const ModelConfig& config_;
  std::int64_t d_;
  std::vector<std::size_t> columns_;
  std::map<std::string, std::vector<float>> ours_;
};

void read_bias(ImportedModel& model, ForeignTensors& tensors) {
  if (!tensors.has("final_logits_bias")) return;
  std::vector<float> bias =
      tensors.take("final_logits_bias", {1, model.config.target_vocabulary + 1});
  bias.pop_back();
  model.config.output_bias = std::ranges::any_of(bias, [](float value) { return value != 0; });
  if (model.config.output_bias) model.parameters["output.bias"] = std::move(bias);
}

void read_weights(ImportedModel& model, const fs::path& path) {
  const SafetensorsFile file(path);
  ForeignTensors tensors(path.string(), file.tensors());
  const ModelConfig& config = model.config;
  Weights weights(tensors, config);
  model.parameters = weights.read();
  read_bias(model, tensors);
  if (config.tying == Tying::ThreeWay) {
    const std::string name =
        tensors.first_of({"model.shared.weight", "model.encoder.embed_tokens.weight",
                          "model.decoder.embed_tokens.weight", "lm_head.weight"});
    model.parameters["embedding.weight"] = weights.embedding(name, config.target_vocabulary, true);
  } else {
    model.parameters["embedding.source.weight"] =
        weights.embedding("model.encoder.embed_tokens.weight", config.source_vocabulary, false);
    model.parameters["embedding.target.weight"] =
        weights.embedding(tensors.first_of({"model.decoder.embed_tokens.weight", "lm_head.weight"}),
                          config.target_vocabulary, true);
    tensors.ignore("model.shared.weight");
  }
  tensors.check_all_taken();
}

/// generation_config.json's, or in older folders config.json's.
DecodeDefaults read_decode_defaults(const fs::path& folder, const JsonFile& config) {
  const fs::path path = folder / "generation_config.json";
  const JsonFile generation = fs::exists(path) ? JsonFile(path) : JsonFile(config.path());
  DecodeDefaults defaults = {{"stop", "hf"}};
  defaults["beam-size"] = std::to_string(generation.integer("num_beams", 1));
  defaults["length-penalty"] = join_text(generation.number("length_penalty", 1));
  // Theirs counts the token that the decoder begins with.
  if (const std::int64_t longest = generation.integer("max_length", 512); longest > 1)
    defaults["max-length"] = std::to_string(longest - 1);
  if (const std::int64_t size = generation.integer("no_repeat_ngram_size", 0); size > 0)
    defaults["no-repeat-ngram-size"] = std::to_string(size);
  if (generation.has("early_stopping") && generation.all()["early_stopping"].is_boolean() &&
      generation.flag("early_stopping", false))
    defaults["stop"] = "full";
  return defaults;
}

}  // namespace

bool is_hf_marian(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  return fs::exists(path) && JsonFile(path).text("model_type", "") == "marian";
}

ImportedModel read_hf_marian(const fs::path& folder) {
  const JsonFile config(folder / "config.json");
  const Vocabularies vocabularies = read_vocabularies(folder);
  ImportedModel model;
  model.kind = "Hugging Face's MarianMTModel";
  model.config = read_config(config, vocabularies);
  model.config.unk_id = id_of(vocabularies.target, "<unk>", folder);
  model.config.eos_id = id_of(vocabularies.target, "</s>", folder);
  model.config.bos_id = model.config.eos_id;
  require(config, "eos_token_id", config.integer("eos_token_id") == model.config.eos_id,
          "is not the id of </s> in the vocabulary");
  const fs::path source = folder / "source.spm", target = folder / "target.spm";
  model.source_tokenizer =
      renumbered_tokenizer(read_file(source), vocabularies.source, source.string());
  model.target_tokenizer =
      renumbered_tokenizer(read_file(target), vocabularies.target, target.string());
  model.decode_defaults = read_decode_defaults(folder, config);
  read_weights(model, folder / "model.safetensors");
  model.config.validate();
  return model;
}

}  // namespace dragoman
