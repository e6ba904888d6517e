#include "compiler/physics/chains/sampling_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/messages/error.hpp"
#include "dsl/messages/suggest.hpp"

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
          "the weight of one link is exp(re(tr(U*V))), with a V that does not depend on U, only if "
          "the action is a sum of traces of loops times fixed numbers",
          "write the action as such a sum"),
      sample, "sampled here");
}

Diagnostic loops_of_made_links(Span span, const std::string& links) {
  return error(
      "E0771", span,
      fmt::format("loops of `{}` cannot stand here: a definition makes these links", links), "",
      "an update of one link, a flow and an exponent know the loops of their own links "
      "alone; trajectories carry forces through definitions of links",
      "take loops of the links of `gauge`; of an action also sample hmc, trajectories = N, "
      "tau = 1 { level S: steps = 8, scheme = omelyan2 }");
}

Diagnostic determinant_of_local_update(Span span, const std::string& method, Span sample) {
  return with_label(
      error("E0771", span, fmt::format("`{}` cannot draw links of a determinant", method), "",
            "a determinant depends on all links at once, so that no link can be drawn by its "
            "neighbours alone; trajectories move all links together",
            "sample hmc, trajectories = N, tau = 1 { level S: steps = 8, scheme = omelyan2 }"),
      sample, "sampled here");
}

Diagnostic group_of_links(Span span, const std::string& group, const std::string& near) {
  return error("E0225", span, fmt::format("there are no links of {}", group), "",
               "links are in Z(2) to Z(64), U(1) and SU(2) to SU(8)",
               fmt::format("take one of these, for instance {}", near));
}

Diagnostic action_of_places(Span span) {
  return error("E0901", span,
               "coordinates beside neighbours in an action of fields are not there yet", "",
               "an action is varied at the neighbours too, where a coefficient must be that of the "
               "other site; what is stored at each site is known there",
               "store the coefficient: a line `w ~ 1 + index(x)/10`, say, and w where it stood");
}

Diagnostic kicks_without_solves(Span span, const std::string& option) {
  return error(
      "E0737", span, fmt::format("`{}` has nothing to say here", option), "",
      "a determinant below the line has no solves in kicks: alone it has S = |D phi|^2, beside one "
      "above the line it is solved once a trajectory, from 0",
      fmt::format("leave `{}` out", option));
}

