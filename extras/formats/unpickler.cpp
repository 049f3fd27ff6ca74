#include "extras/formats/unpickler.h"

#include <bit>
#include <functional>
#include <unordered_map>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/formats/byte_reader.h"

namespace dragoman {

namespace {

constexpr int kMaxDictDepth = 32;
constexpr std::size_t kMaxDictEntries = 1'000'000;

const PickleValue* find_entry(const PickleDict& dict, std::string_view key) {
  for (const auto& [name, value] : dict.entries)
    if (const std::string* text = name->text(); text != nullptr && *text == key) return value;
  return nullptr;
}

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
  std::map<std::string, const StridedTensor*> tensors;
  std::size_t entries = 0;
  const std::function<void(const PickleDict&, const std::string&, int)> walk =
      [&](const PickleDict& dict, const std::string& prefix, int depth) {
        if (depth > kMaxDictDepth)
          throw Error("the dicts are nested more than ", kMaxDictDepth, " deep");
        for (const auto& [key, value] : dict.entries) {
          if (++entries > kMaxDictEntries) throw Error("more than ", kMaxDictEntries, " entries");
          const std::string* name = key->text();
          if (name == nullptr) continue;
          if (const auto* inner = value->as<PickleDict>())
            walk(*inner, prefix + *name + ".", depth + 1);
          else if (const StridedTensor* tensor = value->tensor())
            if (!tensors.emplace(prefix + *name, tensor).second)
              throw Error("tensor ", prefix, *name, " occurs twice");
        }
      };
  const auto* dict = state_dict.as<PickleDict>();
  if (dict == nullptr) throw Error("is not a state dict");
  walk(*dict, "", 0);
  return tensors;
}

namespace {

constexpr std::size_t kMaxValues = 8'000'000;
constexpr std::size_t kMaxSteps = 64'000'000;
constexpr std::size_t kMaxGlobal = 512;  // bytes of the name of a module or a class

/// The stack machine of pickles. Values other than containers may be shared, because nothing
/// changes them.
class Unpickler {
 public:
  explicit Unpickler(std::string_view bytes) : reader_(bytes) {}

  Pickle run() {
    constexpr unsigned char kProtocol = 0x80, kStop = '.';
    if (reader_.left() == 0 || next_opcode() != kProtocol)
      throw Error("not a pickle of protocol 2 or later");
    const auto protocol = reader_.number<std::uint8_t>("the protocol");
    if (protocol < 2 || protocol > 5)
      throw Error("the pickle has protocol ", int{protocol}, "; 2 to 5 are read");
    for (std::size_t steps = 0;; ++steps) {
      if (steps == kMaxSteps) throw Error("the pickle has more than ", kMaxSteps, " opcodes");
      const unsigned char opcode = next_opcode();
      if (opcode == kStop) break;
      step(opcode);
    }
    pickle_.root = pop();
    if (!stack_.empty()) throw Error("the pickle ends with values left over");
    pickle_.bytes = reader_.offset();
    return std::move(pickle_);
  }

 private:
  unsigned char next_opcode() { return reader_.number<unsigned char>("the pickle"); }

  void step(unsigned char opcode) {
    if (step_number(opcode) || step_text(opcode) || step_container(opcode) || step_memo(opcode) ||
        step_object(opcode))
      return;
    constexpr char kDigits[] = "0123456789abcdef";
    throw Error("the pickle has the opcode 0x", kDigits[opcode >> 4], kDigits[opcode & 15],
                " at byte ", reader_.offset() - 1, ", which no state dict has");
  }

  // ---- the stack

