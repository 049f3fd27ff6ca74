#include "tokenizer/train_tokenizer.h"

#include <pthread.h>
#include <sentencepiece_trainer.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "tokenizer/byte_piece.h"
#include "tokenizer/lowercase_rules.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

constexpr std::size_t kLongestPart = 2000;     ///< bytes; SentencePiece skips lines above its limit
constexpr double kSmallestCoverage = 0.98;     ///< SentencePiece's limit
constexpr std::int64_t kReservedPieces = 259;  ///< <unk>, <s>, </s> and 256 bytes

constexpr int kThreads = 16;

class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const std::vector<std::string_view>& lines) : lines_(lines) { load(); }
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override {
    ++next_;
    load();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void load() {
    if (!done()) value_ = lines_[next_];
  }
  const std::vector<std::string_view>& lines_;
  std::size_t next_ = 0;
  std::string value_;
};

void keep_sample(std::vector<std::string_view>& lines, std::int64_t sample_lines) {
  if (static_cast<std::int64_t>(lines.size()) <= sample_lines) return;
  const auto by_key = [](std::string_view a, std::string_view b) {
    const std::uint64_t a_key = sample_key(a), b_key = sample_key(b);
    return a_key != b_key ? a_key < b_key : a < b;
  };
  std::nth_element(lines.begin(), lines.begin() + sample_lines, lines.end(), by_key);
  lines.resize(static_cast<std::size_t>(sample_lines));
}

/// The offset at which to cut a line that is too long: behind the last space that fits, else
/// between characters.
std::size_t cut_position(std::string_view line) {
  const std::size_t space = line.rfind(' ', kLongestPart - 1);
  if (space != line.npos && space > kLongestPart / 2) return space + 1;
  return character_start(line, kLongestPart);
}

/// The lines in sorted order. Long lines are cut. Lines with SentencePiece's reserved U+2585 are
/// left out, as SentencePiece ignores them.
std::vector<std::string_view> training_lines(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> parts;
  parts.reserve(lines.size());
  const auto keep = [&parts](std::string_view part) {
    if (part.find("\u2585") == part.npos) parts.push_back(part);
  };
  for (std::string_view line : lines) {
    while (line.size() > kLongestPart) {
      const std::size_t cut = cut_position(line);
      keep(line.substr(0, cut));
      line.remove_prefix(cut);
    }
    keep(line);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// The values as a comma-separated list for SentencePiece.
std::string quoted_list(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    if (!list.empty()) list += ',';
    list += '"';
    for (const char c : value) list += c == '"' ? "\"\"" : std::string(1, c);
    list += '"';
  }
  return list;
}

std::unordered_map<std::string, std::string> trainer_options(const TokenizerConfig& config,
                                                             double character_coverage) {
  std::unordered_map<std::string, std::string> options = {
      {"minloglevel", "3"},
      {"model_type", std::string(name_of(config.type))},
      {"vocab_size", std::to_string(config.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", text_of(character_coverage)},
      {"byte_fallback", "true"},
      {"normalization_rule_name", "nmt_nfkc"},
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "-1"},
      {"input_sentence_size", "0"},
      {"shuffle_input_sentence", "false"},
      {"max_sentence_length", std::to_string(2 * kLongestPart)},
      // The unigram model's sums are formed per thread, so the number of threads changes the
      // result.
      {"num_threads", std::to_string(kThreads)},
  };
  if (!config.user_symbols.empty())
    options["user_defined_symbols"] = quoted_list(config.user_symbols);
  return options;
}

/// Throws Error where `ulimit -v` leaves too little for SentencePiece's threads, which end the
/// process where one of them cannot begin. Without that limit a stack takes memory as it is used.
void require_threads() {
  constexpr std::int64_t kHeap = std::int64_t{4} << 20;  // that the allocator takes for each thread
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  pthread_attr_t attributes;
  std::size_t stack = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  const std::int64_t needed = kThreads * (static_cast<std::int64_t>(stack) + kHeap);
  if (const std::int64_t left = available_memory(); left < needed)
    throw Error("not enough memory to train the tokenizer: its ", kThreads, " threads need ",
                needed >> 20, " MiB and ulimit -v leaves ", left >> 20,
                "; raise it, or lower the stack's (ulimit -s)");
}

/// Trains a model. Returns the fault, or an empty text.
std::string train(const std::vector<std::string_view>& lines,
                  const std::unordered_map<std::string, std::string>& options,
                  std::string& model_bytes) {
  LineIterator iterator(lines);
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model_bytes);
  return status.ok() ? std::string() : status.ToString();
}

/// A model without pieces of text. It normalises as trained models do.
Tokenizer normaliser() {
  TokenizerConfig config;
  config.type = TokenizerType::Bpe;
  config.vocab_size = kReservedPieces + 2;
  std::string model_bytes;
  if (const std::string problem = train({"a"}, trainer_options(config, 1.0), model_bytes);
      !problem.empty())
    throw Error("the tokenizer cannot be trained: ", problem);
  return Tokenizer(std::move(model_bytes), "normaliser");
}

/// Whether the lines have characters after normalisation. Without any SentencePiece's training
/// would end the process, so the same normalisation is tried first.
bool has_characters(const std::vector<std::string_view>& lines) {
  const Tokenizer model = normaliser();
  return std::any_of(lines.begin(), lines.end(), [&model](std::string_view line) {
    for (const TokenId id : model.encode(line))
      if (model.piece(id) != kSpaceMark) return true;
    return false;
  });
}

/// A file with the rules of --lowercase, since SentencePiece takes them by the name of a file. The
/// file lies in memory and disappears with this object.
class LowercaseFile {
 public:
  LowercaseFile() : file_(memfd_create("lowercase", MFD_CLOEXEC)) {
    const Tokenizer model = normaliser();
    const std::string rules = lowercase_rules([&model](std::string_view character) {
      // Between bars, since spaces at the ends are dropped.
      const std::string text = model.decode(model.encode(join_text('|', character, '|')));
      return text.substr(1, text.size() - 2);
    });
    if (file_ < 0 || write(file_, rules.data(), rules.size()) != static_cast<ssize_t>(rules.size()))
      throw Error("the tokenizer cannot be trained: ", std::strerror(errno));
  }
  LowercaseFile(const LowercaseFile&) = delete;
  LowercaseFile& operator=(const LowercaseFile&) = delete;
  ~LowercaseFile() { close(file_); }

  std::string path() const { return join_text("/proc/self/fd/", file_); }

 private:
  int file_;
};

/// From SentencePiece's message "... required_chars. 300 vs 341. ...": ": at least 341 are needed".
std::string needed_pieces(const std::string& problem) {
  const std::size_t start = problem.find(" vs ");
  if (start == std::string::npos) return "";
  const std::size_t end = problem.find_first_not_of("0123456789", start + 4);
  return ": at least " + problem.substr(start + 4, end - start - 4) + " are needed";
}

}  // namespace

