#include "compiler/physics/starts/gauss_start.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/arbitrary_values.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/gauss_law.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/starts/gauss_projection.hpp"
#include "compiler/physics/starts/init_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// The item `gauss = ...` of the `init` clauses; null: there is none.
const dsl::Item* item_of_law(const Program& d) {
  if (d.field("gauss")) return nullptr;
  for (const dsl::Clause* clause : d.ledger.clauses("init"))
    for (const dsl::Item& item : clause->items)
      if (item.head && item.head->name == "gauss") return &item;
  return nullptr;
}

bool starts_as_one(const Program& d, const StateField& links, const StartValues& start) {
  const std::vector<Expr> one =
      gauge::store(*links.links, gauge::identity(d.arena(), links.links->group.n));
  for (std::size_t i = 0; i < links.arrays.size(); ++i)
    if (start.at(links.arrays[i]).value != one[i % one.size()]) return false;
  return true;
}

/// Whether generators and waves part: the differences in the law are those of numbers.
bool by_waves(const Program& d, const StartValues& start) {
  return d.grid.dims <= 3 && !d.grid.shifted() &&
         std::ranges::none_of(d.fields, [&](const StateField& field) {
           return (field.links && field.walls.any_open()) ||
                  (field.matrices() && !starts_as_one(d, field, start));
         });
}

void check(const Program& d, const dsl::Item& item, const StartValues& start) {
  const auto refuse = [&](const std::string& why, const std::string& fix) {
    d.fail(errors::gauss_not_obeyed(item.span, why, fix));
  };
  const bool zero = item.relation != dsl::Item::Relation::Drawn && item.value &&
                    Lowerer(d).real(*item.value, "what `gauss` starts as").is_zero();
  if (!zero) refuse("it is not 0", "write gauss = 0, and charges as fields of H");
  const auto goes_on = [&](Walls walls) {  // in the same rows or in others
    walls.shift = {};
    return walls.periodic(d.grid.dims);
  };
  const bool around = goes_on(d.grid) && std::ranges::all_of(d.fields, [&](const StateField& f) {
                        return goes_on(d.walls_of(f.arrays.front()));
                      });
  if (!around) refuse("the box is not periodic", "remove `boundary` of fields at sites");
  for (const auto& [array, value] : start)
    if (value.needs_hubble)
      refuse("a start needs H, which needs the energy of E", "write the start without H");
}

/// The law of what H adds to momenta that start with it.
Expr law_of_additions(const Program& d, const StartValues& start, Expr law,
                      const std::set<int>& momenta) {
  return algebra::rewrite(law, [&](Expr node) -> Expr {
    if (!node.is(Op::Load) || !momenta.contains(node->index)) return node;
    const Expr added = start.at(node->index).by_hubble;
    return added ? neighbour(added, node->offset) : d.arena().integer(0);
  });
}

/// Whether it is 0 at every state: at some arbitrary ones.
bool vanishes(const Program& d, Expr e) {
  constexpr std::uint64_t kStates = 8;
  constexpr double kRounding = 1e-12;  // of numbers of order 1
  for (std::uint64_t seed = 1; seed <= kStates; ++seed)
    if (!(std::abs(ArbitraryValues(d, seed)(e)) < kRounding)) return false;
  return true;
}

/// Fields with the values of `init` where these are formulas of positions and numbers.
Expr as_they_start(const Program& d, const StartValues& start, Expr e) {
  return algebra::rewrite(e, [&](Expr node) -> Expr {
    const auto given = node.is(Op::Load) ? start.find(node->index) : start.end();
    if (given == start.end()) return node;
    const Expr value = given->second.value;
    const bool formula = algebra::reads(value).empty() && !algebra::depends_on(value, d.hubble());
    return formula && node->offset.zero() ? value : node;
  });
}

}  // namespace

void part_with_hubble(const Program& d, StartValues& start) {
  const dsl::Item* item = item_of_law(d);
  const bool any = std::ranges::any_of(start, [](const auto& s) { return s.second.needs_hubble; });
  if (!item || !any) return;
  const auto refuse = [&](dsl::Span span, const std::string& why) {
    d.fail(errors::gauss_not_obeyed(
        span, why, "let H multiply a field in its own momentum, q = -frw.H*phi, or leave it out"));
  };
  for (auto& [array, s] : start) {
    if (!s.needs_hubble) continue;
    const auto powers = algebra::polynomial(s.value, d.hubble(), 1);
    const bool through = std::ranges::any_of(algebra::reads(s.value), [&](Expr read) {
      const auto other = read.is(Op::Load) ? start.find(read->index) : start.end();
      return other != start.end() && (other->second.needs_hubble || other->second.by_hubble);
    });
    if (!powers || powers->size() != 2 || through)
      refuse(s.span, "a momentum at the start is not a number plus H times another");
    s.value = (*powers)[0];
    s.by_hubble = (*powers)[1];
  }
  for (auto& [array, s] : start) s.needs_hubble = false;
  const std::vector<GeneratorLaw> laws = gauss_laws(d, item->span);
  std::set<int> momenta;
  for (const GeneratorLaw& law : laws) {
    momenta.insert(law.electric.begin(), law.electric.end());
    for (const auto& [array, change] : law.rotation) momenta.insert(array);
  }
  for (const GeneratorLaw& law : laws) {
    const Expr left = law_of_additions(d, start, law.law, momenta);
    if (vanishes(d, left) || vanishes(d, as_they_start(d, start, left))) continue;
    refuse(item->span, "what H adds to the momenta at the start has charges of its own");
  }
}

void gauss_start(const Program& d, ProgramUnits& units, const StartValues& start, Start& result) {
  const dsl::Item* item = item_of_law(d);
  if (!item) return;
  check(d, *item, start);
  ProgramUnits unmixed(d, true);
  const auto in_program = [&](Expr physical) {
    return snap_numbers(units.at_start(unmixed.quantity(physical)));
  };
  const auto stored = [&](int array, Expr change) {
    return in_program(units.stored(array, change));
  };
  const std::vector<GeneratorLaw> laws = gauss_laws(d, item->span);
  if (!by_waves(d, start)) {
    result.projected = gauss_projection(d, laws, item->span, in_program, stored);
    d.remark(
        "`gauss = 0`: momenta of links and charged fields start nearest to those of `init`, by "
        "their "
        "kinetic energy, that obey Gauss's law at every site, found by conjugate gradients");
    return;
  }
  for (const GeneratorLaw& law : laws) {
    GaussStart& own = result.gauss.emplace_back();
    own.law = in_program(law.law);
    own.electric = law.electric;
    for (const int array : law.electric) own.unit.push_back(stored(array, d.arena().integer(1)));
    for (const auto& [array, change] : law.rotation) own.rotation[array] = stored(array, change);
  }
  d.remark(
      "`gauss = 0`: E starts with the gradient that makes Gauss's law hold at every site, solved "
      "for in Fourier space, and momenta of charged fields with the common rotation that leaves no "
      "charge in the box");
}

}  // namespace vphi::physics
