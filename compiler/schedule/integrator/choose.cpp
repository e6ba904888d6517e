#include "compiler/schedule/integrator/choose.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/charted_links.hpp"
#include "compiler/schedule/steps/flux.hpp"
#include "compiler/schedule/steps/link_flow.hpp"
#include "compiler/schedule/steps/markov_step.hpp"
#include "compiler/schedule/steps/tolerance.hpp"
#include "compiler/schedule/steps/trajectory.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::schedule {
namespace {

using Score = std::array<int, 7>;

/// What a step leaves to its neighbours: its first flow is done ahead by the one before; so are its
/// averages over the state at its start (Ingredients::carries), and its recovered values
/// (Ingredients::keeps).
struct Way {
  bool ahead = false, carry = false, keep = false;
};
constexpr Way kWays[] = {{false, false, false}, {false, true, false}, {false, false, true},
                         {false, true, true},   {true, false, false}, {true, true, false}};

Score score_of(const Stepping& stepping, const Way& way, const Storage& storage,
               const std::vector<Group>& groups, const physics::System& system) {
  int words = 0, sums = 0, inside = 0;
  for (const program::Buffer& buffer : storage.buffers()) words += buffer.doubled ? 2 : 1;
  for (const kernel::SiteLoop& sweep : stepping.sweeps.sweeps) {
    sums += static_cast<int>(sweep.kernel.reductions.size());
  }
  for (const Group& group : groups) {
    const auto members = members_in_order_of_dependence(system, group);
    if (!members) continue;
    for (const Member& m : *members) {
      inside += static_cast<int>(m.own_arrays.size() + m.own_scalars.size());
    }
  }
  const int sweeps = static_cast<int>(stepping.sweeps.sweeps.size()) * stepping.stages;
  const int elsewhere = groups.size() > 1 ? static_cast<int>(groups[1].scalars.size()) : 0;
  return {sweeps, stepping.cold, way.keep ? 1 : 0, words, sums, inside, elsewhere};
}

class Chooser {
 public:
  Chooser(const physics::System& system, const physics::Evolution& evolution, Slots& slots,
          Storage& storage, dsl::Diagnostics& diagnostics)
      : system_(system),
        evolution_(evolution),
        slots_(slots),
        storage_(storage),
        diagnostics_(diagnostics) {}

  std::optional<Stepping> choose() {
    const Integrator& integrator = evolution_.integrator;
    const auto head = read_head(integrator, diagnostics_);
    if (!head || refuse_tolerance(integrator)) return std::nullopt;
    for (const auto& [name, unused] : evolution_.options) {
      const auto is_it = [&](const auto& option) { return option.first == name; };
      if (std::ranges::none_of(integrator.options, is_it)) {
        diagnostics_.add(errors::option_not_used(system_.evolve_span, integrator.name, name));
        return std::nullopt;
      }
    }
    if (!moves_links(integrator, *head)) {
      diagnostics_.add(errors::links_without_flows(
          system_.evolve_span, integrator.name,
          variable_of(system_, evolution_.links[0].arrays[0])->shown, fitting()));
      return std::nullopt;
    }
    return best(integrator, *head);
  }

 private:
  static bool has_error(const Integrator& integrator) {
    const auto sets = [&](const char* name) {
      return std::ranges::count(integrator.body, name, &text::Statement::name) == 1;
    };
    return integrator.weights.size() == 1 && sets(kError) && sets(kOrder);
  }

  /// Links of SU(n) move by flows, or in coordinates of their group.
  bool moves_links(const Integrator& integrator, const Head& head) const {
    return evolution_.links.empty() || takes_charts(head) ||
           read_flows(integrator, head, *system_.arena);
  }

