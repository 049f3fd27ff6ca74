#include "tokenizer/train_tokenizer.h"

#include <pthread.h>
#include <sentencepiece_trainer.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "base/bytes.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/machine.h"
#include "base/threads.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/terms.h"

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

struct SideLine {
  std::string_view text;
  TextSide side;
};

void append_lines(const std::vector<std::string_view>& texts, TextSide side,
                  std::vector<SideLine>& lines) {
  lines.reserve(lines.size() + texts.size());
  for (const std::string_view text : texts) lines.push_back({text, side});
}

void keep_sample(std::vector<SideLine>& lines, std::int64_t sample_lines) {
  if (std::ssize(lines) <= sample_lines) return;
  const auto by_key = [](const SideLine& a, const SideLine& b) {
    const std::uint64_t a_key = sample_key(a.text), b_key = sample_key(b.text);
    if (a_key != b_key) return a_key < b_key;
    return a.text != b.text ? a.text < b.text : a.side < b.side;
  };
  std::nth_element(lines.begin(), lines.begin() + sample_lines, lines.end(), by_key);
  lines.resize(static_cast<std::size_t>(sample_lines));
}

/// The offset at which to cut a line that is too long: after the last space that fits, else between
/// characters.
std::size_t cut_position(std::string_view line) {
  const std::size_t space = line.rfind(' ', kLongestPart - 1);
  if (space != line.npos && space > kLongestPart / 2) return space + 1;
  return character_start(line, kLongestPart);
}

/// Appends the parts of a line between U+2585, for which SentencePiece leaves out a line, and
/// U+2581, which it takes for a space.
void append_parts(std::string_view line, std::vector<std::string_view>& parts) {
  constexpr std::string_view kReserved = "\u2585", kLeads = "\xE2\x96";
  for (std::size_t at = 0; (at = line.find(kLeads, at)) != line.npos;) {
    const std::string_view sign = line.substr(at, kSpaceMark.size());
    if (sign != kReserved && sign != kSpaceMark) {
      ++at;
      continue;
    }
    parts.push_back(line.substr(0, at));
    line.remove_prefix(at + sign.size());
    at = 0;
  }
  parts.push_back(line);
}

/// The lines in sorted order. Long lines are cut.
std::vector<std::string_view> training_lines(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> parts;
  parts.reserve(lines.size());
  for (std::string_view line : lines) {
    while (line.size() > kLongestPart) {
      const std::size_t cut = cut_position(line);
      append_parts(line.substr(0, cut), parts);
      line.remove_prefix(cut);
    }
    append_parts(line, parts);
  }
  std::ranges::sort(parts);
  return parts;
}

/// The values as a comma-separated list for SentencePiece.
std::string quoted_list(const std::vector<std::string>& values) {
  return joined(values, ",", [](const std::string& value) {
    std::string quoted = "\"";
    for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
  });
}

using Options = std::unordered_map<std::string, std::string>;

