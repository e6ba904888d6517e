#include "compiler/physics/tables/formula_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

Diagnostic formula_varies(Span span, const std::string& function, const std::string& what,
                          bool of_range) {
  const bool integral = function == "integral";
  if (of_range && !integral) {
    return dsl::error(
        "E0846", span,
        fmt::format("the formula of `{}` holds {}, the name of a range around it", function, what),
        "has another value at each place of that range",
        "the table is made once, while compiling: its formula holds the name of its own range, "
        "numbers and params",
        fmt::format(
            "let the argument hold `{0}`, as in `{1}(f(z), e - {0}, z = 0..1)`, or write the "
            "formula itself",
            what.substr(1, what.size() - 2), function));
  }
  return dsl::error(
      "E0846", span,
      fmt::format("the formula of `{}` holds {}, which is not known while compiling", function,
                  what),
      "varies in the run",
      integral ? "without `points` an integral is a number, of numbers and params"
               : "the table is made while compiling: its formula holds the name of the range, "
                 "numbers and params",
      integral ? "write `points = 32`, the number of Gauss points, at which the run evaluates it"
      : function == "inverse"
          ? "let `recover` solve for it, `solve T by newton`, or divide out what varies"
          : "write the formula itself");
}

Diagnostic formula_unfit(Span span, const std::string& function, const Unfit& why,
                         const std::string& place) {
  switch (why.why) {
    case Unfit::Why::NotFinite:
      return dsl::error("E0847", span,
                        fmt::format("the formula of `{}` is not finite at {}", function, place), "",
                        "it has a value and a slope everywhere in its range",
                        "leave that place out of the range");
    case Unfit::Why::Turns:
      return dsl::error(
          "E0847", span,
          fmt::format("the formula of `{}` neither rises nor falls at {}", function, place), "",
          "a function has an inverse where it rises everywhere, or falls",
          "end the range there, or begin it behind");
    case Unfit::Why::Rough:
      break;
  }
  const bool integral = function == "integral";
  return dsl::error(
      "E0847", span,
      integral ? fmt::format("the integral is off by {:.2g} near {}", why.error, place)
               : fmt::format("the formula of `{}` is not met to `tol` near {}", function, place),
      "",
      integral ? "an integral is halved until its parts are known to 1e-13"
               : fmt::format("a table has at most {} pieces, and the slope of each is known to "
                             "100 `tol`",
                             kMostPieces),
      integral ? "leave out of the range where the formula grows without bound, or split the "
                 "integral there"
               : "make the range shorter, split it where the formula has a kink, or write a "
                 "larger `tol`");
}

}  // namespace vphi::physics::errors
