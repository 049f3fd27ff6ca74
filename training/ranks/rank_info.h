// The rank of this process among those that train together, from torchrun's environment variables
// or Slurm's.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace dragoman {

/// One process is rank 0 of 1.
struct RankInfo {
  int rank = 0, size = 1;
  int local_rank = 0;       ///< among the ranks of this host
  int local_size = 1;       ///< ranks of this host, which divide its cores; 1 where not known
  std::string master_host;  ///< where rank 0 is reached
  int master_port = 0;
  bool launcher_serves_store = false;  ///< torchrun itself serves the store at that port
  std::string attempt = "0";           ///< torchrun's count; it starts failed ranks again
};

/// Looks up a variable; empty where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT where RANK and
/// WORLD_SIZE are set; else, in a step of srun, SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID,
/// the first host of the step as the master, and a port made of the job's number. Without either it
/// is one process. Throws UsageError naming the variable that is missing or makes no sense.
RankInfo rank_info(const Environment& environment);

/// The first host of a list as Slurm writes it: "node[03-05,07],login" is "node03".
std::string first_host(const std::string& list);

}  // namespace dragoman
