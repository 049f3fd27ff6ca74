// Who this process is among those that train together: its rank, from torchrun's environment
// variables or Slurm's, and the introduction by which the ranks know each other when they meet.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// One process is rank 0 of 1.
struct RankInfo {
  int rank = 0, size = 1;
  int local_rank = 0;       ///< among the ranks of this host
  int local_size = 1;       ///< ranks of this host, which divide its cores; 1 if not known
  std::string master_host;  ///< where rank 0 is reached
  int master_port = 0;
  bool launcher_serves_store = false;  ///< torchrun itself serves the store at that port
  std::string attempt = "0";           ///< torchrun's count; it starts failed ranks again
};

/// Looks up a variable; empty if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT if RANK or
/// WORLD_SIZE is set; else, in a step of srun, SLURM_PROCID, SLURM_STEP_NUM_TASKS and
/// SLURM_LOCALID, with the first host of the step as the master and a port made of the job's
/// number. Without either this is the only process. Throws UsageError naming a variable that is
/// missing or makes no sense.
RankInfo rank_info(const Environment& environment);

/// The first host of a list as Slurm writes it: "node[03-05,07],login" is "node03".
std::string first_host(const std::string& list);

/// The facts about a rank that the ranks exchange when they meet.
struct RankIntroduction {
  std::string name;     ///< "rank 1 (host b, process 4711)"
  std::string machine;  ///< the same for all ranks that see the same processes
  std::string process;
  std::string address;  ///< numeric, of the interface that leads to rank 0
  std::string rank_0;   ///< numeric, of rank 0 as this rank knows it
};

/// Throws Error if the name of rank 0's host leads to no address.
RankIntroduction introduction_of_this(const RankInfo& info);
std::string to_text(const RankIntroduction& introduction);
RankIntroduction introduction_from_text(const std::string& text);

/// The address by which the other ranks reach this one. A loopback address serves only if all ranks
/// are on one machine. Otherwise a rank on rank 0's machine has the address by which the others
/// know rank 0.
std::string reachable_address(const std::vector<RankIntroduction>& ranks, int rank);

/// Whether a process of this machine has ended.
bool has_ended(const std::string& process);

}  // namespace dragoman
