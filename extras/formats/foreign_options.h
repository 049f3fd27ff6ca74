// What the files of other systems state about a model: its options, whatever kind of file has them,
// and its tensors. Both are asked for by name, so that nothing is overlooked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/formats/foreign_model.h"
#include "extras/formats/strided_tensor.h"
#include "model/file/model_config.h"

namespace dragoman {

struct PickleValue;

/// A feature of a model or a search that we lack, and the option that switches it on.
struct Feature {
  const char* option;
  const char* what = "";  ///< "WHAT cannot be imported"
  double off = 0;         ///< the number that means "off"
};

/// Options are texts by name, which become numbers and switches when they are asked for. In a name
/// '*' stands for "encoder" and "decoder": text(), number(), integer(), flag() and choice() throw
/// Error that names the second option if the two values differ.
class ForeignOptions {
 public:
  /// A list has several values or none. "~" stands for no value.
  using Values = std::map<std::string, std::vector<std::string>>;

  /// `file` is for messages.
  ForeignOptions(std::string file, Values values)
      : file_(std::move(file)), values_(std::move(values)) {}

  /// From here on names are looked up and shown as this function spells them.
  using Spelling = std::function<std::string(const Values&, const std::string&)>;
  void spell(Spelling spelling) { spelling_ = std::move(spelling); }

  /// From here on messages show names in quotes, as JSON has them.
  void quote_names() { quote_ = "\""; }

  const std::string& file() const { return file_; }
  /// "FILE: NAME", the beginning of messages about an option.
  std::string place(const std::string& name) const { return file_ + ": " + shown(name); }
  /// The name as messages show it.
  std::string shown(const std::string& name) const { return quote_ + spelled(name) + quote_; }
  /// Whether it has a value.
  bool has(const std::string& name) const;
  /// Each returns `otherwise` for a missing value, and throws Error that names file and option for
  /// a value of another type. Switches are written as in YAML: true, True, yes, on.
  std::string text(const std::string& name, const std::string& otherwise) const;
  double number(const std::string& name, double otherwise) const;
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  bool flag(const std::string& name, bool otherwise) const;
  std::vector<std::string> list(const std::string& name) const;

  /// Whether it has no value or one that means "off": false, an empty list or text, or `off`.
  bool is_off(const std::string& name, double off = 0) const;
  /// The place of its value among those that are known. Throws Error for another value.
  std::size_t choice(const std::string& name, const std::string& otherwise,
                     std::initializer_list<std::string_view> known) const;
  /// setting_text() of a whole number.
  std::string setting(std::string_view flag, const std::string& name, std::int64_t otherwise) const;

  /// Throws Error "FILE: NAME: WHAT" unless `is_it`.
  void require(const std::string& name, bool is_it, std::string_view what) const;
  /// Throws Error "FILE: NAME: WHAT" if it has another value than this one.
  void require_integer(const std::string& name, std::int64_t value, std::string_view what) const {
    require(name, integer(name, value) == value, what);
  }
  /// Throws Error for the first of these that is not off.
  void require_off(std::span<const Feature> features) const;
  /// The names of those that are not off.
  std::vector<std::string> those_on(std::span<const Feature> features) const;

 private:
  template <class Get>
  auto same_of_both(const std::string& name, Get&& get) const;
  std::string spelled(const std::string& name) const;  ///< the name as the file has it

