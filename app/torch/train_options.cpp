#include "app/torch/train_options.h"

#include <algorithm>

#include "app/torch/initial_model.h"
#include "app/torch/run_settings.h"
#include "base/amounts.h"

namespace dragoman {

namespace {

/// Whether "auto" may leave the field open: it is a number, or a choice without a value "auto".
bool can_be_left_open(const Field& field) {
  const auto& choices = field.choices;
  return field.kind == Field::Kind::Integer || field.kind == Field::Kind::Number ||
         (field.kind == Field::Kind::Choice &&
          std::find(choices.begin(), choices.end(), kAuto) == choices.end());
}

}  // namespace

std::vector<Field> TrainOptions::fields() {
  std::vector<Field> all = fields_of(train);
  for (auto& part : {fields_of(data), fields_of(tokenizer), fields_of(model)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Field> TrainOptions::given_fields() {
  std::vector<Field> all = fields();
  for (Field& field : all)
    if (can_be_left_open(field)) accept_auto(field);
  for (Field& field : fields_of(mode)) all.push_back(std::move(field));
  return all;
}

void TrainOptions::apply_preset(const std::map<std::string, std::vector<std::string>>& given) {
  const auto given_text = [&given](const char* name) {
    const auto found = given.find(name);
    return found == given.end() || found->second.back() == kAuto ? std::string()
                                                                 : found->second.back();
  };
  const std::string name = given_text("preset");
  const Preset preset =
      name.empty() ? inherited_preset(given_text("init-from")) : parse_preset(name);
  const std::string output = train.output;
  train.apply_preset(preset);
  train.output = output;
  model = ModelConfig::from_preset(preset);
  const bool large = preset == Preset::Base || preset == Preset::Big;
  tokenizer.vocab_size = large ? 32'000 : 8'000;
}

void TrainOptions::validate() const {
  train.validate();
  model.validate();
  data.validate();
  tokenizer.validate();
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
  const std::int64_t longest = data.max_length, places = model.max_positions;
  if (model.positions == Positions::Learned && (longest == 0 || longest >= places))
    throw UsageError("--max-length ", longest, ": the ", places,
                     " learned positions (--max-positions) are for fewer than ", places,
                     " pieces and </s>");
}

}  // namespace dragoman
