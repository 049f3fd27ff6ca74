#include "training/start/run_config.h"

#include "base/amounts.h"
#include "base/error.h"

namespace dragoman {

RunConfig RunConfig::from_preset(Preset preset) {
  RunConfig config;
  config.train.apply_preset(preset);
  config.model = ModelConfig::from_preset(preset);
  const bool large = preset == Preset::Base || preset == Preset::Big;
  config.tokenizer.vocab_size = large ? 32'000 : 8'000;
  return config;
}

std::vector<Field> RunConfig::fields() {
  std::vector<Field> all = fields_of(train);
  for (auto& part : {fields_of(data), fields_of(tokenizer), fields_of(model)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

namespace {

/// A rate is rounded to 256ths (model/ops/dropout.h).
void check_dropout_step(std::string_view flag, double rate) {
  constexpr double kStep = 1.0 / 256;
  if (rate > 0 && rate < kStep / 2)
    throw UsageError("--", flag, " ", rate,
                     ": rates go in steps of 1/256, and this one is 0; give 0.004 or more, or 0");
}

}  // namespace

void RunConfig::check() const {
  train.check();
  model.check();
  data.check();
  tokenizer.check();
  check_dropout_step("dropout", model.dropout);
  check_dropout_step("attention-dropout", model.attention_dropout);
  check_dropout_step("activation-dropout", model.activation_dropout);
  if (train.r_drop > 0 && model.dropout + model.attention_dropout + model.activation_dropout == 0)
    throw UsageError(
        "--r-drop: its two passes differ by dropout alone, and every --dropout is 0; raise one, or "
        "leave --r-drop out");
  if (!data.keep_valid_source.empty() && train.init_from.empty())
    throw UsageError(
        "--keep-valid-src: its scores are compared with those of the model that the run starts "
        "with; give --init-from too, or name the files in --valid-src");
  if (!data.keep_valid_source.empty() && data.valid_source.empty() && data.valid_fraction == 0)
    throw UsageError("--keep-valid-src: needs a validation beside it; raise --valid-fraction");
  if (train.guided_alignment_layer > model.decoder_layers)
    throw UsageError("--guided-alignment-layer ", train.guided_alignment_layer,
                     ": the decoder has ", counted(model.decoder_layers, "layer"));
  if (train.guided_alignment_head > model.heads)
    throw UsageError("--guided-alignment-head ", train.guided_alignment_head, ": a layer has ",
                     counted(model.heads, "head"));
  const std::int64_t longest = data.max_length, positions = model.max_positions;
  if (model.positions == Positions::Learned && (longest == 0 || longest >= positions))
    throw UsageError("--max-length ", longest, ": the ", positions,
                     " learned positions (--max-positions) are for fewer than ", positions,
                     " pieces and </s>");
}

}  // namespace dragoman
