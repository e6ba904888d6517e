#include "compiler/schedule/integrator/match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/noise.hpp"

namespace vphi::schedule {

using algebra::Op;
using dsl::ExprKind;

int Head::index(const std::string& variable) const {
  const auto found = std::ranges::find(variables, variable);
  return found == variables.end() ? -1 : static_cast<int>(found - variables.begin());
}

bool Head::is_plain() const {
  return std::ranges::all_of(parts, [](const std::vector<Part>& p) {
    return p.size() == 1 && !p[0].negative &&
           (p[0].kind == Part::Kind::Hole || p[0].kind == Part::Kind::Variable);
  });
}

namespace {

/// Reads `V(v)`, `v`, `F(x) - gamma*v + g*noise` into parts.
class HeadMatcher {
 public:
  HeadMatcher(const Integrator& integrator, const Head& head, dsl::Diagnostics& diagnostics)
      : integrator_(integrator), head_(head), diagnostics_(diagnostics) {}

  bool read(const dsl::Expr& expr, bool negative, std::vector<Part>& parts) {
    if (expr.kind == ExprKind::Binary && (expr.text == "+" || expr.text == "-")) {
      return read(*expr.args[0], negative, parts) &&
             read(*expr.args[1], negative != (expr.text == "-"), parts);
    }
    if (expr.kind == ExprKind::Unary && expr.text == "-") {
      return read(*expr.args[0], !negative, parts);
    }
    Part part;
    part.negative = negative;
    part.span = expr.span;
    const bool product = expr.kind == ExprKind::Binary && expr.text == "*";
    const auto is_variable = [&](const dsl::Expr& e) {
      return e.kind == ExprKind::Name && head_.index(e.text) >= 0;
    };
    if (expr.kind == ExprKind::Call && expr.text == "cross" && expr.args.size() == 2 &&
        expr.args[0]->kind == ExprKind::Name && expr.args[1]->kind == ExprKind::Call) {
      part.kind = Part::Kind::Cross;
      part.variable = expr.args[0]->text;
      if (head_.index(part.variable) < 0) {
        return bad(expr, "`" + part.variable + "` is not a variable of the head");
      }
      if (!read_hole(*expr.args[1], part)) return false;
    } else if (expr.kind == ExprKind::Call) {
      if (!read_hole(expr, part)) return false;
      if (is_operator(part.name)) part.kind = Part::Kind::Linear;
    } else if (product && expr.args[0]->kind == ExprKind::Call && is_variable(*expr.args[1])) {
      part.kind = Part::Kind::Multiple;
      part.variable = expr.args[1]->text;
      if (!read_hole(*expr.args[0], part)) return false;
    } else if (product && expr.args[0]->kind == ExprKind::Call &&
               expr.args[1]->kind == ExprKind::Name && expr.args[1]->text == "noise") {
      part.kind = Part::Kind::Noise;
      if (!read_hole(*expr.args[0], part)) return false;
    } else if (expr.kind == ExprKind::Name && head_.index(expr.text) >= 0) {
      part.kind = Part::Kind::Variable;
      part.variable = expr.text;
    } else if (product && expr.args[0]->kind == ExprKind::Name &&
               expr.args[1]->kind == ExprKind::Name) {
      part.kind = expr.args[1]->text == "noise" ? Part::Kind::Noise : Part::Kind::Coefficient;
      part.name = expr.args[0]->text;
      part.variable = expr.args[1]->text;
      if (part.kind == Part::Kind::Coefficient && head_.index(part.variable) < 0) {
        return bad(expr, "`" + part.variable + "` is not a variable of the head");
      }
    } else {
      return bad(expr, "a right side is a sum of holes `F(x)`, variables, `gamma*v` and `w(x)*x`");
    }
    parts.push_back(part);
    return true;
  }

 private:
  /// Whether the body takes a function of the hole as an operator: exp(dt*A, x).
  bool is_operator(const std::string& name) const {
    const std::function<bool(const dsl::Expr&)> named = [&](const dsl::Expr& e) {
      return (e.kind == ExprKind::Name && e.text == name) ||
             std::ranges::any_of(e.args, [&](const auto& arg) { return named(*arg); });
    };
    const std::function<bool(const dsl::Expr&)> in = [&](const dsl::Expr& e) {
      const bool function = e.kind == ExprKind::Call && e.args.size() == 2 &&
                            (e.text == "exp" || e.text == "phi1" || e.text == "phi2");
      return (function && named(*e.args[0])) ||
             std::ranges::any_of(e.args, [&](const auto& arg) { return in(*arg); });
    };
    return std::ranges::any_of(integrator_.body,
                               [&](const Statement& line) { return in(*line.value); });
  }

