#include "dsl/words/clauses.hpp"

#include <map>
#include <sstream>

#include "dsl/messages/suggest.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::dsl {

namespace {

constexpr std::string_view kLinkBoundaries = "periodic open fixed";
constexpr std::string_view kBoundaries =
    "periodic antiperiodic twisted fixed neumann outflow absorbing shifted";

constexpr OptionRule kLattice[] = {
    {"length",
     "side of the box along x, or a list with one for each axis; sites lie equally far apart along "
     "all axes",
     Takes::Lengths},
    {"spacing", "distance of neighbouring sites, in place of the length", Takes::Lengths},
    {"boundary",
     "what lies beyond the edges, `periodic` where nothing is said; a list has one for each axis, "
     "`boundary(y) = fixed(1)` is of one. `boundary(y) = shifted(x = 3)`: beyond the last site "
     "along y lies the first, 3 sites further along x",
     Takes::Call, kBoundaries},
    {"parity", "order of the sites in memory", Takes::Word, "even_odd lexicographic"},
};
constexpr OptionRule kField[] = {
    {"boundary",
     "what lies beyond the edges for these fields, the lattice's where nothing is said; a list or "
     "`boundary(y) = ...` as there. `twisted(angle)`, of complex fields: what is read beyond the "
     "last site is multiplied by exp(1i*angle)",
     Takes::Call, kBoundaries},
    {"store",
     "what is kept of a field: its value, or its deviation from a homogeneous solution in f64 "
     "(deviation). Nothing said: in f32 the deviation where `init` draws numbers about a mean and "
     "the equations allow it, else the value",
     Takes::Word, "value deviation"},
    {"values",
     "of an `int` field: the whole numbers that it may have at a site, which a chain draws from; "
     "[-1, 1] or 0..q-1",
     Takes::Values},
    {"norm", "of a vec(n): its length at every site, which a chain keeps", Takes::Positive}};
constexpr OptionRule kFermion[] = {
    {"boundary",
     "what lies beyond the edges for these spinors, where it is not the lattice's: "
     "`twisted(angle)` "
     "multiplies what is read beyond the last site by exp(1i*angle)",
     Takes::Call, "periodic antiperiodic twisted"},
    {"basis", "of the gamma matrices", Takes::Word, "chiral dirac degrand_rossi"},
};
constexpr OptionRule kGauge[] = {
    {"store", "how much of a link matrix is kept: all, or rows from which the rest follows",
     Takes::Call, "full rows"},
    {"boundary",
     "what lies beyond the edges: `open` leaves out the links from the last sites to the first; "
     "with "
     "`fixed` the links within the first and the last sites stay as well, as `init` has them",
     Takes::Call, kLinkBoundaries},
};
constexpr OptionRule kMetric[] = {
    {"rho_r", "energy density of radiation beside the fields, at a = 1", Takes::Number},
    {"rho_m", "energy density of matter beside the fields, at a = 1", Takes::Number},
    {"energy",
     "beside conservation laws: the law that loses the work of its momentum's stress where scale "
     "factors change with t; with frw(a) it expands the box; of several fluids a list",
     Takes::Laws},
    {"momentum",
     "the momentum whose stress does the work that `energy` loses; of several fluids a list in "
     "the same order",
     Takes::Laws}};
constexpr OptionRule kRescale[] = {
    {"A", "fields are stored as A*phi", Takes::Positive},
    {"B", "lengths are stored as B*x", Takes::Positive},
    {"s", "steps are equal in d(eta) = B*a^s*dt", Takes::Number},
    {"r", "power of a that the stored field carries, with form = rescaled", Takes::Number},
    {"form", "canonical momenta, or the rescaled field and its derivative", Takes::Word,
     "canonical rescaled"},
};
constexpr OptionRule kEvolve[] = {
    {"dt", "step of physical time at a = 1; with `tol` the first step and the longest",
     Takes::Positive, "", true, "add for instance dt = 0.1*dx", "tol"},
    {"until",
     "the run ends where this first holds: with t >= 10 at 10, with t > 10 a step later (with "
     "`tol` at 10)",
     Takes::Condition},
    {"tol",
     "each step is as long as its estimated error allows: at most tol times the largest value of "
     "each field",
     Takes::Positive},
    {"floor", "with `tol`: added to the largest values, in program units", Takes::Positive},
    {"launch",
     "a launch takes as many steps as outputs allow (auto; group, groups: by one group of a GPU's "
     "threads an instance, by groups that wait for each other), or one step at most",
     Takes::Word, "auto step group groups"},
    {"together",
     "steps that one pass over memory makes: 1 is a pass for each; without it the counts of the "
     "kernel and the device decide",
     Takes::Count},
};
constexpr OptionRule kSample[] = {
    {"trajectories", "number of trajectories", Takes::Count},
    {"sweeps", "number of sweeps over the lattice", Takes::Count},
    {"overrelax", "overrelaxation steps for each update", Takes::Count},
    {"tries", "proposals of a heatbath for each subgroup; where none is accepted, nothing changes",
     Takes::Count},
    {"hits", "proposals of metropolis in a sweep, for each link (4) or site (1)", Takes::Count},
    {"width", "size of a proposal of metropolis", Takes::Positive},
    {"reunitarise", "sweeps after which links are brought back into their group", Takes::Count},
    {"tau", "length of a trajectory", Takes::Positive},
    {"exchange", "the sweep along which neighbours exchange their configurations", Takes::Axes},
    {"exchange_every", "sweeps, or trajectories, between two exchanges (1)", Takes::Count},
};
constexpr OptionRule kLevel[] = {
    {"steps", "steps of this level for each drift of the level outside", Takes::Count, "", true,
     "add for instance steps = 4"},
    {"scheme", "its integrator", Takes::Word, ""},
};
constexpr OptionRule kRelax[] = {
    {"time", "in it the distance to the target falls by a factor of e", Takes::AtSite, "", true,
     "add time = ..."},
    {"along", "the velocity that carries the variable; without it, it stays where it is",
     Takes::Vector},
};
constexpr OptionRule kSolve[] = {
    {"tol", "largest change of the last iteration", Takes::Positive},
    {"max", "iterations at most", Takes::Count},
    {"start", "first guess: a number, or a formula of the densities", Takes::Guess},
    {"from", "least value (newton, bisection)", Takes::Number},
    {"to", "largest value (newton, bisection)", Takes::Number},
};
constexpr OptionRule kRepeat[] = {
    {"until", "evaluated before each iteration: once it holds, nothing changes", Takes::Condition,
     "", true, "write repeat until = condition { ... }"},
};
constexpr OptionRule kRandom[] = {
    {"seed", "of all random numbers of the run", Takes::Number},
    {"fresh", "sweep axes along which the numbers differ", Takes::Axes}};
constexpr OptionRule kParticles[] = {
    {"method",
     "sums over pairs: separated into totals where they can be, pair by pair, or smooth periodic "
     "functions as Fourier series with an error: separable(1e-12)",
     Takes::Call, "auto pairs separable"}};
constexpr OptionRule kNoise[] = {
    {"accuracy",
     "Gaussian numbers (strong), or three (weak) or two points (weak1) with their moments",
     Takes::Word, "strong weak weak1"}};
constexpr OptionRule kPrecision[] = {
    {"real", "of fields and their arithmetic", Takes::Word, "f32 f64"},
    {"store", "of fields in memory", Takes::Word, "f32 f64"},
    {"pair", "of pair forces", Takes::Word, "f32 f64"},
    {"sum", "how exact sums over sites are at least", Takes::Word, "plain kahan pairwise f64"},
};
constexpr OptionRule kEvery[] = {{"after", "outputs begin where this holds", Takes::Condition}};

constexpr Need kNever = Need::Never;
constexpr Need kAlways = Need::Always;
constexpr Need kPerhaps = Need::Perhaps;

constexpr ClauseRule kClauses[] = {
    {"model", "model NAME \"title\"", Heads::Free, 1, 2, false, kNever, kNever, {}, ""},
    {"units", "units reduced_planck", Heads::Options, 1, 1, true, kNever, kNever, {}, ""},
    {"param",
     "param name = value, name = value",
     Heads::Declares,
     0,
     0,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"sweep",
     "sweep name = linspace(first, last, number), keep = condition",
     Heads::Declares,
     0,
     0,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"lattice", "lattice name: 64^3, length = 10, boundary = periodic", Heads::Options, 1, 2, true,
     kNever, kNever, kLattice, ""},
    {"particles", "particles name: N, method = pairs", Heads::Options, 2, 2, false, kNever, kNever,
     kParticles, ""},
    {"field", "field phi, chi: real", Heads::Options, 1, -1, false, kNever, kNever, kField, ""},
    {"gauge", "gauge U: SU(3)", Heads::Options, 2, -1, false, kNever, kNever, kGauge, ""},
    {"fermion", "fermion psi: spinor", Heads::Options, 1, -1, false, kNever, kNever, kFermion, ""},
    {"var", "var x[k]: real", Heads::Options, 1, -1, false, kNever, kNever, {}, ""},
    {"metric", "metric frw(a), rho_r = 0, rho_m = 0", Heads::Options, 1, 1, true, kNever, kNever,
     kMetric, ""},
    {"potential", "potential V = expression", Heads::Declares, 0, 0, false, kNever, kNever, {}, ""},
    {"lagrangian",
     "lagrangian L = expression",
     Heads::Declares,
     0,
     0,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"action", "action S = expression", Heads::Declares, 0, 0, false, kNever, kNever, {}, ""},
    {"primitive",
     "primitive eps, rho: real, v: vec(3)",
     Heads::Options,
     1,
     -1,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"conserve",
     "conserve U = f(primitives): flux",
     Heads::Free,
     1,
     1,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"relax", "relax q = target, time = tau, along = v", Heads::Sets, 0, 0, false, kNever, kNever,
     kRelax, ""},
    {"recover",
     "recover { name = expression ... solve name by fixed_point }",
     Heads::Options,
     0,
     0,
     true,
     kAlways,
     kNever,
     {},
     ""},
    {"solve", "solve name by fixed_point, tol = 1e-7, max = 16, start = 0", Heads::Options, 1, 1,
     false, kNever, kNever, kSolve, "recover"},
    {"limit", "limit x = expression", Heads::Sets, 0, 0, false, kNever, kNever, {}, ""},
    {"beyond",
     "beyond low(x): eps = 1, v = [0.5]",
     Heads::Sets,
     1,
     1,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"rescale", "rescale A = 1/phi0, B = m, s = 0", Heads::Options, 0, 1, true, kNever, kNever,
     kRescale, ""},
    {"stencil",
     "stencil name(u) = expression",
     Heads::Declares,
     0,
     1,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"integrator",
     "integrator name(x' = V(v), v' = F(x)) { ... }",
     Heads::Declares,
     0,
     1,
     false,
     kPerhaps,
     kNever,
     {},
     ""},
    {"scheme", "scheme shasta, option = value", Heads::Free, 0, 1, false, kPerhaps, kNever, {}, ""},
    {"solver",
     "solver name(A(x) = b, tol = 1e-8) { ... }",
     Heads::Declares,
     0,
     1,
     false,
     kAlways,
     kNever,
     {},
     ""},
    {"repeat", "repeat until = condition { ... }", Heads::Options, 0, 0, true, kAlways, kNever,
     kRepeat, "solver"},
    {"split", "split [xyz, zxy, yzx]", Heads::Options, 1, 1, true, kNever, kNever, {}, ""},
    {"evolve", "evolve leapfrog, dt = 0.1*dx, until = t > 100", Heads::Options, 1, 1, true, kNever,
     kNever, kEvolve, ""},
    {"sample", "sample hmc, trajectories = 1000, tau = 1 { level S: steps = 4 }", Heads::Options, 1,
     1, true, kPerhaps, kNever, kSample, ""},
    {"level", "level S: steps = 4, scheme = omelyan2", Heads::Options, 1, -1, false, kNever, kNever,
     kLevel, "sample"},
    {"init",
     "init phi = value, chi ~ distribution",
     Heads::Sets,
     0,
     0,
     false,
     kNever,
     kNever,
     {},
     ""},
    {"random", "random philox, seed = 1", Heads::Options, 0, 1, true, kNever, kNever, kRandom, ""},
    {"noise", "noise stratonovich, accuracy = weak", Heads::Options, 0, 1, true, kNever, kNever,
     kNoise, ""},
    {"precision", "precision real = f32, sum = kahan", Heads::Options, 0, 0, true, kNever, kNever,
     kPrecision, ""},
    {"every", "every 100 steps: observables -> \"file.h5\"", Heads::Free, 1, -1, false, kNever,
     kAlways, kEvery, ""},
    {"at end", "at end: observables -> \"file.h5\"", Heads::Free, 0, -1, false, kNever, kAlways,
     kEvery, ""},
    {"expect", "expect mean(phi) < 1e-3", Heads::Free, 1, -1, false, kNever, kNever, {}, ""},
    {"plot", "plot mean(x) against a", Heads::Free, 1, -1, false, kNever, kPerhaps, {}, ""},
};

/// The keyword for a word of other languages or programs.
std::optional<std::string> keyword_habit(const std::string& word) {
  static const std::map<std::string, std::string> kHabits = {
      {"parameter", "param"},   {"parameters", "param"}, {"const", "param"},
      {"let", "param"},         {"fields", "field"},     {"grid", "lattice"},
      {"box", "lattice"},       {"output", "every"},     {"print", "every"},
      {"observe", "every"},     {"measure", "every"},    {"write", "every"},
      {"save", "every"},        {"record", "every"},     {"monitor", "every"},
      {"initial", "init"},      {"assert", "expect"},    {"check", "expect"},
      {"integrate", "evolve"},  {"method", "solver"},    {"run", "evolve"},
      {"background", "metric"}, {"variable", "var"},     {"boundary", "lattice"},
      {"import", "integrator"}, {"scan", "sweep"},       {"inflow", "beyond"},
      {"ghost", "beyond"},      {"dirichlet", "beyond"}, {"wall", "beyond"},
  };
  const auto found = kHabits.find(word);
  return found == kHabits.end() ? std::nullopt : std::optional(found->second);
}

/// Whether a clause with an unknown keyword has the form of this one: what it declares, its body
/// and where its results go.
bool may_be(const Clause& clause, const ClauseRule& rule) {
  const bool needs_head = rule.heads == Heads::Declares || rule.heads == Heads::Sets;
  const bool bare = !clause.items.empty() && clause.items.front().relation == Item::Relation::None;
  if (needs_head && bare && !clause.has_body && rule.most <= 0) return false;
  if (clause.has_body && rule.body == Need::Never) return false;
  return !clause.destination || rule.destination != Need::Never;
}

}  // namespace

std::span<const ClauseRule> clause_rules() { return kClauses; }

const ClauseRule* find_clause(std::string_view keyword) {
  for (const ClauseRule& rule : kClauses) {
    if (rule.keyword == keyword) return &rule;
  }
  return nullptr;
}

bool is_option(std::string_view name) {
  return std::ranges::any_of(kClauses, [&](const ClauseRule& rule) {
    return std::ranges::count(rule.options, name, &OptionRule::name) > 0;
  });
}

std::optional<std::string> near_keyword(const Clause& clause, std::string_view inside) {
  std::vector<std::string> known;
  for (const ClauseRule& rule : kClauses) {
    if (rule.inside == inside && may_be(clause, rule)) known.emplace_back(rule.keyword);
  }
  if (inside.empty()) {
    if (auto habit = keyword_habit(clause.keyword)) return habit;
  }
  return suggest(clause.keyword, known);
}

std::vector<std::string> split_words(std::string_view words) {
  std::istringstream stream{std::string(words)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::vector<std::string> option_names(const ClauseRule& rule) {
  std::vector<std::string> names;
  for (const OptionRule& option : rule.options) names.emplace_back(option.name);
  return names;
}

}  // namespace vphi::dsl
