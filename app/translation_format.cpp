#include "app/translation_format.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", value);
  return text;
}

template <class Items, class Text>
std::string joined(const Items& items, std::string_view between, Text&& text) {
  std::string all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) all += between;
    all += text(items[i]);
  }
  return all;
}

std::int64_t strongest(const std::vector<float>& attention) {
  return std::ranges::max_element(attention) - attention.begin();
}

std::string hard_alignment(const std::vector<TranslatedWord>& words) {
  std::string all;
  for (std::size_t target = 0; target < words.size(); ++target) {
    if (words[target].attention.empty()) continue;
    if (!all.empty()) all += ' ';
    all += join_text(strongest(words[target].attention), '-', target);
  }
  return all;
}

std::string soft_alignment(const std::vector<TranslatedWord>& words) {
  return joined(words, " ", [](const TranslatedWord& word) {
    return joined(word.attention, ",", [](float weight) {
      char text[16];
      std::snprintf(text, sizeof text, "%.4f", static_cast<double>(weight));
      return std::string(text);
    });
  });
}

std::string alignment_text(const std::vector<TranslatedWord>& words, AlignmentFormat format) {
  return format == AlignmentFormat::Hard ? hard_alignment(words) : soft_alignment(words);
}

std::string plain_line(const Translation& translation, const TranslatedText& text,
                       const TranslationFormat& format) {
  std::string line;
  if (format.scores || format.all) line = join_text(translation.line, " ||| ");
  line += text.text;
  if (format.word_scores)
    line += " ||| WordScores= " +
            joined(text.words, " ", [](const TranslatedWord& word) { return number(word.sum); });
  if (format.scores || format.all)
    line += " ||| F0= " + number(text.sum) + " ||| " + number(text.score);
  if (format.alignment != AlignmentFormat::None)
    line += " ||| " + alignment_text(text.words, format.alignment);
  return line;
}

void add_fields(Json& object, const TranslatedText& text, const TranslationFormat& format) {
  object["translation"] = text.text;
  object["score"] = text.score;
  object["log_probability"] = text.sum;
  if (format.word_scores) {
    Json words = Json::array();
    for (const TranslatedWord& word : text.words)
      words.push_back({{"text", word.text}, {"log_probability", word.sum}});
    object["words"] = std::move(words);
  }
  if (format.alignment == AlignmentFormat::None) return;
  Json alignment = Json::array();
  for (std::size_t target = 0; target < text.words.size(); ++target) {
    const std::vector<float>& attention = text.words[target].attention;
    if (format.alignment == AlignmentFormat::Soft)
      alignment.push_back(attention);
    else if (!attention.empty())
      alignment.push_back({strongest(attention), target});
  }
  object["alignment"] = std::move(alignment);
}

std::string json_line(const Translation& translation, const TranslationFormat& format) {
  Json object = Json::parse(translation.payload);
  add_fields(object, translation.n_best.front(), format);
  if (format.all) {
    Json list = Json::array();
    for (const TranslatedText& text : translation.n_best) {
      Json item = Json::object();
      add_fields(item, text, format);
      list.push_back(std::move(item));
    }
    object["n_best"] = std::move(list);
  }
  if (!translation.unmet.empty()) object["unmet"] = translation.unmet;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::vector<std::string> TranslationFormat::lines(const Translation& translation) const {
  if (json) return {json_line(translation, *this)};
  std::vector<std::string> all_lines;
  for (const TranslatedText& text : translation.n_best) {
    all_lines.push_back(plain_line(translation, text, *this));
    if (!all) break;
  }
  return all_lines;
}

LineInput read_json_line(const std::string& line, const std::string& place) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) throw Error(place, ": is no JSON object");
  const auto text_of = [&](const char* name) -> std::string {
    if (!object.contains(name)) return "";
    if (!object[name].is_string()) throw Error(place, ": \"", name, "\" is no string");
    return object[name].get<std::string>();
  };
  if (!object.contains("text")) throw Error(place, ": has no field \"text\"");
  std::string text = text_of("text");
  // A line of text has no line ends.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return {.text = std::move(text), .prefix = text_of("prefix"), .payload = line};
}

}  // namespace dragoman
