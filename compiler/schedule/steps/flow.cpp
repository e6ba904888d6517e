#include "compiler/schedule/steps/flow.hpp"

#include <algorithm>

#include "compiler/algebra/rewriting.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"

namespace vphi::schedule {

using algebra::Op;

const physics::Variable* variable_of(const physics::System& system, int array) {
  const auto found = std::ranges::find(system.variables, array, &physics::Variable::array);
  return found == system.variables.end() ? nullptr : &*found;
}

std::string name_of(const physics::System& system, int array) {
  const physics::Variable* variable = variable_of(system, array);
  return variable ? variable->name : "array" + std::to_string(array);
}

State stored_state(const physics::System& system) {
  State state;
  for (const auto& v : system.variables) state.arrays[v.array] = system.arena->load(v.array);
  for (const auto& s : system.scalars) {
    state.scalars[s.symbol] = system.arena->symbol(s.symbol);
    if (!is_clock(system, s.symbol)) continue;
    const std::string rest = rest_name(s.symbol);
    state.scalars[rest] = system.arena->symbol(rest);
  }
  return state;
}

bool is_clock(const physics::System& system, const std::string& scalar) {
  const auto found = std::ranges::find(system.scalars, scalar, &physics::ScalarVariable::symbol);
  if (found == system.scalars.end()) return false;
  if (found->rate.is_zero()) return false;                     // not moved by a rate
  if (found->role != physics::Role::FirstOrder) return false;  // recentred (recentring.hpp)
  return scalar == system.time || algebra::constant(found->rate).has_value();
}

std::string rest_name(const std::string& scalar) { return scalar + "_rest"; }

Expr clock_time(const physics::System& system, const physics::ScalarVariable& scalar, Expr step) {
  if (!is_clock(system, scalar.symbol) || tolerance_of(system.dynamics) != nullptr) return {};
  const auto rate = algebra::constant(scalar.rate), start = algebra::constant(scalar.initial);
  if (!rate || !start || rate->real == 0) return {};
  algebra::Arena& arena = *system.arena;
  const long double h = scalar.symbol == system.time && system.dt_physical != 0
                            ? static_cast<long double>(system.dt_physical)
                            : rate->real * static_cast<long double>(system.dt);
  return arena.number(*start) + arena.real(h) * step;
}

void move_scalar(Block& block, const std::string& scalar, Expr start, Expr increment,
                 State& state) {
  const auto rest = state.scalars.find(rest_name(scalar));
  if (rest == state.scalars.end()) {
    state.scalars[scalar] = block.scalar(scalar + "_next", start + increment);
    return;
  }
  // y = h - c; s' = s + y; c' = (s' - s) - y, in this order
  algebra::Arena& arena = block.arena();
  const Expr y = block.scalar(scalar + "_step", increment - rest->second);
  const Expr next = block.scalar(scalar + "_next", start + y);
  const Expr moved = arena.raw(Op::Sub, {next, start});
  rest->second = block.scalar(rest->first + "_next", arena.raw(Op::Sub, {moved, y}));
  state.scalars[scalar] = next;
}

namespace {

/// The value of a leaf in the state.
Expr leaf_at(const State& state, Expr node) {
  if (node.is(Op::Load)) {
    const auto found = state.arrays.find(node->index);
    return found == state.arrays.end() ? node : algebra::shift(found->second, node->offset);
  }
  if (node.is(Op::Symbol)) {
    const auto found = state.scalars.find(node->name);
    return found == state.scalars.end() ? node : found->second;
  }
  return node;
}

}  // namespace

Expr at(const State& state, Expr expr) {
  return algebra::rewrite(expr, [&](Expr node) { return leaf_at(state, node); });
}

std::vector<Expr> at(const State& state, std::span<const Expr> exprs) {
  return algebra::Rewriting([&](Expr node) { return leaf_at(state, node); })(exprs);
}

std::vector<std::vector<Expr>> at_in_step(std::span<const State> states,
                                          std::span<const std::vector<Expr>> lists) {
  std::vector<algebra::Rewriting> rewritings;
  for (const State& state : states)
    rewritings.emplace_back([&state](Expr node) { return leaf_at(state, node); });
  std::vector<algebra::Rewriting*> in_step;
  for (algebra::Rewriting& one : rewritings) in_step.push_back(&one);
  algebra::rewrite_in_step(in_step, lists);
  std::vector<std::vector<Expr>> result;
  for (std::size_t i = 0; i < lists.size(); ++i) result.push_back(rewritings[i](lists[i]));
  return result;
}

namespace {

/// Scalars among `waiting` whose rates depend on each other only; averages are held constant.
std::set<std::string> circle_of(const std::vector<Member>& waiting,
                                const std::set<std::string>& done) {
  std::set<std::string> circle;
  for (const Member& m : waiting) {
    if (m.array < 0 && m.own_arrays.empty()) circle.insert(m.scalar);
  }
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Member& m : waiting) {
      if (m.array >= 0 || !circle.contains(m.scalar)) continue;
      const bool closed = std::ranges::all_of(m.own_scalars, [&](const std::string& s) {
        return circle.contains(s) || done.contains(s);
      });
      if (closed) continue;
      circle.erase(m.scalar);
      shrunk = true;
    }
  }
  return circle;
}

}  // namespace