  bool read_hole(const dsl::Expr& call, Part& part) {
    part.name = call.text;
    for (const auto& arg : call.args) {
      if (arg->kind == ExprKind::Call) {
        return fail(errors::not_yet(call.span, "`" + call.text + "` of a hole in a head"));
      }
      if (arg->kind != ExprKind::Name) return bad(call, "a hole takes names");
      if (head_.index(arg->text) < 0 && arg->text != "t") {
        return fail(errors::not_yet(call.span, "`" + call.text + "(...)` in a head"));
      }
      part.arguments.push_back(arg->text);
    }
    return true;
  }

  bool fail(dsl::Diagnostic diagnostic) {
    diagnostics_.add(std::move(diagnostic));
    return false;
  }
  bool bad(const dsl::Expr& expr, const std::string& why) {
    return fail(text::errors::unreadable_head(expr.span, integrator_.name, why));
  }

  const Integrator& integrator_;
  const Head& head_;
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Head> read_head(const Integrator& integrator, dsl::Diagnostics& diagnostics) {
  Head head;
  for (const text::HeadEquation& equation : integrator.head)
    head.variables.push_back(equation.variable);
  HeadMatcher reader(integrator, head, diagnostics);
  for (const text::HeadEquation& equation : integrator.head) {
    std::vector<Part> parts;
    if (!reader.read(*equation.right, false, parts)) return std::nullopt;
    head.parts.push_back(std::move(parts));
  }
  if (head.variables.size() > 2) {
    diagnostics.add(errors::not_yet(integrator.span, "a head with more than two equations"));
    return std::nullopt;
  }
  return head;
}

std::vector<std::vector<Group>> groupings(const physics::System& system, const Head& head) {
  std::vector<Group> base;
  for (const std::string& variable : head.variables) base.push_back({variable, {}, {}});
  if (base.size() == 1) {
    for (const auto& v : system.variables) base[0].arrays.push_back(v.array);
    for (const auto& s : system.scalars) base[0].scalars.push_back(s.symbol);
    return {base};
  }
  // `x' = v` marks the coordinate; else it is the first of the head.
  const bool swapped = head.parts[1].size() == 1 && head.parts[1][0].kind == Part::Kind::Variable;
  const std::size_t coordinate = swapped ? 1 : 0;
  std::vector<int> free_arrays;
  for (const auto& v : system.variables) {
    if (v.frozen) {  // fits any group, since it does not move
      base[coordinate].arrays.push_back(v.array);
    } else if (v.role == physics::Role::FirstOrder) {
      free_arrays.push_back(v.array);
    } else {
      base[v.role == physics::Role::Coordinate ? coordinate : 1 - coordinate].arrays.push_back(
          v.array);
    }
  }
  std::vector<std::string> free_scalars;
  for (const auto& s : system.scalars) {
    if (s.role == physics::Role::FirstOrder) {
      free_scalars.push_back(s.symbol);
    } else {  // with its arrays
      base[s.role == physics::Role::Coordinate ? coordinate : 1 - coordinate].scalars.push_back(
          s.symbol);
    }
  }
  const std::size_t free = std::min<std::size_t>(free_arrays.size() + free_scalars.size(), 10);
  std::vector<std::vector<Group>> result;
  for (std::size_t choice = 0; choice < (std::size_t{1} << free); ++choice) {
    std::vector<Group> groups = base;
    const auto side = [&](std::size_t i) -> Group& {
      const bool other = i < free && (choice >> i & 1) != 0;
      return groups[other ? 1 - coordinate : coordinate];
    };
    std::size_t i = 0;
    for (const int array : free_arrays) side(i++).arrays.push_back(array);
    for (const std::string& scalar : free_scalars) side(i++).scalars.push_back(scalar);
    result.push_back(std::move(groups));
  }
  return result;
}

namespace {

/// Lines of a flux scheme and recovered values are made from the conserved quantities.
std::set<int> arrays_read(const physics::System& system, Expr expr) {
  std::set<int> result;
  algebra::visit(expr, [&](Expr node) {
    if (!node.is(Op::Load) || algebra::is_pair_entry(*node)) return;
    if (system.conservation && !variable_of(system, node->index)) {
      const std::vector<int>& quantities = system.conservation->quantities;
      result.insert(quantities.begin(), quantities.end());
    } else {
      result.insert(node->index);
    }
  });
  return result;
}

/// c of c*v where v is the bare value of `own`; nothing where the term is anything else.
std::optional<Expr> coefficient_of(const kernel::Term& term, int own) {
  if (!term.site || !term.site.is(Op::Load) || !term.site->offset.zero()) return std::nullopt;
  if (term.site->index != own) return std::nullopt;
  return term.coefficient;
}

/// Arrays that a part with these arguments may read.
std::set<int> readable(const Part& part, const Head& head, const std::vector<Group>& groups) {
  std::set<int> allowed;
  for (const std::string& name : part.arguments) {
    const int group = head.index(name);
    if (group < 0) continue;
    const auto& arrays = groups[static_cast<std::size_t>(group)].arrays;
    allowed.insert(arrays.begin(), arrays.end());
  }
  return allowed;
}

bool take_noise(const physics::System& system, const NoisyRate& noisy, const Head& head,
                std::size_t equation, const std::vector<Group>& groups,
                std::vector<std::map<int, Expr>>& shares, int array) {
  for (std::size_t p = 0; p < head.parts[equation].size(); ++p) {
    const Part& part = head.parts[equation][p];
    if (part.kind != Part::Kind::Noise) continue;
    if (!std::ranges::includes(readable(part, head, groups), arrays_read(system, noisy.factor)))
      continue;
    shares[p].at(array) = part.negative ? -noisy.factor : noisy.factor;
    return true;
  }
  return false;
}

/// Whether a hole may read all that the velocity of a link reads; it then has its rate.
bool take_link(const physics::System& system, const physics::LinkMotion& link, const Head& head,
               std::size_t equation, const std::vector<Group>& groups,
               std::vector<std::map<int, Expr>>& shares, int array) {
  std::set<int> read;
  for (const Expr w : link.velocity) read.merge(arrays_read(system, w));
  for (std::size_t p = 0; p < head.parts[equation].size(); ++p) {
    const Part& part = head.parts[equation][p];
    if (part.kind != Part::Kind::Hole || part.negative) continue;
    if (!std::ranges::includes(readable(part, head, groups), read)) continue;
    shares[p].at(array) = variable_of(system, array)->rate;
    return true;
  }
  return false;
}

/// Products that hold one of the arrays multiplied out: q*(v_1*W_2 - v_2*W_1).
Expr opened(Expr rate, const std::vector<int>& arrays) {
  const auto holds = [&](Expr e) {
    return algebra::contains(e, [&](Expr node) {
      return node.is(Op::Load) && std::ranges::count(arrays, node->index) > 0;
    });
  };
  if (!rate.is(Op::Add)) return holds(rate) ? algebra::expand(rate) : rate;
  std::vector<Expr> terms;
  for (const Expr term : rate.args()) terms.push_back(holds(term) ? algebra::expand(term) : term);
  return rate->arena->make(Op::Add, std::move(terms), rate->span);
}

/// Terms of the rates of one vector that are c*v_j of another component of its own, taken for a
/// cross product: cross(v, W)_i = sum_jk e_ijk v_j W_k.
class Rotation {
 public:
  /// `rates` of the components v_0, v_1, v_2, without their noise.
  Rotation(const physics::System& system, const std::vector<int>& v, const std::vector<Expr>& rates,
           const std::set<int>& allowed)
      : arena_(*rates[0]->arena) {
    const Expr zero = arena_.integer(0);
    std::array<std::array<Expr, 3>, 3> a;
    for (auto& row : a) row.fill(zero);
    for (std::size_t i = 0; i < 3; ++i) {
      for (const kernel::Term& term : kernel::linear_terms(rates[i])) {
        if (!term.site) continue;
        const Expr whole = term.coefficient * term.site;
        for (std::size_t j = 0; j < 3; ++j) {
          const Expr load = arena_.load(v[j]);
          if (i == j || !algebra::depends_on(whole, load)) continue;
          const Expr factor = whole / load;
          if (!std::ranges::includes(allowed, arrays_read(system, factor))) continue;
          a[i][j] = a[i][j] + factor;
          taken_.insert(term.site.get());
        }
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!algebra::expand(a[i][j] + a[j][i]).is_zero()) {
          taken_.clear();
          return;
        }
      }
    }
    w_ = {a[1][2], a[2][0], a[0][1]};
  }
  bool takes(const kernel::Term& term) const {
    return term.site && taken_.contains(term.site.get());
  }
  bool found() const { return !taken_.empty(); }
  Expr w(std::size_t k) const { return w_[k]; }

