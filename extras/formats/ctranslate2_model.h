// Reads model.bin of CTranslate2 (binary version 6, written since 2021): the mirror of
// write_ctranslate2. The layout stands in CTranslate2's model_spec.py and model.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "extras/formats/strided_tensor.h"

namespace dragoman {

class CTranslate2Model {
 public:
  /// `name` stands at the front of messages. `bytes` are the whole file and must outlive the
  /// object. Throws Error, one line, for another version, a file that is cut off or longer than its
  /// contents, unknown types, data that do not fit their shape, names that occur twice, and aliases
  /// of nothing.
  CTranslate2Model(const std::string& name, std::string_view bytes);
  CTranslate2Model(const CTranslate2Model&) = delete;

  const std::string& spec() const { return spec_; }  ///< "TransformerSpec"
  /// By name, row-major. Types: float32, float16, bfloat16, int8, int16, int32.
  const std::map<std::string, StridedTensor, std::less<>>& variables() const { return variables_; }
  /// The variable of that name or alias, or null. As CTranslate2 has it, an alias of an int8
  /// variable is followed by one of its scale: "a_scale" -> "b_scale".
  const StridedTensor* find(std::string_view name) const;

 private:
  void parse(std::string_view bytes);
  void add_alias(const std::string& alias, const std::string& variable);

  std::string spec_;
  std::map<std::string, StridedTensor, std::less<>> variables_;
  std::map<std::string, const StridedTensor*, std::less<>> aliases_;  ///< of variables_
};

}  // namespace dragoman