std::optional<std::vector<Member>> members_in_order_of_dependence(const physics::System& system,
                                                                  const Group& group) {
  std::vector<Member> waiting;
  for (const int array : group.arrays) {
    const auto* link = physics::link_motion_of(system.dynamics, array);
    if (link && link->arrays[0] != array) continue;  // moves with the first
    waiting.push_back({array, {}, variable_of(system, array)->rate, {}, {}, link});
  }
  for (const std::string& name : group.scalars) {
    const auto scalar = std::ranges::find(system.scalars, name, &physics::ScalarVariable::symbol);
    waiting.push_back({-1, name, scalar->rate, {}, {}});
  }
  for (Member& member : waiting) {
    const auto see = [&](Expr node) {
      if (node.is(Op::Load) && std::ranges::count(group.arrays, node->index)) {
        member.own_arrays.insert(node->index);
      }
      if (node.is(Op::Symbol) && std::ranges::count(group.scalars, node->name)) {
        member.own_scalars.insert(node->name);
      }
    };
    if (member.link)
      for (const Expr w : member.link->velocity) algebra::visit(w, see);
    else
      algebra::visit(member.rate, see);
  }
  std::vector<Member> result;
  std::set<int> arrays;
  std::set<std::string> scalars;
  int circles = -1;
  while (!waiting.empty()) {
    const auto ready = std::ranges::find_if(waiting, [&](const Member& m) {
      return std::ranges::includes(arrays, m.own_arrays) &&
             std::ranges::includes(scalars, m.own_scalars);
    });
    if (ready == waiting.end()) {
      const std::set<std::string> circle = circle_of(waiting, scalars);
      if (circle.empty()) return std::nullopt;
      ++circles;
      for (Member& member : waiting) {
        if (member.array >= 0 || !circle.contains(member.scalar)) continue;
        member.circle = circles;
        result.push_back(member);
      }
      std::erase_if(waiting, [&](const Member& m) { return m.circle >= 0; });
      scalars.insert(circle.begin(), circle.end());
      continue;
    }
    if (ready->link) {
      arrays.insert(ready->link->arrays.begin(), ready->link->arrays.end());
    } else if (ready->array >= 0) {
      arrays.insert(ready->array);
    } else {
      scalars.insert(ready->scalar);
    }
    result.push_back(*ready);
    waiting.erase(ready);
  }
  return result;
}

bool is_exact(const std::vector<Member>& members) {
  return std::ranges::all_of(
      members, [](const Member& m) { return m.own_arrays.empty() && m.own_scalars.empty(); });
}

namespace {

class Advance {
 public:
  Advance(Block& block, Expr length, State& state, std::set<std::string>& remarks)
      : block_(block),
        length_(length),
        end_(state),
        remarks_(remarks),
        start_(state),
        middle_(state) {}

