#include "extras/report/training_samples.h"

#include <algorithm>

#include "base/amounts.h"
#include "base/error.h"
#include "base/utf8.h"
#include "extras/report/html.h"
#include "extras/report/page_files.h"
#include "extras/report/word_changes.h"

namespace dragoman {

namespace {

/// The number of a sentence's last versions that are shown; earlier ones are folded.
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

}  // namespace dragoman
