#include "extras/formats/name_table.h"

#include "base/error.h"

namespace dragoman {

std::string their_name(std::span<const NamePair> table, std::string_view ours) {
  constexpr std::string_view kLayers = ".layers.", kDigits = "0123456789";
  std::string pattern(ours);
  std::string_view number;
  if (const std::size_t layers = ours.find(kLayers); layers != ours.npos) {
    const std::string_view rest = ours.substr(layers + kLayers.size());
    number = rest.substr(0, rest.find_first_not_of(kDigits));
    pattern = join_text(ours.substr(0, layers), kLayers, "#", rest.substr(number.size()));
  }
  const NamePair* best = nullptr;
  for (const NamePair& pair : table)
    if (pattern.starts_with(pair.ours) && (best == nullptr || pair.ours.size() > best->ours.size()))
      best = &pair;
  if (best == nullptr) throw Error("no name is known for ", ours);
  std::string theirs = std::string(best->theirs) + pattern.substr(best->ours.size());
  const std::size_t at = theirs.find('#');
  if (at == theirs.npos) return theirs;
  return join_text(theirs.substr(0, at), number, theirs.substr(at + 1));
}

void take_parameters(ForeignModel& model, ForeignTensors& tensors,
                     std::span<const NamePair> table) {
  for (const ParameterShape& parameter : parameter_shapes(model.config))
    if (!parameter.name.starts_with("positions."))
      model.parameters[parameter.name] =
          tensors.take(their_name(table, parameter.name), parameter.shape);
  tensors.check_all_taken();
}

}  // namespace dragoman
