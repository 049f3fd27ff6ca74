#include "extras/corpus/survey_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ranges>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/utf8.h"
#include "data/languages.h"
#include "data/pair_files.h"

namespace dragoman {

namespace {

struct Place {
  std::string file;   ///< of the source
  std::int64_t line;  ///< from 1
};

Place place_of(std::int64_t pair, const NamedText& text) {
  const std::size_t file = text.text.file_of(pair);
  return {text.files[file], pair - text.text.first_pairs()[file] + 1};
}

/// Writes the examples of a survey.
class Examples {
 public:
  Examples(const CorpusSurvey& survey, const NamedText& text, const NamedText* held_out)
      : survey_(survey), text_(text), held_out_(held_out) {}

  FaultExample of(PairFault fault, std::int64_t pair) const {
    const Place place = place_of(pair, text_);
    const auto [source, target] = text_.text.lines(pair);
    return {.file = place.file,
            .line = place.line,
            .source = replace_invalid_utf8(source),
            .target = replace_invalid_utf8(target),
            .detail = detail_of(fault, pair)};
  }

 private:
  std::string detail_of(PairFault fault, std::int64_t pair) const {
    const auto at = static_cast<std::size_t>(pair);
    const auto [source, target] = text_.text.lines(pair);
    switch (fault) {
      case PairFault::OtherLanguageSource:
        return other_language(source, survey_.usual.languages[0]);
      case PairFault::OtherLanguageTarget:
        return other_language(target, survey_.usual.languages[1]);
      case PairFault::Copy:
      case PairFault::NearCopy:
        return like_earlier(pair, survey_.copy_of[at]);
      case PairFault::RepeatedSource:
        return like_earlier(pair, survey_.repeats[0][at]);
      case PairFault::RepeatedTarget:
        return like_earlier(pair, survey_.repeats[1][at]);
      case PairFault::Leak: {
        const Place place = place_of(survey_.leak_of[at], *held_out_);
        return join_text("like ", place.file, ":", place.line);
      }
      case PairFault::Shifted:
        return shift_of(pair);
      default:
        return "";
    }
  }

  std::string like_earlier(std::int64_t pair, std::int64_t other) const {
    const Place own = place_of(pair, text_), place = place_of(other, text_);
    if (own.file == place.file) return join_text("like line ", place.line);
    return join_text("like ", place.file, ":", place.line);
  }

  std::string shift_of(std::int64_t pair) const {
    for (const ShiftedStretch& stretch : survey_.stretches)
      if (pair >= stretch.begin && pair < stretch.end)
        return join_text("fits the target ", counted(std::abs(stretch.shift), "line"),
                         stretch.shift > 0 ? " later" : " earlier");
    return "";
  }

