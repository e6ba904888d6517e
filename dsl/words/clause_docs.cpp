// What each clause declares, in a sentence or two: for the reference and for editors.
#include "dsl/words/clauses.hpp"

namespace vphi::dsl {

namespace {

struct ClauseDoc {
  std::string_view keyword, doc;
};

constexpr ClauseDoc kDocs[] = {
    {"model",
     "Names the model; the title is what reports and figures show. Once in a file; a library file "
     "has none."},
    {"units",
     "The system of natural units: hbar = c = k_B = 1, and the unit of energy named here is 1."},
    {"param",
     "Named constants. A value may use other parameters; `--set NAME=EXPR` replaces it for one "
     "run."},
    {"sweep",
     "An axis of values: the run is repeated for each, and for each combination of several axes. A "
     "name that nothing uses makes an ensemble."},
    {"lattice",
     "The sites: a name for the box, their number along each axis, their size and what lies beyond "
     "the edges. Gives x, y, z, r, dx and volume."},
    {"particles",
     "A species of N bodies with variables `x[k]`; with several, `name[k]` is 1 for its own."},
    {"field", "State with a value at each site, and its type."},
    {"gauge",
     "Links between neighbouring sites, group-valued; a second name is the conjugate field."},
    {"fermion", "A spinor at each site, for Dirac operators."},
    {"var", "State that is not a field: one value, or one for each particle `x[k]`."},
    {"metric",
     "The background. `frw(a)` expands with the averages of the box, `frw(a = t^(1/2))` as "
     "written. Gives a, H, rho, p and w. `scale(h1, h2, h3)` has one scale factor for each "
     "coordinate of conservation laws, ds^2 = dt^2 - sum of h^2 dx^2."},
    {"potential", "Energy density of the fields; the equations of motion are derived from it."},
    {"lagrangian",
     "Lagrangian density of fields and their time derivatives, per physical volume; equations, rho "
     "and p are derived from it. Several are added."},
    {"action",
     "Action density of a Monte Carlo simulation with weight exp(-S); several are added."},
    {"primitive", "Variables that a conserved state is computed from."},
    {"conserve",
     "A conservation law U' = -div(flux), with U as function of the primitive variables, or with a "
     "source."},
    {"relax",
     "A primitive variable that no density determines and that approaches a target: q' + v.grad(q) "
     "= "
     "(target - q)/tau. Target and laws may hold derivatives of primitive variables in space and "
     "time; those in time follow from the laws."},
    {"recover",
     "How primitive variables follow from conserved ones; facts, and at most one iteration in each "
     "circle."},
    {"solve", "Finds a name of the body by iteration."},
    {"limit",
     "Applied to the variable after each of its updates, in text order; components act at once. It "
     "may hold averages of the updated state: `limit psi = psi/sqrt(total(norm2(psi))*dx^2)` keeps "
     "a norm. Intermediate values of a Runge-Kutta step have no limit."},
    {"beyond",
     "The state of conservation laws beyond an end of the box: `low(x)`, `high(x)`, or `x` for "
     "both. Primitive variables as formulas of positions, t and of what the cell would have "
     "otherwise, which is also what variables have that are not named."},
    {"rescale",
     "Program units: what is stored is psi = A*phi at B*x, in steps of d(eta) = B*a^s*dt. "
     "`auto(term)` chooses A, B and s so that the term has no factor and no power of a."},
    {"stencil",
     "A linear operator as a sum over neighbours. With a name alone, or as `laplacian = name`, it "
     "is the one that `lap` means. `laplacian = spectral` is -k^2 of each wave of a periodic box."},
    {"integrator", "A method, as a composition of updates for a pattern of equations."},
    {"scheme", "A flux scheme for conservation laws; without a body it chooses one."},
    {"solver",
     "A method for A(x) = b with a linear A, as text: lines in order before and inside one "
     "`repeat`. `A(p)` applies the operator, `adj(A, p)` its adjoint; `max` bounds the "
     "iterations."},
    {"repeat", "The iterations of a solver: lines in order, until a condition holds."},
    {"split",
     "Orders of the axes, one after the other, for schemes that go along one axis at a time."},
    {"evolve", "The integrator or scheme, its step and the end of the run. Gives t, dt and step."},
    {"sample",
     "A Markov chain for an action. Gives sweep (metropolis: accept), or trajectory, deltaH and "
     "accept; with an exchange exchanged and replica."},
    {"level",
     "One level of a nested integrator, from outer to inner: an action, or several that are kicked "
     "together (`level S, T: ...`)."},
    {"init",
     "The state at the start: a value, or with `~` a random distribution. `gauss = 0` solves for "
     "the electric fields of what is charged."},
    {"random",
     "The generator of the numbers of `noise` (philox of ten rounds, philox7, or xorshift32 in "
     "short "
     "runs that philox begins), and the seed of all random numbers. All are keyed by seed, stream, "
     "site and step: every device draws the same."},
    {"noise",
     "What `noise` in an equation means where the state multiplies it (ito, stratonovich), and how "
     "its numbers are distributed. A model without it is as if the line said `noise stratonovich`, "
     "with a warning where it matters."},
    {"precision", "Of arithmetic and storage, apart from the physics."},
    {"every",
     "Writes observables while the model runs: `every 100 steps`, or `every 0.5` in units of t: "
     "the first step at or after each multiple. `q = expression` names what is written."},
    {"at end", "Writes observables once, when the run ends."},
    {"expect", "A promise: judged at every output, printed, and decides the exit status."},
    {"plot", "A curve for the report, averaged over all that is not named."},
};

}  // namespace

std::string_view clause_doc(std::string_view keyword) {
  for (const ClauseDoc& row : kDocs) {
    if (row.keyword == keyword) return row.doc;
  }
  return {};
}

}  // namespace vphi::dsl
