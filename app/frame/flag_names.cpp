#include "app/frame/flag_names.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/formatted_text.h"

namespace dragoman {

std::string with_hyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::vector<std::string> aliases_of(const Field& field) {
  std::vector<std::string> aliases;
  for (std::string_view alias : split_at(field.info.aliases, ',')) {
    while (alias.starts_with(' ')) alias.remove_prefix(1);
    if (!alias.empty()) aliases.push_back(with_hyphens(alias));
  }
  return aliases;
}

const Field* find_field(const std::vector<Field>& fields, std::string_view name) {
  const std::string wanted = with_hyphens(name);
  for (const Field& field : fields)
    if (field.info.name == wanted) return &field;
  for (const Field& field : fields) {
    const std::vector<std::string> aliases = aliases_of(field);
    if (std::find(aliases.begin(), aliases.end(), wanted) != aliases.end()) return &field;
  }
  return nullptr;
}

std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<std::string>& names) {
  const std::string wanted = with_hyphens(word);
  std::string near;
  for (const std::string& name : names)
    if (near.empty() && wanted.size() >= 3 && name.starts_with(wanted)) near = name;
  if (near.empty()) near = nearest_name(wanted, names);
  return near.empty() ? "" : join_text("; did you mean ", prefix, near, "?");
}

std::string suggestion(std::string_view word, std::string_view prefix,
                       const std::vector<Field>& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.emplace_back(field.info.name);
  for (const Field& field : fields)
    for (const std::string& alias : aliases_of(field))
      if (alias.size() > 1) names.push_back(alias);
  return suggestion(word, prefix, names);
}

std::vector<FieldGroup> groups_of(const std::vector<Field>& fields) {
  std::vector<FieldGroup> groups;
  for (const Field& field : fields) {
    auto group = std::ranges::find(groups, field.info.group, &FieldGroup::name);
    if (group == groups.end()) group = groups.insert(group, {field.info.group, {}});
    group->fields.push_back(&field);
  }
  return groups;
}

