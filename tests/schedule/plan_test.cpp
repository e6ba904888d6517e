// The launches of a model: the arrays that each kernel reads and writes, its reductions, the arrays
// exchanged, and the arrays of outputs. Each expected plan has its reason.
//
//   NAME: arrays read -> arrays written; reductions
//
// `u*` is the second copy of u; a kernel without arrays computes scalars alone. `(a b)` behind a
// list are arrays whose copies are exchanged then.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/physics/derive.hpp"
#include "compiler/schedule/prepare.hpp"
#include "compiler/schedule/schedule.hpp"
#include "dsl/syntax/load.hpp"
#include "tests/schedule/systems.hpp"

namespace vphi::test {
namespace {

std::string row_of(const schedule::Plan& plan, const program::Launch& launch) {
  const kernel::Kernel& k = plan.kernels[static_cast<std::size_t>(launch.kernel)];
  std::string read, written, sums, swapped;
  const auto add = [](std::string& list, const std::string& word) {
    list += (list.empty() ? "" : " ") + word;
  };
  for (const kernel::ArrayParam& array : k.arrays) {
    if (array.read) add(read, array.name);
    if (array.written) add(written, array.name + (array.next ? "*" : ""));
  }
  for (const kernel::Reduction& reduction : k.reductions) {
    const char* names[] = {"sum", "min", "max"};
    add(sums, names[static_cast<int>(reduction.kind)]);
  }
  for (const int buffer : launch.swap)
    add(swapped, plan.program.buffers[static_cast<std::size_t>(buffer)].name);
  std::string row = k.name + ":";
  if (!read.empty()) row += " " + read;
  if (!written.empty()) row += " -> " + written;
  if (!sums.empty()) row += "; " + sums;
  if (!swapped.empty()) row += " (" + swapped + ")";
  return row;
}

void add_rows(const schedule::Plan& plan, const std::string& title,
              const std::vector<program::Launch>& launches, std::vector<std::string>& rows) {
  if (launches.empty()) return;
  rows.push_back(title);
  for (const program::Launch& launch : launches) rows.push_back("  " + row_of(plan, launch));
}

/// What an output writes: scalars by name, fields with their kind and the buffers they come from.
std::string written_of(const program::Program& p, const program::Output& output) {
  std::string text;
  for (const program::ScalarOutput& s : output.scalars) text += " " + s.name;
  const auto buffer = [&](int index) { return p.buffers[static_cast<std::size_t>(index)].name; };
  for (const program::FieldOutput& f : output.fields) {
    text += " " + std::string(program::row_of(f.kind).name) + "<" + buffer(f.buffer);
    for (const program::FieldPart& part : f.more) text += " " + buffer(part.buffer);
    text += ">";
  }
  return text;
}

std::vector<std::string> rows_of(const schedule::Plan& plan) {
  const program::Program& p = plan.program;
  std::vector<std::string> rows;
  if (p.cycle.empty()) add_rows(plan, "step", p.step, rows);
  for (const auto& step : p.cycle) add_rows(plan, "step in turn", step, rows);
  for (const program::Output& output : p.outputs) {
    add_rows(plan, "before transforms", output.before, rows);
    rows.push_back("output" + written_of(p, output));
    for (const program::Launch& launch : output.launches)
      rows.push_back("  " + row_of(plan, launch));
    add_rows(plan, "averages", output.averages, rows);
    add_rows(plan, "then", output.then, rows);
  }
  add_rows(plan, "watch", p.watch, rows);
  for (const program::Solve& solve : p.solves) {
    add_rows(plan, "iteration of " + solve.name, solve.iterate, rows);
    add_rows(plan, "end of " + solve.name, solve.finish, rows);
  }
  return rows;
}

std::vector<std::string> planned(const std::string& text) {
  dsl::Diagnostics diagnostics;
  dsl::ModelText model = dsl::parse(std::make_shared<dsl::Source>("model.vphi", text), diagnostics);
  std::vector<dsl::ModelText> library = dsl::load_library(diagnostics);
  const dsl::Resolved resolved = dsl::resolve(std::move(model), std::move(library));
  const auto fail = [&] {
    return std::vector{dsl::render_text(resolved.diagnostics, resolved.sources()) +
                       dsl::render_text(diagnostics, resolved.sources())};
  };
  if (diagnostics.has_errors() || resolved.diagnostics.has_errors()) return fail();
  auto system = physics::derive(resolved, {}, diagnostics);
  if (system) system = schedule::prepare(std::move(*system), diagnostics);
  if (!system || diagnostics.has_errors()) return fail();
  const auto plan = schedule::schedule(*system, resolved, diagnostics);
  if (!plan || diagnostics.has_errors()) return fail();
  return rows_of(*plan);
}

struct Row {
  const char* what;
  std::string model;
  std::vector<std::string> plan;
};

void expect_plans(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::vector<std::string> plan = planned(row.model);
    EXPECT_EQ(plan, row.plan) << row.what << "\n" << fmt::format("{}", fmt::join(plan, "\n"));
  }
}

const std::string kRing = "model m\nlattice ring: 64, spacing = 1, boundary = periodic\n";

/// u at whole steps, u' at half steps.
const std::string kWave = kRing + R"(field u: real
u'' = lap(u)
laplacian = star2
init u = cos(2*pi*x/64), u' = 0
evolve leapfrog, dt = 0.5, until = t > 10
)";
const std::string kWaveStep = "  sweep: u pi_u -> u* pi_u (u)";

