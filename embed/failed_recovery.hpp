// What keeps `recover` from finding the primitive variables of a site (E0808), in words.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"

namespace vphi::embed {

/// An expression of quantities and recovered values at the site, with these recovered values by
/// array.
using AtSite = std::function<double(algebra::Expr, const std::map<int, double>&)>;

/// Lines that begin with "\n   = ": of each equation of `solve` that is not solved by how much it
/// is off, how a run solves it and what limits that (a bound of the text, the number of iterations,
/// or that more of them do not help); where all are solved, the first value that is not finite.
/// `sound` and `holds`: Conservation::sound, and Solved::holds of each, with their largest values
/// as numbers.
std::string failed_recovery(const dsl::Resolved& model, const physics::System& system,
                            const AtSite& at, algebra::Expr sound,
                            const std::vector<algebra::Expr>& holds,
                            const std::map<int, double>& recovered);

}  // namespace vphi::embed
