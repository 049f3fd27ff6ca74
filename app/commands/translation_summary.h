// Translates lines for commands that only need the result, and tells in the log how much was
// translated and what is missing in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/translate_text.h"

namespace dragoman {

/// Translates each line with a progress bar, and then logs the summary. Where a signal asked for a
/// stop, returns the translations up to there, without a summary.
std::vector<Translation> translate_with_progress(TranslationService& service,
                                                 std::span<const std::string> lines,
                                                 const TranslationRequest& request);

/// The most warnings of one kind that are shown.
inline constexpr std::int64_t kMostWarnings = 10;

/// "the translation lacks 'Haus' 'Hof'"
std::string unmet_text(const Translation& translation);

/// Logs warnings about faults and the amount of work done. `before`: lines that an earlier call has
/// translated.
void log_summary(const TranslationFacts& facts, std::int64_t failed, std::int64_t before,
                 double seconds);

}  // namespace dragoman