  /// `tol` beside a text without an error estimate, and beside what supposes steps of one length.
  bool refuse_tolerance(const Integrator& integrator) const {
    if (!evolution_.tolerance) return false;
    const auto refuse = [&](dsl::Span span, const std::string& why, const std::string& fix) {
      diagnostics_.add(physics::errors::no_tolerance(span, why, fix));
      return true;
    };
    if (system_.noise.kind != physics::NoiseClass::None)
      return refuse(
          system_.dt_span,
          "the equations hold noise, and a step that is repeated would draw other numbers",
          "write dt = ... and no `tol`");
    if (!has_error(integrator)) {
      std::vector<std::string> known;
      for (const Integrator& other : system_.integrators)
        if (has_error(other)) known.push_back(other.name);
      return refuse(
          system_.dt_span,
          fmt::format("`{}` does not estimate its error (lines `error = ...` and `order = ...`)",
                      integrator.name),
          "take one of " + dsl::enumerate(known) + ", or write dt = ... and no `tol`");
    }
    const auto f32 = [](physics::Precision precision) {
      return precision == physics::Precision::F32;
    };
    const physics::Numerics& numerics = system_.numerics;
    const bool single =
        f32(numerics.real) || f32(numerics.store) ||
        std::ranges::any_of(numerics.stores, f32, [](const auto& own) { return own.second; });
    const double least = single ? 1e-6 : 1e-14;
    if (evolution_.tolerance->tol < least)
      return refuse(system_.dt_span,
                    fmt::format("rounding in {} is not far below {:.2g}", single ? "f32" : "f64",
                                evolution_.tolerance->tol),
                    fmt::format("write tol = {:.0e} or more{}", least,
                                single ? ", or precision real = f64" : ""));
    for (const physics::Statistic& s : system_.statistics)
      if (s.spans_time)
        return refuse(s.span, "an average over time counts each step once, whatever its length",
                      "average what outputs at equal times have written, or write dt = ...");
    for (const physics::FirstPassage& f : system_.passages)
      if (!f.condition)
        return refuse(f.span, "a rate of change from the last steps takes them to be equal",
                      "write dt = ... and no `tol`");
    return false;
  }

  std::optional<Stepping> step(const Integrator& integrator, const Head& head,
                               const std::vector<Group>& groups, const Sharing& sharing,
                               const Way& way, Slots& slots, Storage& storage,
                               dsl::Diagnostics& diagnostics) const {
    const Ingredients from{system_, integrator, evolution_.options, head,
                           groups,  way.carry,  way.keep,           sharing.pairs};
    if (makes_maps(system_, head)) {
      if (refuse_maps(integrator, head, diagnostics)) return Stepping{};
    } else if (const auto flows = read_flows(integrator, head, *system_.arena)) {
      return make_flow_step(from, *flows, way.ahead, slots, storage);
    }
    return make_body_step(from, sharing.shares, slots, storage, diagnostics);
  }

  /// Why the model has no Fourier space; empty where it has one.
  std::string without_waves() const {
    const physics::Lattice& lattice = system_.lattice;
    if (lattice.sites() == 1) return "the model has no lattice";
    for (int axis = 0; axis < lattice.dims; ++axis)
      if (lattice.boundary[static_cast<std::size_t>(axis)] != physics::Boundary::Periodic)
        return "the box is not periodic along every axis";
    return {};
  }

  /// Steps with maps in Fourier space need a box that has one, and scalars that no field moves.
  bool refuse_maps(const Integrator& integrator, const Head& head,
                   dsl::Diagnostics& diagnostics) const {
    const dsl::Span at = system_.evolve_span;
    const std::string why = without_waves();
    if (!why.empty()) {
      diagnostics.add(errors::no_fourier_space(at, integrator.name, why));
      return true;
    }
    for (const physics::Variable& v : system_.variables)
      if (!v.reference.empty()) {
        diagnostics.add(errors::not_yet(
            at, fmt::format("`{}` beside a field that is stored as a deviation (`store = value` on "
                            "the line of `{}` ends that)",
                            integrator.name, v.shown)));
        return true;
      }
    const bool linear = std::ranges::any_of(head.parts, [](const std::vector<Part>& parts) {
      return std::ranges::count(parts, Part::Kind::Linear, &Part::kind) > 0;
    });
    if (!linear && !read_flows(integrator, head, *system_.arena)) return false;
    for (const physics::ScalarVariable& s : system_.scalars) {
      if (s.rate.is_zero() || is_clock(system_, s.symbol)) continue;
      diagnostics.add(errors::not_yet(
          at, fmt::format("`{}` with transforms while `{}` moves (an integrator of the form "
                          "x' = f(x, t), such as rk4, with `laplacian = spectral` can)",
                          integrator.name, shown(s.symbol))));
      return true;
    }
    return false;
  }