  /// x1 = x0 + h f((x0 + x1)/2), twelve times from x1 = x0: the distance shrinks by h f'/2.
  void move(const std::vector<Member>& circle) {
    if (circle.size() == 1 && solved(circle[0])) return;
    const Expr half = block_.arena().rational(1, 2);
    for (int iteration = 0; iteration < 12; ++iteration) {
      State middle = start_;
      middle.scalars = middle_.scalars;
      for (const Member& m : circle) {
        for (const std::string& name : m.own_scalars) {
          middle.scalars[name] = half * (start_.scalars.at(name) + end_.scalars.at(name));
        }
      }
      std::map<std::string, Expr> next;
      for (const Member& m : circle) {
        next[m.scalar] = block_.scalar(m.scalar + "_next",
                                       start_.scalars.at(m.scalar) + length_ * at(middle, m.rate));
      }
      for (const auto& [name, value] : next) end_.scalars[name] = value;
    }
    for (const Member& m : circle) {
      if (!end_.scalars.contains(rest_name(m.scalar))) continue;
      const Expr increment = end_.scalars.at(m.scalar) - start_.scalars.at(m.scalar);
      move_scalar(block_, m.scalar, start_.scalars.at(m.scalar), increment, end_);
    }
  }

  void move(const Member& member) {
    for (const std::string& name : member.own_scalars)
      if (!is_reference(name)) define_middle(name);
    // Everything at the start, own scalars at the middle.
    State first = start_;
    first.scalars = middle_.scalars;
    if (member.link) return move_link(*member.link, first);
    if (member.array >= 0) {
      const Expr rate = at(first, member.rate);
      const std::string name = name_of(block_.system(), member.array);
      end_.arrays[member.array] =
          block_.array(name, start_.arrays.at(member.array) + length_ * rate, member.array);
      return;
    }
    State last = first;
    for (const int array : member.own_arrays) last.arrays[array] = end_.arrays.at(array);
    bool with_reference = false;  // references are taken at the same end as their arrays
    for (const std::string& name : member.own_scalars) {
      if (!is_reference(name)) continue;
      with_reference = true;
      last.scalars[name] = end_.scalars.at(name);
    }
    const Expr rate = with_reference              ? averaged_with_references(member, first, last)
                      : member.own_arrays.empty() ? at(first, member.rate)
                                                  : averaged(member, first, last);
    move_scalar(block_, member.scalar, start_.scalars.at(member.scalar), length_ * rate, end_);
  }

 private:
  /// m = b0 + (h/2) (c0 + c1 m + c2 m^2) in the form without cancellation,
  ///   m = 2 Q/(P + sqrt(P^2 - 2 h c2 Q)),  P = 1 - (h/2) c1,  Q = b0 + (h/2) c0,
  /// which tends to Q/P with h. docs/formulas.md 1.3 has P = 1.
  bool solved(const Member& m) {
    algebra::Arena& arena = block_.arena();
    const Expr middle = arena.symbol("middle of " + m.scalar);
    State open = start_;
    open.scalars = middle_.scalars;
    open.scalars[m.scalar] = middle;
    const Expr rate = block_.without_reductions(
        with_integer_stencils(at(open, m.rate), block_.system().lattice.dx));
    const auto c = algebra::polynomial(rate, middle, 2);
    if (!c || c->size() < 2) return false;
    const auto coefficient = [&](std::size_t i) {
      const std::string name = m.scalar + "_rate_" + std::to_string(i);
      return i < c->size() ? block_.scalar(name, (*c)[i]) : arena.integer(0);
    };
    const Expr c0 = coefficient(0), c1 = coefficient(1), c2 = coefficient(2);
    const Expr half = arena.rational(1, 2), one = arena.integer(1), two = arena.integer(2);
    const Expr start = start_.scalars.at(m.scalar);
    const Expr P = block_.scalar("linear", one - half * length_ * c1);
    const Expr Q = block_.scalar("constant", start + half * length_ * c0);
    const Expr root = arena.make(Op::Sqrt, {pow(P, 2) - two * length_ * c2 * Q});
    const Expr solution = block_.scalar(m.scalar + "_mid", two * Q / (P + root));
    end_.scalars[m.scalar] =
        block_.scalar(m.scalar + "_next", start + length_ * (c0 + solution * (c1 + c2 * solution)));
    return true;
  }

