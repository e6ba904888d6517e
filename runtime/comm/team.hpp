// Ranks that are threads of one process.
//
// They copy from each other's memory between two barriers. A rank that waits sleeps, and an abort
// wakes it. A team of one is a run that nobody shares.
#pragma once

#include <memory>

#include "runtime/comm/comm.hpp"

namespace vphi::comm {

class Team {
 public:
  explicit Team(int size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const;
  /// The end of a rank, for one thread. The team must outlive it.
  std::unique_ptr<Comm> comm(int rank);

 private:
  struct Shared;
  class Member;
  std::unique_ptr<Shared> shared_;
};

}  // namespace vphi::comm
