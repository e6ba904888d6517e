// Buffers of one moment of a batch, read instance by instance: in one copy of all instances where
// that is not too large.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

class InstanceBuffers {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  ///< of a copy of all instances

  explicit InstanceBuffers(Session& session) : session_(session) {}

  /// The values of instance `i` of the batch, x fastest, as f64.
  std::vector<double> read(int buffer, std::int64_t i) {
    const program::Program& p = session_.program();
    const auto sites = static_cast<std::size_t>(p.sites());
    if (sizeof(double) * sites * static_cast<std::size_t>(p.instances) > kMostBytes)
      return session_.read(buffer, i);
    auto& all = whole_[buffer];
    if (all.empty()) all = session_.read(buffer);
    const auto from =
        all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * sites);
    return {from, from + static_cast<std::ptrdiff_t>(sites)};
  }

 private:
  Session& session_;
  std::map<int, std::vector<double>> whole_;
};

}  // namespace vphi::runtime
