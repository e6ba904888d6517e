// Makes the result of an output from its arrays.
//
// A FieldOutput names the arrays that its launches filled; `reduce` makes its table, map or array
// with columns and axes for io::ResultFile, by the function of its kind (kinds/kind.hpp). Pure, in
// f64, on the host. An array is copied from the device once for an output.
#pragma once

#include <functional>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

/// `scalars`: the scalar block. Snapshots keep the precision of their buffer. `sums`: those that
/// ranks have made (kinds/kind.hpp: bin_sums); null: of the whole arrays.
io::Table reduce(const program::Program& program, const program::FieldOutput& field,
                 const ReadBuffer& read, const std::vector<double>& scalars, int threads,
                 const BinSums* sums = nullptr);

/// A part of a snapshot of all sites.
io::Table reduce_part(const program::Program& program, const program::FieldOutput& field,
                      const ReadBuffer& read, io::Table::Part part);

/// The same of an output between two moments (FieldOutput::in_time).
io::Table reduce_between(const program::Program& program, const program::FieldOutput& field,
                         const Arrays& before, const Arrays& now, int threads);

/// Reads the arrays of a transform, transforms them, and writes them back: at the own sites of
/// `fourier`, by all of its ranks.
void apply(const program::Program& program, const program::Transform& transform,
           const ReadBuffer& read, const std::function<void(int, std::vector<double>)>& write,
           fft::SharedTransform& fourier);
/// Of whole arrays.
void apply(const program::Program& program, const program::Transform& transform,
           const ReadBuffer& read, const std::function<void(int, std::vector<double>)>& write,
           int threads);

}  // namespace vphi::observe
