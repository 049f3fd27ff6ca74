// Plants each fault at known lines of clean text of the sample grammar, and counts how many are
// found, and how many clean lines are taken for faulty.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/random.h"
#include "base/utf8.h"
#include "extras/corpus/corpus_survey.h"
#include "extras/corpus/likeness.h"
#include "extras/sample/sample_corpus.h"

namespace dragoman {
namespace {

using Lines = std::vector<SamplePair>;

/// Pairs of the grammar whose sides are all different and have twenty groups of letters or more.
Lines clean_lines(std::size_t count, std::uint64_t seed) {
  Lines lines;
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; lines.size() < count; ++i) {
    const SamplePair pair = sample_pair(seed, i);
    const LetterGroups source = letter_groups(pair.source), target = letter_groups(pair.target);
    constexpr std::size_t kShort = 25;
    if (source.groups.size() < kShort || target.groups.size() < kShort) continue;
    if (seen.insert(source.text).second && seen.insert(target.text).second) lines.push_back(pair);
  }
  return lines;
}

/// The bytes of UTF-8 read as Latin-1.
std::string misread(const std::string& text) {
  std::string read;
  for (const char byte : text) append_utf8(read, static_cast<unsigned char>(byte));
  return read;
}

/// The text with another letter in the place of one in its middle.
std::string with_typo(std::string text) {
  for (std::size_t i = text.size() / 2; i < text.size(); ++i)
    if (text[i] >= 'a' && text[i] <= 'w') {
      text[i] = static_cast<char>(text[i] + 3);
      return text;
    }
  return text;
}

std::string replaced_once(std::string text, std::string_view what, std::string_view by) {
  const std::size_t place = text.find(what, text.size() / 4);
  return place == text.npos ? text + " gr" + std::string(by) + "n"
                            : text.replace(place, what.size(), by);
}

std::string made_of(RandomStream& random, const std::array<std::vector<std::string>, 3>& parts) {
  return random.choice(parts[0]) + " " + random.choice(parts[1]) + " " + random.choice(parts[2]);
}

std::string french(RandomStream& random) {
  return made_of(
      random,
      {{{"La vieille dame", "Mon petit frère", "Le professeur de musique", "Notre voisin fatigué",
         "Une jeune fille"},
        {"regarde", "cherche depuis hier", "a oublié", "voudrait acheter", "n'a jamais trouvé"},
        {"les fenêtres de la maison.", "un livre pour ses enfants.", "le chemin de la gare.",
         "la lettre de sa mère."}}});
}

std::string russian(RandomStream& random) {
  return made_of(random, {{{"Старый учитель", "Моя сестра", "Этот мальчик", "Наша соседка"},
                           {"вчера купила", "давно ищет", "никогда не видел", "хочет продать"},
                           {"новую книгу.", "большой дом у реки.", "письмо от матери."}}});
}

/// What a plant may use besides the pair that it changes.
struct Planting {
  RandomStream& random;
  const Lines& earlier;   ///< clean lines that stand before
  const Lines& held_out;  ///< the validation text
  const Lines& unused;    ///< clean lines that stand nowhere
  std::int64_t number;    ///< of the plant, among those of its fault
};

using Plant = std::function<void(SamplePair& pair, Planting& planting)>;

const std::map<PairFault, Plant> kLinePlants = {
    {PairFault::Empty,
     [](SamplePair& pair, Planting& on) { (on.number % 2 ? pair.source : pair.target) = " "; }},
    {PairFault::Invalid, [](SamplePair& pair, Planting&) { pair.source.insert(5, "\xFF"); }},
    {PairFault::ReplacedCharacters,
     [](SamplePair& pair, Planting& on) {
       pair.target = replaced_once(pair.target, "e", on.number % 2 ? "\uFFFD" : "?");
       if (on.number % 2 == 0) pair.target += " f?r";
     }},
    {PairFault::Mojibake,
     [](SamplePair& pair, Planting& on) {
       pair.target = misread(pair.target + (on.number % 2 ? " (größer)" : " – „so“"));
     }},
    {PairFault::ControlCharacters,
     [](SamplePair& pair, Planting& on) {
       pair.target.insert(pair.target.find(' '), on.number % 2 ? "\x02" : "\u0085");
     }},
    {PairFault::Markup,
     [](SamplePair& pair, Planting& on) {
       pair.source = std::array{"<b>" + pair.source + "</b>", pair.source + "&nbsp;",
                                "It&#39;s: " + pair.source}[on.number % 3];
     }},
    {PairFault::OtherLanguageSource,
     [](SamplePair& pair, Planting& on) {
       pair.source = on.number % 2 ? french(on.random) : pair.target;
     }},
    {PairFault::OtherLanguageTarget,
     [](SamplePair& pair, Planting& on) {
       pair.target = on.number % 2 ? french(on.random) : on.earlier.back().source;
     }},
    {PairFault::OtherScriptSource,
     [](SamplePair& pair, Planting& on) { pair.source = russian(on.random); }},
    {PairFault::OtherScriptTarget,
     [](SamplePair& pair, Planting& on) { pair.target = russian(on.random); }},
    {PairFault::MixedScripts, [](SamplePair& pair, Planting&) { pair.source += " p\u0430per"; }},
    {PairFault::Numbers,
     [](SamplePair& pair, Planting& on) {
       const std::uint64_t number = 13 + on.random.below(5000);
       pair.source += " (" + std::to_string(number) + ")";
       if (on.number % 3) pair.target += " (" + std::to_string(number + 7) + ")";
     }},
    {PairFault::Links,
     [](SamplePair& pair, Planting& on) {
       pair.source += " https://www.example.org/page";
       if (on.number % 2) pair.target += " http://other.example.com/page";
     }},
    {PairFault::Length,
     [](SamplePair& pair, Planting& on) {
       if (on.number % 2)
         pair.target.erase(pair.target.find(' '));
       else
         for (int i = 0; i < 3; ++i) pair.target += " " + on.random.choice(on.earlier).target;
     }},
    {PairFault::Untranslated,
     [](SamplePair& pair, Planting& on) {
       pair.target = pair.source;
       if (on.number % 2) pair.target = ascii_lower(pair.target);
     }},
    {PairFault::NothingToTranslate,
     [](SamplePair& pair, Planting& on) {
       pair.source = pair.target = std::to_string(on.number * 37) + ", www.example.org/a";
     }},
    {PairFault::Boilerplate,
     [](SamplePair& pair, Planting& on) {
       const std::string page = std::to_string(on.number + 13);
       if (on.number % 2)
         pair = {"Page " + page + " of our catalogue", "Seite " + page + " unseres Katalogs"};
       else
         pair.source = "Home | About us | Contact | " + pair.source;
     }},
    {PairFault::Casing,
     [](SamplePair& pair, Planting& on) {
       std::string& side = on.number % 2 ? pair.source : pair.target;
       side = upper_case(side);
     }},
    {PairFault::SentenceCount,
     [](SamplePair& pair, Planting& on) {
       pair.target += " " + on.random.choice(on.earlier).target;
     }},
    {PairFault::SeveralSentences,
     [](SamplePair& pair, Planting& on) {
       const SamplePair& other = on.random.choice(on.earlier);
       pair = {pair.source + " " + other.source, pair.target + " " + other.target};
     }},
    {PairFault::Copy,
     [](SamplePair& pair, Planting& on) {
       pair = on.random.choice(on.earlier);
       if (on.number % 2) pair.source = upper_case(pair.source);
       if (on.number % 2) pair.target = upper_case(pair.target);
     }},
    {PairFault::NearCopy,
     [](SamplePair& pair, Planting& on) {
       pair = on.random.choice(on.earlier);
       if (on.number % 2)
         pair = {with_typo(pair.source), with_typo(pair.target)};
       else
         pair = {"42. " + pair.source + "!", "42. " + pair.target + "!"};
     }},
    {PairFault::RepeatedSource,
     [](SamplePair& pair, Planting& on) {
       pair.source = with_typo(on.random.choice(on.earlier).source);
     }},
    {PairFault::RepeatedTarget,
     [](SamplePair& pair, Planting& on) { pair.target = on.random.choice(on.earlier).target; }},
    {PairFault::Misaligned,
     [](SamplePair& pair, Planting& on) { pair.target = on.random.choice(on.unused).target; }},
    {PairFault::Leak,
     [](SamplePair& pair, Planting& on) {
       const SamplePair& held_out = on.random.choice(on.held_out);
       pair = std::array{held_out, SamplePair{held_out.source, pair.target},
                         SamplePair{with_typo(held_out.source), held_out.target},
                         SamplePair{pair.source, with_typo(held_out.target)}}[on.number % 4];
     }},
};

struct PlantedText {
  Lines lines;
  std::map<PairFault, std::set<std::int64_t>> planted;
  std::set<std::int64_t> changed;
};

/// Plants each fault of kLinePlants in this many lines, after a part that stays clean.
PlantedText planted_text(Lines clean, const Lines& held_out, const Lines& unused,
                         std::int64_t of_each) {
  PlantedText text{std::move(clean), {}, {}};
  RandomStream random(7);
  const Lines earlier(text.lines.begin(), text.lines.begin() + std::ssize(text.lines) / 3);
  std::vector<std::int64_t> places;
  for (auto line = std::ssize(earlier); line < std::ssize(text.lines); ++line)
    places.push_back(line);
  random.shuffle(places);
  for (const auto& [fault, plant] : kLinePlants)
    for (std::int64_t number = 0; number < of_each; ++number) {
      const std::int64_t line = places.back();
      places.pop_back();
      Planting planting{random, earlier, held_out, unused, number};
      plant(text.lines[static_cast<std::size_t>(line)], planting);
      text.planted[fault].insert(line);
      text.changed.insert(line);
    }
  return text;
}

std::vector<std::string> write_sides(const Lines& lines, const std::filesystem::path& folder,
                                     const std::string& name) {
  std::string source, target;
  for (const SamplePair& pair : lines) {
    source += pair.source + "\n";
    target += pair.target + "\n";
  }
  write_file(folder / (name + ".en"), source);
  write_file(folder / (name + ".de"), target);
  return {(folder / (name + ".en")).string(), (folder / (name + ".de")).string()};
}

ParallelText read(const std::vector<std::vector<std::string>>& files) {
  std::vector<std::string> sources, targets;
  for (const auto& sides : files) {
    sources.push_back(sides[0]);
    targets.push_back(sides[1]);
  }
  return {sources, targets, InvalidLines::Skip, TextReading{.threads = 1}};
}

WorkContext on_threads(int threads) {
  return {.threads = threads, .report = [](std::int64_t, std::int64_t) {}};
}

class PlantedFaults : public testing::Test {
 protected:
  ScratchFolder folder_{std::filesystem::temp_directory_path() / "planted-"};
};

constexpr double kLeastFound = 0.95, kMostFalse = 0.01;

TEST_F(PlantedFaults, FaultsAreFoundAndCleanLinesAreLeftAlone) {
  const Lines all = clean_lines(5400, 3);
  const Lines held_out(all.begin(), all.begin() + 200), unused(all.end() - 200, all.end());
  const PlantedText planted =
      planted_text(Lines(all.begin() + 200, all.end() - 200), held_out, unused, 60);
  const ParallelText text = read({write_sides(planted.lines, folder_.path(), "train")});
  const ParallelText valid = read({write_sides(held_out, folder_.path(), "valid")});
  const CorpusSurvey survey = survey_corpus(text, &valid, {}, on_threads(2));
  EXPECT_EQ(survey.usual.languages, (std::array<std::string, 2>{"en", "de"}));
  std::cout << "fault                  found  false alarms\n" << std::fixed << std::setprecision(2);
  const auto clean = static_cast<double>(planted.lines.size() - planted.changed.size());
  for (const auto& [fault, lines] : planted.planted) {
    int found = 0, false_alarms = 0;
    for (std::int64_t line = 0; line < text.pairs(); ++line) {
      const bool has = survey.faults[static_cast<std::size_t>(line)].has(fault);
      found += has && lines.contains(line) ? 1 : 0;
      false_alarms += has && !planted.changed.contains(line) ? 1 : 0;
    }
    const double share = found / static_cast<double>(lines.size());
    std::cout << std::left << std::setw(22) << name_of(fault) << std::right << std::setw(6)
              << 100 * share << std::setw(10) << 100 * false_alarms / clean << " %\n";
    EXPECT_GE(share, kLeastFound) << name_of(fault);
    EXPECT_LE(false_alarms / clean, kMostFalse) << name_of(fault);
  }
}

TEST_F(PlantedFaults, ShiftedStretchesAreFoundWhereTheyAre) {
  Lines lines = clean_lines(3000, 5);
  // The target loses line 500 and gains one at 900; it gains one at 1700 and loses one at 2000.
  std::vector<std::string> targets;
  for (const SamplePair& pair : lines) targets.push_back(pair.target);
  targets.erase(targets.begin() + 500);
  targets.insert(targets.begin() + 900, "Das ist ein Satz, den niemand braucht.");
  targets.insert(targets.begin() + 1700, "Noch einer.");
  targets.erase(targets.begin() + 2000);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].target = targets[i];
  const ParallelText text = read({write_sides(lines, folder_.path(), "train")});
  const CorpusSurvey survey =
      survey_corpus(text, nullptr, {.alignment = WordAlignment::LeftOut}, on_threads(1));
  int found = 0, false_alarms = 0;
  for (std::int64_t line = 0; line < text.pairs(); ++line) {
    const bool is_shifted = (line >= 500 && line < 900) || (line >= 1700 && line < 2000);
    const bool has = survey.faults[static_cast<std::size_t>(line)].has(PairFault::Shifted);
    found += has && is_shifted ? 1 : 0;
    false_alarms += has && !is_shifted ? 1 : 0;
  }
  for (const ShiftedStretch& stretch : survey.stretches)
    std::cout << stretch.begin << " to " << stretch.end << " by " << stretch.shift << "\n";
  EXPECT_GE(found, kLeastFound * 700);
  EXPECT_LE(false_alarms, kMostFalse * 2300);
}

