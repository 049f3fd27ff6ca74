#include "evaluation/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "evaluation/decimals.h"

namespace dragoman {

namespace {

std::string text_report(std::span<const NamedScore> scores, int width) {
  std::size_t longest = 0;
  for (const NamedScore& score : scores)
    longest = std::max(longest, score.name.size() + score.signature.size());
  std::string text;
  for (const NamedScore& score : scores) {
    text.append(longest - score.name.size() - score.signature.size(), ' ');
    text += score.name + "|" + score.signature + " = " + decimals(score.score, width);
    if (!score.details.empty()) text += " " + score.details;
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const NamedScore& score, int width) {
  nlohmann::ordered_json object;
  if (score.line > 0) object["line"] = score.line;
  object["name"] = score.name;
  object["score"] = std::stod(decimals(score.score, width));
  object["signature"] = score.signature;
  if (!score.details.empty()) object["verbose_score"] = score.details;
  for (std::size_t begin = 0; begin < score.signature.size();) {
    const std::size_t end = std::min(score.signature.find('|', begin), score.signature.size());
    const std::string part = score.signature.substr(begin, end - begin);
    const std::size_t colon = part.find(':');
    if (colon != std::string::npos) object[part.substr(0, colon)] = part.substr(colon + 1);
    begin = end + 1;
  }
  return object;
}

std::string json_report(std::span<const NamedScore> scores, int width) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NamedScore& score : scores) list.push_back(json_of(score, width));
  return list.dump(1) + "\n";
}

/// A bar would end a table's cell.
std::string cell(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

std::string markdown_report(std::span<const NamedScore> scores, int width) {
  const bool by_line = !scores.empty() && scores.front().line > 0;
  std::string text =
      join_text(by_line ? "| Line " : "", "| Metric | Score | Details | Signature |\n",
                by_line ? "|---:" : "", "|---|---:|---|---|\n");
  for (const NamedScore& score : scores) {
    if (by_line) text += join_text("| ", score.line, " ");
    text += join_text("| ", score.name, " | ", decimals(score.score, width), " | ", score.details,
                      " | ", cell(score.signature), " |\n");
  }
  return text;
}

}  // namespace

std::string report(std::span<const NamedScore> scores, ReportFormat format, int width) {
  switch (format) {
    case ReportFormat::Json:
      return json_report(scores, width);
    case ReportFormat::Markdown:
      return markdown_report(scores, width);
    case ReportFormat::Text:
      break;
  }
  return text_report(scores, width);
}

}  // namespace dragoman
