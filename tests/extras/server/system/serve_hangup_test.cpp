// serve and SIGHUP: models and keys that are read again.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/extras/server/system/serve_fixture.h"
#include "tests/http_client.h"
#include "tests/wait_until.h"

namespace dragoman {
namespace {

using nlohmann::json;

TEST_F(Serve, AModelWhoseFileWasReplacedIsLoadedUnderLoad) {
  Serving server(model());
  const auto checksum = [&] {
    return parse_json(server.ask(HttpClient::get("/version")).body)["models"][0]["checksum"];
  };
  const json before = checksum();
  std::atomic<bool> is_running = true;
  std::atomic<int> faults = 0, answered = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c)
    clients.emplace_back([&] {
      HttpClient client(server.port);
      for (; is_running; ++answered)
        if (client.ask(translation_of("the cat sat on mat 7")).status != 200) ++faults;
    });
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(server.process().wait_for_errors("SIGHUP"));
  EXPECT_EQ(checksum(), before) << "the same file stays";
  write_model("other.safetensors", 2);
  std::filesystem::rename(folder_ / "other.safetensors", model());
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return checksum() != before; }));
  const json replaced = checksum();
  write_file(model(), "damaged");
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(server.process().wait_for_errors("en-de stays as it was: "));
  EXPECT_EQ(checksum(), replaced);
  is_running = false;
  clients.clear();
  EXPECT_EQ(faults, 0);
  EXPECT_GT(answered, 0);
}

TEST_F(Serve, KeysAreReadAgainAtAHangup) {
  const std::string keys = (folder_ / "keys.txt").string();
  write_file(keys, "alpha\n");
  Serving server(model(), {"--api-keys", keys});
  const auto status = [&server](const std::string& key) {
    return server.ask(HttpClient::get("/v2/usage?auth_key=" + key)).status;
  };
  EXPECT_EQ(status("alpha"), 200);
  EXPECT_EQ(status("beta"), 403);
  write_file(keys, "beta\n");
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return status("beta") == 200; }));
  EXPECT_EQ(status("alpha"), 403);
  write_file(keys, "beta 1x\n");
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(server.process().wait_for_errors("the API keys stay as they were: "));
  EXPECT_EQ(status("beta"), 200);
}

TEST_F(Serve, AHangupIsHeardUnderNohup) {
  std::vector<std::string> words = Serving::command(model(), {});
  words.insert(words.begin(), "nohup");
  Process server(CommandWords{words});
  ASSERT_TRUE(server.wait_for_errors("ready after")) << server.errors();
  server.send_signal(SIGHUP);
  EXPECT_TRUE(server.wait_for_errors("SIGHUP: the API keys are read again"));
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait().exit_code, 0);
}

TEST_F(Serve, KeysThatAreGoneMayNotAskWhileModelsAreLoaded) {
  const std::string keys = (folder_ / "keys.txt").string();
  write_file(keys, "alpha\nbeta\n");
  Serving server(model(), {"--api-keys", keys});
  const auto status = [&server](const std::string& key) {
    return server.ask(HttpClient::get("/v2/usage?auth_key=" + key)).status;
  };
  write_file(keys, "beta\n");
  const std::filesystem::path pipe = folder_ / "pipe";  // which nobody writes to: it loads for ever
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::rename(pipe, model());
  server.process().send_signal(SIGHUP);
  EXPECT_TRUE(wait_until([&] { return status("alpha") == 403; }));
  EXPECT_EQ(status("beta"), 200);
  std::ofstream(model()).close();
  EXPECT_TRUE(server.process().wait_for_errors("en-de stays as it was: "));
}

TEST_F(Serve, AModelThatIsReplacedWhileItIsLoadedOnDemandIsLoadedAgain) {
  write_model("first.safetensors", 1);
  write_model("second.safetensors", 2);
  const auto put = [&](
                       const char* name, const std::function<void()>& before_rename = [] {}) {
    std::filesystem::copy_file(folder_ / name, folder_ / "new");
    before_rename();
    std::filesystem::rename(folder_ / "new", model());
  };
  const auto checksum = [](const Serving& server) {
    return parse_json(server.ask(HttpClient::get("/version")).body)["models"][0]["checksum"];
  };
  put("second.safetensors");
  const Serving known(model());
  for (int delay = 0; delay < 20; ++delay) {
    put("first.safetensors");
    Serving server(model(), {"--load-on-demand"});
    HttpClient client(server.port);
    put("second.safetensors", [&] {
      client.send(translation_of("the cat sat"));
      std::this_thread::sleep_for(std::chrono::microseconds(200 * delay));
    });
    server.process().send_signal(SIGHUP);
    EXPECT_EQ(client.receive().status, 200);
    EXPECT_TRUE(wait_until([&] { return checksum(server) == checksum(known); })) << delay;
  }
}

}  // namespace
}  // namespace dragoman