/// `built_in` is the normalisation while SentencePiece trains: None or NmtNfkc.
Options trainer_options(const TokenizerConfig& config, double character_coverage,
                        Normalization built_in) {
  const bool is_nmt_nfkc = built_in == Normalization::NmtNfkc;
  Options options = {
      {"minloglevel", "3"},
      {"model_type", std::string(name_of(config.type))},
      {"vocab_size", std::to_string(config.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", text_of(character_coverage)},
      {"byte_fallback", "true"},
      {"normalization_rule_name", is_nmt_nfkc ? "nmt_nfkc" : "identity"},
      {"remove_extra_whitespaces", is_nmt_nfkc ? "true" : "false"},
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

/// Throws Error if `ulimit -v` leaves too little for SentencePiece's threads, which end the process
/// if one of them cannot begin. Without that limit a stack takes memory as it is used.
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
std::string train(const std::vector<std::string_view>& lines, const Options& options,
                  std::string& model_bytes) {
  LineIterator iterator(lines);
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model_bytes);
  return status.ok() ? std::string() : status.ToString();
}

/// Whether Unicode gives the code point a meaning, and text may have it.
bool is_character(char32_t code_point) {
  const std::string_view category = general_category(code_point);
  return code_point != 0 && category != "Cn" && category != "Cs" && category != "Co";
}

std::u32string in_form(NormalForm form, std::u32string_view text) {
  return code_points(normalised(to_utf8(text), form));
}

/// Canonically equivalent spellings of a character: itself, decomposed with its marks in any order
/// that means the same, and with only the last of these marks decomposed.
std::set<std::u32string> spellings(char32_t character) {
  std::set<std::u32string> all = {std::u32string(1, character)};
  const std::u32string parts = in_form(NormalForm::Nfd, *all.begin());
  if (parts.size() < 2) return all;
  std::u32string order = parts;
  std::sort(order.begin() + 1, order.end());
  do {
    if (in_form(NormalForm::Nfd, order) != parts) continue;
    for (std::size_t composed = 1; composed < order.size(); ++composed)
      all.insert(in_form(NormalForm::Nfc, order.substr(0, composed)) + order.substr(composed));
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return all;
}

/// The code points as SentencePiece's table has them: "41 301".
std::string code_points_text(std::u32string_view text) { return joined(text, " ", hexadecimal); }

/// The table for SentencePiece's --normalization_rule_tsv of a rule that is not built in.
/// `normalise` applies NmtNfkc to a character. The table has each character in every canonically
/// equivalent spelling, unless the normalisation is None. ß does not become lower case.
std::string rule_table(const TextRule& rule,
                       const std::function<std::string(std::string_view)>& normalise) {
  std::string table;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (!is_character(c)) continue;
    std::string normal = to_utf8({&c, 1});
    if (rule.normalization == Normalization::Nfc)
      normal = normalised(normal, NormalForm::Nfc);
    else if (rule.normalization == Normalization::NmtNfkc)
      normal = normalise(normal);
    if (rule.lowercase) normal = lower_case(normal);
    const std::u32string characters = code_points(normal);
    const auto add = [&](const std::u32string& spelling) {
      if (spelling != characters)
        table += code_points_text(spelling) + '\t' + code_points_text(characters) + '\n';
    };
    if (rule.normalization == Normalization::None)
      add({c});
    else
      for (const std::u32string& spelling : spellings(c)) add(spelling);
  }
  return table;
}

/// A file with a rule_table(), since SentencePiece takes it by the name of a file. The file lies in
/// memory and disappears with this object.
class RuleFile {
 public:
  explicit RuleFile(std::string_view table) : file_(memfd_create("rules", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, table.data(), table.size()) != static_cast<ssize_t>(table.size()))
      throw Error("the tokenizer cannot be trained: ", std::strerror(errno));
  }
  RuleFile(const RuleFile&) = delete;
  RuleFile& operator=(const RuleFile&) = delete;
  ~RuleFile() { close(file_); }

  std::string path() const { return join_text("/proc/self/fd/", file_); }

 private:
  int file_;
};

constexpr std::uint64_t kNormalizerSpec = 3;  // of ModelProto

/// The normalizer_spec of a model under the name of its rule, without the path of a RuleFile.
std::string named_spec(std::string_view model_bytes, const TextRule& rule) {
  constexpr std::uint64_t kName = 1, kRulePath = 6;
  WireWriter named;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number != kNormalizerSpec) continue;
    WireReader spec(field->bytes);
    while (const auto setting = spec.next()) {
      if (setting->number == kName)
        named.bytes(kName, rule.name());
      else if (setting->number != kRulePath)
        named.stored(*setting);
    }
  }
  return named.message();
}

