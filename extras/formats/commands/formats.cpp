// What the formats of other systems add to the programs.
#include "app/commands/extra.h"

namespace dragoman {

Command export_command();
Command import_command();

Extra formats_extra(const DeviceEngine&) {
  return {.commands = {export_command(), import_command()}};
}

}  // namespace dragoman