 private:
  algebra::Arena& arena_;
  std::set<const algebra::Node*> taken_;
  std::array<Expr, 3> w_;
};

/// Shares of a Cross part; the rotation of each array that has one.
std::map<int, std::shared_ptr<Rotation>> rotations(const physics::System& system, const Head& head,
                                                   std::size_t equation,
                                                   const std::vector<Group>& groups,
                                                   std::vector<std::map<int, Expr>>& shares) {
  std::map<int, std::shared_ptr<Rotation>> result;
  for (std::size_t p = 0; p < head.parts[equation].size(); ++p) {
    const Part& part = head.parts[equation][p];
    if (part.kind != Part::Kind::Cross || head.index(part.variable) != static_cast<int>(equation)) {
      continue;
    }
    for (const int array : groups[equation].arrays) {
      const std::vector<int> v = vector_of(system, array);
      if (v.size() != 3 || v[0] != array) continue;
      std::vector<Expr> rates;
      for (const int component : v) {
        rates.push_back(opened(noisy_rate(system, component).rest, v));
      }
      const auto rotation =
          std::make_shared<Rotation>(system, v, rates, readable(part, head, groups));
      if (!rotation->found()) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        shares[p][v[k]] = part.negative ? -rotation->w(k) : rotation->w(k);
        result[v[k]] = rotation;
      }
    }
  }
  return result;
}

/// The numbers by which the terms of rates at the site itself multiply their fields: w of w*u, of
/// the arrays u of one group.
class Multiples {
 public:
  Multiples(const physics::System& system, const std::vector<int>& arrays,
            const std::map<int, Expr>& rates)
      : arena_(*system.arena), rates_(rates) {
    for (const int array : arrays) {
      if (numbers_.contains(array) || !rates_.contains(array)) continue;
      for (const int other : vector_of(system, array))
        if (other > array && !numbers_.contains(other) && rates_.contains(other) &&
            complex(array, other))
          break;
      if (!numbers_.contains(array)) real(array);
    }
  }
  /// Null where the rate of the array is no multiple of it.
  Expr number(int array) const {
    const auto found = numbers_.find(array);
    return found == numbers_.end() ? Expr() : found->second;
  }
  const std::map<int, int>& pairs() const { return pairs_; }