bool is_reserved_piece(std::string_view piece) {
  return piece == "<unk>" || piece == "<s>" || piece == "</s>" || byte_of_piece(piece).has_value();
}

void TokenizerConfig::check() const {
  const auto symbols = static_cast<std::int64_t>(user_symbols.size());
  if (vocab_size <= kReservedPieces + symbols)
    throw UsageError("--vocab-size ", vocab_size, ": at least ", kReservedPieces + symbols + 1,
                     " are needed (256 bytes, 3 special pieces, --user-symbols and a character)");
  if (vocab_size > 10'000'000)
    throw UsageError("--vocab-size ", vocab_size, ": at most 10,000,000");
  if (!(character_coverage >= kSmallestCoverage && character_coverage <= 1))
    throw UsageError("--character-coverage ", character_coverage, ": must lie in ",
                     kSmallestCoverage, " to 1");
  if (sample_lines < 1) throw UsageError("--tokenizer-lines ", sample_lines, ": at least 1");
  for (std::size_t i = 0; i < user_symbols.size(); ++i) {
    const std::string& symbol = user_symbols[i];
    if (symbol.empty() || find_invalid_utf8(symbol) != std::string::npos ||
        symbol.find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos)
      throw UsageError("--user-symbols: empty, with a line end, or not UTF-8");
    if (is_reserved_piece(symbol))
      throw UsageError("--user-symbols ", symbol, ": is a piece of every vocabulary");
    if (std::count(user_symbols.begin(), user_symbols.end(), symbol) > 1)
      throw UsageError("--user-symbols ", symbol, ": given twice");
  }
  if (source_model.empty() && !target_model.empty())
    throw UsageError("--target-tokenizer needs --tokenizer for the source side");
}

std::uint64_t sample_key(std::string_view line) { return xxh3(line, 0x746F6B656E697A65u); }

TrainedTokenizer train_tokenizer(std::vector<std::string_view> lines,
                                 const TokenizerConfig& config) {
  config.check();
  require_threads();
  keep_sample(lines, config.sample_lines);
  lines = training_lines(lines);
  if (!has_characters(lines))
    throw Error("the tokenizer cannot be trained: the text has no characters but white space");
  std::optional<LowercaseFile> lowercase;
  if (config.lowercase) lowercase.emplace();
  std::string problem;
  // Where the vocabulary cannot hold all characters, the rare ones are left to the byte pieces.
  for (const double coverage : {1.0, 0.9999, 0.9995, 0.999, 0.995, 0.99, kSmallestCoverage}) {
    TrainedTokenizer trained{.model_bytes = {},
                             .vocab_size = 0,
                             .character_coverage = std::min(coverage, config.character_coverage)};
    auto options = trainer_options(config, trained.character_coverage);
    if (lowercase) options["normalization_rule_tsv"] = lowercase->path();
    problem = train(lines, options, trained.model_bytes);
    if (problem.empty()) {
      trained.vocab_size = Tokenizer(trained.model_bytes, "the trained tokenizer").size();
      return trained;
    }
    if (problem.find("required_chars") == std::string::npos)
      throw Error("the tokenizer cannot be trained: ", problem);
  }
  throw UsageError("--vocab-size ", config.vocab_size, " is too small for the text's characters",
                   needed_pieces(problem));
}

}  // namespace dragoman