  template <class T>
  PickleValue* make(T value) {
    if (pickle_.values.size() == kMaxValues)
      throw Error("the pickle has more than ", kMaxValues, " values");
    pickle_.values.push_back(PickleValue{std::move(value)});
    return &pickle_.values.back();
  }
  template <class T>
  bool push(T value) {
    stack_.push_back(make(std::move(value)));
    return true;
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleValue* top() const {
    if (stack_.size() <= floor()) throw Error("the pickle takes a value that is not there");
    return stack_.back();
  }
  PickleValue* pop() {
    PickleValue* value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<const PickleValue*> pop_items(std::size_t count) {
    if (stack_.size() - floor() < count) throw Error("the pickle takes a value that is not there");
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<const PickleValue*> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }
  std::vector<const PickleValue*> pop_to_mark() {
    if (marks_.empty()) throw Error("the pickle goes back to a mark that is not there");
    auto items = pop_items(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  // ---- numbers

  bool step_number(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        return push(PickleNone{});
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 'J':
        return push(std::int64_t{reader_.number<std::int32_t>("a number")});
      case 'K':
        return push(std::int64_t{reader_.number<std::uint8_t>("a number")});
      case 'M':
        return push(std::int64_t{reader_.number<std::uint16_t>("a number")});
      case 0x8a:
        return push_long(reader_.number<std::uint8_t>("a number"));
      case 0x8b:
        return push_long(reader_.number<std::uint32_t>("a number"));
      case 'G':
        return push(
            std::bit_cast<double>(__builtin_bswap64(reader_.number<std::uint64_t>("a number"))));
    }
    return false;
  }

  bool push_long(std::size_t size) {
    const std::string_view bytes = reader_.take(size, "a number");
    if (size > sizeof(std::int64_t)) return push(PickleBigInt{std::string(bytes)});
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << 8 * i;
    const bool is_negative = size > 0 && (bytes.back() & 0x80) != 0;
    if (is_negative && size < sizeof value) value |= ~std::uint64_t{0} << 8 * size;
    return push(static_cast<std::int64_t>(value));
  }

  // ---- texts

  bool step_text(unsigned char opcode) {
    switch (opcode) {
      case 0x8c:
        return push_text(reader_.number<std::uint8_t>("a text"));
      case 'X':
        return push_text(reader_.number<std::uint32_t>("a text"));
      case 0x8d:
        return push_text(reader_.number<std::uint64_t>("a text"));
      case 'U':
        return push_old_text(reader_.number<std::uint8_t>("a text"));
      case 'T':
        return push_old_text(reader_.number<std::uint32_t>("a text"));
      case 'C':
        return push_bytes(reader_.number<std::uint8_t>("bytes"));
      case 'B':
        return push_bytes(reader_.number<std::uint32_t>("bytes"));
      case 0x8e:
      case 0x96:
        return push_bytes(reader_.number<std::uint64_t>("bytes"));
    }
    return false;
  }

  bool push_text(std::size_t size) {
    const std::string_view text = reader_.take(size, "a text");
    if (find_invalid_utf8(text) != text.npos) throw Error("a text of the pickle is not UTF-8");
    return push(std::string(text));
  }
  /// Python 2 had one type for texts and bytes.
  bool push_old_text(std::size_t size) {
    const std::string_view text = reader_.take(size, "a text");
    if (find_invalid_utf8(text) != text.npos) return push(PickleBytes{std::string(text)});
    return push(std::string(text));
  }
  bool push_bytes(std::size_t size) {
    return push(PickleBytes{std::string(reader_.take(size, "bytes"))});
  }

  // ---- containers

  bool step_container(unsigned char opcode) {
    using Kind = PickleSequence::Kind;
    switch (opcode) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ']':
        return push(PickleSequence{Kind::List, {}});
      case ')':
        return push(PickleSequence{Kind::Tuple, {}});
      case 0x8f:
        return push(PickleSequence{Kind::Set, {}});
      case '}':
        return push(PickleDict{});
      case 'l':
        return push(PickleSequence{Kind::List, pop_to_mark()});
      case 't':
        return push(PickleSequence{Kind::Tuple, pop_to_mark()});
      case 0x85:
      case 0x86:
      case 0x87:
        return push(PickleSequence{Kind::Tuple, pop_items(opcode - 0x84u)});
      case 0x91:
        return push(PickleSequence{Kind::Set, pop_to_mark()});
      case 'd': {
        auto items = pop_to_mark();
        push(PickleDict{});
        return add_entries(items);
      }
      case 'a':
        return add_items(pop_items(1));
      case 'e':
      case 0x90:
        return add_items(pop_to_mark());
      case 's':
        return add_entries(pop_items(2));
      case 'u':
        return add_entries(pop_to_mark());
    }
    return false;
  }

  /// Adds items to the list, set or object on the stack.
  bool add_items(const std::vector<const PickleValue*>& items) {
    auto& target = top()->value;
    auto* sequence = std::get_if<PickleSequence>(&target);
    if (sequence != nullptr && sequence->kind != PickleSequence::Kind::Tuple)
      sequence->items.insert(sequence->items.end(), items.begin(), items.end());
    else if (auto* object = std::get_if<std::unique_ptr<PickleObject>>(&target))
      (*object)->items.insert((*object)->items.end(), items.begin(), items.end());
    else
      throw Error("the pickle adds items to a value that is not a list");
    return true;
  }

  /// Adds alternating keys and values to the dict or object on the stack.
  bool add_entries(const std::vector<const PickleValue*>& items) {
    auto& target = top()->value;
    auto* dict = std::get_if<PickleDict>(&target);
    auto* object = std::get_if<std::unique_ptr<PickleObject>>(&target);
    if (dict == nullptr && object == nullptr)
      throw Error("the pickle adds entries to a value that is not a dict");
    if (items.size() % 2 != 0) throw Error("a key of the pickle has no value");
    auto& entries = dict != nullptr ? dict->entries : (*object)->entries.entries;
    for (std::size_t i = 0; i < items.size(); i += 2) entries.emplace_back(items[i], items[i + 1]);
    return true;
  }

  // ---- the memo

  bool step_memo(unsigned char opcode) {
    switch (opcode) {
      case 'q':
        return memoize(reader_.number<std::uint8_t>("the memo"));
      case 'r':
        return memoize(reader_.number<std::uint32_t>("the memo"));
      case 0x94:
        return memoize(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return recall(reader_.number<std::uint8_t>("the memo"));
      case 'j':
        return recall(reader_.number<std::uint32_t>("the memo"));
      case '0':
        pop();
        return true;
      case '1':
        pop_to_mark();
        return true;
      case '2':
        stack_.push_back(top());
        return true;
      case 0x95:  // FRAME: a hint for readers of streams
        reader_.number<std::uint64_t>("a frame");
        return true;
    }
    return false;
  }

  bool memoize(std::uint32_t number) {
    memo_[number] = top();
    return true;
  }
  bool recall(std::uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) throw Error("the memo of the pickle has no number ", number);
    stack_.push_back(found->second);
    return true;
  }

  // ---- classes and objects

  bool step_object(unsigned char opcode) {
    switch (opcode) {
      case 'c': {
        const std::string_view module = reader_.line("the name of a global");
        return push_global(module, reader_.line("the name of a global"));
      }
      case 0x93: {
        const auto parts = pop_items(2);
        if (parts[0]->text() == nullptr || parts[1]->text() == nullptr)
          throw Error("the name of a global is not a text");
        return push_global(*parts[0]->text(), *parts[1]->text());
      }
      case 'R':
      case 0x81: {  // NEWOBJ: a class is called like a function
        const auto parts = pop_items(2);
        return push(call_of(pickle_, *parts[0], *parts[1]));
      }
      case 0x92: {  // NEWOBJ_EX: keyword arguments, which no class that is known here has
        const auto parts = pop_items(3);
        return push(call_of(pickle_, *parts[0], *parts[1]));
      }
      case 'b':
        return build();
      case 'Q': {
        const PickleValue* id = pop();
        return push(persistent_value(pickle_, *id));
      }
    }
    return false;
  }

  bool push_global(std::string_view module, std::string_view name) {
    if (module.size() > kMaxGlobal || name.size() > kMaxGlobal)
      throw Error("the name of a global has more than ", kMaxGlobal, " bytes");
    std::string full(module);
    full.append(".").append(name);
    return push(PickleGlobal{*pickle_.names.insert(std::move(full)).first});
  }

  /// Sets the attributes of an object. A state dict may have some (`_metadata`), which say nothing
  /// about its tensors.
  bool build() {
    const PickleValue* state = pop();
    if (auto* object = std::get_if<std::unique_ptr<PickleObject>>(&top()->value))
      (*object)->state = state;
    return true;
  }

  ByteReader reader_;
  Pickle pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;  ///< sizes of the stack at the open marks
  std::unordered_map<std::uint32_t, PickleValue*> memo_;
};

}  // namespace

Pickle unpickle(std::string_view bytes) { return Unpickler(bytes).run(); }

}  // namespace dragoman
