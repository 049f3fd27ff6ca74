#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/report/figures.h"
#include "extras/report/html_page.h"
#include "extras/report/training_page.h"

namespace dragoman {

namespace {

struct Word {
  std::string_view word, with_space;
};

/// A vowel or tone sign that belongs to the letter before it.
bool is_mark(char32_t c) { return general_category(c).front() == 'M'; }

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  std::size_t begin = 0, end = 0;  // the current word; equal: none
  bool closed = true;              // no character may be added to the last word
  for (std::size_t next = 0; next < text.size();) {
    const std::size_t at = next;
    const char32_t c = next_code_point(text, next);
    if (is_space(c)) {
      closed = true;
    } else {
      const bool continues = is_mark(c) && end == at && !words.empty();
      if (!continues && (closed || is_unspaced(c))) {
        begin = at;
        words.push_back({});
      }
      end = next;
      closed = continues ? closed : is_unspaced(c);
    }
    if (words.empty()) continue;  // white space at the start belongs to no word
    words.back() = {text.substr(begin, end - begin), text.substr(begin, next - begin)};
  }
  return words;
}

/// [a + 1][b + 1]: the length of the longest common subsequence of a's words from i and b's from j.
std::vector<std::uint32_t> common_lengths(const std::vector<Word>& a, const std::vector<Word>& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> lengths((a.size() + 1) * width);
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      lengths[i * width + j] = a[i].word == b[j].word ? lengths[(i + 1) * width + j + 1] + 1
                                                      : std::max(lengths[(i + 1) * width + j],
                                                                 lengths[i * width + j + 1]);
  return lengths;
}

}  // namespace

std::vector<WordRun> word_changes(std::string_view before, std::string_view now) {
  const std::vector<Word> old_words = words_of(before), words = words_of(now);
  const auto lengths = common_lengths(old_words, words);
  const std::size_t width = words.size() + 1;
  std::vector<WordRun> runs;
  std::size_t i = 0;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const std::uint32_t common = lengths[i * width + j];
    // Skips old words as long as no common word is lost.
    while (i < old_words.size() && old_words[i].word != words[j].word &&
           lengths[(i + 1) * width + j] == common)
      ++i;
    const bool kept = i < old_words.size() && old_words[i].word == words[j].word;
    if (kept) ++i;
    if (runs.empty() || runs.back().changed == kept) runs.push_back({.text = "", .changed = !kept});
    runs.back().text += words[j].with_space;
  }
  return runs;
}

std::string marked_changes(std::string_view before, std::string_view now) {
  std::string html;
  for (const WordRun& run : word_changes(before, now)) {
    const std::string_view words = strip(run.text);
    if (run.changed)
      html += join_text("<mark>", escaped(words), "</mark>", run.text.substr(words.size()));
    else
      html += escaped(run.text);
  }
  return html;
}

namespace {

/// How many of a sentence's last versions are shown; earlier ones are folded.
constexpr std::size_t kShownVersions = 6;

struct Version {
  std::int64_t first = 0, last = 0;  ///< updates
  std::string text;
};

struct Sentence {
  std::string source, reference;
};

std::vector<Sentence> sentences_of(const std::vector<PlottedRun>& runs) {
  std::vector<Sentence> sentences;
  for (const PlottedRun& run : runs)
    for (const LogPoint& validation : run.history.validations)
      for (const SampleLine& sample : validation.samples) {
        const auto known = [&](const Sentence& sentence) {
          return sentence.source == sample.source;
        };
        if (std::none_of(sentences.begin(), sentences.end(), known))
          sentences.push_back({sample.source, sample.reference});
      }
  return sentences;
}

std::vector<Version> versions_of(const PlottedRun& run, const std::string& source) {
  std::vector<Version> versions;
  for (const LogPoint& validation : run.history.validations)
    for (const SampleLine& sample : validation.samples) {
      if (sample.source != source) continue;
      if (versions.empty() || versions.back().text != sample.translation)
        versions.push_back({validation.update, validation.update, sample.translation});
      versions.back().last = validation.update;
    }
  return versions;
}

std::string item(const std::vector<Version>& versions, std::size_t i,
                 const std::string& reference) {
  const Version& version = versions[i];
  std::string updates = with_separators(version.first);
  if (version.last != version.first) updates += "–" + with_separators(version.last);
  const std::string text =
      version.text.empty()
          ? "<i>nothing</i>"
          : marked_changes(i == 0 ? version.text : versions[i - 1].text, version.text);
  return join_text("<li", version.text == reference ? " class=\"exact\"" : "", "><span>", updates,
                   "</span><p dir=\"auto\">", text, "</p></li>\n");
}

std::string history(const std::vector<Version>& versions, const std::string& reference) {
  const std::size_t folded =
      versions.size() > kShownVersions + 1 ? versions.size() - kShownVersions : 0;
  std::string html;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (folded > 0 && i == 0)
      html += join_text("<details><summary>", folded, " earlier versions</summary>\n");
    if (i == 0 || i == folded) html += "<ol>\n";
    html += item(versions, i, reference);
    if (i + 1 == folded) html += "</ol>\n</details>\n";
  }
  return html + "</ol>\n";
}

}  // namespace