TEST(Plan, OfASweep) {
  expect_plans({
      {"kick and drift are one pass; u is read at neighbours, u' is not",
       kWave,
       {"step", kWaveStep}},
      {"what the scale factor needs is summed in the pass that has the values",
       R"(model m
units reduced_planck
param m = 1e-6
lattice box: 8^3, length = 10/m, boundary = periodic
metric frw(a)
field phi: real
potential V = m^2*phi^2/2
rescale A = 1, B = m, s = 0
laplacian = iso27
init phi = 1, phi' = 0
evolve leapfrog, dt = 2^-10/m, until = t > 1/m
)",
       {"step", "  sweep: phi pi_phi -> phi* pi_phi; sum sum (phi)",
        // <pi^2>, the gradient and V; half a kick of pi is owed
        "watch", "  synchronise:", "  watch: phi pi_phi; sum sum sum"}},
      {"four evaluations of a right side with neighbours are four passes",
       kRing + R"(field u: real
u' = lap(u) - u^3
laplacian = star2
init u = 1
evolve rk4, dt = 0.01, until = t > 10
)",
       {"step", "  sweep: u -> u_there", "  sweep_2: u u_there -> u_there_2",
        "  sweep_3: u u_there_2 -> u_there_3", "  sweep_4: u u_there u_there_2 u_there_3 -> u"}},
      {"sums over pairs end a pass; half of a kick each before and behind the drift is one",
       R"(model m
param N = 64, eps = 0.1
particles star: N
var x[k]: real, p[k]: real
H = sum(p[k]^2/2, k) - sum(1/sqrt((x[k] - x[l])^2 + eps^2), k, l)/(2*N)
init x ~ uniform(0, 1), p = 0
evolve leapfrog, dt = 0.005, until = t > 3
)",
       // the forces of both sites of a pair are one sum, and of differences alone
       {"step", "  sweep: x -> pairs", "  sweep_scalars:", "  sweep_2: x p pairs -> x p",
        // H is always watched
        "watch", "  synchronise:", "  watch: x -> pairs_2 pairs_3",
        "  watch_scalars:", "  watch_2: p pairs_2 pairs_3; sum"}},
  });
}

TEST(Plan, OfAFluxScheme) {
  const std::string law = R"(primitive w: real
recover {
  w = u
}
init w = 0.1
)";
  expect_plans({
      {"a scheme that is a right side: two stages of Heun, each recovered and limited in two "
       "passes",
       "model m\nlattice ring: 64, length = 1, boundary = periodic\nconserve u = w: d(u^2/2, x)\n" +
           law +
           "scheme kt, speed = abs(w), theta = 1.5\n"
           "evolve heun, dt = 0.1*dx, until = t > 2\n",
       {"step", "  sweep: u -> Fk_u", "  sweep_2: u Fk_u -> u_there", "  sweep_3: u_there -> Fk_u",
        "  sweep_4: u Fk_u u_there -> u",
        // the fastest signal, and whether every site can be recovered
        "watch", "  watch: u; max max", "  watch_2: u; min"}},
      {"a scheme that is a step: one pass an axis, then the clocks",
       "model m\nparam c = 0.5\nlattice box: 16^2, length = 1, boundary = periodic\n"
       "conserve u = w: d(c*u, x) + d(c*u, y)\n" +
           law + "scheme shasta\nevolve scheme, dt = 0.1*dx, until = t > 2\n",
       {"step", "  along_x: u -> u* (u)", "  along_y: u -> u* (u)", "  step:", "watch",
        "  watch: u; max", "  watch_2: u; min"}},
  });
}

