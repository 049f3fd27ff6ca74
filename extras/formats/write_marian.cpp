#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "extras/formats/exported_folder.h"
#include "extras/formats/marian.h"
#include "extras/formats/numpy.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

void refuse(bool is_other, const char* flag, const char* what) {
  if (is_other) throw Error("Marian has no ", what, " (--", flag, ")");
}

void check_is_marian(const ModelConfig& config) {
  if (config.positions == Positions::Sinusoidal)
    throw Error(
        "Marian's positions have other frequencies than the paper's: only a model that was trained "
        "with --norm after --positions marian, or that came from Marian, can be exported to it");
  refuse(config.positions == Positions::Learned, "positions learned",
         "learned positions that its decoder can use");
  if (is_before(config.norm))
    throw Error("Marian's versions differ in normalisation before the sub-layers (--norm ",
                name_of(config.norm),
                "): only a model that was trained with --norm after --positions marian can be "
                "exported to it");
  refuse(is_gated(config.activation), "activation", "gated feed-forward networks");
  if (!config.source_eos) throw Error("Marian has no sources without </s> (source-eos)");
}

MarianTying tying_of(const ModelConfig& config) {
  if (config.tying == Tying::ThreeWay) return MarianTying::All;
  return config.tying == Tying::TwoWay ? MarianTying::Output : MarianTying::None;
}

/// The options with which Marian builds the model. Its names of activations are ours; GELU is exact
/// in the version that is stated.
std::string model_options(const ModelConfig& config) {
  const MarianTying tying = tying_of(config);
  return join_text(
      "type: transformer\nversion: v1.12.0\ndim-vocabs:\n  - ", config.source_vocabulary, "\n  - ",
      config.target_vocabulary, "\ndim-emb: ", config.d_model,
      "\nenc-depth: ", config.encoder_layers, "\ndec-depth: ", config.decoder_layers,
      "\ntransformer-heads: ", config.heads, "\ntransformer-dim-ffn: ", config.d_ff,
      "\ntransformer-ffn-depth: 2\ntransformer-ffn-activation: ", name_of(config.activation),
      "\ntransformer-preprocess: \"\"\ntransformer-postprocess: dan"
      "\ntransformer-postprocess-top: \"\"",
      "\ntransformer-postprocess-emb: ", config.embedding_norm ? "dn" : "d",
      "\ntransformer-no-projection: false",
      "\ntransformer-decoder-autoreg: self-attention\ntransformer-tied-layers:\n  []",
      "\ntransformer-train-position-embeddings: false\ntransformer-guided-alignment-layer: last",
      "\ntied-embeddings-all: ", text_of(tying == MarianTying::All),
      "\ntied-embeddings-src: false\ntied-embeddings: ", text_of(tying == MarianTying::Output),
      "\noutput-omit-bias: ", text_of(!config.output_bias), "\nskip: false\nright-left: false",
      "\nlemma-dim-emb: 0\nlemma-dependency: \"\"\nfactors-combine: sum\nfactors-dim-emb: 0",
      "\nulr: false\nulr-dim-emb: 0\ninput-types:\n  []\nlayer-normalization: false",
      "\ntransformer-decoder-dim-ffn: 0\ntransformer-decoder-ffn-depth: 0",
      "\ntransformer-no-bias: false\ntransformer-no-affine: false\ntransformer-pool: false",
      "\ntransformer-attention-mask: default\ntransformer-disable-position-embeddings: false\n");
}

/// The settings of decoder.yml. Marian's search ends as ours does with --stop marian.
const FormatSearch kMarianSearch = {
    .system = "Marian",
    .flags = {"beam-size", "length-penalty", "word-penalty", "max-length-ratio"},
    .stops = {Stop::Marian}};

std::string decoder_options(const ModelFileReader& model, const std::string& source,
                            const std::string& target) {
  const DecodeConfig settings = exported_search(model.decode_defaults());
  return join_text("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - ", source, "\n  - ",
                   target, "\nbeam-size: ", settings.beam_size,
                   "\nnormalize: ", text_of(settings.length_penalty),
                   "\nword-penalty: ", text_of(settings.word_penalty),
                   "\nmax-length-factor: ", text_of(settings.max_length_ratio), "\n");
}

void write_npz_weights(const ModelFileReader& model, const fs::path& path) {
  const ModelConfig& config = model.config();
  AtomicFile file(path);
  NpzWriter npz(file);
  for (const NpzTensor& tensor : npz_tensors(config, tying_of(config))) {
    std::vector<float> values = reordered(tensor.ours, model.floats(tensor.ours.name),
                                          ColumnOrder::Halves, config.d_model, Direction::ToTheirs);
    if (tensor.is_transposed)
      values = transposed(values, tensor.ours.shape[0], tensor.ours.shape[1]);
    npz.add(tensor.theirs, tensor.their_shape(), values);
  }
  npz.add_text("special:model.yml", model_options(config) + std::string(1, '\0'));
  npz.finish();
  file.commit();
}

}  // namespace

std::vector<std::string> write_marian(const ModelFileReader& model, const fs::path& folder,
                                      Unsupported unsupported) {
  check_is_marian(model.config());
  std::vector<std::string> left_out =
      unsupported_settings(model.decode_defaults(), kMarianSearch, unsupported);
  const bool two = model.has_two_tokenizers();
  const std::string source = two ? "source.spm" : "vocab.spm", target = two ? "target.spm" : source;
  NewFolder made(folder);
  write_npz_weights(model, made.path() / "model.npz");
  write_file(made.path() / source, model.tokenizer_source());
  if (two) write_file(made.path() / target, model.tokenizer_target());
  write_file(made.path() / "decoder.yml", decoder_options(model, source, target));
  made.commit();
  return left_out;
}

}  // namespace dragoman