std::string training_samples(const std::vector<PlottedRun>& runs) {
  std::string html;
  for (const Sentence& sentence : sentences_of(runs)) {
    html += join_text("<article class=\"sample\">\n<dl><dt>source</dt><dd dir=\"auto\">",
                      escaped(sentence.source), "</dd><dt>reference</dt><dd dir=\"auto\">",
                      escaped(sentence.reference), "</dd></dl>\n<div class=\"versions\">\n");
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const auto versions = versions_of(runs[run], sentence.source);
      if (versions.empty()) continue;
      html += join_text("<div class=\"run-", run, "\"><h3 class=\"run-color-", run, "\">",
                        escaped(runs[run].name), "</h3>\n", history(versions, sentence.reference),
                        "</div>\n");
    }
    html += "</div>\n</article>\n";
  }
  if (html.empty()) return "";
  return filled_page_file("samples.html", {{"samples", html}});
}

namespace {

constexpr std::size_t kMost = 60;  ///< validations of a run

/// The validations whose attention is about the pieces of the last one.
std::vector<const LogPoint*> recorded(const RunHistory& history) {
  std::vector<const LogPoint*> all;
  const AttentionLine* last = history.last_attention();
  if (last == nullptr) return all;
  for (const LogPoint& point : history.validations) {
    const auto& [source, target, weights] = point.attention;
    if (!weights.empty() && source == last->source && target == last->target) all.push_back(&point);
  }
  if (all.size() <= kMost) return all;
  std::vector<const LogPoint*> some;
  for (std::size_t i = 0; i < kMost; ++i) some.push_back(all[i * (all.size() - 1) / (kMost - 1)]);
  return some;
}

/// The log has thousandths: what a row has less or more than 1 goes to its largest weight.
std::vector<float> with_whole_rows(std::vector<float> weights, std::size_t keys) {
  for (std::size_t begin = 0; begin + keys <= weights.size() && keys > 0; begin += keys) {
    const auto row = std::span(weights).subspan(begin, keys);
    *std::ranges::max_element(row) += 1 - std::accumulate(row.begin(), row.end(), 0.0F);
  }
  return weights;
}

/// Weights in thousandths.
std::string weights_json(const std::vector<float>& weights) {
  const auto json_of = [](float weight) { return std::to_string(std::lround(weight * 1000)); };
  return "[" + joined(weights, ",", json_of) + "]";
}

/// The link to the page about the sentence; empty if there is none.
std::string link_html(const PlottedRun& run) {
  if (run.explanation.empty()) return "";
  return filled_page_file("alignment_link.html", {{"page", escaped(run.explanation)}});
}

std::string run_html(std::size_t number, const PlottedRun& run,
                     const std::vector<const LogPoint*>& points) {
  const LogPoint& last = *points.back();
  std::string updates, weights;
  for (const LogPoint* point : points) {
    const char* comma = updates.empty() ? "" : ",";
    updates += join_text(comma, point->update);
    weights += join_text(comma, weights_json(with_whole_rows(point->attention.weights,
                                                             last.attention.source.size())));
  }
  return filled_page_file(
      "alignment.html",
      {{"run", std::to_string(number)},
       {"name", escaped(run.name)},
       {"last", std::to_string(points.size() - 1)},
       {"update", with_separators(last.update)},
       {"drawing",
        to_svg({.title = "Attention to the source, mean of the heads",
                .rows_title = "piece that is written",
                .keys_title = "piece that is attended to",
                .rows = last.attention.target,
                .keys = last.attention.source,
                .weights = with_whole_rows(last.attention.weights, last.attention.source.size())})},
       {"link", link_html(run)},
       {"data", join_text("{\"updates\":[", updates, "],\"weights\":[", weights, "]}")}});
}

}  // namespace

std::string training_attention(const std::vector<PlottedRun>& runs) {
  std::string html;
  for (std::size_t run = 0; run < runs.size(); ++run)
    if (const auto points = recorded(runs[run].history); !points.empty())
      html += run_html(run, runs[run], points);
  if (html.empty()) return "";
  return filled_page_file("alignments.html", {{"alignments", html}});
}

}  // namespace dragoman
