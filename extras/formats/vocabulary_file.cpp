#include "extras/formats/vocabulary_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"
#include "extras/formats/json_yaml.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// Collects pieces in any order.
class PieceCollector {
 public:
  /// `place`: where the piece is, for messages; may be empty.
  void add(const std::string& piece, std::uint64_t id, const std::string& place) {
    if (!ids_.emplace(piece, id).second)
      throw Error(place, "the piece ", json_string(piece), " occurs twice");
    const auto [at, is_new] = pieces_.emplace(id, piece);
    if (!is_new)
      throw Error(place, "the pieces ", json_string(at->second), " and ", json_string(piece),
                  " have the same id ", id);
  }

  std::vector<std::string> in_order() {
    std::vector<std::string> pieces;
    for (auto& [id, piece] : pieces_) {
      if (id != pieces.size())
        throw Error("no piece has the id ", pieces.size(), "; the next one is ", json_string(piece),
                    " with ", id);
      pieces.push_back(std::move(piece));
    }
    if (pieces.empty()) throw Error("the vocabulary is empty");
    return pieces;
  }

 private:
  std::unordered_map<std::string, std::uint64_t> ids_;
  std::map<std::uint64_t, std::string> pieces_;
};

void check_utf8(std::string_view text) {
  const auto offset = find_invalid_utf8(text);
  if (offset != text.npos) throw Error("byte ", offset, ": invalid UTF-8");
}

/// The kind of a JSON value that is not the id of a piece.
std::string_view kind_of(const nlohmann::json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "true or false";
  if (value.is_number_unsigned()) return "a number without a piece";
  if (value.is_number_integer()) return "a negative number";
  return value.is_number() ? "a fraction" : "a text";
}

}  // namespace

std::vector<std::string> parse_json_vocabulary(std::string_view text) {
  check_utf8(text);
  using Json = nlohmann::json;
  PieceCollector vocabulary;
  bool is_list = false;
  std::optional<std::string> piece;  // whose id comes next
  std::uint64_t items = 0;
  // Piece by piece, as a map drops all but the last of equal names.
  const auto take = [&](int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    const auto fail = [&piece](std::string_view what) {
      throw Error(what, piece ? " at the piece " + json_string(*piece) : "",
                  ", but a vocabulary has only pieces and their ids");
    };
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth > 0) fail("a list or a map");
    if (event == Event::array_start) is_list = true;
    if (event == Event::key) piece = value.get<std::string>();
    if (event != Event::value) return true;
    if (is_list && value.is_string())
      vocabulary.add(value.get<std::string>(), items++, "");
    else if (piece && value.is_number_unsigned())
      vocabulary.add(*std::exchange(piece, std::nullopt), value.get<std::uint64_t>(), "");
    else
      fail(kind_of(value));
    return false;
  };
  try {
    [[maybe_unused]] const Json kept_nothing = parse_json(text, take);
  } catch (const Json::parse_error& error) {
    throw Error("byte ", error.byte, ": not JSON");
  } catch (const Json::out_of_range&) {
    throw Error("a number is too large");
  }
  return vocabulary.in_order();
}

std::vector<std::string> parse_yaml_vocabulary(std::string_view text) {
  PieceCollector vocabulary;
  for (const YamlEntry& entry : parse_yaml_map(text)) {
    const std::string place = join_text("line ", entry.line, ": ");
    const std::string& number = entry.is_list ? entry.name : entry.values.at(0);
    const std::optional<std::uint64_t> id = number_from<std::uint64_t>(number);
    if (entry.is_list || !id)
      throw Error(place, "the piece ", json_string(entry.name), " has no whole number as its id");
    vocabulary.add(entry.name, *id, place);
  }
  return vocabulary.in_order();
}

