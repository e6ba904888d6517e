// Values that stay in the registers of a thread during a launch of many steps.
//
// A thread has the same sites in every kernel of every step. If no kernel reads another site, what a
// thread writes is read by the same thread alone: its values are read before the first step, stay
// in registers, and are stored after the last one. The loop over the sites of a thread is unrolled
// for this, so they must be few. Order and operations are those of the loop through memory.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// Whether the kernel reads its own site alone, and sums over no pairs.
bool reads_own_site_alone(const kernel::Kernel& kernel);

class OwnSites {
 public:
  /// `persistent`: the kernel of the launch, with its stages; `groups`: those of an instance.
  OwnSites(const kernel::Kernel& persistent, const Dialect& dialect, std::int64_t groups);
  /// Whether values stay in registers. Otherwise the functions below give nothing.
  bool any() const { return number_ > 0; }
  /// Before the first step, and after the last one.
  Code load() const;
  Code store() const;
  /// For a stage, the names of its values, and its loop over the sites of a thread.
  Code names(const Job& job) const;
  Code loop(const Job& job, const Code& parameters, const Code& accumulate) const;

 private:
  Code each(const Code& lines) const;
  Code element(std::size_t array) const;

  const kernel::Kernel& kernel_;
  std::int64_t stride_ = 1;  ///< threads of all groups
  std::int64_t number_ = 0;  ///< sites of a thread at most
};

}  // namespace vphi::emit
