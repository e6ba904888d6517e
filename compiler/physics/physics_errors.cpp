#include "compiler/physics/physics_errors.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/messages/error.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

namespace {

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const auto near = dsl::suggest(name, known);
  return near ? fmt::format("did you mean `{}`?", *near) : std::string();
}

}  // namespace

// ---- what comes later --------------------------------------------------------------------------

Diagnostic not_yet(Span span, const std::string& what) {
  return error("E0901", span, fmt::format("{} is not yet in this version", what), "",
               "the model is understood, but this version cannot run it",
               "write the model without it");
}

// ---- numerics ----------------------------------------------------------------------------------

std::string below(double limit) {
  const double digit = std::pow(10, std::floor(std::log10(limit)) - 1);
  return fmt::format("{:.2g}", std::floor(limit / digit * (1 + 1e-12)) * digit);
}

Diagnostic unstable_step(Span span, double dt, double limit, const std::string& integrator,
                         const std::string& reason) {
  return error(
      "E0301", span,
      fmt::format("dt = {:.4g}*dx is above the stability limit {:.4g}*dx of {} with this Laplacian",
                  dt, limit, integrator),
      "", reason,
      fmt::format("take dt = {}*dx or less, or an integrator with a larger limit", below(limit)));
}

Diagnostic step_not_positive(Span span, double value) {
  return error("E0302", span, fmt::format("dt = {:.6g} is not a time step", value), "",
               "dt is a positive number, the physical step at a = 1", "write dt = 0.1*dx, say");
}

Diagnostic no_tolerance(Span span, const std::string& why, const std::string& fix) {
  return error("E0326", span, fmt::format("no step can be chosen by its error here: {}", why), "",
               "`tol` bounds the difference of two orders of one integrator, and a step beyond it "
               "is repeated with another length",
               fix);
}

Diagnostic lattice_shape(Span span, const std::string& what) {
  return error("E0303", span, fmt::format("the lattice has no such shape: {}", what), "",
               "a shape has one to four whole numbers of sites: 64^3, 24^3*48, [64, 32]",
               "write the number of sites along each axis");
}

Diagnostic odd_extent(Span span, const std::string& axis, std::int64_t extent, Span shape) {
  return with_label(
      error("E0303", span, fmt::format("{} sites along {} have no parity", extent, axis), "",
            "around a ring with an odd number of sites two neighbours are both even",
            fmt::format("take {} sites along {}, or leave `parity` out", extent + 1, axis)),
      shape, "the shape");
}

Diagnostic too_many_sites(Span span) {
  return error("E0303", span, "a lattice of more than 2^40 sites", "",
               "that is more than 10000^3; one number a site would take 8 TB",
               "fewer sites: `vphi check` prints the memory that a lattice takes");
}

Diagnostic no_lattice_to_shape(Span span, const std::string& count) {
  return error("E0303", span, "`--lattice` gives the shape of a lattice, and this model has none",
               "", "what a model is made of stands in its text",
               count.empty()
                   ? "leave --lattice out"
                   : fmt::format("for another number of particles: --set {}=4096", count));
}

Diagnostic spacing_not_positive(Span span) {
  return error("E0304", span, "the lattice spacing is not a positive number", "",
               "length and spacing are positive and fixed for a run", "write length = 10, say");
}