TEST(Plan, OfAChain) {
  expect_plans({
      {"links along an axis in two colours, in place; the other axis from the new ones",
       R"(model m
param beta = 2
lattice grid: 8^2
gauge U: U(1)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(P[mu,nu]), mu < nu)
action S = beta*sum(1 - re(P[mu,nu]), mu < nu)
sample heatbath, sweeps = 4
init U ~ hot
every 2 sweeps: plaquette -> "c.h5"
)",
       {"step", "  heatbath_x: U_0 U_1 -> U_0", "  heatbath_x: U_0 U_1 -> U_0",
        "  heatbath_y: U_0 U_1 -> U_1", "  heatbath_y: U_0 U_1 -> U_1",
        "  step:", "output plaquette", "  observe_1: U_0 U_1; sum"}},
  });
}

TEST(Plan, OfAverages) {
  const std::string mean = "mean(mean(u^2), over = time) -> \"a.h5\"\n";
  const std::vector<std::string> over_time = {"step",     kWaveStep,  "  check: u; sum",
                                              "output e", "averages", "  averages:"};
  expect_plans({
      {"over time: summed behind every step, read at the output",
       kWave + "every 2 steps: e = " + mean, over_time},
      {"the same at the end", kWave + "at end: e = " + mean, over_time},
      {"over a sweep: the instance's value at the output, averaged by the runtime",
       kWave + "sweep c = 1..3\nat end: m = mean(mean(u)^2, over = c) -> \"a.h5\"\n",
       {"step", kWaveStep, "output m", "  observe_1: u; sum"}},
  });
}

TEST(Plan, OfOutputs) {
  const auto wave = [](const std::string& clauses) { return kWave + clauses; };
  expect_plans({
      {"averages of one clause are one pass; u' owes half a kick",
       wave("every 2 steps: mean(u^2), mean(u'^2) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output mean(u^2) mean(u'^2)",
        "  synchronise:", "  observe_1: u pi_u; sum sum"}},
      {"the state as it is has no copy",
       wave("every 2 steps: u0 = mean(u), snapshot(u), profile(u) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output u0 snapshot<u> profile<u>", "  observe_1: u; sum"}},
      {"clauses of one cadence share a pass, another cadence has its own",
       wave("every 2 steps: mean(u) -> \"a.h5\"\nevery 2 steps: max(u) -> \"b.h5\"\n"
            "every 4 steps: min(u) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output mean(u)", "  observe_1: u; sum max", "output max(u)",
        "output min(u)", "  observe_2: u; min"}},
      {"a value that is not stored gets an array, in the pass of the averages",
       wave("every 2 steps, after = t > 1: spectrum(u^2), mean(u^2) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output mean(u^2) spectrum<out_spectrum_u_2>",
        "  observe_1: u -> out_spectrum_u_2; sum"}},
      {"one second copy lies idle, so two arrays are made one after the other",
       wave("every 2 steps: snapshot(u), snapshot(u^2), snapshot(u^3) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output snapshot<u> snapshot<out_snapshot_u_2>",
        "  observe_1: u -> out_snapshot_u_2", "output snapshot<out_snapshot_u_3>",
        "  observe_1_stage_2: u -> out_snapshot_u_3"}},
      {"each kind under its name",
       wave("every 2 steps: histogram(u), histogram(u, u', bins = [4, 4]), slice(u^2), "
            "correlator(u) -> \"a.h5\"\n"),
       {"step", kWaveStep, "output histogram<u> histogram<u out_histogram_u_u> correlator<u>",
        "  synchronise:", "  observe_1: u pi_u -> out_histogram_u_u", "output slice<out_slice_u_2>",
        "  observe_1_stage_2: u -> out_slice_u_2"}},
      {"promises are watched, apart from outputs",
       wave("expect drift(mean(u'^2)) < 2\n"),
       {"step", kWaveStep, "watch", "  synchronise:", "  watch: u pi_u; sum"}},
  });
}

