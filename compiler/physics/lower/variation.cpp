#include "compiler/physics/lower/variation.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/fields/stencil_errors.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// The reductions of e that are in no other one, in the order of their creation.
std::vector<Expr> outermost_reductions(Expr e) {
  std::vector<Expr> result, open{e};
  std::unordered_set<const algebra::Node*> met;
  while (!open.empty()) {
    const Expr node = open.back();
    open.pop_back();
    if (!met.insert(node.get()).second) continue;
    if (algebra::reduces_sites(node.op())) {
      result.push_back(node);
      continue;
    }
    for (const Expr arg : node.args()) open.push_back(arg);
  }
  std::ranges::sort(result, {}, [](Expr r) { return r->id; });
  return result;
}

/// Of sum_x C(x) |grad u|^2(x), C held fixed.
Expr gradient_force(const Space& d, Expr c, int array) {
  Arena& arena = d.arena();
  const algebra::StencilData stencil = arena.stencil_data(d.laplacian);
  const bool symmetric = algebra::is_symmetric(stencil);
  const algebra::Mover move = around(d);
  if (symmetric && !algebra::per_site(c)) {
    return -(arena.integer(2) * c * laplacian(d, arena.load(array)));
  }
  if (stencil.spectral)
    d.fail(errors::not_spectral(stencil.span,
                                "a coefficient of |grad u|^2 differs from site to site", c->span));
  Expr sum = arena.integer(0);
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    const algebra::Offset o = stencil.offsets[i];
    if (o.zero()) continue;
    const Expr step = difference(d, array, o), weight = arena.integer(stencil.weights[i]);
    if (symmetric) {
      sum = sum - weight * ((c + move(c, o)) * step);
    } else {
      sum = sum + weight * (move(c * step, algebra::mirrored(o)) - c * step);
    }
  }
  return algebra::pow(d.grid.dx, stencil.dx_power) / arena.integer(stencil.denominator) * sum;
}

/// Of a density without averages.
Expr local_variation(const Space& d, Expr density, int array) {
  Arena& arena = d.arena();
  const algebra::Mover move = around(d);
  Expr force = applied(arena, algebra::variation(density, array, move), move);
  const bool gradient = algebra::contains(
      density, [&](Expr node) { return node.is(Op::Load) && node->index == gradient_of(array); });
  if (!gradient) return force;
  // |grad u|^2 is an array of its own here; its coefficient is what varying it gives
  const Expr c = applied(arena, algebra::variation(density, gradient_of(array), move), move);
  return c.is_zero() ? force : force + gradient_force(d, c, array);
}

/// From so many nodes on, met once for each value of the array, terms of a force are not traced to
/// those of its density: each of these would be varied once more by itself.
constexpr std::size_t kMostTraced = 30000;

bool traced(Expr density, int array) {
  std::size_t nodes = 0, values = 0;
  algebra::visit(density, [&](Expr node) {
    ++nodes;
    if (node.is(Op::Load) && node->index == array) ++values;
  });
  return nodes * values < kMostTraced;
}

bool reads_array(Expr e, int array) {
  return algebra::contains(e, [&](Expr node) {
    return node.is(Op::Load) && (node->index == array || node->index == gradient_of(array));
  });
}

}  // namespace

Expr applied(Arena& arena, Expr e, const algebra::Mover& move) {
  return algebra::rewrite(e, [&](Expr node) {
    if (!node.is(Op::Stencil) || node.arg(0).is(Op::Load)) return node;
    return apply_stencil(arena, node->index, node.arg(0), move);
  });
}

Expr variation(const Space& d, Expr functional, Functional kind, int array, dsl::Span span) {
  Arena& arena = d.arena();
  const bool solved = algebra::contains(functional, [&](Expr node) {
    return node.is(Op::Load) &&
           std::ranges::any_of(d.collected.solves, [&](const LinearSystem& solve) {
             return std::ranges::count(solve.arrays, node->index) > 0;
           });
  });
  if (solved)
    d.fail(errors::not_yet(span, "the derivative of what holds `solve` or links of a definition"));
  const std::vector<Expr> averages = outermost_reductions(functional);
  if (averages.empty()) return local_variation(d, functional, array);

  std::unordered_map<const algebra::Node*, Expr> symbols, back;
  for (std::size_t i = 0; i < averages.size(); ++i) {
    const Expr symbol = arena.symbol(fmt::format("average {}", averages[i]->id));
    symbols.emplace(averages[i].get(), symbol);
    back.emplace(symbol.get(), averages[i]);
  }
  const Expr held = algebra::substitute(functional, symbols);
  const auto shown = [&](Expr e) { return algebra::substitute(e, back); };
  const Expr sites = arena.integer(d.grid.sites());
  Expr force =
      kind == Functional::Density ? shown(local_variation(d, held, array)) : arena.integer(0);
  for (const Expr average : averages) {
    if (!reads_array(average, array)) continue;
    const Expr slope = shown(algebra::derivative(held, symbols.at(average.get())));
    if (slope.is_zero()) continue;
    if (average.is(Op::Minimum) || average.is(Op::Maximum)) {
      d.fail(errors::extremum_in_source(average->span.empty() ? span : average->span));
    }
    Expr weight = slope;  // dF/dA, and 1/N of a mean
    if (kind == Functional::Density) {
      if (algebra::per_site(slope)) {
        weight = arena.make(average.op(), {slope});
      } else if (average.is(Op::Total)) {
        weight = sites * slope;
      }
    } else if (average.is(Op::Mean)) {
      weight = slope / sites;
    }
    force = force + weight * variation(d, average.arg(0), Functional::Density, array, span);
  }
  return force;
}

void mark_origins(const Space& d, Expr force, Expr density, int array, dsl::Span span,
                  std::size_t since) {
  Arena& arena = d.arena();
  const auto terms_of = [](Expr e) {
    return e.is(Op::Add) ? std::vector<Expr>(e.args().begin(), e.args().end())
                         : std::vector<Expr>{e};
  };
  const auto open = [since](Expr term) {
    return !term->args.empty() && !term->settled && (term->span.empty() || term->id >= since);
  };
  const std::vector<Expr> terms = terms_of(force);
  if (std::ranges::none_of(terms, open)) return;
  const std::vector<Expr> sources =
      traced(density, array) ? terms_of(density) : std::vector<Expr>{};
  for (const Expr source : sources) {
    if (!reads_array(source, array)) continue;
    const Expr part = variation(d, source, Functional::Density, array, span);
    for (const Expr piece : terms_of(part)) {
      const Expr rest = algebra::scaled(piece).rest;
      for (const Expr term : terms) {
        if (open(term) && algebra::scaled(term).rest == rest) {
          arena.settle(term, source->span.empty() ? span : source->span, since);
        }
      }
    }
  }
  for (const Expr term : terms) {
    if (open(term)) arena.mark(term, span);
  }
}

}  // namespace vphi::physics