/// A model with the pieces of `model_bytes` that applies a rule.
std::string with_rule(std::string_view model_bytes, std::string_view spec, const TextRule& rule) {
  WireWriter written;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number == kNormalizerSpec)
      written.bytes(kNormalizerSpec, spec);
    else
      written.stored(*field);
  }
  if (rule.keeps_white_space())
    written.number(kEscapesField,
                   static_cast<std::uint64_t>(rule.escapes_term_marks ? Escapes::SpaceAndTermMarks
                                                                      : Escapes::Space));
  return written.message();
}

/// Applies a rule, as a model does that is trained with it.
class Normaliser {
 public:
  explicit Normaliser(const TextRule& rule, const std::vector<std::string>& user_symbols = {})
      : rule_(rule), model_(model_of(rule, user_symbols, spec_)) {}

  const TextRule& rule() const { return rule_; }
  std::string operator()(std::string_view text) const { return model_.decode(model_.encode(text)); }
  std::string apply_to(std::string_view model_bytes) const {
    return with_rule(model_bytes, spec_, rule_);
  }

 private:
  /// A model without pieces of text.
  static Tokenizer model_of(const TextRule& rule, const std::vector<std::string>& user_symbols,
                            std::string& spec) {
    TokenizerConfig config;
    config.type = TokenizerType::Bpe;
    config.user_symbols = user_symbols;
    config.vocab_size = kReservedPieces + std::ssize(user_symbols) + 2;
    Options options = trainer_options(
        config, 1.0, rule.keeps_white_space() ? Normalization::None : Normalization::NmtNfkc);
    std::optional<RuleFile> file;
    if (!rule.is_built_in()) {
      std::optional<Normaliser> nmt_nfkc;
      if (!rule.keeps_white_space()) nmt_nfkc.emplace(TextRule{Normalization::NmtNfkc});
      file.emplace(rule_table(rule, [&nmt_nfkc](std::string_view character) {
        // Between bars, since spaces at the ends are dropped.
        const std::string text = (*nmt_nfkc)(join_text('|', character, '|'));
        return text.substr(1, text.size() - 2);
      }));
      options["normalization_rule_tsv"] = file->path();
    }
    std::string model_bytes;
    if (const std::string problem = train({"a"}, options, model_bytes); !problem.empty())
      throw Error("the tokenizer cannot be trained: ", problem);
    spec = named_spec(model_bytes, rule);
    return Tokenizer(with_rule(model_bytes, spec, rule), "normaliser");
  }

  TextRule rule_;
  std::string spec_;
  Tokenizer model_;
};

/// Whether SentencePiece finds a character to make a piece of. Without any its training would end
/// the process.
bool has_characters(const std::vector<std::string_view>& lines, Normalization built_in) {
  const Normaliser normalise(TextRule{built_in});
  return std::ranges::any_of(lines, [&normalise](std::string_view line) {
    return std::ranges::any_of(code_points(normalise(line)),
                               [](char32_t c) { return !is_space(c) && c != U'\0'; });
  });
}

/// The text that SentencePiece is to be trained on, and how it normalises it itself. A rule that it
/// does not know is applied beforehand, and so are the rules of the two sides if they differ.
class TrainingText {
 public:
  TrainingText(const std::vector<SideLine>& lines, std::span<const Normaliser> of_sides) {
    const TextRule& first = of_sides.front().rule();
    const bool is_one_rule =
        of_sides.back().rule().normalization == first.normalization && first.is_built_in();
    if (is_one_rule) built_in_ = first.normalization;
    texts_.reserve(lines.size());
    for (const SideLine& line : lines) texts_.push_back(line.text);
    if (!is_one_rule) normalise(lines, of_sides);
    texts_ = training_lines(texts_);
    if (!has_characters(texts_, built_in_))
      throw Error("the tokenizer cannot be trained: the text has no characters but white space");
  }

  const std::vector<std::string_view>& lines() const { return texts_; }
  Normalization built_in() const { return built_in_; }

