#include "compiler/physics/starts/gauss_start.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/gauss_law.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/starts/gauss_projection.hpp"
#include "compiler/physics/starts/init_errors.hpp"

namespace vphi::physics {

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

}  // namespace

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
