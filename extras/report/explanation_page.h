// One page about what a model does with a sentence: its attention, the computation of one word's,
// the search, the sizes of the model. It needs no network. Its script draws it from the JSON of
// `dragoman explain` (docs/explanation.md).
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// `json`: the text of one explanation. `nonce`: HtmlPage::nonce.
std::string explanation_page(std::string_view json, const std::string& nonce = "");

}  // namespace dragoman