/// Counts lines of these ranges that are shifted, and others.
std::pair<int, int> shifted_lines(
    const CorpusSurvey& survey, const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  int found = 0, others = 0;
  for (std::int64_t line = 0; line < std::ssize(survey.faults); ++line) {
    if (!survey.faults[static_cast<std::size_t>(line)].has(PairFault::Shifted)) continue;
    const bool is_planted = std::ranges::any_of(
        ranges, [line](const auto& range) { return line >= range.first && line < range.second; });
    ++(is_planted ? found : others);
  }
  return {found, others};
}

TEST_F(PlantedFaults, WordsShowStretchesWhoseLinesHaveOneLength) {
  // Those of many lines whose lengths are closest to 50 and 45 characters.
  Lines lines = clean_lines(24'000, 17);
  const auto distance = [](const SamplePair& pair) {
    const auto characters = [](const std::string& line) {
      return static_cast<std::int64_t>(count_code_points(line));
    };
    return std::abs(characters(pair.target) - 50) + std::abs(characters(pair.source) - 45);
  };
  std::ranges::sort(lines, {}, distance);
  lines.resize(2600);
  RandomStream(3).shuffle(lines);
  // Lines 500 to 540 belong two targets later, lines 1500 to 1900 one target earlier.
  std::vector<std::string> targets;
  for (const SamplePair& pair : lines) targets.push_back(pair.target);
  targets.insert(targets.begin() + 500, {lines[2590].target, lines[2591].target});
  targets.erase(targets.begin() + 542, targets.begin() + 544);
  targets.erase(targets.begin() + 1500);
  targets.insert(targets.begin() + 1900, lines[2592].target);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].target = targets[i];
  const ParallelText text = read({write_sides(lines, folder_.path(), "train")});
  const auto shifted = [&](WordAlignment alignment) {
    return shifted_lines(survey_corpus(text, nullptr, {.alignment = alignment}, on_threads(2)),
                         {{500, 540}, {1500, 1900}});
  };
  const auto [by_words, false_alarms] = shifted(WordAlignment::Learned);
  const auto [by_length, false_by_length] = shifted(WordAlignment::LeftOut);
  std::cout << "by words " << by_words << " and " << false_alarms << " false, by lengths "
            << by_length << " and " << false_by_length << " false, of 440\n";
  EXPECT_GE(by_words, kLeastFound * 440);
  EXPECT_LE(false_alarms, kMostFalse * 2160);
  EXPECT_GT(by_words, by_length);
  EXPECT_LT(false_alarms, false_by_length);
}

