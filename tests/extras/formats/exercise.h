// Reads everything that a reader returns, each byte of it. Damaged bytes may be refused with an
// Error; anything else is a defect. The tests of damage and the fuzzers use these functions.
#pragma once

#include <string_view>

namespace dragoman {

/// Each returns true if it read to the end, false if it was refused with an Error.
bool exercise_zip(std::string_view bytes);
bool exercise_npy(std::string_view bytes);
bool exercise_npz(std::string_view bytes);
bool exercise_pickle(std::string_view bytes);
bool exercise_pytorch(std::string_view bytes);
bool exercise_ctranslate2(std::string_view bytes);
bool exercise_json_vocabulary(std::string_view bytes);
bool exercise_yaml_vocabulary(std::string_view bytes);
bool exercise_text_vocabulary(std::string_view bytes);

using Exercise = bool (*)(std::string_view bytes);

}  // namespace dragoman
