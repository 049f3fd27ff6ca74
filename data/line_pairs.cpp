// The forms of pair files that are read line by line: TSV and JSON lines.

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/utf8.h"
#include "data/pair_format.h"

namespace dragoman {

namespace {

using Json = nlohmann::json;

/// The number of a column, from 1; nothing if the text is a name.
std::optional<std::size_t> column_number(const std::string& text) {
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != text.npos)
    return std::nullopt;
  return std::stoul(text);
}

class TsvPairs : public LinePairs {
 public:
  using LinePairs::LinePairs;

 private:
  void take(std::string_view line, std::int64_t number) override {
    const std::vector<std::string_view> columns = split_at(line, '\t');
    if (number == 1 && find_places(columns)) return;
    if (columns.size() <= std::max(places_[0], places_[1]))
      return leave_out(number, counted(std::ssize(columns), "column"));
    const std::string_view source = columns[places_[0]], target = columns[places_[1]];
    give(source, target);
    if (is_quoted(source) && is_quoted(target)) ++quoted_;
    constexpr std::int64_t kFew = 10;
    if (facts.pairs == kFew && quoted_ == kFew)
      facts.remark = "the fields stand in quotation marks, which are read as text; TSV needs none";
  }

  static bool is_quoted(std::string_view field) {
    return field.size() > 1 && field.front() == '"' && field.back() == '"';
  }

  /// Finds the columns that were asked for. Returns whether the first line is a header.
  bool find_places(const std::vector<std::string_view>& first) {
    if (first.size() == 1)
      throw Error(name,
                  ":1: has one column; a pair needs two, with a tab between (or is it plain "
                  "text? then each side is a file of its own, with its own flag)");
    if (options.columns.empty() && looks_like_header(first))
      facts.remark =
          "line 1 looks like a header, but is read as a pair; --columns with the names of its "
          "columns leaves it out";
    bool has_header = false;
    for (std::size_t side = 0; side < options.columns.size(); ++side) {
      const std::string& asked = options.columns[side];
      const auto number = column_number(asked);
      const auto named = std::ranges::find(first, asked);
      if (!number && named == first.end()) throw Error(name, ":1: has no column named ", asked);
      if (number == 0) throw Error(name, ": has no column 0; they count from 1 (--columns)");
      has_header = has_header || !number;
      places_[side] = number ? *number - 1 : static_cast<std::size_t>(named - first.begin());
    }
    return has_header;
  }

  bool looks_like_header(const std::vector<std::string_view>& first) const {
    const auto is_name = [](std::string_view column, std::initializer_list<std::string_view> names,
                            const std::string& language) {
      const std::string word = ascii_lower(column);
      return std::ranges::find(names, word) != names.end() || language_name(word) != word ||
             (!language.empty() && word == ascii_lower(language));
    };
    return is_name(first[0], {"source", "src"}, options.source_lang) &&
           is_name(first[1], {"target", "tgt", "trg"}, options.target_lang);
  }

  std::array<std::size_t, 2> places_{0, 1};
  std::int64_t quoted_ = 0;  ///< pairs whose fields stand in quotation marks
};

class JsonPairs : public LinePairs {
 public:
  JsonPairs(std::string file, const PairFileOptions& asked, const PairSink& to)
      : LinePairs(std::move(file), asked, to) {
    if (!options.columns.empty())
      keys_.push_back({options.columns[0], options.columns[1]});
    else {
      if (!options.source_lang.empty()) keys_.push_back({options.source_lang, options.target_lang});
      keys_.push_back({"source", "target"});
      keys_.push_back({"src", "tgt"});
    }
  }

 private:
  void take(std::string_view line, std::int64_t number) override {
    if (line.find_first_not_of(" \t") == line.npos) return;
    Json object = parse_json_or_discard(line);
    if (!object.is_object())
      return leave_out(
          number, join_text("not a JSON object, or nested more than ", kMostJsonDepth, " deep"));
    if (const auto inner = object.find("translation"); inner != object.end() && inner->is_object())
      object = Json(*inner);
    for (const auto& [source, target] : keys_) {
      const auto from = object.find(source), to = object.find(target);
      if (from == object.end() || to == object.end()) continue;
      if (!from->is_string() || !to->is_string()) return leave_out(number, "a side is not text");
      return give(from->get_ref<const std::string&>(), to->get_ref<const std::string&>());
    }
    leave_out(number, join_text("no fields ", keys_[0].first, " and ", keys_[0].second));
  }

  std::vector<std::pair<std::string, std::string>> keys_;
};

}  // namespace

std::unique_ptr<PairFormat> table_of_pairs(const std::string& name, const PairFileOptions& options,
                                           const PairSink& sink) {
  return std::make_unique<TsvPairs>(name, options, sink);
}

std::unique_ptr<PairFormat> json_lines(const std::string& name, const PairFileOptions& options,
                                       const PairSink& sink) {
  return std::make_unique<JsonPairs>(name, options, sink);
}

}  // namespace dragoman