std::vector<std::string> parse_text_vocabulary(std::string_view text) {
  check_utf8(text);
  PieceCollector vocabulary;
  for (std::uint64_t line = 0; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view piece = text.substr(0, end);
    const std::string place = join_text("line ", line + 1, ": ");
    if (piece.empty()) throw Error(place, "is empty");
    vocabulary.add(std::string(piece), line, place);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return vocabulary.in_order();
}

std::vector<std::string> read_vocabulary(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  const std::string text = read_file(path);
  return with_place(path.string(), [&] {
    if (ending == ".json") return parse_json_vocabulary(text);
    if (ending == ".yml" || ending == ".yaml") return parse_yaml_vocabulary(text);
    if (ending == ".txt") return parse_text_vocabulary(text);
    throw Error("a vocabulary's name must end with .json, .yml or .txt");
  });
}

namespace {

/// Throws Error if the SentencePiece model lacks most of the pieces: then another program or
/// another model made them.
void check_pieces(const ForeignVocabulary& vocabulary) {
  const bool has_space = std::ranges::any_of(
      vocabulary.pieces, [](const std::string& piece) { return piece.starts_with(kSpaceMark); });
  if (!has_space)
    throw Error(vocabulary.file, ": no piece of the vocabulary begins with ", kSpaceMark,
                ", so a program other than SentencePiece, such as subword-nmt, has made them; they "
                "cannot be made here");
  const Tokenizer tokenizer(vocabulary.sentencepiece, vocabulary.file);
  const auto known = std::ranges::count_if(vocabulary.pieces, [&](const std::string& piece) {
    return tokenizer.id(piece) != tokenizer.unk_id();
  });
  // A vocabulary of both sides may have pieces of two models, so a quarter is enough.
  if (4 * static_cast<std::size_t>(known) < vocabulary.pieces.size())
    throw Error(vocabulary.file, ": has only ", known, " of the ", vocabulary.pieces.size(),
                " pieces of the vocabulary, so another program or another SentencePiece model has "
                "made them");
}

}  // namespace

fs::path sentencepiece_of(const fs::path& folder, Side side, const std::string& named,
                          const fs::path& last) {
  const std::string name(name_of(side));
  std::vector<fs::path> candidates = {folder / (name + ".spm")};
  if (!named.empty()) candidates.push_back(folder / fs::path(named).filename());
  for (const char* common : {"sentencepiece.model", "sentencepiece.bpe.model", "spm.model"})
    candidates.push_back(folder / common);
  candidates.push_back(last);
  for (const fs::path& path : candidates)
    if (fs::is_regular_file(path)) return path;
  throw Error(folder.string(), ": has no SentencePiece model of the ", name, ": put it there as ",
              name,
              ".spm, or as sentencepiece.model for both sides; pieces of another program, "
              "such as subword-nmt, cannot be made here");
}

ForeignVocabulary vocabulary_beside(const fs::path& folder, Side side,
                                    std::vector<std::string> pieces, const std::string& named) {
  const fs::path path = sentencepiece_of(folder, side, named);
  ForeignVocabulary vocabulary{std::move(pieces), read_file(path), path.string()};
  check_pieces(vocabulary);
  return vocabulary;
}

std::int64_t piece_id(const std::vector<std::string>& pieces, std::string_view piece,
                      const std::string& file) {
  const auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) throw Error(file, ": the vocabulary has no ", piece);
  return found - pieces.begin();
}

void set_sizes_and_ids(ForeignModel& model, const std::string& file) {
  ModelConfig& config = model.config;
  config.source_vocabulary = static_cast<std::int64_t>(model.source.pieces.size());
  config.target_vocabulary = static_cast<std::int64_t>(model.target.pieces.size());
  config.unk_id = piece_id(model.target.pieces, "<unk>", file);
  config.eos_id = config.bos_id = piece_id(model.target.pieces, "</s>", file);
}

void settle_vocabularies(ForeignModel& model, const std::string& file) {
  set_sizes_and_ids(model, file);
  piece_id(model.source.pieces, "<unk>", file);
  if (model.config.tying == Tying::ThreeWay && model.source.pieces != model.target.pieces)
    throw Error(file, ": the embeddings are one matrix, but there are two different vocabularies");
}

void start_with(ForeignModel& model, std::int64_t piece) {
  const auto& embedding = model.parameters.at(
      model.config.tying == Tying::ThreeWay ? "embedding.weight" : "embedding.target.weight");
  const auto begin = embedding.begin() + piece * model.config.d_model;
  model.start.assign(begin, begin + model.config.d_model);
}

}  // namespace dragoman