namespace {

struct ForeignFlag {
  std::string_view names;  ///< without dashes, with a space before and after each
  std::string_view system;
  std::string_view here;
  std::string_view command = "";  ///< the only command that it is for; empty: all
};

constexpr std::array kForeignFlags = {
    ForeignFlag{" train-sets ", "Marian", "--train-src FILE --train-tgt FILE"},
    ForeignFlag{" valid-sets ", "Marian", "--valid-src FILE --valid-tgt FILE"},
    ForeignFlag{" vocabs ", "Marian",
                "train makes the vocabulary itself (--vocab-size N) or takes --tokenizer FILE, and "
                "the model file holds it"},
    ForeignFlag{" devices d ", "Marian",
                "--device cuda:N; scripts/launch and torchrun train on several GPUs"},
    ForeignFlag{" after-epochs ", "Marian", "--max-epochs N"},
    ForeignFlag{" after-batches ", "Marian", "--max-updates N"},
    ForeignFlag{" after ", "Marian", "--max-epochs N, --max-updates N or --max-time 12h"},
    ForeignFlag{" exponential-smoothing ", "Marian", "--ema X, for example 0.9999 for its 0.0001"},
    ForeignFlag{" tied-embeddings-all ", "Marian", "--tying three-way, which is the default"},
    ForeignFlag{" workspace ", "Marian",
                "leave it out; memory is taken as it is needed, and smaller batches need less"},
    ForeignFlag{" maxi-batch maxi-batch-sort ", "Marian",
                "leave it out; the sentences of a batch have similar lengths in any case"},
    ForeignFlag{" mini-batch-fit ", "Marian", "--max-tokens auto"},
    ForeignFlag{" l ", "Marian", "--lr X", "train"},
    ForeignFlag{" trainpref ", "fairseq", "--train-src FILE --train-tgt FILE"},
    ForeignFlag{" validpref ", "fairseq", "--valid-src FILE --valid-tgt FILE"},
    ForeignFlag{" criterion ", "fairseq",
                "leave it out; the loss is the label-smoothed cross-entropy (--label-smoothing X)"},
    ForeignFlag{" optimizer optim ", "other systems'",
                "leave it out; the optimizer is Adam (--adam-beta1, --adam-beta2, --adam-eps)",
                "train"},
    ForeignFlag{" pre-norm prenorm ", "OpenNMT", "--norm before", "train"},
    ForeignFlag{" fp16 ", "fairseq", "train has --precision bf16, translate --compute-type"},
    ForeignFlag{" share-all-embeddings ", "fairseq", "--tying three-way, which is the default"},
    ForeignFlag{" adam-betas ", "fairseq", "--adam-beta1 0.9 --adam-beta2 0.98"},
    ForeignFlag{" encoder-normalize-before decoder-normalize-before ", "fairseq",
                "--norm before, for both sides"},
    ForeignFlag{" restore-file ", "fairseq",
                "train with the same -o resumes by itself; --init-from FILE begins a run with the "
                "weights of another"},
    ForeignFlag{" max-len-b ", "fairseq", "--max-length-ratio X, --max-length N"},
    ForeignFlag{" path ", "fairseq", "-m FILE, or -m and the folder of the run"},
    ForeignFlag{" source-lang target-lang s t ", "fairseq",
                "texts are named by their files; evaluate alone has --target-language"},
    ForeignFlag{" rnn-size word-vec-size ", "OpenNMT", "--d-model N"},
    ForeignFlag{" layers num-layers ", "OpenNMT", "--encoder-layers N --decoder-layers N"},
    ForeignFlag{" world-size gpu-ranks ", "OpenNMT",
                "leave it out; scripts/launch and torchrun start several processes"},
    ForeignFlag{" gpu ", "OpenNMT", "--device cuda:N"},
    ForeignFlag{" src-vocab tgt-vocab ", "OpenNMT",
                "train makes the vocabulary itself (--vocab-size N) or takes --tokenizer FILE, and "
                "the model file holds it"},
    ForeignFlag{" batch-size batch-type ", "OpenNMT",
                "--max-tokens N (pieces of a batch, of each side) or --max-sentences N (pairs)",
                "train"},
    ForeignFlag{" l language-pair ", "sacreBLEU", "--target-language, for example de", "evaluate"},
};

struct ForeignValue {
  std::string_view field, value, here;
};

/// Other spellings of values, by fairseq, OpenNMT, Hugging Face and the endings of files.
constexpr std::array kForeignValues = {
    ForeignValue{"norm", "pre", "before"},
    ForeignValue{"norm", "post", "after"},
    ForeignValue{"markup", "htm", "html"},
    ForeignValue{"markup", "md", "markdown"},
    ForeignValue{"format", "huggingface", "hf-marian"},
};

}  // namespace

std::string foreign_flag_text(std::string_view command, std::string_view flag) {
  const std::string name =
      with_hyphens(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  if (name.empty() || name.find(' ') != std::string::npos) return "";
  for (const ForeignFlag& foreign : kForeignFlags)
    if ((foreign.command.empty() || foreign.command == command) &&
        foreign.names.find(" " + name + " ") != std::string_view::npos)
      return join_text(flag, " is ", foreign.system, foreign.system.ends_with('\'') ? "" : "'s",
                       "; here: ", foreign.here);
  return "";
}

std::string value_here(std::string_view field, const std::string& value) {
  for (const ForeignValue& foreign : kForeignValues)
    if (foreign.field == field && foreign.value == value) return std::string(foreign.here);
  if (field == "preset" && value.starts_with("transformer"))
    throw UsageError(
        "--preset: ", value, " is fairseq's; here: base (its transformer_wmt_en_de), big ",
        "(transformer_vaswani_wmt_en_de_big), small or tiny; --d-model, --heads, --d-ff, ",
        "--encoder-layers and --decoder-layers make any other size");
  return value;
}

}  // namespace dragoman
