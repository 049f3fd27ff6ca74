#include "report/evaluation_page.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "report/html.h"
#include "report/page_style.h"
#include "report/word_changes.h"

namespace dragoman {

namespace {

constexpr std::string_view kStyle =
    R"css(.order { display: none; gap: 8px; flex-wrap: wrap; align-items: center; margin: 0 0 12px; }
.scripted .order { display: flex; }
.order button { font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 6px 14px; cursor: pointer; }
.order button[aria-pressed=true] { background: var(--text); color: var(--card); }
.sample > dl { grid-template-columns: minmax(5em, max-content) 1fr; }
.sample b { font-variant-numeric: tabular-nums; }
.sample dt[class*=run-color] { color: var(--run); overflow-wrap: anywhere; max-width: 14em; }
.sample > small { margin-bottom: 6px; }
.tables { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 0 20px; }
.tables section { min-width: 0; }
.tables .wide { grid-column: 1 / -1; }
.tables th, .tables td { min-width: 0; overflow-wrap: normal; }
.tables section:not(.wide) :is(td + td, th + th) { text-align: right; white-space: nowrap; }
td:first-child { color: var(--text); }
@media (max-width: 600px) { .sample > dl { grid-template-columns: 1fr; } }
)css";

constexpr std::string_view kScript = R"js('use strict';
document.body.classList.add('scripted');
const list = document.getElementById('sentences'), all = [...list.children];
const scores = all.map(item => item.dataset.scores.split(' ').map(Number));
const sign = list.dataset.lower === 'yes' ? -1 : 1;
const difference = s => sign * (s[s.length - 1] - s[0]);
const orders = {
  line: () => 0,
  gain: (a, b) => difference(scores[b]) - difference(scores[a]),
  loss: (a, b) => difference(scores[a]) - difference(scores[b]),
  worst: (a, b) => sign * (scores[a][0] - scores[b][0]),
};
for (const button of document.querySelectorAll('.order button'))
  button.addEventListener('click', () => {
    for (const other of document.querySelectorAll('.order button'))
      other.setAttribute('aria-pressed', other === button);
    const order = all.map((_, i) => i).sort((a, b) => orders[button.dataset.order](a, b) || a - b);
    list.append(...order.map(i => all[i]));
  });
)js";

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string table_html(const PageTable& table) {
  std::string html = join_text("<section", table.wide ? " class=\"wide\"" : "", ">\n<h2>",
                               escaped(table.title), "</h2>\n");
  if (!table.note.empty()) html += join_text("<p class=\"note\">", escaped(table.note), "</p>\n");
  html += "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += r == 0 ? "<thead><tr>" : "<tr>";
    for (const std::string& cell : table.rows[r])
      html +=
          (r == 0 ? "<th scope=\"col\">" : "<td>") + escaped(cell) + (r == 0 ? "</th>" : "</td>");
    html += r == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return html + "</tbody></table></div>\n</section>\n";
}

/// Bytes of the words that a reference lacks.
std::size_t changed_bytes(const std::string& reference, const std::string& translation) {
  std::size_t bytes = 0;
  for (const WordRun& run : word_changes(reference, translation))
    if (run.changed) bytes += run.text.size();
  return bytes;
}

/// Marked are the words that the nearest reference lacks.
std::string translation_html(const EvaluatedSentence& sentence, const std::string& translation) {
  if (translation.empty()) return "<i>nothing</i>";
  const auto nearest =
      std::min_element(sentence.references.begin(), sentence.references.end(),
                       [&](const std::string& a, const std::string& b) {
                         return changed_bytes(a, translation) < changed_bytes(b, translation);
                       });
  return marked_changes(*nearest, translation);
}

std::string sentence_html(const EvaluationPage& page, const EvaluatedSentence& sentence) {
  std::string scores;
  for (const double score : sentence.scores)
    scores += join_text(scores.empty() ? "" : " ", number(score));
  std::string html = join_text("<article class=\"sample\" data-scores=\"", scores,
                               "\">\n<small>line ", sentence.line, "</small>\n<dl>");
  const auto row = [&html](std::string_view term, const std::string& text) {
    html += join_text("<dt>", term, "</dt><dd dir=\"auto\">", text, "</dd>\n");
  };
  if (!sentence.source.empty()) row("source", escaped(sentence.source));
  for (const std::string& reference : sentence.references) row("reference", escaped(reference));
  for (std::size_t s = 0; s < page.systems.size(); ++s)
    html += join_text("<dt class=\"run-color-", s, "\">", escaped(page.systems[s]), " <b>",
                      number(sentence.scores[s]), "</b></dt><dd dir=\"auto\">",
                      translation_html(sentence, sentence.translations[s]), "</dd>\n");
  return html + "</dl>\n</article>\n";
}

std::string order_buttons(const EvaluationPage& page) {
  std::string html = "<div class=\"order\">";
  const auto button = [&html](std::string_view order, const std::string& text) {
    html += join_text("<button data-order=\"", order, "\" aria-pressed=\"",
                      order == "line" ? "true" : "false", "\">", escaped(text), "</button>");
  };
  button("line", "in order");
  button("worst", page.systems.size() > 1 ? "worst of " + page.systems.front() : "worst first");
  if (page.systems.size() > 1) {
    button("gain", page.systems.back() + " better");
    button("loss", page.systems.front() + " better");
  }
  return html + "</div>\n";
}

}  // namespace

std::string to_html(const EvaluationPage& page) {
  std::string body = "<main>\n<h1>" + escaped(page.title) + "</h1>\n";
  body += "<div class=\"tables\">\n";
  for (const PageChart& chart : page.charts)
    body += join_text("<section>\n<h2>", escaped(chart.title), "</h2>\n<figure>",
                      to_svg(chart.chart), "</figure>\n</section>\n");
  for (const PageTable& table : page.tables) body += table_html(table);
  body += join_text(
      "</div>\n<section id=\"side-by-side\">\n<h2>Sentences</h2>\n<p class=\"note\">With ",
      escaped(page.sentence_metric),
      " of each; marked are words that the reference lacks in this place.</p>\n",
      order_buttons(page), "<div id=\"sentences\" data-lower=\"",
      page.lower_is_better ? "yes" : "no", "\">\n");
  for (const EvaluatedSentence& sentence : page.sentences) body += sentence_html(page, sentence);
  return to_html({.title = page.title,
                  .style = page_style(page.systems.size()) + std::string(kStyle),
                  .body = body + "</div>\n</section>\n</main>\n",
                  .script = std::string(kScript)});
}

}  // namespace dragoman
