// What all pages have in common. A page is one self-contained file of HTML: it fetches nothing, and
// no text in it is read as HTML. Its parts are the files of extras/report/page/, which are part of
// the program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted_text.h"
#include "extras/report/line_chart.h"

namespace dragoman {

struct HtmlPage {
  std::string title;       ///< plain text
  std::string style;       ///< CSS
  std::string body;        ///< HTML
  std::string script;      ///< JavaScript, run after the body; may be empty
  std::string nonce = {};  ///< of the script, if a server's Content-Security-Policy names one
};
std::string to_html(const HtmlPage& page);

/// JSON with escapes, so that nothing in it ends the <script> that it stands in.
std::string json_in_script(std::string_view json);

/// The text of a file of extras/report/page/, "style.css".
std::string_view page_file(std::string_view name);

/// The file with each {{name}} replaced by its value. A {{name}} within a value is plain text.
std::string filled_page_file(std::string_view file,
                             const std::vector<std::pair<std::string_view, std::string>>& values);

/// The style sheet of all pages, with colours for `runs` runs: classes run-0 (shown by the box
/// #show-0) and run-color-0, and the switches between the axes.
std::string training_style(std::size_t runs, const std::vector<XAxis>& axes);

/// Names of files without the parts that all of them have in common: "out/test.old.de" and
/// "out/test.new.de" become "old" and "new". Folders, and parts between full stops, are left out at
/// the beginning and at the end, as far as they are the same in all names. A single name loses its
/// folder and its extension. No name becomes empty, and different names stay different.
std::vector<std::string> short_names(const std::vector<std::string>& names);

}  // namespace dragoman
