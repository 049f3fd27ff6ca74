#include "extras/formats/unpickler.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace dragoman {

namespace {

using Arguments = std::vector<const PickleValue*>;

constexpr std::size_t kMaxTensors = 1'000'000;

struct TorchType {
  std::string_view storage, dtype;
  ForeignDtype type;
};

/// The names of torch.FloatStorage and torch.float32. Types without a storage class of their own
/// use an untyped one.
constexpr TorchType kTorchTypes[] = {
    {"FloatStorage", "float32", ForeignDtype::F32},
    {"DoubleStorage", "float64", ForeignDtype::F64},
    {"HalfStorage", "float16", ForeignDtype::F16},
    {"BFloat16Storage", "bfloat16", ForeignDtype::BF16},
    {"CharStorage", "int8", ForeignDtype::I8},
    {"ShortStorage", "int16", ForeignDtype::I16},
    {"IntStorage", "int32", ForeignDtype::I32},
    {"LongStorage", "int64", ForeignDtype::I64},
    {"ByteStorage", "uint8", ForeignDtype::U8},
    {"UntypedStorage", "uint8", ForeignDtype::U8},
    {"BoolStorage", "bool", ForeignDtype::Bool},
    {"", "uint16", ForeignDtype::U16},
    {"", "uint32", ForeignDtype::U32},
    {"", "uint64", ForeignDtype::U64},
};

/// "torch.NAME" or "torch.MODULE.NAME" -> NAME; empty for other modules.
std::string_view torch_name(const PickleValue& value) {
  const auto* global = value.as<PickleGlobal>();
  if (global == nullptr || !global->name.starts_with("torch.")) return {};
  return global->name.substr(global->name.rfind('.') + 1);
}

/// `kind`: whether the value names a storage or a dtype.
std::optional<ForeignDtype> torch_type(const PickleValue& value,
                                       std::string_view TorchType::*kind) {
  const std::string_view name = torch_name(value);
  for (const TorchType& known : kTorchTypes)
    if (!name.empty() && known.*kind == name) return known.type;
  return std::nullopt;
}

std::int64_t natural_number(const PickleValue& value, std::string_view what) {
  const std::int64_t* number = value.integer();
  if (number == nullptr || *number < 0) throw Error(what, " is not a natural number");
  return *number;
}

std::vector<std::int64_t> natural_numbers(const PickleValue& value, std::string_view what) {
  const auto* sequence = value.as<PickleSequence>();
  if (sequence == nullptr || sequence->items.size() > kMaxDimensions)
    throw Error(what, " is not a tuple of at most ", kMaxDimensions, " numbers");
  std::vector<std::int64_t> numbers;
  for (const PickleValue* item : sequence->items) numbers.push_back(natural_number(*item, what));
  return numbers;
}

std::optional<PickleValue> same_tensor(const PickleValue& value) {
  const auto* tensor = value.as<std::shared_ptr<StridedTensor>>();
  return tensor == nullptr ? std::nullopt : std::optional(PickleValue{*tensor});
}

PickleValue object_of(const PickleValue* type) {
  auto object = std::make_unique<PickleObject>();
  object->type = type;
  return {std::move(object)};
}

/// _rebuild_tensor(storage, offset, size, stride). v2 has more arguments, which say nothing about
/// the values; v3 has the dtype as the seventh. Nothing if the type of the storage is unknown.
std::optional<PickleValue> rebuild_tensor(Pickle& pickle, const Arguments& arguments,
                                          std::size_t dtype) {
  if (arguments.size() < 4 || (dtype > 0 && arguments.size() <= dtype))
    throw Error("a tensor has only ", arguments.size(), " arguments");
  const auto* storage = arguments[0]->as<PickleStorage>();
  if (storage == nullptr) return std::nullopt;
  const auto type = dtype == 0 ? pickle.storages[storage->index].type
                               : torch_type(*arguments[dtype], &TorchType::dtype);
  if (!type) return std::nullopt;
  if (pickle.tensors.size() >= kMaxTensors) throw Error("more than ", kMaxTensors, " tensors");
  auto tensor = std::make_shared<StridedTensor>();
  tensor->type = *type;
  tensor->shape = natural_numbers(*arguments[2], "the size of a tensor");
  tensor->strides = natural_numbers(*arguments[3], "the stride of a tensor");
  std::int64_t offset = natural_number(*arguments[1], "the offset of a tensor");
  if (__builtin_add_overflow(offset, storage->offset, &offset))
    throw Error("the offset of a tensor is too large");
  pickle.tensors.push_back({tensor.get(), storage->index, offset});
  return PickleValue{std::move(tensor)};
}

/// Copies only a short value: copies of a long one could take more memory than the file.
std::optional<PickleValue> tuple_of(const PickleValue& value) {
  const auto* sequence = value.as<PickleSequence>();
  if (sequence == nullptr || sequence->items.size() > kMaxDimensions) return std::nullopt;
  return PickleValue{PickleSequence{PickleSequence::Kind::Tuple, sequence->items}};
}

/// Nothing if the function is unknown.
std::optional<PickleValue> known_call(Pickle& pickle, std::string_view function,
                                      const Arguments& arguments) {
  if (function == "torch._utils._rebuild_tensor" || function == "torch._utils._rebuild_tensor_v2")
    return rebuild_tensor(pickle, arguments, 0);
  if (function == "torch._utils._rebuild_tensor_v3") return rebuild_tensor(pickle, arguments, 6);
  if (function == "torch._utils._rebuild_parameter" ||
      function == "torch._utils._rebuild_parameter_with_state")
    return arguments.empty() ? std::nullopt : same_tensor(*arguments[0]);
  if (function == "torch._tensor._rebuild_from_type_v2" && arguments.size() >= 3) {
    const auto* inner = arguments[0]->as<PickleGlobal>();
    const auto* its = arguments[2]->as<PickleSequence>();
    if (inner != nullptr && its != nullptr && inner->name != function)
      return known_call(pickle, inner->name, its->items);
  }
  if (function == "collections.OrderedDict" && arguments.empty()) return PickleValue{PickleDict{}};
  if (function == "torch.Size" && arguments.size() == 1) return tuple_of(*arguments[0]);
  return std::nullopt;
}

}  // namespace

