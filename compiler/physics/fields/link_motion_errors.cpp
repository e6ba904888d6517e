#include "compiler/physics/fields/link_motion_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

Diagnostic link_momentum_type(Span span, const std::string& name, int n) {
  if (n > 1)
    return error("E0890", span,
                 fmt::format("the momentum of links of SU({0}) is of type su({0})", n),
                 fmt::format("of `{}`", name),
                 "a link moves along its group: its momentum is a matrix of the Lie algebra",
                 fmt::format("write gauge {}: SU({}), E: su({})", name, n, n));
  if (n == 1)
    return error("E0890", span, "the momentum of links of U(1) is real",
                 fmt::format("of `{}`", name), "a link of U(1) is exp(1i*angle)",
                 fmt::format("write gauge {}: U(1), E: real", name));
  return error(
      "E0890", span, "a field and its momentum are of one type", fmt::format("beside `{}`", name),
      "under `H`, a line of variables lists coordinate, momentum, coordinate, ..., links "
      "before their momentum",
      fmt::format("give the type of `{}` to both, or write gauge U: SU(n), E: su(n)", name));
}

Diagnostic momentum_shape(Span span, const std::string& momentum, const std::string& coordinate,
                          std::size_t components, std::size_t of_coordinate) {
  return error("E0707", span,
               fmt::format("`{}` is no momentum of `{}`: it has {} components, and `{}` has {}",
                           momentum, coordinate, components, coordinate, of_coordinate),
               "",
               "under `H`, a line of variables lists coordinate, momentum, coordinate, ..., and a "
               "momentum has the type of its coordinate",
               fmt::format("give `{}` the type of `{}`", momentum, coordinate));
}

Diagnostic not_of_algebra(Span span, const std::string& name, int n, const std::string& what) {
  return error("E0892", span, fmt::format("this matrix {}", what), fmt::format("`{}`", name),
               fmt::format("values of su({0}) are hermitian {0} x {0} matrices without a trace", n),
               "write 0 or such a matrix, for instance [[c, a - 1i*b], [a + 1i*b, -c]]");
}

Diagnostic which_links(Span span, const std::string& first, const std::string& second) {
  return error("E0893", span, "these are links of more than one gauge field", "",
               "a path is one of the links of one field",
               fmt::format("name them first: loop({}, i, j, -i, -j) or loop({}, i, j, -i, -j)",
                           first, second));
}

}  // namespace vphi::physics::errors