Diagnostic determinant_without_links(Span span, const std::string& op) {
  Diagnostic d = error(
      "W0771", span, fmt::format("`{}` holds no links: its determinant is a number", op),
      "the same weight for all links",
      "a determinant weighs links by the operator that holds them; this one adds a constant to the "
      "action",
      fmt::format("write hops with links into {}, U[mu]*psi@mu, or leave the action out", op));
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic action_of_reduction(Span span, const std::string& method) {
  return error("E0771", span, fmt::format("`{}` cannot draw with this action", method),
               "a reduction over sites, where a density is meant",
               "an action is a density: the weight is exp(-S) with S summed over the sites",
               "write what is summed, without `mean` or `total` around it");
}

Diagnostic field_without_action(Span span, const std::string& field, Span sample) {
  return with_label(
      error("E0779", span, fmt::format("no action holds `{}`", field),
            "each value of it would be as likely as any other",
            "a chain draws every field of the model with the weight exp(-S)",
            fmt::format("add an action that falls off where `{}` is large, or leave the field out",
                        field)),
      sample, "sampled here");
}

Diagnostic link_twice(Span span, const std::string& method, const std::string& loop,
                      const std::string& link, Span sample) {
  return with_label(
      error(
          "E0772", span,
          fmt::format("`{}` cannot draw links of this action: a loop passes a link twice", method),
          fmt::format("{} passes {} twice", loop, link),
          "the weight of one link is exp(re(tr(U*V))), with a V that does not depend on U, only if "
          "no loop passes U twice",
          "take a larger lattice where the loop closes around it, or another loop"),
      sample, "sampled here");
}

Diagnostic colouring_misfit(Span span, const gauge::Misfit& misfit, const std::string& members,
                            const std::string& shared, const std::string& of) {
  const std::string axis = algebra::kAxisNames[misfit.axis];
  const std::int64_t next = (misfit.extent / misfit.multiple + 1) * misfit.multiple;
  const std::string fix =
      misfit.shifted
          ? fmt::format(
                "take a multiple of {0} sites along {1}, and shifts of its end by "
                "multiples of {0} sites",
                misfit.multiple, axis)
          : fmt::format("take {} or {} sites along {}", next, next + misfit.multiple, axis);
  return error("E0773", span,
               fmt::format("{} sites along {}{} cannot be divided into colours that update at once",
                           misfit.extent, axis, misfit.shifted ? ", whose end is shifted," : ""),
               "",
               fmt::format("two {} of one colour share no {}; for {} that takes {} "
                           "colours, which close around an axis of a multiple of {} sites",
                           members, shared, of, misfit.colours, misfit.multiple),
               fix);
}

Diagnostic no_heatbath(Span span, const std::string& field, const std::string& why, Span sample) {
  return with_label(
      error("E0771", span, fmt::format("`heatbath` cannot draw `{}` with this action", field), "",
            fmt::format("a heatbath draws what has a known distribution: S is quadratic in a "
                        "number, a cosine of an angle or linear in a vector with a norm; here it "
                        "is {}",
                        why),
            "write `sample metropolis, sweeps = N, width = 1`, which takes any action, or `sample "
            "hmc`"),
      sample, "sampled here");
}

Diagnostic links_beside_field(Span span, const std::string& field, const std::string& method) {
  return error(
      "E0901", span,
      fmt::format("`sample {}` of links beside `{}` is not there yet", method, field), "",
      "heatbath, metropolis and overrelax update links alone or fields at sites alone; hmc "
      "draws both",
      "write `sample hmc, trajectories = N { level S: steps = 10, scheme = omelyan2 }`");
}

Diagnostic values_missing(Span span, const std::string& field) {
  return error("E0833", span, fmt::format("which whole numbers may `{}` be?", field), "",
               "a field of type int has one of a few values at each site, from which a chain draws",
               "write `field s: int, values = [-1, 1]` for Ising spins, `values = 0..q-1` for q "
               "states");
}

Diagnostic values_wrong(Span span, const std::string& field, const std::string& why) {
  return error("E0833", span, fmt::format("these are no values for `{}`", field), why,
               "`values` lists 2 to 64 different whole numbers between -2^20 and 2^20",
               "write for instance `values = [-1, 1]` or `values = 1..3`");
}

Diagnostic values_of_type(Span span, const std::string& field) {
  return error("E0833", span, fmt::format("`{}` has no list of values", field), "",
               "`values` is the list of whole numbers that a field of type int may have",
               "write `field s: int, values = [-1, 1]`, or leave `values` out");
}

Diagnostic norm_of_type(Span span, const std::string& field) {
  return error("E0833", span, fmt::format("`{}` has no length to keep", field), "",
               "`norm` is the length of a real vector of at least two components",
               "write `field n: vec(3), norm = 1`, or leave `norm` out");
}

Diagnostic constrained_outside_of_chain(Span span, const std::string& field,
                                        const std::string& option) {
  return error(
      "E0833", span, fmt::format("`{}` of `{}` is kept by chains alone", option, field), "",
      "an equation of motion moves every number; updates of `sample` leave values among those of "
      "`values` and vectors at their `norm`",
      fmt::format("write `action S = ...` and `sample metropolis, sweeps = N`, or leave `{}` out",
                  option));
}

Diagnostic roots_outside_of_chain(Span span, const std::string& links, int roots) {
  return error(
      "E0833", span,
      fmt::format("links `{}` of Z({}) are moved by updates of `sample` alone", links, roots), "",
      fmt::format("a link is one of the {} roots of unity; an equation of motion and "
                  "trajectories turn it by small angles",
                  roots),
      "write `sample heatbath, sweeps = N`, or declare `U(1)`");
}

Diagnostic signs_without_mirror(Span span, const std::string& links, Span sample) {
  return with_label(
      error("E0833", span, fmt::format("links `{}` of Z(2) have no overrelaxation", links), "",
            "it mirrors the roots at the phase of the staples, which is that of a sign: each sign "
            "is its "
            "own image",
            "write `sample heatbath, sweeps = N` without overrelax"),
      sample, "sampled here");
}

Diagnostic start_not_a_root(Span span, const std::string& links, int roots) {
  return error("E0832", span, fmt::format("`{}` cannot start like this", links), "",
               fmt::format("a link of Z({}) is one of the {} roots of unity", roots, roots),
               fmt::format("write `init {0} ~ hot`, `init {0} ~ cold` or `init {0} = 1`", links));
}

Diagnostic noise_of_trajectory(Span span, const std::string& spinor) {
  return error("E0901", span, fmt::format("such a start of `{}` in `hmc` is not there yet", spinor),
               "",
               "each trajectory draws a spinor anew that starts `~ normal`; one that starts as a "
               "formula stays as it is",
               fmt::format("write init {0} ~ normal, and factors where {0} is used", spinor));
}

Diagnostic option_of_roots(Span span, const std::string& option, int roots) {
  return error("E0774", span, fmt::format("`{}` means nothing to links of Z({})", option, roots),
               "",
               "a sweep of such links takes sweeps; metropolis also hits: a proposal is any root, "
               "each as likely",
               fmt::format("leave `{}` out", option));
}

Diagnostic constrained_in_trajectory(Span span, const std::string& field, bool discrete) {
  return error(
      "E0833", span,
      fmt::format("`hmc` cannot move `{}`, which has {}", field,
                  discrete ? "discrete values" : "a fixed length"),
      "",
      discrete
          ? "trajectories follow the derivative of the action, which discrete values do not have"
          : "trajectories move every component of a field freely",
      discrete ? "write `sample heatbath, sweeps = N`"
               : "write `sample metropolis, sweeps = N, width = 1`; or a free vec(n) `s` with "
                 "`action S = norm2(s)/2 + ...` of e = s/sqrt(norm2(s)) alone");
}

Diagnostic start_not_a_value(Span span, const std::string& field,
                             const std::vector<std::int64_t>& values) {
  return error("E0832", span, fmt::format("`{}` cannot start like this", field), "",
               fmt::format("at every site it is one of {}, which is known of numbers, of `a if "
                           "condition else b` with such numbers, and of `hot`",
                           fmt::join(values, ", ")),
               fmt::format("write `init {0} = {1}`, or `init {0} ~ hot` for values that are all as "
                           "likely",
                           field, values.back()));
}

Diagnostic start_without_length(Span span, const std::string& field, int components) {
  std::string along = "1";
  for (int i = 1; i < components; ++i) along += ", 0";
  return error(
      "E0832", span, fmt::format("`{}` has no direction at the start", field), "",
      "the start gives the direction of a vector with a `norm`; 0 has none",
      fmt::format("write `init {0} ~ hot` for random directions, or a vector such as `init "
                  "{0} = [{1}]`",
                  field, along));
}

Diagnostic hot_without_norm(Span span, const std::string& field) {
  return error(
      "E0832", span, fmt::format("`{}` has too many values to be hot", field), "",
      "`hot` draws each value with the same probability: links of a group, an angle, a field with "
      "`values` or `norm`",
      "write ~ normal, or give the field a norm: `field n: vec(3), norm = 1`");
}

Diagnostic width_of_values(Span span, const std::string& field) {
  return error("E0774", span,
               fmt::format("`width` means nothing to the discrete values of `{}`", field), "",
               "a proposal is any other value of the list, each as likely", "leave `width` out");
}

Diagnostic option_of_links(Span span, const std::string& option) {
  return error("E0774", span, fmt::format("`{}` means nothing to a chain without links", option),
               "",
               "`reunitarise` is of link matrices; a sweep over sites takes sweeps and overrelax, "
               "a heatbath "
               "of angles and of vectors of two components also tries, metropolis hits and width",
               fmt::format("leave `{}` out", option));
}

Diagnostic width_missing(Span span, const std::string& field) {
  return error(
      "E0775", span, fmt::format("how far are proposals for `{}`?", field), "",
      "a proposal of metropolis adds a normal number times `width` to the value at a site; "
      "only the model knows the size of its values",
      "add width = 1, and choose it so that `accept` is about 0.5");
}

Diagnostic odd_action(Span span, const std::string& field, const std::string& axis, Span sample) {
  return with_label(
      error("E0771", span,
            fmt::format("`{}` cannot be antiperiodic along {} with this action", field, axis), "",
            "where fields change their sign at the edge, each term of the action must be the same "
            "with all their signs changed: a sum over sites has no place where the edge is then",
            fmt::format("write only even terms of `{}`, or leave `antiperiodic` out", field)),
      sample, "sampled here");
}

Diagnostic no_reflection(Span span, const std::string& field, const std::string& why, bool discrete,
                         Span sample) {
  return with_label(
      error(
          "E0771", span, fmt::format("`overrelax` cannot mirror `{}` with this action", field), "",
          fmt::format("overrelaxation changes a value and keeps the action, which is known where "
                      "the action is quadratic in a number, a cosine of an angle or linear in a "
                      "vector with a norm; here it is {}",
                      why),
          discrete ? "write `sample heatbath, sweeps = N, overrelax = 1`: a value takes the place "
                     "of the next one in the order of their actions there"
                   : "write `sample metropolis, sweeps = N, width = 1` without overrelax"),
      sample, "sampled here");
}

Diagnostic sample_option(Span span, const std::string& option, const std::string& method) {
  return error("E0774", span, fmt::format("`{}` means nothing to `sample {}`", option, method), "",
               "a sweep of heatbath takes sweeps, overrelax, tries and reunitarise; of metropolis "
               "also hits and width; of overrelax sweeps and reunitarise; hmc takes trajectories, "
               "tau and levels; all take exchange and exchange_every",
               option == "sweeps"         ? "write trajectories = N, the length of a chain of hmc"
               : option == "trajectories" ? "write sweeps = N, the length of such a chain"
                                          : fmt::format("leave `{}` out", option));
}

Diagnostic action_without_axis(Span span, const std::string& axis, Span sweep) {
  return with_label(
      error("E0774", span, fmt::format("no action depends on `{}`", axis), "",
            "configurations are exchanged between instances with different actions, with a "
            "probability that follows from their difference",
            "name a sweep over a coupling of the action, for instance sweep beta = linspace(1, 2, "
            "8) with exchange = beta"),
      sweep, "swept here");
}

Diagnostic sweeps_missing(Span span) {
  return error("E0775", span, "how many sweeps?", "",
               "a chain of single updates ends after a number of sweeps over the lattice",
               "add sweeps = 1000");
}

Diagnostic trajectories_missing(Span span) {
  return error("E0775", span, "how many trajectories?", "",
               "a chain of trajectories ends after a number of them", "add trajectories = 1000");
}

Diagnostic action_without_level(Span span, const std::string& action) {
  return error(
      "E0776", span, fmt::format("no level integrates the action `{}`", action), "",
      "each action belongs to one level of `sample hmc`, from the outer ones with few steps "
      "to the inner one that moves the links",
      fmt::format("add level {}: steps = 10, scheme = omelyan2", action));
}

Diagnostic level_twice(Span span, const std::string& action) {
  return error("E0776", span, fmt::format("the action `{}` has a level already", action), "",
               "each action belongs to one level of `sample hmc`", "leave one of them out");
}

Diagnostic level_without_scheme(Span span) {
  return error(
      "E0776", span, "this level has no integrator", "",
      "a level moves by a composition of kicks and drifts, a text of the library or of the "
      "model",
      "add for instance scheme = omelyan2");
}

Diagnostic of_no_trajectory(Span span, const std::string& what) {
  return error("E0819", span, fmt::format("`{}` of an action belongs to trajectories", what), "",
               "the action has rounds and a force where a level of `sample hmc` integrates it, and "
               "they are known after a trajectory",
               "read it in an output or an `expect` of a model with `sample hmc`");
}

Diagnostic action_without_solves(Span span, const std::string& what, const std::string& action,
                                 Span declared) {
  return with_label(
      error("E0819", span, fmt::format("`{}` solves no linear system", action), "",
            fmt::format("`{}` is that of the solves of a determinant", what),
            fmt::format("force({}) is there for every action; write {} of one that is a "
                        "`pseudofermion`",
                        action, what)),
      declared, "defined here");
}

Diagnostic action_without_fraction(Span span, const std::string& what, const std::string& action,
                                   Span declared) {
  return with_label(
      error("E0819", span, fmt::format("no eigenvalue is known of `{}`", action), "",
            fmt::format("`{}` is that of D adj(D), which a determinant with a fraction as its "
                        "power compares with its range",
                        what),
            fmt::format("write {} of an action pseudofermion(D, range = [low, high])^(1/2)", what)),
      declared, "defined here");
}

Diagnostic action_without_logarithm(Span span, const std::string& action, Span declared) {
  return with_label(
      error("E0819", span, fmt::format("`{}` has no log|det R|", action), "",
            "with fields at odd sites R, the part of D at even sites, is a factor of the weight of "
            "its own; it differs between links where it holds loops of them",
            "write logdet of an action pseudofermion(D, even_odd = on) whose D has a clover term"),
      declared, "defined here");
}

Diagnostic no_halves(Span span, const std::string& op, const std::string& why,
                     const std::string& otherwise) {
  return error("E0818", span, fmt::format("`{}` does not part into even and odd sites", op), why,
               "D = R + H, where R is at the site (a + b gamma5, of determinants also loops of "
               "links) and every term of H leads to the other parity, in a box that is even along "
               "its hops: then det D is det R at even "
               "sites times the determinant of R - H R^-1 H at odd ones",
               fmt::format("leave `even_odd = on` out: {}", otherwise));
}

Diagnostic fraction_of_determinant(Span span, const std::string& problem, const std::string& fix) {
  return error(
      "E0817", span, problem, "",
      "|det D|^(2p) with a fraction p takes a rational function of D adj(D), and the solver "
      "solves for all of its poles together",
      fix);
}

Diagnostic no_composition(Span span, const std::string& integrator,
                          const std::vector<std::string>& fitting) {
  return error(
      "E0777", span,
      fmt::format("`{}` is not a symmetric composition of kicks and drifts", integrator), "",
      "a level of a trajectory moves links and momenta in turn: only then it is reversible "
      "and keeps volumes, and the chain is exact",
      fitting.empty() ? std::string("write one, as the library's leapfrog")
                      : "take " + dsl::enumerate(fitting));
}

namespace {

constexpr const char* kFlowRule =
    "links flow along the gradient of a sum of traces of loops: U' = -d(S, U), or a sum of such "
    "gradients times fixed numbers";

}  // namespace

Diagnostic no_configuration(Span span, const std::string& name) {
  return error("E0831", span, fmt::format("the gauge configuration {} is not there", name), "",
               "an ILDG or NERSC file is found from the model's folder",
               "check the name, write the path from the folder of the model, or start from "
               "`cold` or `~ hot`");
}

Diagnostic flow_not_of_loops(Span span, const std::string& why) {
  return error("E0778", span, "links cannot flow along this", why, kFlowRule,
               "write U' = -d(S, U) with S = 2*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)");
}

Diagnostic links_not_carried(Span span, const std::string& why) {
  return error("E0778", span, "the force is not carried through this exponent", why,
               "in an action the exponent of V[mu] = exp(A)*U[mu] is a sum of gradients of loops "
               "times fixed numbers",
               "write A as -rho*d(S, U[mu]) with S = 2*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu "
               "< nu)");
}

Diagnostic projection_not_carried(Span span, const std::string& links, const std::string& why) {
  return error(
      "E0778", span, fmt::format("the force is not carried through the projection `{}`", links),
      why,
      "in an action M of V[mu] = project(M) is a sum of products of links from the site to "
      "the next one, times fixed numbers",
      "write M as U[mu] + c*sum(path(nu, mu, -nu) + path(-nu, mu, nu), nu != mu)");
}

Diagnostic flow_without_direction(Span span) {
  return error("E0778", span, "which link does this carry a gradient to?",
               "links or neighbours stand in the right side",
               "a right side with links or neighbours is written for a direction",
               "write U[mu]' = ..., and U[mu] for the link, d(S, U[mu]) for its gradient");
}

Diagnostic flow_of_another_direction(Span span) {
  return error("E0778", span, "this is the gradient by another link", "",
               "in a sum of gradients each is that by the link which moves",
               "write d(S, U) in U' = ..., or d(S, U[mu]) in U[mu]' = ...");
}

Diagnostic flow_of_second_order(Span span, const std::string& links) {
  return error("E0778", span, fmt::format("the links `{}` have no equation of second order", links),
               "", kFlowRule,
               fmt::format("write {}' = -d(S, {}) for the gradient flow; sample hmc integrates "
                           "Hamilton's equations",
                           links, links));
}

Diagnostic gradient_not_here(Span span, const std::string& links) {
  return error(
      "E0778", span, fmt::format("the gradient by the links `{}` has no value here", links),
      "it lies in the algebra of their group",
      "d(S, U) stands in the equation of the links, and in V[mu] = exp(-rho*d(S, U[mu]))*U[mu]",
      fmt::format("write {}' = -d(S, {})", links, links));
}

Diagnostic flow_unstable(Span span, double dt, double most, double fastest, double limit) {
  return error(
      "E0301", span,
      fmt::format("dt = {:.6g} is above the stability limit {:.6g} of this flow", dt, most), "",
      fmt::format("the fastest wave about U = 1 decays as exp(-{:.5g}*t); the limit of the "
                  "integrator is {:.5g} divided by this rate",
                  fastest, limit),
      fmt::format("take dt = {} or less, or an integrator with a larger limit", below(most)));
}

}  // namespace vphi::physics::errors