 private:
  void normalise(const std::vector<SideLine>& lines, std::span<const Normaliser> of_sides) {
    normalised_.resize(lines.size());
    parallel_for(std::ssize(lines), kThreads, [&](std::int64_t i) {
      const auto line = static_cast<std::size_t>(i);
      const Normaliser& normaliser =
          lines[line].side == TextSide::Source ? of_sides.front() : of_sides.back();
      if (normaliser.rule().name() == TextRule{}.name()) return;
      normalised_[line] = normaliser(lines[line].text);
      texts_[line] = normalised_[line];
    });
  }

  std::vector<std::string> normalised_;
  std::vector<std::string_view> texts_;
  Normalization built_in_ = Normalization::None;
};

/// From SentencePiece's message "... required_chars. 300 vs 341. ...": ": at least 341 are needed".
std::string needed_pieces(const std::string& problem) {
  const std::size_t start = problem.find(" vs ");
  if (start == std::string::npos) return "";
  const std::size_t end = problem.find_first_not_of("0123456789", start + 4);
  return ": at least " + problem.substr(start + 4, end - start - 4) + " are needed";
}

TrainedTokenizer train_pieces(const TrainingText& text, const TokenizerConfig& config) {
  std::string problem;
  // If the vocabulary cannot hold all characters, the rare ones are left to the byte pieces.
  for (const double coverage : {1.0, 0.9999, 0.9995, 0.999, 0.995, 0.99, kSmallestCoverage}) {
    TrainedTokenizer trained{.character_coverage = std::min(coverage, config.character_coverage)};
    problem =
        train(text.lines(), trainer_options(config, trained.character_coverage, text.built_in()),
              trained.model_bytes);
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

/// What the configuration says about the text of a side.
TextRule text_rule(const TokenizerConfig& config, TextSide side) {
  const bool is_source = side == TextSide::Source;
  TextRule rule{
      .normalization = is_source ? config.source_normalization : config.target_normalization,
      .lowercase = config.lowercase};
  rule.escapes_term_marks =
      !is_source && rule.keeps_white_space() &&
      std::ranges::find(config.user_symbols, kTermBegins) != config.user_symbols.end();
  return rule;
}

}  // namespace

void TokenizerConfig::check() const {
  const auto symbols = std::ssize(user_symbols);
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
    if (std::ranges::count(user_symbols, symbol) > 1)
      throw UsageError("--user-symbols ", symbol, ": given twice");
  }
  if (source_model.empty() && !target_model.empty())
    throw UsageError("--target-tokenizer needs --tokenizer for the source side");
}

std::uint64_t sample_key(std::string_view line) { return xxh3(line, 0x746F6B656E697A65u); }

TrainedTokenizer train_tokenizer(const std::vector<std::string_view>& lines,
                                 const TokenizerConfig& config, TextSide side) {
  config.check();
  require_threads();
  std::vector<SideLine> of_side;
  append_lines(lines, side, of_side);
  keep_sample(of_side, config.sample_lines);
  const Normaliser normaliser(text_rule(config, side), config.user_symbols);
  TrainedTokenizer trained = train_pieces(TrainingText(of_side, {&normaliser, 1}), config);
  trained.model_bytes = normaliser.apply_to(trained.model_bytes);
  return trained;
}

JointTokenizers train_joint_tokenizers(const std::vector<std::string_view>& source_lines,
                                       const std::vector<std::string_view>& target_lines,
                                       const TokenizerConfig& config) {
  config.check();
  require_threads();
  std::vector<SideLine> lines;
  append_lines(source_lines, TextSide::Source, lines);
  append_lines(target_lines, TextSide::Target, lines);
  keep_sample(lines, config.sample_lines);
  const std::array<Normaliser, 2> normalisers = {
      Normaliser(text_rule(config, TextSide::Source), config.user_symbols),
      Normaliser(text_rule(config, TextSide::Target), config.user_symbols)};
  const std::string pieces = train_pieces(TrainingText(lines, normalisers), config).model_bytes;
  return {normalisers[0].apply_to(pieces), normalisers[1].apply_to(pieces)};
}

}  // namespace dragoman