PickleValue call_of(Pickle& pickle, const PickleValue& function, const PickleValue& arguments) {
  const auto* global = function.as<PickleGlobal>();
  const auto* sequence = arguments.as<PickleSequence>();
  if (sequence == nullptr) throw Error("the arguments of a call are not a tuple");
  if (global != nullptr)
    if (auto value = known_call(pickle, global->name, sequence->items)) return std::move(*value);
  return object_of(&function);
}

PickleValue persistent_value(Pickle& pickle, const PickleValue& id) {
  const std::vector<const PickleValue*>& parts = id.items();
  const std::string* kind = parts.empty() ? nullptr : parts[0]->text();
  if (kind == nullptr || *kind != "storage" || parts.size() < 5) return object_of(nullptr);
  const auto type = torch_type(*parts[1], &TorchType::storage);
  if (!type) return object_of(nullptr);
  const std::string* key = parts[2]->text();
  if (key == nullptr) throw Error("the key of a storage is not a text");
  const StorageFacts facts{*key, *type, natural_number(*parts[4], "the size of a storage")};
  PickleStorage storage;
  // PyTorch's older format may add a view: its key, offset and size.
  const auto* view = parts.size() > 5 ? parts[5]->as<PickleSequence>() : nullptr;
  if (view != nullptr) {
    if (view->items.size() != 3) throw Error("the view of a storage does not have three parts");
    storage.offset = natural_number(*view->items[1], "the offset of a storage");
  }
  const auto [at, is_new] = pickle.storage_indices.emplace(*key, pickle.storages.size());
  storage.index = at->second;
  if (is_new) pickle.storages.push_back(facts);
  const StorageFacts& known = pickle.storages[storage.index];
  if (known.type != facts.type || known.elements != facts.elements)
    throw Error("storage ", *key, " has two types or sizes");
  return {storage};
}

void attach_storages(Pickle& pickle, const std::vector<std::string_view>& bytes) {
  for (const PendingTensor& pending : pickle.tensors) {
    const StorageFacts& storage = pickle.storages[pending.storage];
    StridedTensor& tensor = *pending.tensor;
    const std::string_view all = bytes[pending.storage];
    with_place("a tensor does not fit its storage " + storage.key, [&] {
      // A tensor without elements may have any offset.
      const auto begin = static_cast<unsigned __int128>(pending.offset) * size_of(tensor.type);
      const bool is_empty =
          std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
      if (begin > all.size() && !is_empty)
        throw Error("it begins at byte ", static_cast<std::uint64_t>(begin), " of ", all.size());
      tensor =
          strided_tensor(tensor.type, std::move(tensor.shape), std::move(tensor.strides),
                         is_empty ? all.substr(0, 0) : all.substr(static_cast<std::size_t>(begin)));
    });
  }
}

}  // namespace dragoman
