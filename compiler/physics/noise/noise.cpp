#include "compiler/physics/noise/noise.hpp"
#include "compiler/algebra/op_cases.hpp"
#include "compiler/physics/stages/program.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/noise/noise_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

bool is_noise(Expr e) { return e.is(Op::Noise); }

/// Arrays whose value at the site itself an expression reads.
std::set<int> own_reads(Expr e) {
  std::set<int> result;
  algebra::visit(e, [&](Expr node) {
    if (node.is(Op::Load) && node->offset.zero()) result.insert(node->index);
  });
  return result;
}

bool reads_state(Expr e) {
  return algebra::contains(e, [](Expr node) {
    return node.is(Op::Load) || (node.op() >= Op::Mean && node.op() <= Op::Maximum);
  });
}

/// Whether the expression reads neighbours. Their noise is independent, so the product rule holds
/// at the site only.
bool reads_elsewhere(Expr e) {
  return algebra::contains(e, [](Expr node) {
    return node.is(Op::Stencil) || (node.is(Op::Load) && !node->offset.zero()) ||
           (node.op() >= Op::Mean && node.op() <= Op::Maximum);
  });
}

/// g[array][stream] of the whole system.
using Factors = std::map<int, std::map<int, Expr>>;

/// The parts of an expression without and with noise, where it is linear in that.
struct Parts {
  Expr rest, noise;
  bool linear = true;
};

Parts parts_of(Expr e) {
  algebra::Arena& arena = *e->arena;
  const Expr zero = arena.integer(0);
  if (!algebra::contains(e, is_noise)) return {e, zero};
  if (is_noise(e)) return {zero, e};
  std::vector<Parts> args;
  for (const Expr arg : e.args()) args.push_back(parts_of(arg));
  const auto silent = [&](std::size_t i) { return args[i].noise.is_zero(); };
  Parts result{zero, zero, std::ranges::all_of(args, &Parts::linear)};
  const auto both = [&](const auto& make) {
    result.rest = make([&](std::size_t i) { return args[i].rest; });
    result.noise = make([&](std::size_t i) { return args[i].noise; });
  };
  switch (e.op()) {
    case Op::Add:
      for (const Parts& part : args) {
        result.rest = result.rest + part.rest;
        result.noise = result.noise + part.noise;
      }
      return result;
    case Op::Sub:
      both([](const auto& part) { return part(0) - part(1); });
      return result;
    case Op::Neg:
      both([](const auto& part) { return -part(0); });
      return result;
    case Op::Mul: {
      result.rest = result.noise = arena.integer(1);
      int noisy = 0;
      for (std::size_t i = 0; i < args.size(); ++i) {
        noisy += silent(i) ? 0 : 1;
        result.rest = result.rest * args[i].rest;
        result.noise = result.noise * (silent(i) ? args[i].rest : args[i].noise);
      }
      result.linear = result.linear && noisy == 1;
      return result;
    }
    case Op::Div:
      both([&](const auto& part) { return part(0) / args[1].rest; });
      result.linear = result.linear && silent(1);
      return result;
    case Op::Select:
      both([&](const auto& part) {
        return arena.make(Op::Select, {args[0].rest, part(1), part(2)}, e->span);
      });
      result.linear = result.linear && silent(0);
      return result;
    case Op::Stencil:
      both([&](const auto& part) {
        return part(0).is_zero() ? part(0) : apply_stencil(arena, e->index, part(0));
      });
      return result;
    case Op::Pow:
    case Op::Sqrt:
    case Op::Fma:
    case VPHI_DRAWS:
    case VPHI_DEVICE_FUNCTIONS:
    case VPHI_CONDITIONS:
    case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
    case Op::Number:
    case Op::Symbol:
    case Op::Load:
    case Op::Site:
    case Op::Atan2:
    case Op::Min:
    case Op::Max:
    case Op::Lookup:
    case Op::PairSum:
    case Op::Count_:
      break;
  }
  result.linear = false;
  return result;
}

Factors factors_of(const std::vector<Variable>& variables) {
  Factors g;
  for (const Variable& v : variables) {
    auto noisy = split_noise(v.rate);
    if (!noisy.factors.empty()) g[v.array] = std::move(noisy.factors);
  }
  return g;
}

