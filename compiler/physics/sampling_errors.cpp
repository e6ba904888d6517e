#include "compiler/physics/sampling_errors.hpp"

#include <fmt/format.h>

#include "dsl/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic action_not_invariant(Span span) {
  return error("E0770", span, "the action is not gauge invariant", "links along an open path",
               "links enter an action as traces of closed loops, which no gauge transformation "
               "changes",
               "write re(tr(loop(mu, nu, -mu, -nu))): the steps come back to where they began");
}

Diagnostic action_not_linear(Span span, const std::string& method, const std::string& why,
                             Span sample) {
  return with_label(
      error(
          "E0771", span, fmt::format("`{}` cannot draw links of this action", method), why,
          "the weight of one link is exp(re(tr(U*V))) with a V that holds no part of U only where "
          "the action is a sum of traces of loops times fixed numbers",
          "write the action as such a sum"),
      sample, "sampled here");
}

Diagnostic link_twice(Span span, const std::string& method, const std::string& loop,
                      const std::string& link, Span sample) {
  return with_label(
      error(
          "E0772", span,
          fmt::format("`{}` cannot draw links of this action: a loop passes a link twice", method),
          fmt::format("{} passes {} twice", loop, link),
          "the weight of one link is exp(re(tr(U*V))) with a V that holds no part of U only where "
          "no loop passes U twice",
          "take a larger lattice where the loop closes around it, or another loop"),
      sample, "sampled here");
}

Diagnostic colouring_misfit(Span span, const std::string& axis, std::int64_t extent,
                            std::int64_t multiple, int colours, const std::string& loops) {
  return error(
      "E0773", span,
      fmt::format("{} sites along {} cannot be parted into colours that update at once", extent,
                  axis),
      "",
      fmt::format("two links of one colour share no loop of the action; for {} that takes {} "
                  "colours, which close around an axis of a multiple of {} sites",
                  loops, colours, multiple),
      fmt::format("take {} or {} sites along {}", extent / multiple * multiple + multiple,
                  (extent / multiple + 2) * multiple, axis));
}

Diagnostic sample_option(Span span, const std::string& option, const std::string& method) {
  return error("E0774", span, fmt::format("`{}` means nothing to `sample {}`", option, method), "",
               "a sweep of heatbath takes sweeps, overrelax, tries and reunitarise; of metropolis "
               "also hits and width; of overrelax sweeps and reunitarise",
               fmt::format("leave `{}` out", option));
}

Diagnostic sweeps_missing(Span span) {
  return error("E0775", span, "how many sweeps?", "",
               "a chain of single updates ends after a number of sweeps over the lattice",
               "add sweeps = 1000");
}

}  // namespace vphi::physics::errors
