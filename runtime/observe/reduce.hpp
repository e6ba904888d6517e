// From the arrays of one output to what is written.
//
// A FieldOutput names the arrays that its launches filled; `reduce` makes the table, map or array
// of it, with its columns and axes, ready for io::ResultFile, by the file of its kind
// (kinds/kind.hpp). Pure, in f64, on the host: an array is copied from the device once for an
// output.
#pragma once

#include <functional>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

/// `scalars`: the scalar block. Snapshots keep the precision of their buffer.
io::Table reduce(const program::Program& program, const program::FieldOutput& field,
                 const ReadBuffer& read, const std::vector<double>& scalars, int threads);

/// The arrays that a transform changes, read, changed and written back.
void apply(const program::Program& program, const program::Transform& transform,
           const ReadBuffer& read,
           const std::function<void(int, const std::vector<double>&)>& write, int threads);

}  // namespace vphi::observe