  std::optional<Stepping> best(const Integrator& integrator, const Head& head) {
    struct Choice {
      std::vector<Group> groups;
      Sharing sharing;
      Score score;
      Stepping stepping;
      Slots slots;
      Storage storage;
      dsl::Diagnostics diagnostics;
    };
    std::optional<Choice> chosen;
    std::optional<Leftover> leftover;
    std::vector<Group> circular;
    // values carried from step to step must be computed again from a recentred state
    const bool recentred = std::ranges::any_of(
        system_.variables, [](const physics::Variable& v) { return !v.reference.empty(); });
    for (const std::vector<Group>& groups : groupings(system_, head)) {
      const Sharing sharing = share_out(system_, head, groups);
      if (sharing.leftover) {
        if (!leftover || sharing.leftover->terms.size() < leftover->terms.size()) {
          leftover = sharing.leftover;
        }
        continue;
      }
      bool can_carry = false, can_keep = false, synchronised = false;
      for (const Way& way : kWays) {
        if (way.carry && (!can_carry || (way.ahead && recentred))) continue;
        if (way.keep && !can_keep) continue;
        if (way.ahead && synchronised) break;
        Slots slots = slots_;
        Storage storage = storage_;
        dsl::Diagnostics trial;
        auto stepping = step(integrator, head, groups, sharing, way, slots, storage, trial);
        if (trial.has_errors()) {
          for (const dsl::Diagnostic& d : trial.all()) diagnostics_.add(d);
          return std::nullopt;
        }
        if (!stepping) {
          circular = groups;
          break;
        }
        can_carry = stepping->can_carry || way.carry;
        can_keep = stepping->can_keep || way.keep;
        synchronised = stepping->missing.empty();  // nothing is owed, nothing done ahead
        const Score score = score_of(*stepping, way, storage, groups, system_);
        if (chosen && !(score < chosen->score)) continue;
        chosen = Choice{groups, sharing, score, std::move(*stepping), slots, storage, trial};
      }
    }
    if (!chosen) {
      report_failure(integrator, leftover, circular);
      return std::nullopt;
    }
    for (const dsl::Diagnostic& d : chosen->diagnostics.all()) diagnostics_.add(d);
    slots_ = std::move(chosen->slots);
    storage_ = std::move(chosen->storage);
    say_groups(chosen->stepping, integrator, chosen->groups);
    say_linear(chosen->stepping, integrator, head, chosen->sharing.shares);
    return std::move(chosen->stepping);
  }

  std::string shown(const std::string& scalar) const {
    const auto found = std::ranges::find(system_.scalars, scalar, &physics::ScalarVariable::symbol);
    return found == system_.scalars.end() || found->shown.empty() ? scalar : found->shown;
  }

  void say_groups(Stepping& stepping, const Integrator& integrator,
                  const std::vector<Group>& groups) const {
    std::string text = integrator.name + ": ";
    for (const Group& group : groups) {
      std::vector<std::string> names;
      for (const int array : group.arrays) names.push_back(variable_of(system_, array)->shown);
      for (const std::string& scalar : group.scalars) names.push_back(shown(scalar));
      if (&group != &groups.front()) text += "; ";
      text += group.variable + " is " + (names.empty() ? "nothing" : dsl::enumerate(names));
    }
    const std::size_t sweeps = stepping.sweeps.sweeps.size();
    stepping.remarks.insert(text);
    stepping.remarks.insert(
        fmt::format("a step is {} sweep{} over the lattice{}",
                    sweeps * static_cast<std::size_t>(stepping.stages),
                    sweeps * static_cast<std::size_t>(stepping.stages) == 1 ? "" : "s",
                    stepping.stages > 1 ? ", one kernel for all stages" : ""));
  }

  /// Which terms a linear part of the head holds, and the transforms of a step.
  void say_linear(Stepping& stepping, const Integrator& integrator, const Head& head,
                  const Shares& shares) const {
    std::size_t transforms = 0;
    for (const FluxPart& part : stepping.parts)
      for (const ArrayMap& map : part.maps) transforms += map.from.size() + map.to.size();
    if (transforms > 0)
      stepping.remarks.insert(
          fmt::format("a step makes {} Fourier transforms of one array", transforms));
    for (std::size_t e = 0; e < head.parts.size(); ++e)
      for (std::size_t p = 0; p < head.parts[e].size(); ++p) {
        const Part& part = head.parts[e][p];
        if (part.kind != Part::Kind::Linear) continue;
        std::vector<std::string> rates;
        for (const auto& [array, share] : shares[e][p])
          if (!share.is_zero())
            rates.push_back(
                fmt::format("{} of {}", text_of(share), variable_of(system_, array)->shown));
        stepping.remarks.insert(
            rates.empty()
                ? fmt::format("{}: {} is 0, no term is linear with constant coefficients",
                              integrator.name, part.name)
                : fmt::format("{}: {} holds the rates {}, advanced exactly in Fourier space",
                              integrator.name, part.name, dsl::enumerate(rates)));
      }
  }

