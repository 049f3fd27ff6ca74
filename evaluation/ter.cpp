#include "evaluation/ter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "evaluation/separate.h"

namespace dragoman {

namespace {

// Tercom's tokenizer, as in sacreBLEU.

bool is_asian_punctuation(char32_t c) {
  constexpr std::array<CodePointRange, 11> kRanges = {{
      {0x3001, 0x3002},
      {0x3008, 0x3011},
      {0x3014, 0x301F},
      {0xFF61, 0xFF65},
      {0x30FB, 0x30FB},
      {0xFF0E, 0xFF0E},
      {0xFF0C, 0xFF0C},
      {0xFF1F, 0xFF1F},
      {0xFF1A, 0xFF1B},
      {0xFF01, 0xFF02},
      {0xFF08, 0xFF09},
  }};
  return is_in(c, kRanges);
}

/// Whether a character is a word. Kana are not, because sacreBLEU's patterns for them never match a
/// line that begins with a space, and all lines here do.
bool is_asian_character(char32_t c) {
  constexpr std::array<CodePointRange, 7> kRanges = {{
      {0x4E00, 0x9FFF},
      {0x3400, 0x4DBF},
      {0x31C0, 0x31EF},
      {0x2E80, 0x2EFF},
      {0xF900, 0xFAFF},
      {0xFE30, 0xFE4F},
      {0x3200, 0x3F22},  // as in sacreBLEU; U+32FF was intended
  }};
  return is_in(c, kRanges) || is_asian_punctuation(c);
}

std::string normalize(std::string text) {
  replace_all(text, "\n-", "");
  replace_all(text, "\n", " ");
  replace_entities(text);
  text = separate_each(" " + text + " ", is_mteval_symbol);
  replace_all(text, "'s ", " 's ");
  return separate_points_and_dashes(text);
}

}  // namespace

std::string tokenize_for_ter(std::string_view line, const TerConfig& config) {
  line = strip_right(line);
  if (line.empty()) return "";
  std::string text = config.case_sensitive ? std::string(line) : lower_case(line);
  if (config.normalized) {
    text = normalize(std::move(text));
    if (config.asian_support) text = to_utf8(separate_each(code_points(text), is_asian_character));
  }
  if (config.no_punct) {
    std::erase_if(text, [](char c) {
      return std::string_view(".,?:;!\"()").find(c) != std::string_view::npos;
    });
    if (config.asian_support) {
      std::u32string points = code_points(text);
      std::erase_if(points, is_asian_punctuation);
      text = to_utf8(points);
    }
  }
  return joined(split_words(text), " ");
}

namespace {

using Words = std::vector<std::uint32_t>;

// The search of TER, step by step as in Tercom and sacreBLEU: an edit distance in a beam around the
// diagonal, and then the shift that lowers it most, as long as there is one.

constexpr std::size_t kLongestShift = 10;       // words
constexpr std::size_t kFarthestShift = 50;      // words between the positions in both sentences
constexpr std::int64_t kMostCandidates = 1000;  // shifts tried for a sentence, about
constexpr std::int64_t kBeam = 25;              // cells on each side of the diagonal
constexpr std::int32_t kInfinity = 1'000'000'000;

enum class Edit : std::uint8_t { None, Substitute, Insert, Delete };  // hypothesis to reference

struct Cell {
  std::int32_t cost = kInfinity;
  Edit edit = Edit::None;
};

/// The matrix of edit distances between beginnings of the hypothesis (rows) and of the reference
/// (columns). A row has only the columns of the beam; the first and the last row have all columns.
/// For another hypothesis, the rows of the beginning that both have in common stay.
class EditDistance {
 public:
  EditDistance(std::span<const std::uint32_t> reference, std::size_t hypothesis_length)
      : reference_(reference), rows_(hypothesis_length + 1) {
    const std::size_t columns = reference.size() + 1, last = hypothesis_length;
    const double ratio =
        last > 0 ? static_cast<double>(reference.size()) / static_cast<double>(last) : 1;
    const std::int64_t beam =
        kBeam < ratio / 2 ? static_cast<std::int64_t>(std::ceil(ratio / 2 + kBeam)) : kBeam;
    rows_[0].cells.resize(columns);
    for (std::size_t j = 0; j < columns; ++j)
      rows_[0].cells[j] = {static_cast<std::int32_t>(j), Edit::Insert};
    for (std::size_t i = 1; i <= last; ++i) {
      const auto diagonal = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * ratio));
      rows_[i].begin = static_cast<std::size_t>(std::max<std::int64_t>(0, diagonal - beam));
      const std::size_t end =
          i == last ? columns : std::min(columns, static_cast<std::size_t>(diagonal + beam));
      rows_[i].cells.resize(end - rows_[i].begin);
    }
  }