TEST_F(PlantedFaults, PairsAreNotJudgedByWordsWithoutSpacesBetweenWords) {
  Lines lines = clean_lines(2000, 13);
  RandomStream random(5);
  for (SamplePair& pair : lines) {  // no two pairs have a word in common
    pair.source.clear();
    for (int i = 0; i < 12; ++i)
      append_utf8(pair.source, 0x4E00 + static_cast<char32_t>(random.below(3000)));
  }
  const ParallelText text = read({write_sides(lines, folder_.path(), "train")});
  const CorpusSurvey survey = survey_corpus(text, nullptr, {}, on_threads(1));
  for (const FaultSet faults : survey.faults) EXPECT_FALSE(faults.has(PairFault::Misaligned));
}

TEST_F(PlantedFaults, CopiesOfAPairAreNotBoilerplate) {
  Lines lines = clean_lines(200, 17);
  for (std::size_t i = 100; i < 130; ++i) lines[i] = lines[0];
  const ParallelText text = read({write_sides(lines, folder_.path(), "train")});
  const CorpusSurvey survey = survey_corpus(text, nullptr, {}, on_threads(1));
  EXPECT_TRUE(survey.faults[100].has(PairFault::Copy));
  for (const FaultSet faults : survey.faults) EXPECT_FALSE(faults.has(PairFault::Boilerplate));
}

TEST_F(PlantedFaults, FaultsAreTheSameForEachNumberOfThreads) {
  const Lines all = clean_lines(2000, 9);
  const PlantedText planted = planted_text(all, all, all, 10);
  const ParallelText text = read({write_sides(planted.lines, folder_.path(), "train")});
  const CorpusSurvey one = survey_corpus(text, nullptr, {}, on_threads(1));
  const CorpusSurvey four = survey_corpus(text, nullptr, {}, on_threads(4));
  EXPECT_EQ(one.faults, four.faults);
  EXPECT_EQ(one.copy_of, four.copy_of);
  EXPECT_EQ(one.repeats, four.repeats);
  EXPECT_EQ(one.stretches, four.stretches);
}

}  // namespace
}  // namespace dragoman
