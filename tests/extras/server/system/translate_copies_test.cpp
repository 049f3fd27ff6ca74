// Lines with nothing to translate, through every door of the program. The model has untrained
// weights: what it translates becomes something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/extras/server/system/serve_fixture.h"
#include "tests/tokenizer/translatable_examples.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TranslateCopies : public Serve {
 protected:
  TranslateCopies()
      : examples_(translatable_examples(std::string(kSources) +
                                        "/tests/tokenizer/translatable_examples.tsv")) {
    for (const TranslatableExample& example : examples_) {
      texts_ += example.text + "\n";
      if (example.is_copied()) copied_ += example.text + "\n";
    }
  }

  /// One translation for each example.
  void expect_copies(const std::vector<std::string>& translations) const {
    ASSERT_EQ(translations.size(), examples_.size());
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      if (examples_[i].is_copied())
        EXPECT_EQ(translations[i], examples_[i].text);
      else
        EXPECT_NE(translations[i], examples_[i].text);
    }
  }

  const std::vector<TranslatableExample> examples_;
  std::string texts_, copied_;  ///< lines
};

TEST_F(TranslateCopies, CopiesOfFilesAreTheLinesThemselves) {
  const ProcessResult result = run(words(), texts_);
  expect_copies(lines_of(result.output));
  EXPECT_THAT(result.errors, HasSubstr(", 32 lines copied"));
  const ProcessResult all = run(words({"--translate-all"}), copied_);
  EXPECT_EQ(lines_of(all.output).size(), 32U);
  EXPECT_THAT(all.errors, testing::Not(HasSubstr("copied")));
  for (const std::string& line : lines_of(all.output)) EXPECT_NE(line, "42");
}

TEST_F(TranslateCopies, CopiesOfJsonLinesSaySo) {
  std::string requests;
  for (const TranslatableExample& example : examples_)
    requests += json_text(json{{"text", example.text}}) + "\n";
  std::vector<std::string> translations;
  const ProcessResult result = run(words({"--json"}), requests);
  for (const std::string& line : lines_of(result.output)) {
    const json answer = parse_json(line);
    translations.push_back(answer["translation"]);
    EXPECT_EQ(answer.contains("copied"), answer["translation"] == answer["text"]) << line;
  }
  expect_copies(translations);
}

TEST_F(TranslateCopies, CopiesOfDocumentsKeepTheirBytes) {
  const auto escaped = [](const std::string& text) {
    std::string html;
    for (const char c : text) html += c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    return html;
  };
  std::string page = "<!doctype html>\n<table>\n";
  for (const TranslatableExample& example : examples_)
    page += "<tr><td>" + escaped(example.text) + "</td></tr>\n";
  const std::vector<std::string> translated =
      lines_of(run(words({"--markup", "html"}), page).output);
  ASSERT_EQ(translated.size(), examples_.size() + 2);
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    const std::string row = "<tr><td>" + escaped(examples_[i].text) + "</td></tr>";
    EXPECT_EQ(translated[i + 2] == row, examples_[i].is_copied()) << row << translated[i + 2];
  }
}

TEST_F(TranslateCopies, CopiesOfTheServerAreTheTextsThemselves) {
  const Serving server(folder_ / "model.safetensors");
  std::vector<std::string> texts;
  for (const TranslatableExample& example : examples_) texts.push_back(example.text);
  const auto answer = server.ask(HttpClient::post(
      "/translate", json_text(json{{"q", texts}, {"source", "en"}, {"target", "de"}})));
  expect_copies(parse_json(answer.body)["translatedText"]);
}

TEST_F(TranslateCopies, CopiesAreScoredAsTheTranslationsThatTheyAre) {
  write_file(folder_ / "copied.txt", copied_);
  const auto bleu = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate",
                                      "-m",
                                      folder_ / "model.safetensors",
                                      "--src",
                                      folder_ / "copied.txt",
                                      "--ref",
                                      folder_ / "copied.txt"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).output;
  };
  EXPECT_THAT(bleu({}), HasSubstr("100.00"));
  EXPECT_THAT(bleu({"--translate-all"}), testing::Not(HasSubstr("100.00")));
}

}  // namespace
}  // namespace dragoman
