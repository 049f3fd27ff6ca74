// The options in a checkpoint of fairseq, and what this program knows of them.
#pragma once

#include "extras/formats/beside_checkpoint.h"
#include "extras/formats/checkpoint_file.h"
#include "extras/formats/foreign_options.h"
#include "extras/formats/search_setting.h"
#include "model/file/model_config.h"

namespace dragoman {

/// Until 0.10 a checkpoint had all options in "args". Since then "cfg" has groups of them: model,
/// task, bpe, tokenizer, generation.
class FairseqOptions {
 public:
  /// Throws Error naming the option that cannot be imported.
  explicit FairseqOptions(const CheckpointFile& file);

  const std::string& file() const { return options_.file(); }
  /// Without vocabularies.
  ModelConfig config() const;
  /// Throws Error that names the option whose size or rate cannot be.
  void check(const ModelConfig& config) const;
  bool has_scale() const;
  /// The settings of fairseq-generate that the checkpoint has, or its defaults.
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

}  // namespace dragoman