  std::string file_, quote_;
  Values values_;
  Spelling spelling_;
};

/// An option with a number of our configuration.
struct ConfigOption {
  std::string_view flag;  ///< ours, without dashes
  std::string_view name;  ///< theirs
  double otherwise;
};

/// Sets the sizes and rates of the configuration. Throws Error for a value of another type.
void read_numbers(ModelConfig& config, const ForeignOptions& options,
                  std::span<const ConfigOption> table);

/// The members of a JSON object. A value that is neither a scalar nor a list counts as one text.
ForeignOptions json_options(const std::string& file, const nlohmann::json& object);
/// Those of a file (read_json_object).
ForeignOptions json_options(const std::filesystem::path& path);

/// The options of a YAML text that is one map (parse_yaml_map).
ForeignOptions yaml_options(const std::string& file, std::string_view text);

/// The options of a YAML text with maps within the map: names are joined by '.'
/// (parse_yaml_settings).
ForeignOptions yaml_settings(const std::string& file, std::string_view text);

/// The options of a dict or an object with attributes (argparse.Namespace) in a pickle; nested
/// names are joined by '.'. A value of an unknown class becomes the text "an object of CLASS".
/// Throws Error if they are nested more than 8 deep, or have more than 100,000 entries or 64 MiB.
ForeignOptions pickled_options(const std::string& file, const PickleValue& value);

/// The tensors of a file, taken one by one.
class ForeignTensors {
 public:
  /// The views must stay valid. `file` is for messages.
  ForeignTensors(std::string file, const std::map<std::string, StridedTensor>& tensors);

  const std::string& file() const { return file_; }
  bool has(std::string_view name) const { return tensors_.contains(name); }
  /// Its elements as floats. Throws Error that names the tensor if it is missing, has another
  /// shape, is of a type without fractions, or has a number that is not finite.
  std::vector<float> take(const std::string& name, const std::vector<std::int64_t>& shape);
  /// These names mean one matrix. It is taken as `name`, whichever of them is there.
  void join(const std::string& name, std::initializer_list<std::string_view> others);
  void ignore(std::string_view name) { taken_.emplace(name); }
  void ignore(std::initializer_list<std::string_view> names) {
    taken_.insert(names.begin(), names.end());
  }
  /// Throws Error that names the first tensor that has not been taken: the model has a part that
  /// this program does not know.
  void check_all_taken() const;

 private:
  const StridedTensor& find(std::string_view name) const;

  std::string file_;
  std::map<std::string, StridedTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> taken_;
};

/// Our name of something and theirs. In a table of parameters these are parts of names, and '#'
/// stands for the number of a layer.
struct NamePair {
  std::string_view ours, theirs;
};

/// Their name of a parameter: from left to right, the longest part of ours that the table has is
/// replaced; what it does not have stays. `first_layer`: their number of the first layer.
std::string their_name(std::span<const NamePair> table, std::string_view ours, int first_layer = 0);

/// The tensors of fairseq (transformer_encoder.py, transformer_decoder.py, transformer_layer.py).
/// Hugging Face's MarianMTModel has the same names after "model.", except for its matrices of
/// pieces.
inline constexpr NamePair kFairseqNames[] = {
    {"embedding", "encoder.embed_tokens"},
    {"embedding.source", "encoder.embed_tokens"},
    {"embedding.target", "decoder.embed_tokens"},
    {"output", "decoder.output_projection"},
    {".embedding_norm", ".layernorm_embedding"},
    {".self_attention", ".self_attn"},
    {".self_attention_norm", ".self_attn_layer_norm"},
    {".cross_attention", ".encoder_attn"},
    {".cross_attention_norm", ".encoder_attn_layer_norm"},
    {".query", ".q_proj"},
    {".key", ".k_proj"},
    {".value", ".v_proj"},
    {".output", ".out_proj"},
    {".feed_forward.inner", ".fc1"},
    {".feed_forward.outer", ".fc2"},
    {".feed_forward_norm", ".final_layer_norm"},
    {".norm", ".layer_norm"},
};

/// Takes all parameters of model.config except positions, and checks that no tensor is left. Each
/// of their tensors is one of ours, row for row. A matrix of tied embeddings may have any of its
/// names. Throws Error that names file and tensor.
void take_parameters(ForeignModel& model, ForeignTensors& tensors, std::span<const NamePair> table);

/// ModelConfig::check() for a configuration of another system's file. Throws Error that begins with
/// the file's name, and names the keys of the file instead of our flags. `keys`: flags without
/// dashes, and keys.
void check_config(const ModelConfig& config, const std::string& file,
                  std::span<const NamePair> keys);
void check_config(const ModelConfig& config, const ForeignOptions& options,
                  std::span<const ConfigOption> table);

}  // namespace dragoman