Diagnostic unresolved_promise(Span span, double bound, double least, bool single) {
  Diagnostic d = error(
      "W0311", span,
      fmt::format("{} cannot show a relative change as small as {:.2g}", single ? "f32" : "f64",
                  bound),
      fmt::format("rounding alone gives {:.1g}", least),
      "each term of a sum over N sites is rounded by itself: u/sqrt(N) of the sum is its noise",
      single ? "write precision real = f64, or a wider bound" : "write a wider bound");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic no_deviation(Span span, const std::string& why) {
  return error("E0322", span, "no field can be stored as a deviation here: " + why, "",
               "the field is P + d with P a homogeneous solution of its equation: both parts of a "
               "rate have to be known without cancellation",
               "leave out `store = deviation`, or compute in f64: precision real = f64");
}

// ---- units -------------------------------------------------------------------------------------

Diagnostic planck_mass_open(Span span) {
  Diagnostic d =
      error("W0602", span, "the Planck mass is taken as (8 pi G)^(-1/2) = 1", "",
            "the Friedmann equation needs a unit for energies", "say so: units reduced_planck");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic unknown_unit(Span span, const std::string& name) {
  return error("E0602", span, fmt::format("unknown unit `{}`", name), "",
               "units have a name space of their own", "write the number in base units");
}

// ---- equations ---------------------------------------------------------------------------------

Diagnostic no_equation(Span span, const std::string& name) {
  return error("E0701", span, fmt::format("`{}` has no equation of motion", name), "",
               "a variable has one equation: written, or from a potential or a Hamiltonian",
               fmt::format("write {}'' = ... or a potential that contains it", name));
}

Diagnostic two_equations(Span span, const std::string& name, Span first) {
  return with_label(error("E0702", span, fmt::format("`{}` has two equations of motion", name), "",
                          "one equation a variable", "remove one of them"),
                    first, "the first one");
}

Diagnostic equation_without_variable(Span span, const std::string& name) {
  return error("E0703", span,
               fmt::format("an equation of motion for `{}`, which is not a variable", name), "",
               "what moves is declared with `field` or `var`",
               fmt::format("write field {}: real", name));
}

Diagnostic pair_not_symmetric(Span span) {
  return error(
      "E0766", span, "this sum over k < l is not the same with k and l exchanged", "",
      "particles have no order: a sum over each pair once is a sum of a symmetric function",
      "write it symmetrically, or sum over all k, l");
}

Diagnostic no_series(Span method, Span pair, const std::string& function,
                     const algebra::NoSeries& reason, int most) {
  using Why = algebra::NoSeries::Why;
  std::string why, hint = "write `method = auto`: the sum over all pairs, O(N^2)";
  switch (reason.why) {
    case Why::NotADifference:
      why = "it is not a function of the difference of one variable of both bodies";
      break;
    case Why::NotPeriodic:
      why = "it does not repeat after 2*pi";
      break;
    case Why::Singular:
      why = "it is not finite everywhere";
      hint = "soften it, or write `method = auto`: the sum over all pairs, O(N^2)";
      break;
    case Why::Rough:
      why = reason.modes > 0 ? fmt::format("it needs {} modes, more than {}", reason.modes, most)
                             : fmt::format("it needs far more than {} modes", most);
      hint = "ask for less (a larger tolerance), soften it, or write `method = auto`";
      break;
    case Why::Open:
      why = fmt::format("it holds `{}`, which has another value in each instance or step",
                        reason.symbol);
      hint = fmt::format("fix `{}` with `param`, or write `method = auto`", reason.symbol);
      break;
  }
  Diagnostic d =
      error("E0767", method,
            fmt::format("the sum over pairs of {} is not separable: {}", function, why), "",
            "separable(tolerance) takes smooth functions of period 2*pi of the "
            "difference of an angle as Fourier series whose coefficients are fixed",
            std::move(hint));
  return pair.empty() ? d : with_label(std::move(d), pair, "this function");
}

Diagnostic matrix_shape(Span span, const std::string& file, const std::string& found,
                        std::int64_t needed) {
  return error("E0768", span,
               fmt::format("the matrix {} is {}, not {} x {}", file, found, needed, needed), "",
               "a matrix between particles has a row and a column for each of them",
               "write a file of that shape, or change the number of particles");
}

Diagnostic derived_without_source(Span span) {
  return error("E0731", span, "nothing is derived here", "",
               "`derived` stands for the equation that a potential gives",
               "write a potential, or the whole equation by hand");
}

Diagnostic canonical_order(Span span, const std::string& name) {
  return error("E0731", span, fmt::format("nothing of second order is derived for `{}`", name), "",
               "a Hamiltonian gives equations of first order, of coordinates and of momenta",
               "write the momentum's: p' = derived - gamma*p");
}

Diagnostic not_real(Span span, const std::string& what) {
  return error("E0732", span, fmt::format("{} is complex where a real number is needed", what), "",
               "potentials, energies, conditions and outputs are real",
               "take re(...), im(...), abs(...) or norm2(...)");
}

Diagnostic wrong_shape(Span span, const std::string& what) {
  return error("E0733", span, what, "", "vectors and matrices keep their shape in an expression",
               "check the components on both sides");
}

Diagnostic direction_compared(Span span) {
  return error(
      "E0797", span, "a direction is compared with something that is none", "",
      "directions are compared with axes (`mu == x`), with their numbers from 0 (`mu < 2`) "
      "and with each other; x by itself is a coordinate",
      "hand the function an index, as in `sum(f(mu), mu)`, or write the difference of two "
      "coordinates, `y - x == 0`");
}

Diagnostic not_fixed(Span span, const std::string& what) {
  return error("E0734", span, fmt::format("{} is not a fixed number", what), "",
               "it must be known before the run: from numbers, params and dx",
               what == "dt"
                   ? "one dt serves the whole run: take the smallest that it needs, such as "
                     "dt = 0.4*dx/umax with `param umax = 2` and `expect max(abs(u)) < umax`"
                   : "use params and numbers only");
}

Diagnostic swept_here(Span span, const std::string& what, const std::string& axis, Span declared,
                      bool free) {
  Diagnostic d =
      free
          ? error("E0423", span,
                  fmt::format("{} depends on `{}`, which is free, and is compiled", what, axis),
                  "any value",
                  "shapes, program units, dt and counts are part of the compiled program",
                  fmt::format("leave `{0}` out of the free names, or write it without `{0}`", axis))
          : error("E0423", span,
                  fmt::format("{} depends on `{}`, which is swept, and must be one number", what,
                              axis),
                  "many values",
                  "shapes, program units, dt and counts are the same for all values of a "
                  "sweep: the instances take their steps together",
                  fmt::format("write it without `{}`", axis));
  d.labels.push_back({declared, free ? "a free parameter" : "swept here"});
  return d;
}

Diagnostic not_positive(Span span, const std::string& what, double value) {
  return error("E0735", span, fmt::format("{} = {:.6g} is not positive", what, value), "",
               fmt::format("{} is a positive number", what), "check its sign");
}

Diagnostic negative_width(Span span, const std::string& what, double value) {
  return error(
      "E0735", span, fmt::format("{} of this distribution is {:.6g}, below 0", what, value), "",
      fmt::format("{} is a size: a positive number, or 0 where all values are the same", what),
      "check its sign");
}

Diagnostic bounds_reversed(Span span) {
  return error("E0735", span, "the second bound is below the first one", "",
               "uniform(low, high) fills the numbers from low to high", "exchange the bounds");
}

Diagnostic not_a_number(Span span, const std::string& what) {
  return error("E0736", span, fmt::format("{} has no finite value", what), "",
               "divisions by 0 and logarithms of 0 have none", "check the parameters");
}

Diagnostic unknown_name(Span span, const std::string& name) {
  return error("E0104", span, fmt::format("unknown name `{}`", name), "",
               "a name comes from the model, from a construct or from std", "check its spelling");
}

Diagnostic extreme_of_pairs(Span span, const std::string& what) {
  return error("E0901", span, fmt::format("`{}` over pairs of bodies is not there yet", what), "",
               "over pairs there are sums and means; over single bodies all reductions",
               "a steep mean bounds the largest: log(sum(exp(s*f), k < l))/s for `max(f, k < l)`, "
               "with -s for `min`");
}

Diagnostic not_given(Span span, const std::string& name, const std::string& doc) {
  return error("E0111", span, fmt::format("`{}` ({}) is not there in this model", name, doc),
               "the clauses of this model do not give it",
               "some names come with a clause only in some of its forms",
               "leave it out; the page of E0111 says which form gives it");
}

Diagnostic cycle(Span span, const std::string& name) {
  return error("E0710", span, fmt::format("`{}` is defined by itself", name), "",
               "definitions are facts; a cycle is allowed only through time",
               "write an equation of motion if it changes with time");
}

Diagnostic not_differentiable_by(Span span, const std::string& what) {
  return error("E0711", span, fmt::format("`d` cannot differentiate by {}", what), "",
               "the second argument is a variable, its conjugate, a component, a or an axis",
               "name the variable itself");
}

Diagnostic no_derivative_in_time(Span span, const std::string& what) {
  return error("E0712", span, fmt::format("{} has no time derivative here", what), "",
               "`'` follows a variable, or a defined name along the equations of motion",
               "name a variable that has an equation");
}

Diagnostic no_rate_of_links(Span span) {
  return error("E0712", span, "links that flow have no time derivative at a site", "",
               "along a flow of links, `'` is known of averages over the lattice alone",
               "name an average and take its derivative: E1 = mean(...), then E1'");
}

Diagnostic no_range(Span span, const std::string& index) {
  return error("E0713", span, fmt::format("the range of the index `{}` is open", index), "",
               "an index takes its range from what it indexes, or from `k = 1..8`",
               fmt::format("write {} = 1..8, say", index));
}

Diagnostic index_out_of_range(Span span, int index, int size) {
  return error("E0714", span, fmt::format("index {} is outside 0..{}", index, size - 1), "",
               "indices are whole numbers from 0", "check the index");
}

Diagnostic second_lattice(Span span, Span first) {
  return with_label(error("E0901", span, "a second lattice is not yet in this version", "",
                          "a model has one lattice", "remove one of them"),
                    first, "the first one");
}

Diagnostic no_lattice(Span span, const std::string& name) {
  return error("E0901", span,
               fmt::format("`{}` without a lattice is not yet in this version", name), "",
               "this version runs fields on a lattice", "write lattice box: 64^3, length = 10");
}

Diagnostic no_evolve(Span span) {
  return error("E0715", span, "nothing says how the fields evolve", "",
               "a model that runs has an `evolve` clause",
               "write evolve leapfrog, dt = 0.1*dx, until = t > 10");
}

Diagnostic unknown_integrator(Span span, const std::string& name,
                              const std::vector<std::string>& known) {
  return error("E0706", span, fmt::format("there is no integrator `{}`", name),
               suggestion(name, known), "integrators are text of the library or of the model",
               "evolve leapfrog fits every second-order equation without friction");
}

Diagnostic hamiltonian_not_total(Span span) {
  return error("E0709", span, "`H` is not a number", "",
               "a Hamiltonian is the sum of a density over all sites: H = total(...)",
               "write H = total(...)");
}

Diagnostic hamiltonian_odd(Span span, const std::string& name) {
  return error("E0707", span, fmt::format("`{}` has no partner", name), "",
               "under `H`, a line of variables lists coordinate, momentum, coordinate, ...",
               fmt::format("write field {0}, p_{0}: real", name));
}

Diagnostic two_sources(Span span, const std::string& name, Span first) {
  return with_label(
      error("E0719", span, "both a potential and a Hamiltonian give equations of motion",
            fmt::format("`{}`", name), "nothing is added to a written Hamiltonian",
            "put the potential into H, or remove H"),
      first, "the potential");
}

Diagnostic rescale_term(Span span, const std::string& why) {
  return error("E0720", span, fmt::format("`auto` finds no units from this term: {}", why), "",
               "auto(term) takes a single power of one field, such as m^2*phi^2/2",
               "write A, B and s");
}

Diagnostic rescale_option(Span span, const std::string& name) {
  return error("E0721", span, fmt::format("`rescale` knows no `{}`", name), "",
               "rescale takes A, B, s, r, form and auto(term)", "remove it");
}

Diagnostic rescale_canonical(Span span) {
  return error("E0738", span, "the canonical form has no power r and no friction to choose", "",
               "only psi = A*a^r*phi has a power r; canonical momenta hold the friction already",
               "write `form = rescaled`, or leave out `r` and `where no_friction`");
}

Diagnostic rescale_friction(Span span, double r, double s) {
  return error("E0739", span,
               fmt::format("r = {:.6g} and s = {:.6g} leave the friction {:.6g}*(a'/a)*psi'", r, s,
                           s - 2 * r + 3),
               "", "there is no friction where s = 2*r - 3",
               "give only one of r and s: the other one follows");
}

Diagnostic path_open(Span span) {
  return error("E0716", span, "this loop does not close", "",
               "`loop` is the product of links along a path that ends where it began",
               "write every direction as often with a minus as without, or `path(...)`");
}

Diagnostic not_gauge_invariant(Span span, double violation) {
  return error("E0717", span,
               fmt::format("H is not gauge invariant (by {:.3g} of its derivatives): no Gauss law",
                           violation),
               "", "`gauss` is the generator of the gauge transformations that leave H as it is",
               "give every difference of charged fields its link: U[i]*phi@i - phi");
}

Diagnostic metric_form(Span span) {
  return error("E0722", span, "this is not a metric", "",
               "metric frw(a), metric frw(a = t^(1/2)), metric minkowski or metric scale(1, 1, t)",
               "write metric frw(a)");
}

Diagnostic no_expansion(Span span, double density) {
  return error("E0723", span,
               fmt::format("the energy density at the start is {:.6g}: no Hubble rate", density),
               "", "H^2 = rho/3 needs a positive energy density", "check `init` and the potential");
}

Diagnostic not_scalar_output(Span span, const std::string& text) {
  return error("E0729", span, fmt::format("`{}` has a value at each site", text), "",
               "observables, conditions of a run and averages over time are made of single numbers",
               "write mean(...), max(...) or another reduction; slice(...) and snapshot(...) write "
               "a field whole");
}

Diagnostic not_site_output(Span span, const std::string& text) {
  return error("E0730", span, fmt::format("`{}` has no value at each site", text), "",
               "spectra, slices, snapshots and histograms take fields",
               "write it among the scalars");
}

Diagnostic option_value(Span span, const std::string& option, const std::string& expected) {
  return error("E0737", span, fmt::format("`{}` has no such value", option), "",
               fmt::format("`{}` takes {}", option, expected), "choose one of these");
}

Diagnostic no_source_derivative(Span span, const std::string& field) {
  return error("E0780", span,
               fmt::format("the derivative in the source of `{}` is not recognised", field), "",
               "the projector is built from the derivative of the source, which must be a sum of "
               "products of one derivative along each axis",
               "write the source with outer(grad(f), grad(f))");
}

Diagnostic table_file(Span span, const std::string& problem, int kind) {
  constexpr const char* kCodes[] = {"E0781", "E0782", "E0783", "E0784", "E0782", "E0782", "E0784"};
  constexpr const char* kRules[] = {
      "a table is a text of columns or a set of an HDF5 file, found from the model's folder",
      "every row of a table has the same number of columns, a set of an HDF5 file one or two "
      "axes, and all numbers are finite",
      "the arguments of a table ascend, and none is repeated",
      "a table has a value for every combination of its arguments",
      "the slowest axis of a set comes first: those of the lattice (one for bodies), after them "
      "those of a value, in front of them those that indices choose from; of a table its arguments",
      "values of tables are constants of the kernels: 2^20 at most, three for each pair of "
      "arguments "
      "with order = 3; a text has 64 MB at most, a set 2^23 numbers",
      "a periodic table holds a whole period, both ends included",
  };
  constexpr const char* kHints[] = {
      "check the name, or make one: rows of arguments and value in a text beside the model; "
      "\"name.txt:3\" names the third column, \"name.h5:set\" a set",
      "correct that row; in a text # starts a comment",
      "sort the rows by their argument and drop repetitions",
      "add the missing rows",
      "name a set of that shape, or write one: in h5py `f[\"e\"] = e` with e.shape as it is wanted",
      "keep every second argument, or write a fine table of the part that needs it and a coarse "
      "one of "
      "all, and name both: table(\"fine.txt\", \"coarse.txt\", ...)",
      "end the table with the values of its beginning",
  };
  return error(kCodes[kind], span, problem, "", kRules[kind], kHints[kind]);
}

Diagnostic force_jumps(Span span) {
  Diagnostic d =
      error("W0781", span, "the potential is made of straight lines", "",
            "the force is the slope of the table's lines and jumps at every argument, so "
            "no integrator keeps its order",
            "use order = 3, a monotone cubic");
  d.severity = dsl::Severity::Warning;
  return d;
}

}  // namespace vphi::physics::errors
