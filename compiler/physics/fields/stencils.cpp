// Which lattice Laplacian: library text, the user's own expression, or two neighbours an axis.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fields/stencil_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

namespace {

/// 2*dims + 1 points: sum of the faces minus 2*dims times the site.
algebra::StencilData nearest_neighbours(int dims) {
  algebra::StencilData data;
  data.name = "lap";
  data.dims = dims;
  data.offsets.push_back({});
  data.weights.push_back(-2 * dims);
  for (const algebra::Offset& o : algebra::neighbours(dims, 1)) {
    data.offsets.push_back(o);
    data.weights.push_back(1);
  }
  return data;
}

std::string fraction(const algebra::Rational& r) {
  return r.den == 1 ? fmt::format("{}", r.num) : fmt::format("{}/{}", r.num, r.den);
}

/// The body of `stencil NAME(u) = ...` as weights.
algebra::StencilData read_stencil(const Declared& d, const dsl::Clause& clause, int dims,
                                  dsl::Span used) {
  const dsl::Item& item = clause.items.front();
  const std::string name = item.head ? item.head->name : std::string("stencil");
  if (!item.head || item.head->args.size() != 1 || !item.value) {
    d.fail(errors::stencil_not_linear(used, name));
  }
  Arena& arena = d.arena();
  const int scratch = 0;  // stands for the argument; never read as a field
  Scope scope;
  const Expr dx = arena.symbol("dx");
  scope.values.emplace(item.head->args[0]->text, Value::of(arena.load(scratch)));
  scope.values.emplace("dx", Value::of(dx));
  Declared there = d;
  there.grid.dims = dims;
  Lowerer lower(there);
  const Expr body = lower.real(*item.value, "a stencil", scope);
  auto found = algebra::recognise(body, dx, dims, name);
  if (!found.stencil) {
    const bool linear = std::ranges::all_of(algebra::reads(body), [&](Expr read) {
      return !algebra::per_site(algebra::derivative(body, read));
    });
    dsl::Diagnostic error =
        linear ? errors::stencil_weights(used, name) : errors::stencil_not_linear(used, name);
    if (!found.why_not.empty()) error.rule += "; " + found.why_not;
    error.labels.push_back({item.span, "written here"});
    d.fail(error);
  }
  found.stencil->span = item.span;
  return *found.stencil;
}

/// More dimensions than the lattice has, where the text is a Laplacian only there: 3 for iso27.
int dimensions_needed(const Declared& d, const dsl::Clause& clause, dsl::Span used,
                      const algebra::StencilData& here) {
  const int dims = d.grid.dims;
  int needs = dims;
  if (algebra::consistency(here).laplacian) return needs;
  for (int more = dims + 1; more <= 3 && needs == dims; ++more) {
    if (algebra::consistency(read_stencil(d, clause, more, used)).laplacian) needs = more;
  }
  return needs;
}

/// The word for the Laplacian whose symbol is -k^2, where no stencil has this name.
constexpr const char* kSpectral = "spectral";

/// Why a box has no Fourier transform; empty where it has one.
std::string not_transformed(const Declared& d) {
  const Grid& grid = d.grid;
  for (int axis = 0; axis < grid.dims; ++axis)
    if (grid.boundary[static_cast<std::size_t>(axis)] != Boundary::Periodic)
      return "the box is not periodic along every axis";
  if (grid.shifted()) return "beyond a shifted end a row goes on in another one";
  for (const StateField& field : d.fields) {
    if (!has_walls(field)) continue;
    if (twisted(field.walls)) return fmt::format("`{}` has a twisted boundary", field.name);
    if (!field.walls.periodic(grid.dims)) return fmt::format("`{}` is not periodic", field.name);
  }
  return {};
}

}  // namespace

int choose_laplacian(const Declared& d) {
  if (!d.grid.present) return -1;
  const NamedFact* chosen = d.facts.find("laplacian");
  algebra::StencilData data = nearest_neighbours(d.grid.dims);
  dsl::Span span = d.grid.span;
  if (chosen) {
    span = chosen->value->span;
    const std::string& name = chosen->value->text;
    const auto it = d.facts.stencils.find(name);
    if (it == d.facts.stencils.end() && name == kSpectral) {
      if (const std::string why = not_transformed(d); !why.empty())
        d.fail(errors::not_spectral(span, why, d.grid.span));
      data.name = kSpectral;
      data.span = span;
      data.spectral = true;
      return d.arena().add_stencil(data);
    }
    if (it == d.facts.stencils.end()) {
      std::vector<std::string> known;
      for (const auto& [other, clause] : d.facts.stencils) known.push_back(other);
      known.emplace_back(kSpectral);
      d.fail(errors::unknown_stencil(span, name, known));
    }
    data = read_stencil(d, *it->second, d.grid.dims, span);
    if (const int needs = dimensions_needed(d, *it->second, span, data); needs > d.grid.dims) {
      d.fail(errors::stencil_dimensions(span, name, needs, d.grid.dims));
    }
    const algebra::Rational sum = algebra::moment(data, {0, 0, 0, 0});
    if (sum.num != 0) d.fail(errors::stencil_constant(span, name, fraction(sum)));
    const algebra::Consistency check = algebra::consistency(data);
    if (!check.laplacian) d.fail(errors::stencil_moment(span, name, check.error));
  }
  return d.arena().add_stencil(data);
}

}  // namespace vphi::physics
