#include "extras/server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/allocations.h"
#include "tests/http_client.h"
#include "tests/wait_until.h"

namespace dragoman {
namespace {

using std::chrono::milliseconds;

/// Replies later, from threads of its own, with the body of the request.
class Echoes {
 public:
  explicit Echoes(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  ~Echoes() {
    for (std::jthread& thread : threads_) thread.request_stop();
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  HttpHandler handler() {
    return [this](HttpRequest request, const std::stop_token&, HttpReply reply) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back([request = std::move(request), reply = std::move(reply)] {
        try {
          reply({.body = request.method + request.path + request.body});
        } catch (const std::bad_alloc&) {
          reply({.status = 500, .type = ""});
        }
      });
      changed_.notify_all();
    };
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !waiting_.empty() || stop.stop_requested(); });
      if (waiting_.empty()) return;
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::jthread> threads_;
};

TEST(HttpServer, RepliesFromManyThreadsComeToTheirConnections) {
  Echoes echoes(3);
  HttpServer server({.port = 0}, echoes.handler());
  std::vector<std::jthread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      HttpClient client(server.port());
      for (int i = 0; i < 50; ++i) {
        const std::string body = std::to_string(c * 1000 + i);
        EXPECT_EQ(client.ask(HttpClient::post("/a%20b", body)).body, "POST/a b" + body);
      }
    });
  clients.clear();
  EXPECT_EQ(server.drain(milliseconds(5000)), 0);
}

TEST(HttpServer, AnIdleConnectionsRequestHasItsWholeTime) {
  std::atomic<int> gone = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> told;
  std::vector<HttpReply> held;
  HttpServer server({.port = 0, .timeout = milliseconds(2000)},
                    [&](const HttpRequest& request, const std::stop_token& stop, HttpReply reply) {
                      if (request.path != "/held") return reply({.body = request.body});
                      const std::lock_guard lock(mutex);
                      held.push_back(std::move(reply));
                      told.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
                          stop, [&gone] { ++gone; }));
                    });
  HttpClient idle(server.port());
  std::this_thread::sleep_for(milliseconds(1500));
  const std::string request = HttpClient::post("/", "body");
  idle.send(request.substr(0, request.size() - 2));
  std::this_thread::sleep_for(milliseconds(750));
  {
    // When a client goes, the server looks for slow ones.
    HttpClient other(server.port());
    other.send(HttpClient::get("/held"));
    EXPECT_EQ(other.receive(milliseconds(20)).status, 0);
  }
  EXPECT_TRUE(wait_until([&] { return gone >= 1; }));
  std::this_thread::sleep_for(milliseconds(10));
  idle.send(request.substr(request.size() - 2));
  EXPECT_EQ(idle.receive().body, "body");
  const std::lock_guard lock(mutex);
  for (const HttpReply& reply : held) reply({});
}

TEST(HttpServer, AReplyAtOnceIsAReply) {
  HttpServer server({.port = 0}, [](HttpRequest request, const std::stop_token&, HttpReply reply) {
    std::string text(request.header("x-name"));
    for (const auto& [name, value] : request.query) text += name + "=" + value + ";";
    reply({.status = 201, .body = text, .headers = {{"X-Client", request.client}}});
    reply({.status = 500});  // the first one counts
  });
  HttpClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.ask("GET /?a=%C3%A4+1&b HTTP/1.1\r\nHost: x\r\nX-NAME: n\r\n\r\n");
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.body, "na=\u00e4 1;b=;");
    EXPECT_NE(answer.head.find("X-Client: 127.0.0.1\r\n"), std::string::npos);
  }
}

