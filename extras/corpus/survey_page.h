// The report of a survey as one HTML page, which needs no script.
#pragma once

#include <string>
#include <string_view>

#include "extras/corpus/survey_report.h"

namespace dragoman {

/// The text of a file of extras/corpus/page/.
std::string_view corpus_page_file(std::string_view name);

std::string page_of(const SurveyReport& report);

}  // namespace dragoman