 private:
  /// Terms of the rate over `by`; `rest` gets those that are no multiple of it.
  Expr quotient(Expr rate, int by, Expr& rest) const {
    const Expr load = arena_.load(by);
    Expr sum = arena_.integer(0);
    for (const kernel::Term& term : kernel::linear_terms(rate)) {
      const Expr whole = term.site ? term.coefficient * term.site : term.coefficient;
      const Expr over = whole / load;
      const bool multiple = !algebra::contains(over, [&](Expr node) {
        return node.is(Op::Pow) && node.arg(0) == load && node.arg(1).is_number() &&
               node.arg(1)->number.real < 0;
      });
      (multiple ? sum : rest) = (multiple ? sum + over : rest + whole);
    }
    return sum;
  }
  /// (u, v)' = (r u - i v, r v + i u)
  bool complex(int u, int v) {
    Expr rest = arena_.integer(0), left = arena_.integer(0);
    const Expr r = quotient(rates_.at(u), u, rest);
    const Expr i = -quotient(rest, v, left);
    if (!left.is_zero()) return false;
    const Expr other = rates_.at(v) - r * arena_.load(v) - i * arena_.load(u);
    if (!algebra::expand(other).is_zero()) return false;
    numbers_[u] = r, numbers_[v] = i;
    pairs_[u] = v;
    return true;
  }
  void real(int u) {
    Expr rest = arena_.integer(0);
    const Expr r = quotient(rates_.at(u), u, rest);
    if (rest.is_zero()) numbers_[u] = r;
  }

