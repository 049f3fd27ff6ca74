#include "app/frame/log.h"

#include <spdlog/fmt/chrono.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <mutex>

#include "app/frame/terminal.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

class TerminalSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    Terminal::standard_error().write_line({line.data(), line.size()});
  }
  void flush_() override {}
};

struct Log {
  LogFormat format = LogFormat::Text;
  Verbosity verbosity = Verbosity::Normal;
  spdlog::logger logger{"dragoman", std::make_shared<TerminalSink>()};

  Log() { apply(); }

  void apply() {
    // Without a line end: the terminal adds it.
    const char* pattern = format == LogFormat::Text ? "%Y-%m-%d %H:%M:%S %v" : "%v";
    logger.set_formatter(
        std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::local, ""));
    logger.set_level(verbosity == Verbosity::Quiet ? spdlog::level::warn : spdlog::level::info);
  }
};

// Never destroyed: the thread that waits for signals may log while main returns.
Log& the_log() {
  static Log& log = *new Log;
  return log;
}

std::string utc_time() {
  using std::chrono::system_clock, std::chrono::milliseconds;
  const auto now = std::chrono::floor<milliseconds>(system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(now)),
                     now.time_since_epoch().count() % 1000);
}

std::string json_line(const std::string& level, std::string_view text,
                      const nlohmann::ordered_json& facts) {
  nlohmann::ordered_json object = {{"time", utc_time()}, {"level", level}, {"message", text}};
  if (facts.is_object()) object.update(facts);
  return json_text(object);
}

/// The levels have spdlog's names: "info", "warning", "error".
void write_record(spdlog::level::level_enum level, std::string_view text,
                  const nlohmann::ordered_json& facts = nullptr) {
  Log& log = the_log();
  if (!log.logger.should_log(level)) return;
  const auto level_name = spdlog::level::to_string_view(level);
  const std::string name(level_name.data(), level_name.size());
  if (log.format == LogFormat::Json) {
    log.logger.log(level, json_line(name, text, facts));
  } else {
    const std::string prefix = level == spdlog::level::info ? "" : name + ": ";
    log.logger.log(level, prefix + printable(text));
  }
}

}  // namespace

void configure_log(LogFormat format, Verbosity verbosity) {
  Log& log = the_log();
  log.format = format;
  log.verbosity = verbosity;
  log.apply();
}

LogFormat log_format() { return the_log().format; }
Verbosity log_verbosity() { return the_log().verbosity; }

void log_info(std::string_view text) { write_record(spdlog::level::info, text); }
void log_warning(std::string_view text) { write_record(spdlog::level::warn, text); }
void log_error(std::string_view text) { write_record(spdlog::level::err, text); }

void log_facts(std::string_view text, const nlohmann::ordered_json& facts) {
  write_record(spdlog::level::info, text, facts);
}

std::string printable(std::string_view text) {
  std::string shown;
  for (const char c : replace_invalid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else
      shown += c;
  }
  return shown;
}

}  // namespace dragoman
