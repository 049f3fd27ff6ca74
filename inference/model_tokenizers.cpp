#include "inference/model_tokenizers.h"

#include <string>

#include "base/error.h"

namespace dragoman {

namespace {

std::shared_ptr<const Tokenizer> load(std::string_view bytes, const std::string& name) {
  return std::make_shared<const Tokenizer>(std::string(bytes), name);
}

void check_size(const Tokenizer& tokenizer, std::int64_t vocabulary, const std::string& name) {
  if (tokenizer.size() != vocabulary)
    throw Error(name, " has ", tokenizer.size(), " pieces, but the model is for ", vocabulary);
}

}  // namespace

TokenizerPair load_tokenizers(const ModelFileReader& file) {
  const std::string source_name = file.path().string() + ": the source tokenizer";
  const std::string target_name = file.path().string() + ": the target tokenizer";
  TokenizerPair tokenizers;
  tokenizers.source = load(file.tokenizer_source(), source_name);
  tokenizers.target =
      file.has_two_tokenizers() ? load(file.tokenizer_target(), target_name) : tokenizers.source;
  tokenizers.source_eos = file.config().source_eos;
  check_size(*tokenizers.source, file.config().source_vocabulary, source_name);
  check_size(*tokenizers.target, file.config().target_vocabulary, target_name);
  return tokenizers;
}

void require_same(const TokenizerPair& of_model, const TokenizerPair& of_other,
                  const std::string& model, const std::string& other) {
  if (of_model.source->model_bytes() != of_other.source->model_bytes() ||
      of_model.target->model_bytes() != of_other.target->model_bytes())
    throw Error(other, ": has another tokenizer than ", model, "; an ensemble needs the same");
  if (of_model.source_eos != of_other.source_eos)
    throw Error(other, ": its sources end ", of_other.source_eos ? "with" : "without",
                " </s>, unlike those of ", model, "; an ensemble needs the same");
}

}  // namespace dragoman