  // ---- what does not fit ------------------------------------------------------------------------

  std::vector<std::string> fitting() {
    std::vector<std::string> names;
    for (const Integrator& other : system_.integrators) {
      dsl::Diagnostics silent;
      const auto head = read_head(other, silent);
      if (!head) continue;
      const bool noisy = std::ranges::any_of(head->parts, [](const std::vector<Part>& parts) {
        return std::ranges::count(parts, Part::Kind::Noise, &Part::kind) > 0;
      });
      if (noisy != (system_.noise.kind != physics::NoiseClass::None)) continue;
      if (makes_maps(system_, *head) && !without_waves().empty()) continue;
      if (!moves_links(other, *head)) continue;
      for (const auto& groups : groupings(system_, *head)) {
        if (share_out(system_, *head, groups).leftover) continue;
        names.push_back(other.name);
        break;
      }
    }
    return names;
  }

  std::string text_of(Expr term) const {
    algebra::Names names;
    names.leaf = [&](const algebra::Node& node) -> std::string {
      if (node.op == algebra::Op::Symbol) return shown(node.name);
      if (node.op == algebra::Op::Load) {
        const physics::Variable* v = variable_of(system_, node.index);
        return v ? v->shown : "flux";  // what a scheme has taken to the faces
      }
      return {};
    };
    const Expr as_written = algebra::rewrite(term, [&](Expr node) {
      return node.is(algebra::Op::Noise) && node->offset.zero() ? system_.arena->symbol("noise")
                                                                : node;
    });
    return algebra::to_text(as_written, names);
  }

  void report_failure(const Integrator& integrator, const std::optional<Leftover>& leftover,
                      const std::vector<Group>& circular) {
    if (!circular.empty() || !leftover) {
      std::vector<std::string> names;
      for (const Group& group : circular) {
        if (members_in_order_of_dependence(system_, group)) continue;
        for (const int array : group.arrays) names.push_back(variable_of(system_, array)->shown);
        for (const std::string& scalar : group.scalars) names.push_back(shown(scalar));
      }
      diagnostics_.add(errors::circular_group(system_.evolve_span, integrator.name, names));
      return;
    }
    std::vector<std::string> terms;
    for (Expr term : leftover->terms) terms.push_back(text_of(term));
    const physics::Variable* variable = variable_of(system_, leftover->array);
    diagnostics_.add(errors::unmatched(place_of(*leftover, *variable), integrator.name,
                                       variable->shown, terms, fitting()));
  }

  /// The span of the terms in the equation, from the first to the last; the whole equation where
  /// they come from elsewhere (a potential, a Hamiltonian, another definition).
  dsl::Span place_of(const Leftover& leftover, const physics::Variable& variable) const {
    const dsl::Span whole = variable.span;
    if (whole.empty()) return system_.evolve_span;
    dsl::Span place;
    for (const Expr term : leftover.terms) {
      dsl::Span part = term->span;
      if (part.empty() && !term.args().empty()) part = term.arg(0)->span;
      if (part.empty() || part.file != whole.file || part.begin < whole.begin ||
          part.end > whole.end || term.args().empty()) {
        return whole;
      }
      place = place.empty() ? part : dsl::cover(place, part);
    }
    return place.empty() ? whole : place;
  }

  const physics::System& system_;
  const physics::Evolution& evolution_;
  Slots& slots_;
  Storage& storage_;
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Stepping> choose_step(const physics::System& system, Slots& slots, Storage& storage,
                                    dsl::Diagnostics& diagnostics) {
  using Step = std::optional<Stepping>;
  const auto still = [&](const physics::Still&) -> Step {
    if (system.variables.empty()) return Stepping{};
    diagnostics.add(errors::no_integrator(system.evolve_span));
    return std::nullopt;
  };
  return std::visit(
      physics::Kinds{
          still,
          [&](const physics::Evolution& evolution) {
            return Chooser(system, evolution, slots, storage, diagnostics).choose();
          },
          [&](const physics::FluxStep&) -> Step { return make_flux_step(system, slots, storage); },
          [&](const physics::MarkovChain& chain) -> Step {
            return make_markov_step(system, chain, slots, storage);
          },
          [&](const physics::LinkFlow& flow) {
            return make_link_flow_step(system, flow, slots, storage, diagnostics);
          },
          [&](const physics::Trajectory& trajectory) {
            return make_trajectory_step(system, trajectory, slots, storage, diagnostics);
          },
      },
      system.dynamics);
}

}  // namespace vphi::schedule
