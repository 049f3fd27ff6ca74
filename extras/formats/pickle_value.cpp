#include "extras/formats/pickle_value.h"

#include "base/error.h"

namespace dragoman {

namespace {

constexpr int kMaxDictDepth = 32;
constexpr std::size_t kMaxDictEntries = 1'000'000;

const PickleValue* find_entry(const PickleDict& dict, std::string_view key) {
  for (const auto& [name, value] : dict.entries)
    if (const std::string* text = name->text(); text != nullptr && *text == key) return value;
  return nullptr;
}

class DictFlattener {
 public:
  void walk(const PickleDict& dict, const std::string& prefix, int depth) {
    if (depth > kMaxDictDepth)
      throw Error("the dicts are nested more than ", kMaxDictDepth, " deep");
    for (const auto& [key, value] : dict.entries) {
      if (++entries_ > kMaxDictEntries) throw Error("more than ", kMaxDictEntries, " entries");
      const std::string* text = key->text();
      if (text == nullptr) continue;
      if (const auto* inner = value->as<PickleDict>())
        walk(*inner, prefix + *text + ".", depth + 1);
      else if (const StridedTensor* tensor = value->tensor())
        add(prefix + *text, tensor);
    }
  }

  std::map<std::string, const StridedTensor*> tensors;

 private:
  void add(std::string name, const StridedTensor* tensor) {
    const auto [at, is_new] = tensors.emplace(std::move(name), tensor);
    if (!is_new) throw Error("tensor ", at->first, " occurs twice");
  }

  std::size_t entries_ = 0;
};

}  // namespace

const StridedTensor* PickleValue::tensor() const {
  const auto* owner = as<std::shared_ptr<StridedTensor>>();
  return owner == nullptr ? nullptr : owner->get();
}

const PickleObject* PickleValue::object() const {
  const auto* owner = as<std::unique_ptr<PickleObject>>();
  return owner == nullptr ? nullptr : owner->get();
}

const std::vector<const PickleValue*>& PickleValue::items() const {
  static const std::vector<const PickleValue*> none;
  if (const auto* sequence = as<PickleSequence>()) return sequence->items;
  return object() == nullptr ? none : object()->items;
}

const PickleValue* PickleValue::find(std::string_view key) const {
  if (const auto* dict = as<PickleDict>()) return find_entry(*dict, key);
  const PickleObject* object = this->object();
  if (object == nullptr) return nullptr;
  if (const PickleValue* found = find_entry(object->entries, key)) return found;
  const auto* attributes = object->state == nullptr ? nullptr : object->state->as<PickleDict>();
  return attributes == nullptr ? nullptr : find_entry(*attributes, key);
}

std::map<std::string, const StridedTensor*> tensors_of(const PickleValue& state_dict) {
  const auto* dict = state_dict.as<PickleDict>();
  if (dict == nullptr) throw Error("is no state dict");
  DictFlattener flattener;
  flattener.walk(*dict, "", 0);
  return std::move(flattener.tensors);
}

}  // namespace dragoman
