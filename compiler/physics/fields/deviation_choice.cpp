#include "compiler/physics/fields/deviation_choice.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fields/deviation.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::physics {
namespace {

using algebra::Op;

/// Arrays that are stored in the same way: the components of a declared field and their momenta.
struct Stored {
  std::vector<std::string> shown;  ///< of the components
  std::set<int> arrays;
};

std::string names_of(const Stored& field) { return dsl::enumerate(field.shown); }

std::vector<Stored> stored_fields(const System& system) {
  std::vector<Stored> result;
  std::map<int, std::size_t> places;  // number of the declaration -> place
  for (const Variable& v : system.variables) {
    if (v.role == Role::Momentum || v.period != 0 || v.frozen || v.field < 0) continue;
    const auto [place, fresh] = places.try_emplace(v.field, result.size());
    if (fresh) result.emplace_back();
    Stored& field = result[place->second];
    field.shown.push_back(v.shown);
    field.arrays.insert(v.array);
    if (v.partner >= 0) field.arrays.insert(v.partner);
  }
  return result;
}

/// Whether the field or its velocity starts as `phi ~ phi0 + vacuum`.
bool starts_about_a_mean(const System& system, const Stored& field) {
  Splitting split(system, {});
  return std::ranges::any_of(system.initial, [&](const InitialValue& start) {
    if (!field.arrays.contains(start.array)) return false;
    const BaseAndRest parts = split(start.value);
    return parts.base && parts.rest && draws(system, parts.rest);
  });
}

/// How many of its arrays are f32 in memory.
std::size_t in_single_precision(const System& system, const Stored& field) {
  return static_cast<std::size_t>(std::ranges::count_if(field.arrays, [&](int array) {
    const auto own = system.numerics.stores.find(array);
    return (own == system.numerics.stores.end() ? system.numerics.store : own->second) ==
           Precision::F32;
  }));
}

/// Arrays of fields whose line says how they are stored.
std::set<int> told(const Program& d) {
  std::set<int> arrays;
  for (const StateField& field : d.fields) {
    const FieldFact* fact = d.facts.field(field.name);
    if (!fact || !fact->line || fact->line->keyword != "field") continue;
    if (!d.ledger.option(*fact->line, "store")) continue;
    arrays.insert(field.arrays.begin(), field.arrays.end());
  }
  return arrays;
}

std::string remark_of(const Stored& field, const std::string& why) {
  const bool one = field.shown.size() == 1;
  return fmt::format(
      "{} {} stored as {}, mean and fluctuations in the 24 bits of f32, and not as {}: {}",
      names_of(field), one ? "is" : "are", one ? "its value" : "their values",
      one ? "a deviation" : "deviations", why);
}

}  // namespace

bool draws(const System& system, Expr value) {
  return algebra::contains(value, [&](Expr node) {
    if (node.is(Op::Normal) || node.is(Op::Uniform)) return true;
    return node.is(Op::Load) && std::ranges::any_of(system.random, [&](const RandomField& random) {
             return random.array == node->index && random.kind != RandomField::Kind::File &&
                    random.kind != RandomField::Kind::Link;
           });
  });
}

std::map<int, StoredAsValue> choose_deviations(const Program& d, System& system) {
  std::map<int, StoredAsValue> values;
  std::set<int> arrays;
  for (const auto& [array, span] : system.numerics.deviations) arrays.insert(array);
  std::string refused;
  if (!arrays.empty() && !with_references(system, arrays, refused)) return values;  // E0322, later
  const std::set<int> by_their_line = told(d);
  for (const Stored& field : stored_fields(system)) {
    const int first = *field.arrays.begin();
    const std::size_t single = in_single_precision(system, field);
    if (arrays.contains(first) || single == 0 || !starts_about_a_mean(system, field)) continue;
    const bool said =
        std::ranges::any_of(field.arrays, [&](int array) { return by_their_line.contains(array); });
    const bool wanted = !said && single == field.arrays.size();
    std::set<int> with = arrays;
    with.insert(field.arrays.begin(), field.arrays.end());
    std::string why;
    const Walls walls = d.walls_of(first);
    const bool own_walls = walls.boundary != d.grid.boundary || twisted(walls);
    if (own_walls) why = "the field has walls of its own";
    const bool possible = !own_walls && with_references(system, with, why);
    if (possible && wanted) {
      arrays = std::move(with);
      for (const int array : field.arrays) system.numerics.deviations[array] = {};
      continue;
    }
    if (wanted) system.remarks.push_back(remark_of(field, why));
    for (const int array : field.arrays) values[array] = {said, possible ? std::string() : why};
  }
  return values;
}

}  // namespace vphi::physics
