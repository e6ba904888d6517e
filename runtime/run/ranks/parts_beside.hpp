// Which parts of launches (program/parts.hpp) go into which queue of a device.
//
// Ends, and what fills the ghosts with their planes, go aside; the rest is computed meanwhile, and
// the next launch begins after both. So an exchange of planes costs no time as long as it takes
// less than the rest.
#pragma once

#include <vector>

#include "program/parts.hpp"
#include "runtime/device/lanes.hpp"

namespace vphi::runtime {

bool has_parts(const program::Program& program, const std::vector<program::Launch>& list);

class PartsBeside {
 public:
  /// Both must outlive it. Null: all goes into one queue, in the order of the list. Whatever fills
  /// ghosts must then be work of the device's queues too, so that it goes where the ends are.
  PartsBeside(const program::Program& program, Lanes* lanes) : program_(program), lanes_(lanes) {}

  /// After what the launches before wanted of other ranks is queued, and before the launch is.
  void before(const program::Launch& launch);
  /// After the launch is queued.
  void after(const program::Launch& launch);

 private:
  program::Part part(const program::Launch& launch) const;

  const program::Program& program_;
  Lanes* lanes_;
  bool aside_ = false;  ///< ends were queued whose rest was not
};

}  // namespace vphi::runtime