  std::int32_t operator()(const Words& hypothesis) {
    std::size_t same = 0;
    while (same < words_.size() && words_[same] == hypothesis[same]) ++same;
    words_ = hypothesis;
    for (std::size_t i = same + 1; i < rows_.size(); ++i) fill_row(i);
    return rows_.back().cells.back().cost;
  }

  /// The edits of the last hypothesis, from its beginning.
  std::vector<Edit> edits() const {
    std::vector<Edit> edits;
    for (std::size_t i = rows_.size() - 1, j = reference_.size(); i > 0 || j > 0;) {
      const Edit edit = rows_[i].at(j).edit;
      edits.push_back(edit);
      if (edit != Edit::Insert) --i;
      if (edit != Edit::Delete) --j;
    }
    std::ranges::reverse(edits);
    return edits;
  }

 private:
  struct Row {
    std::size_t begin = 0;  // the first column
    std::vector<Cell> cells;

    Cell at(std::size_t column) const {
      const std::size_t i = column - begin;  // huge if the column is before the first
      return i < cells.size() ? cells[i] : Cell();
    }
  };

  void fill_row(std::size_t i) {
    Row& row = rows_[i];
    const Row& above = rows_[i - 1];
    Cell left;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const std::size_t j = row.begin + c;
      Cell cell;
      const auto offer = [&cell](std::int32_t cost, Edit edit) {
        if (cost < cell.cost) cell = {cost, edit};
      };
      if (j > 0) {
        const bool equal = words_[i - 1] == reference_[j - 1];
        offer(above.at(j - 1).cost + (equal ? 0 : 1), equal ? Edit::None : Edit::Substitute);
      }
      offer(above.at(j).cost + 1, Edit::Delete);
      offer(left.cost + 1, Edit::Insert);
      row.cells[c] = left = cell;
    }
  }

  std::span<const std::uint32_t> reference_;
  std::vector<Row> rows_;
  Words words_;
};

/// The position of each word of the reference in the hypothesis, and the words that the edits
/// change.
struct Alignment {
  explicit Alignment(const std::vector<Edit>& edits) {
    std::int64_t place = -1;
    for (const Edit edit : edits) {
      const bool wrong = edit != Edit::None;
      if (edit != Edit::Insert) {
        ++place;
        hypothesis_wrong.push_back(wrong);
      }
      if (edit != Edit::Delete) {
        of_reference.push_back(place);
        reference_wrong.push_back(wrong);
      }
    }
  }

  std::vector<std::int64_t> of_reference;  // the word of the hypothesis; -1: before the first
  std::vector<bool> hypothesis_wrong, reference_wrong;
};

