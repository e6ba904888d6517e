// A trajectory of hybrid Monte Carlo, as `sample hmc` describes it to the schedule.
//
// A System carries it as a chain's other updates, by their place, with its numbers among the
// options of its integrator, the `sample` clause; `put_trajectory` and `trajectory_of` alone know
// how. Nothing here fails.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// Every update is of all sites.
struct Trajectory {
  /// One action with its integrator; `steps` of it for each drift of the level outside.
  struct Level {
    std::string shown;  ///< of the action
    std::int64_t steps = 1;
    std::string scheme;         ///< name of a library or model text
    std::vector<Update> kicks;  ///< of momenta, by the length in `kLength`; at least one
    dsl::Span span;
  };
  struct Memory {
    int array = 0;
    std::string name;
    bool wide = false;  ///< f64 whatever the fields are
  };
  double length = 1;           ///< tau
  std::vector<Level> levels;   ///< from outer to inner
  std::vector<Memory> memory;  ///< arrays beside the links
  Update refresh, begin, drift, close;
  Expr increase;  ///< of H, of each site, since `begin`
  Expr draw;      ///< a uniform number of each site; that of the first one is taken
  static constexpr const char* kLength = "flow_length";
  static constexpr const char* kAccept = "accept";
  static constexpr const char* kAccepted = "accepted";  ///< how many, since the start
  static constexpr const char* kDelta = "deltaH";
};

/// `system.sampling` is there.
void put_trajectory(System& system, Trajectory trajectory);
/// Nothing where the chain is another one.
std::optional<Trajectory> trajectory_of(const System& system);

}  // namespace vphi::physics