  algebra::Arena& arena_;
  const std::map<int, Expr>& rates_;
  std::map<int, Expr> numbers_;
  std::map<int, int> pairs_;
};

bool at_the_site(Expr expr) {
  return !algebra::contains(expr, [](Expr node) {
    return node.is(Op::Stencil) || node.is(Op::PairSum) || node.is(Op::Noise) ||
           (node.is(Op::Load) && !node->offset.zero());
  });
}

/// The head's Multiple part of an equation; -1: it has none.
int multiple_part(const Head& head, std::size_t equation) {
  const auto found = std::ranges::find(head.parts[equation], Part::Kind::Multiple, &Part::kind);
  return found == head.parts[equation].end()
             ? -1
             : static_cast<int>(found - head.parts[equation].begin());
}

/// Shares of Linear and Multiple parts of an equation; the terms that remain of each rate.
std::map<int, Expr> take_linear(const physics::System& system, const Head& head,
                                std::size_t equation, const std::vector<Group>& groups,
                                Sharing& sharing) {
  algebra::Arena& arena = *system.arena;
  const auto& parts = head.parts[equation];
  std::map<int, Expr> rest;
  const auto linear = std::ranges::find(parts, Part::Kind::Linear, &Part::kind);
  const int multiple = multiple_part(head, equation);
  if (linear == parts.end() && multiple < 0) return rest;
  std::map<int, Expr> at_site;
  for (const int array : groups[equation].arrays) {
    rest[array] = arena.integer(0);
    const Expr rate = noisy_rate(system, array).rest;
    Expr here = arena.integer(0);
    bool all_here = true;
    for (const kernel::Term& term : kernel::linear_terms(rate)) {
      const Expr whole = term.site ? term.coefficient * term.site : term.coefficient;
      if (linear != parts.end() && wave_terms(system, whole, groups[equation].arrays)) {
        Expr& share =
            sharing.shares[equation][static_cast<std::size_t>(linear - parts.begin())].at(array);
        share = linear->negative ? share - whole : share + whole;
        continue;
      }
      rest[array] = rest[array] + whole;
      all_here = all_here && at_the_site(whole);
      here = here + whole;
    }
    if (all_here) at_site[array] = here;
  }
  if (multiple < 0) return rest;
  const Multiples multiples(system, groups[equation].arrays, at_site);
  const Part& part = parts[static_cast<std::size_t>(multiple)];
  for (const int array : groups[equation].arrays) {
    const Expr number = multiples.number(array);
    if (!number ||
        !std::ranges::includes(readable(part, head, groups), arrays_read(system, number)))
      continue;
    sharing.shares[equation][static_cast<std::size_t>(multiple)].at(array) =
        part.negative ? -number : number;
    rest[array] = arena.integer(0);
  }
  sharing.pairs.insert(multiples.pairs().begin(), multiples.pairs().end());
  return rest;
}

}  // namespace

std::optional<std::vector<WaveTerm>> wave_terms(const physics::System& system, Expr expr,
                                                const std::vector<int>& arrays) {
  const algebra::Arena& arena = *system.arena;
  std::vector<WaveTerm> result;
  const std::function<bool(Expr, WaveTerm)> read = [&](Expr e, WaveTerm factor) -> bool {
    if (e.is(Op::Load)) {
      if (std::ranges::count(arrays, e->index) == 0 || algebra::is_pair_entry(*e)) return false;
      factor.array = e->index;
      factor.offset = algebra::sum_of(factor.offset, e->offset);
      result.push_back(factor);
      return true;
    }
    if (e.is(Op::Add)) {
      return std::ranges::all_of(e.args(), [&](Expr term) { return read(term, factor); });
    }
    if (e.is(Op::Mul)) {
      Expr site;
      for (const Expr arg : e.args()) {
        const auto number = algebra::constant(arg);
        if (!number && site) return false;
        if (number) {
          factor.coefficient *= static_cast<double>(number->real);
        } else {
          site = arg;
        }
      }
      return site && read(site, factor);
    }
    if (!e.is(Op::Stencil)) return false;
    const algebra::StencilData& stencil = arena.stencil_data(e->index);
    if (stencil.spectral) {
      ++factor.laplacians;
      return read(e.arg(0), factor);
    }
    const double unit =
        std::pow(system.lattice.dx, stencil.dx_power) / static_cast<double>(stencil.denominator);
    for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
      WaveTerm there = factor;
      there.coefficient *= unit * static_cast<double>(stencil.weights[i]);
      there.offset = algebra::sum_of(factor.offset, stencil.offsets[i]);
      if (!read(e.arg(0), there)) return false;
    }
    return true;
  };
  if (!read(expr, {})) return std::nullopt;
  return result;
}

