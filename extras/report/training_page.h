// One page about training runs: curves, a summary, sample translations over time, and how their
// configurations differ. It can be read offline and without its script, which only shows the
// curves' values. The sections of the page follow here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extras/report/line_chart.h"
#include "extras/report/run_history.h"

namespace dragoman {

struct PlottedRun {
  std::string name;
  RunHistory history;            ///< not empty
  std::string explanation = {};  ///< the page of `dragoman explain` about the sentence of its
                                 ///< attention, seen from this page; empty: none
};

/// The HTML of a page for one run or more.
std::string training_page(const std::vector<PlottedRun>& runs);

/// The axes that the logs have numbers for: updates, pieces, time.
std::vector<XAxis> training_axes(const std::vector<PlottedRun>& runs);

/// One drawing for each number of the log and each axis.
std::string training_charts(const std::vector<PlottedRun>& runs, const std::vector<XAxis>& axes);

/// A short section of the run's line with its mark, as SVG.
std::string legend_mark(std::size_t run);

/// The numbers behind the drawings as JSON in a <script>, for the page's own script.
std::string chart_data(const std::vector<PlottedRun>& runs);

/// The terms of the training loss, by the run's settings (train's --label-smoothing and
/// --guided-alignment): "label smoothing 0.1, without the alignment loss"; "no label smoothing, so
/// the same as nll". Empty if the settings are not known.
std::string training_objective(const RunHistory& run);

/// The objective of all runs if it is the same. Otherwise the names of the runs with each
/// objective, and a note that the curves cannot be compared.
std::string training_objectives(const std::vector<PlottedRun>& runs);

/// The results of each run: a row for each fact, a column for each run.
std::string summary_table(const std::vector<PlottedRun>& runs);

/// The settings in tables like that: first those that differ between the runs with known settings,
/// then all settings, folded.
std::string settings_tables(const std::vector<PlottedRun>& runs);

/// For each sentence its source, its reference, and each run's translations. Equal translations in
/// a row are shown once. Words that the translation before lacks are marked.
std::string training_samples(const std::vector<PlottedRun>& runs);

/// The attention to one validation sentence from validation to validation: how the alignment of
/// words comes about. There is a matrix for each run whose log has attention, with a slider over
/// its validations. The matrix is that of the last validation until the page's script moves it. If
/// there are more than 60 validations, 60 are kept, evenly spaced. Empty if no run has any.
std::string training_attention(const std::vector<PlottedRun>& runs);

/// Words of a text that a diff by words marks as added, or does not.
struct WordRun {
  std::string text;  ///< with the space after it
  bool changed = false;
  bool operator==(const WordRun&) const = default;
};

/// Divides `now` into runs of words that `before` also has in the same order (a longest common
/// subsequence), and runs of words that it lacks. The texts of the runs make up `now`. Words end at
/// white space; a character of a script that writes without spaces (is_unspaced: Han, kana, Thai
/// and others) is a word by itself, with the marks after it. The texts must be valid UTF-8.
std::vector<WordRun> word_changes(std::string_view before, std::string_view now);

/// `now` as HTML, with the words that `before` lacks in <mark>.
std::string marked_changes(std::string_view before, std::string_view now);

}  // namespace dragoman
