// A model of another system in this program's names, and otherwise as that system has it: its order
// of the columns of d_model, its positions and factors. It becomes ours in one place (to_imported).
// PlainTransformer computes it as it is, so that the two can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "extras/formats/imported_model.h"
#include "extras/formats/search_setting.h"
#include "model/file/model_config.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Where the sines and cosines of sinusoidal positions stand among the columns of d_model. All else
/// in a Transformer treats these columns alike.
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

/// Positions of a table that stands for a formula, which has no end.
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

/// One parameter from their order of columns to ours, or from ours to theirs.
enum class Direction { ToOurs, ToTheirs };
std::vector<float> reordered(const ParameterShape& parameter, const std::vector<float>& values,
                             ColumnOrder order, std::int64_t d_model, Direction direction);

/// The same model as ours computes it. A choice that our model has no option for is put into the
/// weights: factors into the matrices beside them, a first embedding of the decoder into a table of
/// positions. Throws Error where the vocabularies do not fit.
ImportedModel to_imported(const ForeignModel& model);

/// The tokens of a text, without </s>, as that system finds them: pieces of SentencePiece, looked
/// up in the vocabulary. `tokenizer` is of vocabulary.sentencepiece.
std::vector<TokenId> their_tokens(const ForeignVocabulary& vocabulary, const Tokenizer& tokenizer,
                                  TokenId unknown, std::string_view text);

}  // namespace dragoman