  const CorpusSurvey& survey_;
  const NamedText& text_;
  const NamedText* held_out_;
};

/// The pairs that become examples: evenly spaced among all that have the fault.
std::vector<std::vector<std::int64_t>> chosen_pairs(
    const std::vector<FaultSet>& faults, const std::array<std::int64_t, kPairFaults>& counts,
    std::int64_t most) {
  std::vector<std::vector<std::int64_t>> chosen(kPairFaults);
  std::array<std::int64_t, kPairFaults> seen{};
  for (std::size_t pair = 0; pair < faults.size(); ++pair) {
    if (faults[pair].empty()) continue;
    for (std::size_t fault = 0; fault < kPairFaults; ++fault) {
      if (!faults[pair].has(static_cast<PairFault>(fault))) continue;
      const std::int64_t wanted = std::min(most, counts[fault]);
      const std::int64_t next = std::ssize(chosen[fault]);
      if (next < wanted && seen[fault]++ >= next * counts[fault] / wanted)
        chosen[fault].push_back(static_cast<std::int64_t>(pair));
    }
  }
  return chosen;
}

}  // namespace

SurveyReport report_of(const CorpusSurvey& survey, const NamedText& text, const NamedText* held_out,
                       std::int64_t examples) {
  SurveyReport report{.files = text.files,
                      .pairs = text.text.pairs(),
                      .usual = survey.usual,
                      .faults = {},
                      .stretches = {}};
  const FaultSet strict = CorpusFilters{.cut = strict_cuts()}.faults_to_cut();
  report.clean_pairs = std::ranges::count_if(
      survey.faults, [&](FaultSet found) { return (found & strict).empty(); });
  const auto counts = survey.counts();
  const auto chosen = chosen_pairs(survey.faults, counts, examples);
  const Examples examples_of(survey, text, held_out);
  for (std::size_t i = 0; i < kPairFaults; ++i) {
    if (counts[i] == 0) continue;
    FaultReport& fault = report.faults.emplace_back();
    fault.fault = static_cast<PairFault>(i);
    fault.pairs = counts[i];
    for (const std::int64_t pair : chosen[i])
      fault.examples.push_back(examples_of.of(fault.fault, pair));
  }
  for (const ShiftedStretch& stretch : survey.stretches) {
    const Place first = place_of(stretch.begin, text), last = place_of(stretch.end - 1, text);
    report.stretches.push_back({first.file, first.line, last.line, stretch.shift});
  }
  return report;
}

std::string share_text(std::int64_t part, std::int64_t all) {
  const double percent = all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  if (part == all && all > 0) return "100 %";
  if (part > 0 && percent < 0.001) return "<0.001 %";
  if (percent < 0.0995 && part > 0) return fixed_text(percent, 3) + " %";
  // 2,999 of 3,000 are not all.
  return fixed_text(part < all ? std::min(percent, 99.9) : percent, 1) + " %";
}

std::string usual_text(const UsualPair& usual) {
  const auto name = [](const std::string& language) {
    return language.empty() ? std::string("an unknown language") : language;
  };
  return join_text(name(usual.languages[0]), " to ", name(usual.languages[1]),
                   "; a target line has ", fixed_text(usual.length_ratio, 2),
                   " times the characters of its source line");
}

namespace {

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, count_code_points(text)), ' ') + text;
}

/// The beginning of a line, for a terminal.
std::string shortened(std::string_view line) {
  constexpr std::size_t kShown = 90;
  std::u32string characters = code_points(line);
  if (characters.size() > kShown) characters.replace(kShown - 1, characters.npos, U"…");
  std::ranges::replace_if(
      characters, [](char32_t c) { return general_category(c)[0] == 'C'; }, kReplacementCharacter);
  return to_utf8(characters);
}

std::string places_text(const std::vector<FaultExample>& examples, bool names_files) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < std::min(kShown, examples.size()); ++i)
    places.push_back((names_files ? examples[i].file + ":" : std::string()) +
                     std::to_string(examples[i].line));
  return joined(places, names_files ? ", " : " · ");
}

/// A line for each of the first stretches.
std::string stretches_text(const std::vector<StretchReport>& stretches) {
  if (stretches.empty()) return "";
  std::string text = join_text(
      "\n", counted(std::ssize(stretches), "shifted stretch", "shifted stretches"), ":\n");
  constexpr std::int64_t kShown = 5;
  for (const StretchReport& stretch : stretches | std::views::take(kShown))
    text += join_text("  ", stretch.file, ", lines ", stretch.first_line, " to ", stretch.last_line,
                      ": the target of line i stands in line i ", stretch.shift > 0 ? "+ " : "- ",
                      std::abs(stretch.shift), "\n");
  if (std::ssize(stretches) > kShown)
    text += join_text("  and ", with_separators(std::ssize(stretches) - kShown),
                      " more, which --json and --html list\n");
  return text;
}

}  // namespace

