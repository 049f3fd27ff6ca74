// Vocabularies of other systems: Hugging Face's vocab.json and Marian's .yml (piece -> id),
// CTranslate2's .json (a list) and .txt (a piece on each line).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Each returns the pieces in the order of their ids, 0 to n - 1. Each throws Error, without the
/// file's name, for a text that is not UTF-8 or of another form, and for an id or a piece that
/// occurs twice or is missing; the message names the line or the piece.
std::vector<std::string> parse_json_vocabulary(std::string_view text);
std::vector<std::string> parse_yaml_vocabulary(std::string_view text);
std::vector<std::string> parse_text_vocabulary(std::string_view text);

/// By the ending of the name: .json, .yml or .yaml, and .txt. Throws Error that begins with the
/// file's name.
std::vector<std::string> read_vocabulary(const std::filesystem::path& path);

}  // namespace dragoman
