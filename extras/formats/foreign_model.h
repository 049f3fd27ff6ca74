// A model of another system, in three steps. ForeignModel has our names of parameters, and is
// otherwise as that system has it: its order of the columns of d_model, its positions and factors,
// so that plain_log_probabilities() computes it as that system does. to_imported() makes it ours.
// write_imported() writes the model file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_config.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The search settings of another system's file, in our terms: texts by the names of our flags.
struct ForeignSearch {
  DecodeDefaults defaults;
  std::vector<std::int64_t> suppressed = {};  ///< tokens of the target that are never produced
  std::string file = {};                      ///< the file that has the settings
  std::vector<std::string> left_out = {};     ///< its names of settings that we do not have
};

/// The text of a number. Throws Error that begins with `place`, the name of the file and its key,
/// for a number beyond the range of the flag.
std::string setting_text(std::string_view flag, double value, const std::string& place);

/// The text of a whole number. `more`: their number less ours.
std::string setting_text(std::string_view flag, std::int64_t value, const std::string& place,
                         std::int64_t more = 0);

/// The order of the sines and cosines of sinusoidal positions among the columns of d_model. All
/// other parts of a Transformer treat these columns alike.
enum class ColumnOrder {
  Alternating,  ///< a sine, a cosine, a sine, ... as in the paper, section 3.5
  Halves,       ///< all sines, then all cosines: Marian, MarianMTModel
};

/// A vocabulary, and the SentencePiece model that cuts text into its pieces.
struct ForeignVocabulary {
  std::vector<std::string> pieces;  ///< by id
  std::string sentencepiece;        ///< the model's bytes; its own ids do not matter
  std::string file;                 ///< of the SentencePiece model, for messages
};

/// The number of positions in a table that replaces a formula; the formula itself has no end.
inline constexpr std::int64_t kTablePositions = 2048;

struct ForeignModel {
  std::string kind;    ///< for messages: "Hugging Face's MarianMTModel"
  ModelConfig config;  ///< positions: which formula; Learned: the tables below
  std::map<std::string, std::vector<float>> parameters;  ///< by our names, weights [out, in]
  ColumnOrder columns = ColumnOrder::Alternating;
  std::vector<float> source_positions, target_positions;  ///< [max_positions, D]
  std::int64_t first_position = 0;                        ///< of a line, in the formula
  double embedding_scale = 1;                             ///< embeddings are multiplied by it
  std::vector<float> start = {};  ///< embedding that the decoder begins with; empty: zero
  double swish_factor = 1;        ///< f of the Swish activation x sigmoid(f x)
  ForeignVocabulary source, target;
  ForeignSearch search;
};

/// Brings a parameter from their order of columns into ours, or from ours into theirs.
enum class Direction { ToOurs, ToTheirs };
std::vector<float> reordered(const ParameterShape& parameter, const std::vector<float>& values,
                             ColumnOrder order, std::int64_t d_model, Direction direction);

/// The tokens of a text, without </s>, as that system finds them: pieces of SentencePiece, looked
/// up in the vocabulary. `tokenizer` is made of vocabulary.sentencepiece.
std::vector<TokenId> their_tokens(const ForeignVocabulary& vocabulary, const Tokenizer& tokenizer,
                                  TokenId unknown, std::string_view text);

/// A model in the terms of this program, ready to be written as a model file.
struct ImportedModel {
  std::string kind;  ///< for messages: "Hugging Face's MarianMTModel"
  ModelConfig config;
  std::string source_tokenizer, target_tokenizer;             ///< SentencePiece models
  std::map<std::string, std::vector<float>> parameters = {};  ///< those of parameter_shapes(config)
  DecodeDefaults decode_defaults = {};
};

/// The same model as our program computes it. If our model has no option for a feature, the weights
/// include it: factors go into matrices, and the decoder's first embedding goes into a table of
/// positions. Throws Error if the vocabularies do not fit.
ImportedModel to_imported(const ForeignModel& model);

/// Throws Error if the bytes are not tokenizers.
TokenizerPair tokenizers_of(const ImportedModel& model);

/// Views of the parameters.
std::vector<TensorData> tensors_of(const ImportedModel& model);

/// Replaces an existing file. Throws Error if writing fails.
void write_imported(const ImportedModel& model, const std::filesystem::path& path,
                    const std::string& command);

}  // namespace dragoman