  /// U(end) = exp(i h w_a T_a) U(start).
  void move_link(const physics::LinkMotion& link, const State& first) {
    State turned = first;
    for (std::size_t a = 0; a < link.velocity.size(); ++a)
      turned.scalars[link.displacement[a]->name] = length_ * at(first, link.velocity[a]);
    const std::vector<Expr> moved = at(turned, link.moved);
    for (std::size_t i = 0; i < moved.size(); ++i)
      end_.arrays[link.arrays[i]] =
          block_.array(name_of(block_.system(), link.arrays[i]), moved[i], link.arrays[i]);
  }

  void define_middle(const std::string& name) {
    if (!done_.insert(name).second) return;
    const Expr half = block_.arena().rational(1, 2);
    middle_.scalars[name] =
        block_.scalar(name + "_mid", half * (start_.scalars.at(name) + end_.scalars.at(name)));
  }

  bool is_reference(const std::string& scalar) const {
    return std::ranges::any_of(block_.system().scalars, [&](const physics::ScalarVariable& s) {
      return s.symbol == scalar && s.role != physics::Role::FirstOrder;
    });
  }

  /// The rate, half at the start and half at the end, where references are. A mean that a reference
  /// multiplies is taken at that same end: half of P <u> at the start and half of it at the end,
  /// and not the product of two halves.
  Expr averaged_with_references(const Member& member, const State& first, const State& last) {
    algebra::Arena& arena = block_.arena();
    std::vector<std::pair<Expr, Expr>> means;  // symbol, mean
    const Expr rate = algebra::rewrite(member.rate, [&](Expr node) -> Expr {
      if (!node.is(Op::Mean) && !node.is(Op::Total)) return node;
      means.emplace_back(arena.symbol("mean " + std::to_string(means.size())), node);
      return means.back().first;
    });
    std::unordered_map<const algebra::Node*, Expr> of_first, of_last;
    for (const auto& [symbol, node] : means) {
      if (reads_reference(algebra::derivative(rate, symbol), member)) {
        of_first[symbol.get()] = mean_at(first, node, member, first, last);
        of_last[symbol.get()] = mean_at(last, node, member, first, last);
      } else {
        of_first[symbol.get()] = of_last[symbol.get()] = at(first, mean(node, member, first, last));
      }
    }
    return arena.rational(1, 2) * (algebra::substitute(at(first, rate), of_first) +
                                   algebra::substitute(at(last, rate), of_last));
  }

  /// A mean of the state at one end; what has a polar form has one for both.
  Expr mean_at(const State& here, Expr node, const Member& member, const State& first,
               const State& last) {
    algebra::Arena& arena = block_.arena();
    const Expr argument = with_integer_stencils(node.arg(0), block_.system().lattice.dx);
    std::vector<Expr> sum;
    for (const kernel::Term& term : kernel::linear_terms(argument)) {
      const Expr site = term.site ? term.site : arena.integer(1);
      Expr value = reads(site, member, true) ? polarised(site, member, first, last) : Expr();
      if (!value) value = at(here, site);
      sum.push_back(at(here, term.coefficient) * value);
    }
    return arena.make(node.op(), {arena.make(Op::Add, sum)}, node->span);
  }

  /// The rate with every mean taken half at the start and half at the end.
  Expr averaged(const Member& member, const State& first, const State& last) {
    const Expr rate = algebra::rewrite(member.rate, [&](Expr node) -> Expr {
      if (!node.is(Op::Mean) && !node.is(Op::Total)) return node;
      return mean(node, member, first, last);
    });
    // The rest is taken at the start: scalars, and minima and maxima, which cannot be halved.
    return at(first, rate);
  }