std::string text_of(const SurveyReport& report) {
  const bool names_files = report.files.size() > 1;
  std::string text = join_text(counted(report.pairs, "pair"), ", ", usual_text(report.usual), "\n",
                               counted(report.clean_pairs, "pair"), " (",
                               share_text(report.clean_pairs, report.pairs),
                               ") without a fault that --clean strict would cut\n");
  constexpr std::size_t kCount = 11, kShare = 9, kName = 22, kTitle = 28;
  for (const FaultReport& fault : report.faults) {
    const std::string name(name_of(fault.fault)), title(title_of(fault.fault));
    text += join_text("\n", padded(with_separators(fault.pairs), kCount),
                      padded(share_text(fault.pairs, report.pairs), kShare), "  ", name,
                      std::string(kName - std::min(kName, name.size()), ' '), title,
                      std::string(kTitle - std::min(kTitle, title.size()), ' '),
                      names_files        ? ""
                      : fault.pairs == 1 ? "line "
                                         : "lines ",
                      places_text(fault.examples, names_files), "\n");
    if (fault.examples.empty()) continue;
    const FaultExample& example = fault.examples.front();
    const std::string margin(kCount + kShare + 2, ' ');
    text += join_text(margin, shortened(example.source), "\n", margin, shortened(example.target),
                      example.detail.empty() ? "" : "  [" + example.detail + "]", "\n");
  }
  return text + stretches_text(report.stretches);
}

std::string json_of(const SurveyReport& report) {
  using Json = nlohmann::ordered_json;
  Json faults = Json::object();
  for (const FaultReport& fault : report.faults) {
    Json examples = Json::array();
    for (const FaultExample& example : fault.examples)
      examples.push_back({{"file", utf8_of_bytes(example.file)},
                          {"line", example.line},
                          {"source", example.source},
                          {"target", example.target},
                          {"detail", example.detail}});
    faults[std::string(name_of(fault.fault))] = {{"title", title_of(fault.fault)},
                                                 {"explanation", explanation_of(fault.fault)},
                                                 {"pairs", fault.pairs},
                                                 {"examples", std::move(examples)}};
  }
  Json stretches = Json::array();
  for (const StretchReport& stretch : report.stretches)
    stretches.push_back({{"file", utf8_of_bytes(stretch.file)},
                         {"first_line", stretch.first_line},
                         {"last_line", stretch.last_line},
                         {"shift", stretch.shift}});
  Json files = Json::array();
  for (const std::string& file : report.files) files.push_back(utf8_of_bytes(file));
  const Json all = {{"files", std::move(files)},
                    {"pairs", report.pairs},
                    {"clean_pairs", report.clean_pairs},
                    {"source_language", report.usual.languages[0]},
                    {"target_language", report.usual.languages[1]},
                    {"length_ratio", report.usual.length_ratio},
                    {"faults", std::move(faults)},
                    {"stretches", std::move(stretches)}};
  return json_text(all, 2) + "\n";
}

bool is_json_report(std::string_view text) {
  const nlohmann::json found = parse_json_or_discard(text);
  return found.is_object() && found.contains("clean_pairs") && found.contains("faults");
}

// ---- the clean text -----------------------------------------------------------------------------

namespace {

std::string without_tabs(std::string_view text) {
  std::string plain(text);
  std::ranges::replace(plain, '\t', ' ');
  return plain;
}

PairFault first_of(FaultSet faults) {
  std::size_t first = 0;
  while (!faults.has(static_cast<PairFault>(first))) ++first;
  return static_cast<PairFault>(first);
}

}  // namespace

CleanCounts write_clean_text(const CorpusSurvey& survey, const NamedText& text, FaultSet cut,
                             const CleanFiles& files) {
  CleanCounts counts;
  AtomicFile cuts(files.cuts);
  cuts.write_line("file\tline\tfault\tsource\ttarget");
  const std::vector<std::int64_t>& first_pairs = text.text.first_pairs();
  for (std::size_t file = 0; file < files.sides.size(); ++file) {
    PairWriter kept(files.sides[file][0], files.sides[file][1]);
    text.text.for_each_pair(
        first_pairs[file], first_pairs[file + 1],
        [&](std::int64_t pair, std::string_view source, std::string_view target) {
          const FaultSet found = survey.faults[static_cast<std::size_t>(pair)] & cut;
          if (found.empty()) return kept.write(source, target);
          const PairFault fault = first_of(found);
          ++counts.cut[static_cast<std::size_t>(fault)];
          cuts.write_line(join_text(text.files[file], '\t', pair - first_pairs[file] + 1, '\t',
                                    name_of(fault), '\t', without_tabs(source), '\t',
                                    without_tabs(target)));
        });
    kept.commit();
    counts.kept += kept.pairs();
  }
  cuts.commit();
  return counts;
}

}  // namespace dragoman
