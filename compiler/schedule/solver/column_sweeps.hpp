// Sweeps of several right sides that share nothing, divided where they are too wide.
//
// The sweeps of a round hold all right sides of a go, which pays where they share what the operator
// reads. A sweep that only updates their fields shares nothing. Where it stores more values than a
// thread holds, its stores are divided among kernels that have no array in common; nothing is read
// more often.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

/// `loops` with such sweeps divided. `columns`: right sides in them; 1: nothing is changed.
SiteLoops narrower(SiteLoops loops, std::size_t columns, const Storage& storage);

}  // namespace vphi::schedule