  Expr mean(Expr node, const Member& member, const State& first, const State& last) {
    algebra::Arena& arena = block_.arena();
    const Expr half = arena.rational(1, 2);
    const Expr argument = with_integer_stencils(node.arg(0), block_.system().lattice.dx);
    std::vector<Expr> sum;
    for (const kernel::Term& term : kernel::linear_terms(argument)) {
      const Expr site = term.site ? term.site : arena.integer(1);
      Expr value;
      if (reads_reference(term.coefficient, member) || reads_reference(site, member)) {
        const Expr whole = term.coefficient * site;
        sum.push_back(half * (at(first, whole) + at(last, whole)));
        continue;
      }
      if (!reads(site, member, false)) {
        value = at(first, site);
      } else if (const Expr polar =
                     reads(site, member, true) ? polarised(site, member, first, last) : Expr()) {
        value = polar;
      } else {
        value = half * (at(first, site) + at(last, site));
      }
      sum.push_back(term.coefficient * value);
    }
    return arena.make(node.op(), {arena.make(Op::Add, sum)}, node->span);
  }

  bool reads(Expr site, const Member& member, bool away_only) const {
    return algebra::contains(site, [&](Expr node) {
      if (node.is(Op::Stencil)) return reads(node.arg(0), member, false);
      return node.is(Op::Load) && member.own_arrays.contains(node->index) &&
             (!away_only || !node->offset.zero());
    });
  }

  bool reads_reference(Expr e, const Member& member) const {
    return algebra::contains(e, [&](Expr node) {
      return node.is(Op::Symbol) && member.own_scalars.contains(node->name) &&
             is_reference(node->name);
    });
  }

  bool self_adjoint(int stencil) const {
    const physics::Lattice& lattice = block_.system().lattice;
    for (int axis = 0; axis < lattice.dims; ++axis) {
      const auto boundary = lattice.boundary[static_cast<std::size_t>(axis)];
      if (boundary != physics::Boundary::Periodic && boundary != physics::Boundary::Antiperiodic) {
        return false;
      }
    }
    return algebra::is_symmetric(block_.arena().stencil_data(stencil));
  }

  /// u L w -> (u(end) L w(start) + w(end) L u(start))/2, where both move with this group.
  Expr polarised(Expr site, const Member& member, const State& first, const State& last) {
    if (!site.is(Op::Mul) || site.args().size() != 2) return {};
    Expr u = site.arg(0), form = site.arg(1);
    if (u.is(Op::Stencil)) std::swap(u, form);
    if (!u.is(Op::Load) || !u->offset.zero() || !form.is(Op::Stencil)) return {};
    const Expr w = form.arg(0);
    if (!w.is(Op::Load) || !w->offset.zero() || !self_adjoint(form->index)) return {};
    if (!member.own_arrays.contains(u->index) || !member.own_arrays.contains(w->index)) return {};
    const auto once = [&](Expr end, Expr start) {
      return at(last, end) * at(first, block_.arena().stencil(form->index, start, form->span));
    };
    const auto shown = [&](Expr e) { return variable_of(block_.system(), e->index)->shown; };
    remarks_.insert("the mean of " + shown(u) + "*lap(" + shown(w) +
                    ") over a drift is taken between its end and its start: " + shown(u) +
                    "(n+1)*lap(" + shown(w) + "(n)), symmetric under reversal, of order 2");
    if (u == w) return once(u, w);
    return block_.arena().rational(1, 2) * (once(u, w) + once(w, u));
  }

  Block& block_;
  Expr length_;
  State& end_;
  std::set<std::string>& remarks_;
  const State start_;
  State middle_;
  std::set<std::string> done_;
};

}  // namespace

void advance(Block& block, const std::vector<Member>& members, Expr length, State& state,
             std::set<std::string>& remarks) {
  Advance flow(block, length, state, remarks);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].circle < 0) {
      flow.move(members[i]);
      continue;
    }
    std::vector<Member> circle{members[i]};
    while (i + 1 < members.size() && members[i + 1].circle == circle[0].circle) {
      circle.push_back(members[++i]);
    }
    flow.move(circle);
  }
}

}  // namespace vphi::schedule