/// Moves words [start, start + length) in front of the word at `target`. If the target comes after
/// them, it is counted as in sacreBLEU.
Words shifted(const Words& words, std::size_t start, std::size_t length, std::size_t target) {
  Words result = words;
  const auto at = [&result](std::size_t i) {
    return result.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (target < start) {
    std::rotate(at(target), at(start), at(start + length));
  } else {
    const std::size_t end =
        target > start + length ? target : std::min(words.size(), length + target);
    std::rotate(at(start), at(start + length), at(end));
  }
  return result;
}

/// Words [start, start + length) of the hypothesis, which are those at `to` of the reference.
struct Match {
  std::size_t start, to, length;
};

struct Shift {
  // Better shifts are greater: by the edits saved, then length, then an earlier start, then an
  // earlier target.
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t> rank;
  Words words;
};

class ShiftSearch {
 public:
  ShiftSearch(const Words& hypothesis, std::span<const std::uint32_t> reference)
      : words_(hypothesis), reference_(reference), distance_(reference, hypothesis.size()) {}

  std::int64_t edits() {
    std::int64_t shifts = 0;
    for (;; ++shifts) {
      std::optional<Shift> best = find_best();
      if (tried_ >= kMostCandidates || !best || std::get<0>(best->rank) <= 0) break;
      words_ = std::move(best->words);
    }
    return shifts + distance_(words_);
  }

 private:
  std::optional<Shift> find_best() {
    before_ = distance_(words_);
    const Alignment alignment(distance_.edits());
    std::optional<Shift> best;
    for (std::size_t start = 0; start < words_.size(); ++start) {
      const std::size_t last = std::min(reference_.size(), start + kFarthestShift + 1);
      for (std::size_t to = start - std::min(start, kFarthestShift); to < last; ++to)
        for (std::size_t length = 1; length <= kLongestShift; ++length) {
          if (start + length > words_.size() || to + length > reference_.size() ||
              words_[start + length - 1] != reference_[to + length - 1])
            break;
          const Match match{start, to, length};
          if (!may_help(alignment, match)) continue;
          try_targets(alignment, match, best);
          if (tried_ >= kMostCandidates) return best;
        }
    }
    return best;
  }

  /// Whether the words are wrong, the words at the target are wrong, and the target is not among
  /// the words.
  static bool may_help(const Alignment& alignment, const Match& match) {
    const auto [start, to, length] = match;
    const auto any = [length](const std::vector<bool>& wrong, std::size_t begin) {
      const auto first = wrong.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::count(first, first + static_cast<std::ptrdiff_t>(length), true) > 0;
    };
    const std::int64_t place = alignment.of_reference[to];
    const auto begin = static_cast<std::int64_t>(start);
    return any(alignment.hypothesis_wrong, start) && any(alignment.reference_wrong, to) &&
           (place < begin || place >= begin + static_cast<std::int64_t>(length));
  }

  /// Tries the targets before the matched words of the reference and after each of them.
  void try_targets(const Alignment& alignment, const Match& match, std::optional<Shift>& best) {
    const auto [start, to, length] = match;
    std::int64_t last = -1;
    for (std::size_t n = 0; n <= length; ++n) {
      const std::size_t before = to + n;  // words of the reference in front of the target
      const std::int64_t target = before == 0 ? 0 : alignment.of_reference[before - 1] + 1;
      if (target == last) continue;
      last = target;
      Shift shift{{}, shifted(words_, start, length, static_cast<std::size_t>(target))};
      shift.rank = {before_ - distance_(shift.words), static_cast<std::int64_t>(length),
                    -static_cast<std::int64_t>(start), -target};
      ++tried_;
      if (!best || shift.rank > best->rank) best = std::move(shift);
    }
  }

  Words words_;
  std::span<const std::uint32_t> reference_;
  EditDistance distance_;
  std::int32_t before_ = 0;
  std::int64_t tried_ = 0;
};

}  // namespace

std::int64_t translation_edits(std::span<const std::uint32_t> hypothesis,
                               std::span<const std::uint32_t> reference) {
  if (reference.empty()) return std::ssize(hypothesis);
  return ShiftSearch(Words(hypothesis.begin(), hypothesis.end()), reference).edits();
}

namespace {

class TerCounter {
 public:
  explicit TerCounter(const TerConfig& config) : config_(config) {}

  void operator()(const std::string& line, const std::vector<const std::string*>& references,
                  std::span<double> row) {
    texts_.clear();
    texts_.push_back(prepare(line));
    for (const std::string* reference : references)
      texts_.push_back(prepare(prepare(*reference)));  // twice, as sacreBLEU does
    numbering_.clear();
    const auto hypothesis = numbering_.add(split_words(texts_.front()));
    std::int64_t fewest = -1;
    std::size_t words = 0;
    for (std::size_t r = 1; r < texts_.size(); ++r) {
      const auto reference = numbering_.add(split_words(texts_[r]));
      const std::int64_t edits = translation_edits(hypothesis, reference);
      if (fewest < 0 || edits < fewest) fewest = edits;
      words += reference.size();
    }
    row[0] = static_cast<double>(fewest);
    row[1] = static_cast<double>(words) / static_cast<double>(texts_.size() - 1);
  }

 private:
  std::string prepare(const std::string& line) const {
    return tokenize_for_ter(valid_line(line), config_);
  }

  const TerConfig& config_;
  std::vector<std::string> texts_;  ///< hypothesis and references; the numbering points into them
  WordNumbering numbering_;
};

}  // namespace

template <class Real>
Real ter_of_statistics(std::span<const Real> sum) {
  if (sum[1] > 0) return 100 * (sum[0] / sum[1]);
  return sum[0] > 0 ? 100 : 0;  // for empty references
}
template double ter_of_statistics(std::span<const double>);
template float ter_of_statistics(std::span<const float>);

LineStatistics ter_statistics(std::span<const std::string> hypotheses, const References& references,
                              const TerConfig& config) {
  return count_lines(hypotheses, references, 2, [&] { return TerCounter(config); });
}

std::string ter_signature(const TerConfig& config, std::string_view references,
                          std::string_view version) {
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  return join_text("nrefs:", references, "|case:", config.case_sensitive ? "mixed" : "lc",
                   "|tok:tercom|norm:", yes(config.normalized), "|punct:", yes(!config.no_punct),
                   "|asian:", yes(config.asian_support), "|version:", version);
}

}  // namespace dragoman