TEST(Plan, OfATransform) {
  const std::string state = "u_0_0 u_0_1 u_0_2 u_1_1 u_1_2 u_2_2";
  const std::string rates = "pi_u_0_0 pi_u_0_1 pi_u_0_2 pi_u_1_1 pi_u_1_2 pi_u_2_2";
  const std::string second = "u_0_0* u_0_1* u_0_2* u_1_1* u_1_2* u_2_2*";
  const std::string made =
      "out_tensor out_tensor_2 out_tensor_3 out_tensor_4 out_tensor_5 out_tensor_6";
  expect_plans({
      {"the tensor is made before the host projects it, what is made of it afterwards",
       R"(model m
lattice box: 8^3, length = 1, boundary = periodic
field u: sym(3)
u'' = lap(u)
laplacian = iso27
init u = 0
evolve leapfrog, dt = 0.1*dx, until = t > 2
rho = norm2(transverse_traceless(u'))
every 8 steps: mean(rho) -> "w.h5"
)",
       {"step",
        "  sweep: " + state + " " + rates + " -> " + second + " " + rates + " (" + state + ")",
        "before transforms",
        "  synchronise:", "  observe_1_tensor: " + state + " " + rates + " -> " + made,
        "output mean(rho)", "  observe_1: " + made + "; sum"}},
  });
}

/// Conjugate gradients: A p with its sum, the residual with its sum, and the two updates.
TEST(Plan, OfASolve) {
  const std::string solve = "solve(A, charge, solver = cg(1e-10))";
  expect_plans({
      {"three kernels a round (docs/solves.md), and the residual made anew at the end",
       R"(model m
param m = 0.5
lattice box: 8^3, spacing = 1, boundary = periodic
A(u) = m^2*u - lap(u)
charge = 1 if index(x) == 4 and index(y) == 4 and index(z) == 4 else 0
phi = )" + solve +
           R"(
at end: max(phi), iterations(phi) -> "s.h5"
)",
       {"step", "  step:", "output max(phi) iterations(phi)",
        "  solve_1_start_scalars:", "  solve_1_start: -> solution solve_1_p solve_1_r; sum",
        "  synchronise:", "  observe_1: solution; max", "iteration of " + solve,
        "  solve_1: solve_1_p -> q; sum", "  solve_1_2: solve_1_r q -> solve_1_r; sum",
        "  solve_1_3: solution solve_1_p solve_1_r -> solution solve_1_p", "end of " + solve,
        "  solve_1_residual: solution; sum sum"}},
  });
}

/// What is expected of a long sum that an output has too launches the output's kernel; a sum of its
/// own, or a short one, does not.
TEST(Plan, OfSumsThatAnOutputHas) {
  const std::string links = R"(model m
lattice grid: 4^2
gauge U: SU(3)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(3 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 2
init U ~ hot
wide = mean(re(tr(loop(2*x, 2*y, -2*x, -2*y))))
every 1 sweep: wide -> "m.h5"
)";
  const auto watched = [&](const std::string& expected) {
    std::vector<std::string> rows;
    for (const std::string& row : planned(links + expected))
      if (row == "watch" || !rows.empty()) rows.push_back(row.substr(0, row.find(':')));
    return rows;
  };
  using Rows = std::vector<std::string>;
  EXPECT_EQ(watched("expect wide^2 < 4\n"), (Rows{"watch", "  observe_1", "  watch_scalars"}));
  EXPECT_EQ(watched("expect mean(im(tr(loop(2*x, 2*y, -2*x, -2*y)))) < 4\n"),
            (Rows{"watch", "  watch"}));
  EXPECT_EQ(watched("expect mean(re(U[x][0,0])) < 4\n"), (Rows{"watch", "  watch"}));
}

}  // namespace
}  // namespace vphi::test