/// sum_j g[j][r] d(g[i][s])/d(x_j)
Expr along(const Factors& g, Expr factor, int stream) {
  algebra::Arena& arena = *factor->arena;
  Expr sum = arena.integer(0);
  for (const int j : own_reads(factor)) {
    const auto row = g.find(j);
    if (row == g.end()) continue;
    const auto other = row->second.find(stream);
    if (other == row->second.end()) continue;
    sum = sum + other->second * algebra::local_derivative(factor, arena.load(j));
  }
  return sum;
}

NoiseClass class_of(const Factors& g) {
  if (g.empty()) return NoiseClass::None;
  bool additive = true, diagonal = true, elsewhere = false;
  std::map<int, int> owner;  // stream -> the one array that it drives
  for (const auto& [array, row] : g) {
    diagonal = diagonal && row.size() == 1;
    for (const auto& [stream, factor] : row) {
      additive = additive && !reads_state(factor);
      elsewhere = elsewhere || reads_elsewhere(factor);
      const auto reads = own_reads(factor);
      diagonal = diagonal && owner.emplace(stream, array).second &&
                 (reads.empty() || reads == std::set<int>{array});
    }
  }
  if (additive) return NoiseClass::Additive;
  if (elsewhere) return NoiseClass::General;
  if (diagonal) return NoiseClass::Diagonal;
  for (const auto& [i, row] : g) {
    std::set<int> streams;
    for (const auto& [array, other] : g) {
      for (const auto& [stream, factor] : other) streams.insert(stream);
    }
    const auto factor = [&, &row = row](int s) {
      const auto found = row.find(s);
      return found == row.end() ? row.begin()->second->arena->integer(0) : found->second;
    };
    for (const int r : streams) {
      for (const int s : streams) {
        if (s <= r) continue;
        const Expr difference = along(g, factor(s), r) - along(g, factor(r), s);
        if (!algebra::expand(difference).is_zero()) return NoiseClass::General;
      }
    }
  }
  return NoiseClass::Commutative;
}

}  // namespace

Expr noise_written(const Context& d, const dsl::Expr& at, const Reading& reading,
                   const std::string& indices) {
  if (!reading.equation)
    d.fail(errors::noise_not_here(at.span, d.resolved.clause("conserve") != nullptr));
  const std::string place =
      fmt::format("{}:{}-{} {}", at.span.file, at.span.begin, at.span.end, indices);
  auto& streams = d.collected.noise_streams;
  const auto [found, fresh] =
      d.collected.noise_places.emplace(place, static_cast<int>(streams.size()));
  if (fresh) streams.push_back(at.span);
  return d.arena().random(Op::Noise, found->second, {}, at.span);
}

std::vector<Expr> noise_components(const Context& d, Expr term, int count) {
  const NoisyRate noisy = split_noise(term);
  if (!noisy.noisy() || !noisy.linear || !algebra::expand(noisy.rest).is_zero()) return {};
  auto& streams = d.collected.noise_streams;
  std::vector<Expr> result{term};
  for (int c = 1; c < count; ++c) {
    std::unordered_map<const algebra::Node*, Expr> own;
    algebra::visit(term, [&](Expr node) {
      if (!is_noise(node)) return;
      const std::string place = fmt::format("component {} of {}", c, node->index);
      const auto [found, fresh] =
          d.collected.noise_places.emplace(place, static_cast<int>(streams.size()));
      if (fresh) streams.push_back(streams[static_cast<std::size_t>(node->index)]);
      own.emplace(node.get(), d.arena().random(Op::Noise, found->second, node->offset, node->span));
    });
    result.push_back(algebra::substitute(term, own));
  }
  return result;
}

Noise read_noise(const Context& d) {
  Noise noise;
  const dsl::Clause* clause = d.resolved.clause("noise");
  if (!clause) return noise;
  for (const dsl::Item& item : clause->items) {
    const std::string text = item.value ? item.value->text : std::string();
    if (!item.head) {
      noise.calculus = text == "ito" ? Calculus::Ito : Calculus::Stratonovich;
    } else if (item.head->name == "accuracy") {
      noise.points = text == "weak" ? 3 : text == "weak1" ? 2 : 0;
    }
  }
  return noise;
}

