// Faults that are planted in what was derived, for the tests of the oracle: a change of one
// expression, at one place of a System.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/model/system.hpp"

namespace vphi::planted {

using algebra::Expr;
using algebra::Op;
using physics::System;

inline physics::Variable& rate_of(System& system, const std::string& name) {
  for (physics::Variable& v : system.variables)
    if (v.name == name) return v;
  throw std::runtime_error("no variable " + name);
}

inline std::vector<Expr> terms_of(Expr e) {
  return e.is(Op::Add) ? std::vector<Expr>(e.args().begin(), e.args().end()) : std::vector<Expr>{e};
}

using Plant = std::function<void(System&)>;
using Change = std::function<Expr(System&, Expr)>;

inline Plant in(const std::string& name, const Change& change) {
  return [=](System& s) {
    physics::Variable& v = rate_of(s, name);
    const Expr before = v.rate;
    v.rate = change(s, v.rate);
    if (v.rate == before) throw std::runtime_error("nothing was planted");
  };
}
inline Plant in_scalar(std::size_t i, const Change& change) {
  return [=](System& s) { s.scalars.at(i).rate = change(s, s.scalars.at(i).rate); };
}

inline Change times(double factor) {
  return [=](System& s, Expr e) { return s.arena->real(factor) * e; };
}
inline Change plus(double number) {
  return [=](System& s, Expr e) { return e + s.arena->real(number); };
}
/// The number-th term, from the first or (negative) from the last, times `factor`; 0 drops it.
inline Change term(int number, double factor) {
  return [=](System& s, Expr e) {
    std::vector<Expr> terms = terms_of(e);
    const int count = static_cast<int>(terms.size());
    Expr& t = terms.at(static_cast<std::size_t>(number < 0 ? count + number : number));
    t = s.arena->real(factor) * t;
    return s.arena->make(Op::Add, terms);
  };
}
/// Every node that the test finds becomes what `to` makes of it.
inline Change nodes(const std::function<bool(Expr)>& test, const std::function<Expr(Expr)>& to) {
  return [=](System&, Expr e) {
    return algebra::rewrite(e, [&](Expr node) { return test(node) ? to(node) : node; });
  };
}
inline Change first(const std::function<bool(Expr)>& test, const std::function<Expr(Expr)>& to) {
  return [=](System&, Expr e) {
    Expr found;
    algebra::visit(e, [&](Expr node) {
      if (!found && test(node)) found = node;
    });
    return found ? algebra::substitute(e, found, to(found)) : e;
  };
}
inline auto is(Op op) {
  return [op](Expr e) { return e.is(op); };
}
inline auto named(const std::string& name) {
  return [name](Expr e) { return e.is(Op::Symbol) && e->name == name; };
}
inline bool neighbour(Expr e) { return e.is(Op::Load) && !e->offset.zero(); }
inline Expr at_the_site(Expr e) { return e->arena->load(e->index); }
inline Expr argument(Expr e) { return e.arg(0); }
inline Expr as(Op op, Expr e) { return e->arena->make(op, {e.arg(0)}); }

}  // namespace vphi::planted