std::vector<int> vector_of(const physics::System& system, int array) {
  const physics::Variable* own = variable_of(system, array);
  std::map<int, int> components;
  for (const physics::Variable& v : system.variables) {
    if (own && own->field >= 0 && v.field == own->field && v.role == own->role) {
      components[v.component] = v.array;
    }
  }
  std::vector<int> result;
  for (const auto& [component, number] : components) result.push_back(number);
  return result;
}

Sharing share_out(const physics::System& system, const Head& head,
                  const std::vector<Group>& groups) {
  Sharing result;
  algebra::Arena& arena = *system.arena;
  for (std::size_t e = 0; e < groups.size(); ++e) {
    result.shares.emplace_back(head.parts[e].size());
    for (const int array : groups[e].arrays) {
      for (auto& share : result.shares[e]) share[array] = arena.integer(0);
    }
    const auto rotated = rotations(system, head, e, groups, result.shares[e]);
    const std::map<int, Expr> nonlinear = take_linear(system, head, e, groups, result);
    for (const int array : groups[e].arrays) {
      if (const auto* link = physics::link_motion_of(system.dynamics, array)) {
        // what moves it is its velocity in the algebra; its rate holds the link itself
        if (!take_link(system, *link, head, e, groups, result.shares[e], array) && !result.leftover)
          result.leftover = Leftover{array, {variable_of(system, array)->rate}};
        continue;
      }
      const NoisyRate noisy = noisy_rate(system, array);
      Leftover left{array, {}};
      if (!noisy.factor.is_zero() &&
          !take_noise(system, noisy, head, e, groups, result.shares[e], array)) {
        left.terms.push_back(noisy.factor * arena.random(Op::Noise, noisy.stream));
      }
      const auto rotated_term = rotated.find(array);
      const Expr rest = nonlinear.contains(array) ? nonlinear.at(array)
                        : rotated_term == rotated.end()
                            ? noisy.rest
                            : opened(noisy.rest, vector_of(system, array));
      for (const kernel::Term& term : kernel::linear_terms(rest)) {
        const Expr whole = term.site ? term.coefficient * term.site : term.coefficient;
        bool taken = rotated_term != rotated.end() && rotated_term->second->takes(term);
        if (taken) continue;
        // The most special part first: a coefficient, a variable, then the holes.
        const auto try_parts = [&](Part::Kind kind) {
          for (std::size_t p = 0; p < head.parts[e].size() && !taken; ++p) {
            const Part& part = head.parts[e][p];
            if (part.kind != kind) continue;
            const Expr sign = arena.integer(part.negative ? -1 : 1);
            Expr& share = result.shares[e][p].at(array);
            if (kind == Part::Kind::Hole) {
              taken =
                  std::ranges::includes(readable(part, head, groups), arrays_read(system, whole));
              if (taken) share = share + sign * whole;
              continue;
            }
            const int group = head.index(part.variable);
            if (group < 0) continue;
            int other = array;
            if (group != static_cast<int>(e)) {
              other = variable_of(system, array)->partner;
            }
            const auto c = coefficient_of(term, other);
            if (!c) continue;
            if (kind == Part::Kind::Variable && !(sign * *c).is_one()) continue;
            share = share + sign * (kind == Part::Kind::Variable ? whole : *c);
            taken = true;
          }
        };
        try_parts(Part::Kind::Coefficient);
        try_parts(Part::Kind::Variable);
        try_parts(Part::Kind::Hole);
        if (!taken) left.terms.push_back(whole);
      }
      if (!left.terms.empty() && !result.leftover) result.leftover = left;
    }
  }
  return result;
}

}  // namespace vphi::schedule
