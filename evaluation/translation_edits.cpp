// The search of TER, step by step as in Tercom and sacreBLEU: an edit distance in a beam around the
// diagonal, and then the shift that lowers it most, as long as there is one.
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "evaluation/ter.h"

namespace dragoman {

namespace {

using Words = std::vector<std::uint32_t>;

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
/// (columns). Of a row only the columns of the beam are kept, of the first and the last all. Rows
/// of the beginning that a hypothesis has in common with the one before are kept.
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
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

 private:
  struct Row {
    std::size_t begin = 0;  // the first column
    std::vector<Cell> cells;

    Cell at(std::size_t column) const {
      const std::size_t i = column - begin;  // huge where the column is before the first
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

/// Moves words [start, start + length) in front of the word at `target`. Where the target lies
/// behind them, it is counted as in sacreBLEU.
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
      return std::find(first, first + static_cast<std::ptrdiff_t>(length), true) !=
             first + static_cast<std::ptrdiff_t>(length);
    };
    const std::int64_t place = alignment.of_reference[to];
    const auto begin = static_cast<std::int64_t>(start);
    return any(alignment.hypothesis_wrong, start) && any(alignment.reference_wrong, to) &&
           (place < begin || place >= begin + static_cast<std::int64_t>(length));
  }

  /// Tries the targets in front of the matched words of the reference and behind each of them.
  void try_targets(const Alignment& alignment, const Match& match, std::optional<Shift>& best) {
    const auto [start, to, length] = match;
    std::int64_t last = -1;
    for (std::size_t n = 0; n <= length; ++n) {
      const std::size_t behind = to + n;  // words of the reference in front of the target
      const std::int64_t target = behind == 0 ? 0 : alignment.of_reference[behind - 1] + 1;
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
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  return ShiftSearch(Words(hypothesis.begin(), hypothesis.end()), reference).edits();
}

}  // namespace dragoman