TEST(HttpServer, AClientThatSendsSomewhatTooMuchSeesThe413) {
  Echoes echoes(1);
  HttpServer server({.port = 0, .body_limit = 1000}, echoes.handler());
  HttpClient client(server.port());
  const std::string request = HttpClient::post("/a", std::string(5000, 'x'));
  for (std::size_t at = 0; at < request.size(); at += 1000) {
    if (at > 0) {
      EXPECT_EQ(client.receive(milliseconds(10)).status, 0) << "it reads on";
    }
    client.send(request.substr(at, 1000));
  }
  EXPECT_EQ(client.receive().status, 413);
  EXPECT_EQ(client.ask(HttpClient::post("/a", "b")).body, "POST/ab") << "the connection continues";
}

TEST(HttpServer, AClientThatWaitsForLeaveToSendTooMuchGets413AtOnce) {
  Echoes echoes(1);
  HttpServer server({.port = 0, .body_limit = 1000}, echoes.handler());
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n";
  EXPECT_EQ(HttpClient(server.port()).ask(head + "Expect: 100-continue\r\n\r\n").status, 413);
}

TEST(HttpServer, BytesThatAreNotHttpAreRefused) {
  Echoes echoes(1);
  HttpServer server({.port = 0, .timeout = milliseconds(200)}, echoes.handler());
  const std::string too_long(100'000, 'a'), host = " HTTP/1.1\r\nHost: x\r\n";
  for (const auto& [request, status] : std::vector<std::pair<std::string, int>>{
           {"POST /" + host + "Content-Length: x\r\n\r\n", 400},
           {"POST /" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
           {"GET /" + too_long + host + "\r\n", 414},
           {"GET /" + host + "X-Name: " + too_long + "\r\n\r\n", 431},
           {"GET / HTTP/2.5\r\nHost: x\r\n\r\n", 505},
           {"GET /" + host, 0}})  // without an end: the connection is closed
    EXPECT_EQ(HttpClient(server.port()).ask(request).status, status) << request.substr(0, 60);
}

/// The path, and the number of parameters.
void count_parameters(const HttpRequest& request, const std::stop_token&, const HttpReply& reply) {
  reply({.body = request.path + " " + std::to_string(request.query.size())});
}

TEST(HttpServer, ARequestWhoseEndIsInDoubtIs400AndItsConnectionEnds) {
  HttpServer server({.port = 0}, count_parameters);
  const std::string other = HttpClient::get("/other");
  const std::string length = "Content-Length: " + std::to_string(other.size()) + "\r\n";
  for (const std::string& headers :
       {"Content-Length: 5\r\n" + length, "Content-Length: 0\r\n" + length, length + length,
        length + "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\n" + length,
        std::string("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n"),
        "Content-Length : " + length.substr(length.find(' ') + 1),
        std::string("Content-Length: +5\r\n")}) {
    HttpClient client(server.port());
    client.send("POST /a HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + other);
    EXPECT_EQ(client.receive().status, 400) << headers;
    EXPECT_EQ(client.receive(milliseconds(1000)).status, 0) << headers;
  }
  HttpClient old(server.port());
  EXPECT_EQ(old.ask("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 400);
}

TEST(HttpServer, AFoldedHeaderIs400AndItsConnectionEnds) {
  HttpServer server({.port = 0}, count_parameters);
  const std::string body = HttpClient::get("/other"), length = std::to_string(body.size());
  const std::string whole = "Content-Length: " + length + "\r\n";
  for (const std::string& headers :
       {"Content-Length:\r\n " + length + "\r\n", "Content-Length: " + length + "\r\n 99\r\n",
        "Content-Length:\n\t" + length + "\r\n", whole + "Transfer-Encoding:\r\n chunked\r\n",
        whole + "X-Name: a\r\n b\r\n", whole + "X-Name: a\n b\n",
        whole + "X-Name: a\r\n  \r\n b\r\n", "X-Name: a\r\n b\r\n" + whole, "X-Name:\r\n " + whole,
        // Some programs take "gth" for the rest of the name.
        "Content-Len:     " + length + "\r\n gth\r\n"}) {
    HttpClient client(server.port());
    client.send("POST /a HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + body);
    EXPECT_EQ(client.receive().status, 400) << headers;
    EXPECT_EQ(client.receive(milliseconds(1000)).status, 0) << headers;
  }
}

TEST(HttpServer, AHeadThatProgramsReadInTwoWaysIs400AndItsConnectionEnds) {
  HttpServer server({.port = 0}, count_parameters);
  using namespace std::string_literals;
  for (const std::string& head :
       {"GET /metrics\0.png HTTP/1.1\r\nHost: x\r\n"s, "GET / HTTP/1.1\r\nHost: x\0y\r\n"s,
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\0x\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\r\nX-Na\0me: y\r\n"s, "GET / HTTP/1.1\0\r\nHost: x\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\r\nX-Name: a\rb\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\r\nX-Name: a\x7f\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\nX-Name: a\r\n"s, "GET / HTTP/1.1\nHost: x\n"s,
        "GET /a b HTTP/1.1\r\nHost: x\r\n"s, "GET  / HTTP/1.1\r\nHost: x\r\n"s,
        "GET\t/ HTTP/1.1\r\nHost: x\r\n"s, " GET / HTTP/1.1\r\nHost: x\r\n"s,
        "GET / HTTP/1.1 \r\nHost: x\r\n"s, "GET / HTTP/1.1\r\nHost : x\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\r\nX Name: y\r\n"s, "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n"s,
        "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n"s, "G(T / HTTP/1.1\r\nHost: x\r\n"s}) {
    HttpClient client(server.port());
    client.send(head + "\r\n" + HttpClient::get("/other"));
    EXPECT_EQ(client.receive(milliseconds(1000)).status, 400) << head;
    EXPECT_EQ(client.receive(milliseconds(1000)).status, 0) << head;
  }
}

TEST(HttpServer, ChunksAreReadStrictly) {
  HttpServer server({.port = 0}, [](HttpRequest request, const std::stop_token&, HttpReply reply) {
    reply({.body = request.body});
  });
  const auto ask = [&server](const std::string& chunks) {
    HttpClient client(server.port());
    client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
    const HttpClient::Answer answer = client.receive(milliseconds(1000));
    if (answer.status == 400) {
      EXPECT_EQ(client.receive(milliseconds(1000)).status, 0) << chunks;
    }
    return std::to_string(answer.status) + " " + (answer.status == 200 ? answer.body : "");
  };
  EXPECT_EQ(ask("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "200 abcde");
  EXPECT_EQ(ask("3;name=value\r\nabc\r\n0;a\r\n\r\n"), "200 abc");
  EXPECT_EQ(ask("0\r\nX-Trailer: a\r\n\r\n"), "200 ");
  using namespace std::string_literals;
  for (const std::string& broken :
       {"3;a\nabc\r\n0\r\n\r\n"s, "3;a\n\r\nabc\r\n0\r\n\r\n"s, "3\nabc\r\n0\r\n\r\n"s,
        "3\r\nabcd\r\n0\r\n\r\n"s, "0x3\r\nabc\r\n0\r\n\r\n"s, "-3\r\nabc\r\n0\r\n\r\n"s,
        "3;a\0\r\nabc\r\n0\r\n\r\n"s, "11111111111111113\r\nabc\r\n0\r\n\r\n"s,
        "0\r\nX: a\0b\r\n\r\n"s, "0\r\nX: a\rb\r\n\r\n"s, "0\r\nX: a\nb\r\n\r\n"s,
        "3;a=" + std::string(100'000, 'a')})
    EXPECT_EQ(ask(broken), "400 ") << broken.substr(0, 40);
}

TEST(HttpServer, BlanksAroundAHeadersValueAreNotAFold) {
  HttpServer server({.port = 0}, [](HttpRequest request, const std::stop_token&, HttpReply reply) {
    reply({.body = std::string(request.header("x-name")) + request.body});
  });
  HttpClient client(server.port());
  for (const std::string value : {"X-Name:", "X-Name: ", "X-Name:\t \t", "X-Empty:", "X-Name:a"}) {
    const auto answer =
        client.ask("POST / HTTP/1.1\r\nHost:x\r\n" + value + "\r\nContent-Length:   3\r\n\r\nb c");
    EXPECT_EQ(answer.status, 200) << value;
    EXPECT_EQ(answer.body, value.ends_with('a') ? "ab c" : "b c") << value;
  }
}

TEST(HttpServer, AnUnknownTransferCodingIs501AtOnce) {
  HttpServer server({.port = 0}, count_parameters);
  for (const char* coding : {"gzip", "gzip, chunked", "chunked, chunked", "xchunked"}) {
    HttpClient client(server.port());
    client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + std::string(coding) +
                "\r\n\r\n");
    EXPECT_EQ(client.receive(milliseconds(2000)).status, 501) << coding;
  }
}

TEST(HttpServer, ARequestNamesItsHostOnce) {
  HttpServer server({.port = 0}, count_parameters);
  const auto status = [&server](const std::string& request) {
    return HttpClient(server.port()).ask(request).status;
  };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.0\r\n\r\n"), 200);
}

TEST(HttpServer, AnAddressMayBeWholeAndHasNoZeroByte) {
  HttpServer server({.port = 0}, count_parameters);
  const auto ask = [&server](const std::string& path) {
    return HttpClient(server.port()).ask(HttpClient::get(path));
  };
  EXPECT_EQ(ask("http://x/a%20b?c=d").body, "/a b 1");
  EXPECT_EQ(ask("HTTPS://x:80").body, "/ 0");
  EXPECT_EQ(ask("/http://x/a").body, "/http://x/a 0");
  EXPECT_EQ(ask("/a%00b").status, 400);
}

TEST(HttpServer, AnyNumberOfParametersIsTaken) {
  HttpServer server({.port = 0}, count_parameters);
  HttpClient client(server.port());
  for (const std::size_t count : {1, 900, 1000, 5000, 30'000}) {
    std::string query;
    for (std::size_t i = 0; i < count; ++i) query += i == 0 ? "?a" : "&a";
    client.send(HttpClient::get("/" + query));
    EXPECT_EQ(client.receive(milliseconds(2000)).body, "/ " + std::to_string(count));
  }
}

TEST(HttpServer, AHeadOfAnySizeIsAnswered) {
  HttpServer server({.port = 0}, count_parameters);
  const auto status = [&server](const std::string& target, const std::string& headers) {
    HttpClient client(server.port());
    client.send("POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n" + headers +
                "\r\n.");
    return client.receive(milliseconds(2000)).status;
  };
  const auto expect_refusals = [&status](std::size_t size) {
    const std::string filler(size, 'a');
    EXPECT_GE(status("/" + filler, ""), 414) << size;
    EXPECT_EQ(status("/", "X-Name: " + filler + "\r\n"), 431) << size;
  };
  for (const std::size_t size : {60'000, 65'000}) {
    const std::string filler(size, 'a');
    EXPECT_EQ(status("/" + filler, ""), 200) << size;
    EXPECT_EQ(status("/", "X-Name: " + filler + "\r\n"), 200) << size;
  }
  for (std::size_t size = 65'600; size < 73'000; size += 1000) expect_refusals(size);
  for (std::size_t size = 73'000; size < 74'000; size += 50) expect_refusals(size);
  for (std::size_t count = 100; count < 2000; count += 150) {
    std::string many;
    for (std::size_t i = 0; i < count; ++i) many += "X: y\r\n";
    const int answer = status("/", many);
    EXPECT_TRUE(answer == 200 || answer == 431) << count << ": " << answer;
  }
}

TEST(HttpServer, ARequestThatItsHandlerDoesNotGetIsAnsweredByTheRefusal) {
  Echoes echoes(1);
  HttpServer server({.port = 0, .body_limit = 1000}, echoes.handler(),
                    [](const HttpRequest& head, const HttpError& why) {
                      return HttpResponse{
                          .status = why.status(),
                          .body = head.method + head.path + head.client + why.what()};
                    });
  for (const std::size_t size : {2000, 100'000}) {
    HttpClient client(server.port());
    const auto answer =
        client.ask(HttpClient::post("/a?b", std::string(size, 'x')).substr(0, 2200));
    EXPECT_EQ(answer.status, 413);
    EXPECT_EQ(answer.body, "POST/a127.0.0.1the request has more than 1000 bytes");
  }
}

TEST(HttpServer, LinesOfAHeaderAreOneValueInOrder) {
  HttpServer server({.port = 0}, [](HttpRequest request, const std::stop_token&, HttpReply reply) {
    reply({.body = std::string(request.header("x-forwarded-for"))});
  });
  HttpClient client(server.port());
  // As HAProxy does it: its own line stands after the client's.
  const auto answer = client.ask(
      "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n"
      "X-Forwarded-For: 203.0.113.1\r\n\r\n");
  EXPECT_EQ(answer.body, "198.51.100.7, 203.0.113.1");
}

TEST(HttpServer, TheHandlerIsToldThatTheClientHasGone) {
  std::atomic<int> gone = 0;
  std::mutex mutex;
  std::vector<HttpReply> replies;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> told;
  HttpServer server({.port = 0}, [&](HttpRequest, const std::stop_token& stop, HttpReply reply) {
    const std::lock_guard lock(mutex);
    replies.push_back(std::move(reply));
    told.push_back(
        std::make_unique<std::stop_callback<std::function<void()>>>(stop, [&gone] { ++gone; }));
  });
  for (int i = 0; i < 20; ++i) {
    HttpClient client(server.port());
    client.send(HttpClient::get("/"));
    EXPECT_EQ(client.receive(milliseconds(5)).status, 0);
  }
  EXPECT_TRUE(wait_until([&] { return gone == 20; }));
  const std::lock_guard lock(mutex);
  for (const HttpReply& reply : replies) reply({.body = "nobody reads it"});
}

TEST(HttpServer, AtTheServersEndRequestsUnderWayAre503AndLateRepliesAreLost) {
  std::mutex mutex;
  std::vector<HttpReply> replies;
  std::vector<std::unique_ptr<HttpClient>> clients;
  {
    HttpServer server({.port = 0}, [&](HttpRequest, const std::stop_token&, HttpReply reply) {
      const std::lock_guard lock(mutex);
      replies.push_back(std::move(reply));
    });
    for (int i = 0; i < 10; ++i) {
      clients.push_back(std::make_unique<HttpClient>(server.port()));
      clients.back()->send(HttpClient::get("/"));
    }
    EXPECT_TRUE(wait_until([&] {
      const std::lock_guard lock(mutex);
      return replies.size() == 10;
    }));
    EXPECT_EQ(server.drain(milliseconds(10)), 10) << "it does not wait for ever";
  }
  for (const auto& client : clients) {
    const int status = client->receive().status;
    EXPECT_TRUE(status == 503 || status == 0) << status;
  }
  for (const HttpReply& reply : replies) reply({.body = "late"});
}

TEST(HttpServer, ARequestWhoseHeadHasComeIsAnsweredAtTheEnd) {
  constexpr int kTurns = 20, kClients = 8;
  for (int turn = 0; turn < kTurns; ++turn) {
    HttpServer server({.port = 0}, count_parameters);
    std::vector<std::unique_ptr<HttpClient>> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.push_back(std::make_unique<HttpClient>(server.port()));
      if (i % 2 == 0) {  // the others may still wait to be accepted
        EXPECT_EQ(clients.back()->ask(HttpClient::get("/first")).status, 200);
      }
    }
    for (const auto& client : clients) client->send(HttpClient::get("/last"));
    EXPECT_EQ(server.drain(milliseconds(5000)), 0);
    for (const auto& client : clients) {
      EXPECT_EQ(client->receive().status, 200) << turn;
      EXPECT_EQ(client->receive(milliseconds(1000)).status, 0);
    }
  }
}

TEST(HttpServer, ARequestThatFollowsAnAnswerAtTheEndIsAnsweredToo) {
  HttpServer server({.port = 0}, count_parameters);
  HttpClient client(server.port());
  EXPECT_EQ(client.ask(HttpClient::get("/first")).status, 200);
  std::jthread end([&server] { EXPECT_EQ(server.drain(milliseconds(5000)), 0); });
  std::this_thread::sleep_for(milliseconds(50));
  const auto answer = client.ask(HttpClient::get("/last"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, testing::HasSubstr("Connection: close\r\n"));
}

TEST(HttpServer, AConnectionWithoutARequestDoesNotHoldUpTheEnd) {
  HttpServer server({.port = 0}, count_parameters);
  HttpClient idle(server.port()), slow(server.port());
  EXPECT_EQ(idle.ask(HttpClient::get("/")).status, 200);
  slow.send("GET / HTTP/1.1\r\nHo");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(server.drain(milliseconds(20'000)), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
  EXPECT_EQ(idle.receive().status, 0);
}

TEST(HttpServer, AnAnswerOf1_0AndOneToHeadAreAsTheirClientsReadThem) {
  HttpServer server({.port = 0}, [](HttpRequest request, const std::stop_token&, HttpReply reply) {
    reply({.status = request.path == "/none" ? 204 : 200, .body = request.path});
  });
  HttpClient old(server.port());
  EXPECT_THAT(old.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").head,
              testing::HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(old.ask("GET /a HTTP/1.0\r\n\r\n").head, testing::HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(old.receive(milliseconds(1000)).status, 0);
  HttpClient client(server.port());
  client.send("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\n\r\n" +
              HttpClient::get("/last"));
  std::string all;
  for (int i = 0; i < 1000 && !all.ends_with("/last"); ++i) all += client.receive_bytes();
  EXPECT_THAT(all, testing::MatchesRegex("HTTP/1.1 200 OK\r\nDate: [^\r]* GMT\r\n.*"
                                         "Content-Length: 4\r\n\r\nHTTP/1.1 204 No Content\r\n.*"
                                         "\r\n\r\nHTTP/1.1 200 OK\r\n.*\r\n\r\n/last"));
}

/// Asks while memory runs out after this many allocations. False if there was enough.
bool runs_out(HttpServer& server, std::int64_t allocations, FailingMemory::Fails fails) {
  const std::string request = HttpClient::post("/a", std::string(40'000, 'x'));
  const FailingMemory memory(allocations, fails);
  HttpClient client(server.port());
  client.send(request);
  try {
    client.receive(milliseconds(100));
  } catch (const std::bad_alloc&) {  // it was the client's turn
  }
  return memory.has_failed();
}

TEST(HttpServer, TheServerSurvivesWhereverMemoryRunsOut) {
  for (const auto fails : {FailingMemory::Fails::Once, FailingMemory::Fails::FromThenOn})
    for (const bool is_late : {false, true}) {
      Echoes echoes(1);
      HttpServer server({.port = 0}, is_late ? echoes.handler() : count_parameters);
      for (std::int64_t before = 0; runs_out(server, before, fails); ++before)
        ASSERT_EQ(HttpClient(server.port()).ask(HttpClient::get("/")).status, 200) << before;
      EXPECT_EQ(server.drain(milliseconds(5000)), 0);
    }
}

TEST(HttpServer, AnAddressThatIsTakenOrUnknownIsAnError) {
  Echoes echoes(1);
  const HttpServer first({.host = "localhost", .port = 0}, echoes.handler());
  EXPECT_GT(first.port(), 0);
  EXPECT_ANY_THROW(HttpServer({.port = first.port()}, echoes.handler()));
  EXPECT_ANY_THROW(HttpServer({.host = "no.such.host.invalid", .port = 0}, echoes.handler()));
}

}  // namespace
}  // namespace dragoman
