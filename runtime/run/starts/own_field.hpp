// The part of a rank in the random fields of a lattice that ranks share, drawn by the ranks
// themselves: no rank holds the field of the whole lattice. The numbers are those of
// `random_fields`, to the last bit.
#pragma once

#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"

namespace vphi::runtime {

/// Whether ranks draw it: numbers by site always, waves where they transform boxes together. What
/// is read from a file is not drawn. The same on all ranks.
bool drawn_by_ranks(const program::Program& of_rank, const program::RandomField& field, int ranks);

/// Whether ranks transform a box of the lattice together: one with several planes, where the
/// transform of shares has the bits of the whole. Else one of them has to have it whole. The same
/// on all ranks.
bool transformed_by_ranks(const program::Program& of_rank, int ranks);

/// The field at this rank's own sites, x fastest. Called by all ranks. Precondition:
/// drawn_by_ranks. Throws CommError, and RunError as `random_fields`.
std::vector<double> own_field(const program::Program& of_rank, const program::RandomField& field,
                              comm::Comm& comm, int threads);

}  // namespace vphi::runtime
