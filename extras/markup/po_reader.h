// Reads a catalogue of messages in gettext's format (PO).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/format_directives.h"

namespace dragoman {

/// A keyword with its strings, or another line.
struct PoPart {
  std::string bytes;         ///< with line ends
  std::string keyword = {};  ///< "msgid", "msgstr[1]"; empty: a comment or a blank line
  std::string text = {};     ///< of all its strings
  std::size_t message = 0;   ///< its number among those of the file
};

struct PoMessage {
  std::string text = {}, plural = {};
  std::size_t forms = 0;        ///< of its translation
  bool has_context = false;     ///< a msgctxt
  FormatSyntaxes formats = {};  ///< as its flags say

  /// The text that the form `keyword` of the translation is made from. The first of two forms is
  /// the singular. Of one form, or of three and more, it serves other numbers, too (21 in Russian):
  /// then it needs the placeholders of the plural.
  const std::string& source_of(std::string_view keyword) const;

 private:
  bool has_all_placeholders() const;  ///< the singular; those of the plural
};

struct PoFile {
  std::vector<PoPart> parts;
  std::vector<PoMessage> messages;  ///< one at least
};

/// Throws Error with the line that is no PO.
PoFile read_po(std::string_view po);

/// Placeholders that stand for the next argument.
std::size_t count_arguments(std::string_view text, const FormatSyntaxes& formats);

/// The name of the encoding that the header of a catalogue declares, where it stands in the text;
/// empty: there is none.
std::string_view declared_charset(std::string_view po);

}  // namespace dragoman
