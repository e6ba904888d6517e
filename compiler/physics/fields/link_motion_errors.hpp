// Messages about links of SU(n) under a written Hamiltonian.
#pragma once

#include <cstddef>
#include <string>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// `name`: the coordinate. `n`: rows of the matrices of its links; 0: it has none.
Diagnostic link_momentum_type(Span span, const std::string& name, int n);
/// E0707: the name behind a coordinate has another number of components.
Diagnostic momentum_shape(Span span, const std::string& momentum, const std::string& coordinate,
                          std::size_t components, std::size_t of_coordinate);
/// `what`: "has a trace".
Diagnostic not_of_algebra(Span span, const std::string& name, int n, const std::string& what);
Diagnostic which_links(Span span, const std::string& first, const std::string& second);

}  // namespace vphi::physics::errors
