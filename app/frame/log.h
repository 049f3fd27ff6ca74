// Log lines on standard error. Only plain functions here: spdlog's headers and LibTorch's must not
// meet in one translation unit (two versions of fmt).
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dragoman {

enum class LogFormat { Text, Json };
constexpr std::array<std::string_view, 2> names_of(LogFormat) { return {"text", "json"}; }

enum class Verbosity {
  Quiet,   ///< warnings and errors only, no progress bar
  Normal,  ///< all lines
};

/// May be called again. No other thread may log meanwhile. Before the first call the format is Text
/// and the verbosity Normal.
void configure_log(LogFormat format, Verbosity verbosity);
LogFormat log_format();
Verbosity log_verbosity();

/// Text: "2026-01-31 12:00:00 " (local time), then "warning: ", "error: " or nothing, then the
/// text. JSON: one object per line, {"time": UTC, "level": "info"|"warning"|"error", "message":
/// text}. Control characters are shown as \xNN, invalid UTF-8 as U+FFFD.
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

/// As log_info; in JSON the members of the object `facts` follow the message.
void log_facts(std::string_view text, const nlohmann::ordered_json& facts);

/// `text` on one line of valid UTF-8: control characters as \xNN, invalid bytes as U+FFFD.
std::string printable(std::string_view text);

}  // namespace dragoman
