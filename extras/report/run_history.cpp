#include "extras/report/run_history.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/lines.h"

namespace dragoman {

namespace {

using nlohmann::json;

constexpr const char* kOfText = " of ";

std::map<std::string, double> numbers_of(const json& line) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : line.items())
    if (value.is_number() && std::isfinite(value.get<double>()))
      numbers[name] = value.get<double>();
  return numbers;
}

/// Removes the points after `update`: the run has gone back to it.
void forget_after(std::vector<LogPoint>& points, std::int64_t update) {
  while (!points.empty() && points.back().update > update) points.pop_back();
}

/// Empty if the numbers are not weights of these pieces.
AttentionLine attention_of(const json& line) {
  AttentionLine attention{.source = line.at("source").get<std::vector<std::string>>(),
                          .target = line.at("target").get<std::vector<std::string>>(),
                          .weights = {}};
  for (const json& row : line.at("weights"))
    for (const float weight : row.get<std::vector<float>>())
      attention.weights.push_back(std::clamp(weight, 0.0F, 1.0F));
  if (attention.weights.size() != attention.source.size() * attention.target.size()) return {};
  return attention;
}

LogPoint point_of(const json& line) {
  LogPoint point{.update = line.at("update").get<std::int64_t>(),
                 .numbers = numbers_of(line),
                 .samples = {},
                 .attention = {},
                 .best = line.value("best", false)};
  if (const auto samples = line.find("samples"); samples != line.end())
    for (const json& sample : *samples)
      point.samples.push_back({.source = sample.at("source").get<std::string>(),
                               .translation = sample.at("translation").get<std::string>(),
                               .reference = sample.at("reference").get<std::string>()});
  if (const auto texts = line.find("texts"); texts != line.end())
    for (const json& text : *texts)
      for (const char* metric : {"bleu", "chrf"})
        point.numbers[text_number(metric, text.at("name").get<std::string>())] =
            text.at(metric).get<double>();
  if (const auto corpora = line.find("corpora"); corpora != line.end())
    for (const json& corpus : *corpora)
      point.numbers[text_number("loss", corpus.at("name").get<std::string>())] =
          corpus.at("loss").get<double>();
  if (const auto attention = line.find("attention"); attention != line.end())
    point.attention = attention_of(*attention);
  return point;
}

void add_point(RunHistory& history, std::vector<LogPoint>& points, LogPoint point) {
  forget_after(history.updates, point.update);
  forget_after(history.validations, point.update);
  if (!points.empty() && points.back().update == point.update) points.pop_back();
  points.push_back(std::move(point));
}

void read_line(RunHistory& history, const json& line) {
  const auto type = line.at("type").get<std::string>();
  if (type == "update") {
    add_point(history, history.updates, point_of(line));
  } else if (type == "validation") {
    add_point(history, history.validations, point_of(line));
  } else if (type == "average") {
    history.average =
        line.at("kept").get<bool>() ? numbers_of(line) : std::map<std::string, double>{};
  } else if (type == "left_out") {
    ++history.left_out;
  } else if (type == "rollback") {
    ++history.rollbacks;
  } else if (type == "start") {
    history.parameters = line.at("parameters").get<std::int64_t>();
    history.processor = line.at("processor").get<std::string>();
    history.precision = line.at("precision").get<std::string>();
    if (const auto settings = line.find("settings"); settings != line.end())
      history.settings = settings->get<std::map<std::string, std::string>>();
  }
}

}  // namespace

std::string text_number(const std::string& metric, const std::string& name) {
  return metric + kOfText + name;
}

std::vector<std::string> RunHistory::texts_with(const std::string& metric) const {
  const std::string begin = text_number(metric, "");
  std::vector<std::string> names;
  if (validations.empty()) return names;
  for (const auto& [name, value] : validations.back().numbers)
    if (name.starts_with(begin)) names.push_back(name.substr(begin.size()));
  return names;
}

std::optional<double> LogPoint::number(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::string RunHistory::setting(const std::string& name) const {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

const AttentionLine* RunHistory::last_attention() const {
  const auto has_attention = [](const LogPoint& point) { return !point.attention.weights.empty(); };
  const auto last = std::find_if(validations.rbegin(), validations.rend(), has_attention);
  return last == validations.rend() ? nullptr : &last->attention;
}

RunHistory read_history(std::string_view log) {
  RunHistory history;
  for (LineCursor lines(log); !lines.at_end();) {
    const std::string_view line = lines.next();
    if (line.empty()) continue;
    try {
      read_line(history, parse_json(line));
    } catch (const json::exception&) {
      ++history.damaged_lines;
    } catch (const Error&) {  // nested too deep
      ++history.damaged_lines;
    }
  }
  return history;
}

}  // namespace dragoman
