// `dragoman-lite serve` with a model of the sample corpus.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/http_client.h"
#include "tests/system/translate_fixture.h"
#include "tests/wait_until.h"

namespace dragoman {

/// A server that runs as long as the object lives.
class Serving {
 public:
  explicit Serving(const std::filesystem::path& model, const std::vector<std::string>& more = {})
      : process_(CommandWords{command(model, more)}) {
    EXPECT_TRUE(process_.wait_for_errors("ready after")) << process_.errors();
    const std::string log = process_.errors();
    const std::string before = "127.0.0.1:";
    port = std::stoi(log.substr(log.find(before) + before.size()));
  }

  static std::vector<std::string> command(const std::filesystem::path& model,
                                          const std::vector<std::string>& more) {
    std::vector<std::string> words = {kLiteProgram, "serve", "-m", "en-de=" + model.string(),
                                      "--port",     "0"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--max-length") == more.end())
      words.insert(words.end(), {"--max-length", "6"});
    return words;
  }

  HttpClient::Answer ask(const std::string& request) const { return HttpClient(port).ask(request); }
  /// The number after a metric's name.
  double metric(const std::string& name) const {
    const std::string text = ask(HttpClient::get("/metrics")).body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

  Process& process() { return process_; }
  int port = 0;

 private:
  Process process_;
};

inline std::string translation_of(const std::string& text) {
  return HttpClient::post(
      "/translate", json_text(nlohmann::json{{"q", text}, {"source", "en"}, {"target", "de"}}));
}

class Serve : public Translate {
 protected:
  std::filesystem::path model() const { return folder_ / "model.safetensors"; }

  std::string translated(const std::string& line) {
    return lines_of(run(words(), line + "\n").output).at(0);
  }

  /// Whether soon nothing waits: an engine drops given-up sentences before its next step. To
  /// translate those of long_work() it would take longer than this waits.
  static bool nothing_waits(const Serving& server) {
    return wait_until(
        [&] { return server.metric("dragoman_waiting_sentences{languages=\"en-de\"}") == 0; },
        std::chrono::seconds(10));
  }

  /// A text whose translation takes many seconds, by flags for that.
  static std::string long_work() {
    std::string text;
    for (int i = 0; i < 900; ++i) text += "the cat number 7 sat on mat 12\n";
    return translation_of(text);
  }
  static inline const std::vector<std::string> kSlowly = {
      "--beam-size", "100", "--max-length",  "400", "--min-length", "400",
      "--threads",   "1",   "--cache-limit", "0"};
};

}  // namespace dragoman