std::set<int> NoisyRate::streams() const {
  std::set<int> result;
  for (const auto& [stream, factor] : factors) result.insert(stream);
  if (spread) {
    algebra::visit(spread, [&](Expr node) {
      if (is_noise(node)) result.insert(node->index);
    });
  }
  return result;
}

NoisyRate split_noise(Expr rate) {
  NoisyRate result;
  std::vector<Expr> leaves;
  algebra::visit(rate, [&](Expr node) {
    if (is_noise(node)) leaves.push_back(node);
  });
  result.rest = rate;
  if (leaves.empty()) return result;
  const bool away = std::ranges::any_of(leaves, [](Expr leaf) { return !leaf->offset.zero(); }) ||
                    algebra::contains(rate, [](Expr node) {
                      const bool closed = node.is(Op::Stencil) ||
                                          (node.op() >= Op::Mean && node.op() <= Op::Maximum);
                      return closed && algebra::contains(node.arg(0), is_noise);
                    });
  if (away) {
    const Parts parts = parts_of(rate);
    result.rest = parts.rest;
    result.spread = parts.noise;
    result.linear = parts.linear;
    return result;
  }
  std::unordered_map<const algebra::Node*, Expr> silent;
  for (const Expr leaf : leaves) silent.emplace(leaf.get(), rate->arena->integer(0));
  for (const Expr leaf : leaves) {
    const Expr factor = algebra::local_derivative(rate, leaf);
    if (algebra::contains(factor, is_noise)) result.linear = false;
    result.factors[leaf->index] = factor;
  }
  result.rest = algebra::substitute(rate, silent);
  return result;
}

Expr drift_correction(const System& system, int array) {
  const Factors g = factors_of(system.variables);
  algebra::Arena& arena = *system.arena;
  Expr sum = arena.integer(0);
  const auto row = g.find(array);
  if (row == g.end()) return sum;
  for (const auto& [stream, factor] : row->second) sum = sum + along(g, factor, stream);
  return arena.rational(1, 2) * sum;
}

Noise classify_noise(const Program& d) {
  Noise noise = d.noise;
  noise.streams = d.collected.noise_streams;
  const Variable* spread = nullptr;
  bool of_state = false;
  for (const Variable& v : d.variables) {
    const NoisyRate noisy = split_noise(v.rate);
    if (!noisy.linear) d.fail(errors::noise_not_linear(v.span, v.shown));
    if (!noisy.spread) continue;
    spread = &v;
    for (int axis = 0; axis < d.grid.dims; ++axis) {
      const auto k = static_cast<std::size_t>(axis);
      if (d.grid.boundary[k] == Boundary::Periodic && !d.grid.shifted(axis) &&
          d.walls_of(v.array).boundary[k] == Boundary::Periodic && !d.walls_of(v.array).twist[k])
        continue;
      d.fail(errors::not_yet(v.span, "noise of neighbours in a box that is not periodic"));
    }
    if (!reads_state(noisy.spread)) continue;
    of_state = true;
    if (noise.calculus == Calculus::Ito) continue;
    d.fail(errors::spread_noise_calculus(v.span, v.shown));
  }
  noise.kind = class_of(factors_of(d.variables));
  if (spread && noise.kind == NoiseClass::None) noise.kind = NoiseClass::Additive;
  if (of_state) noise.kind = NoiseClass::General;
  if (noise.kind == NoiseClass::None) return noise;
  if (const dsl::Clause* clause = d.resolved.clause("noise")) d.ledger.everything(*clause);
  constexpr const char* kShown[] = {"", "additive", "diagonal", "commutative", "general"};
  d.remark(fmt::format("the noise is {}: {}", kShown[static_cast<int>(noise.kind)],
                       noise.kind == NoiseClass::Additive ? "Ito and Stratonovich are the same"
                                                          : "Ito and Stratonovich differ"));
  if (noise.kind == NoiseClass::Additive || noise.calculus) return noise;
  noise.calculus = Calculus::Stratonovich;
  d.diagnostics.add(errors::calculus_open(noise.streams.front(), "Stratonovich"));
  return noise;
}

}  // namespace vphi::physics
