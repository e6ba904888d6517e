#include "compiler/physics/starts/momentum_start.hpp"

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/syntax/walk.hpp"

namespace vphi::physics {

std::vector<Expr> momentum_of_velocity(const Equations& d, const StateField& momentum,
                                       const std::vector<Expr>& velocity, dsl::Span span) {
  const std::vector<int>& own = d.conjugate(momentum)->rates_in_lagrangian;
  std::vector<Expr> result;
  for (const int array : momentum.arrays) {
    Expr p = d.momenta.at(array);
    for (std::size_t i = 0; i < own.size(); ++i)
      p = algebra::substitute(p, d.arena().load(own[i]), velocity[i]);
    for (const StateField& other : d.fields)
      for (const int rate : other.rates_in_lagrangian)
        if (algebra::depends_on(p, d.arena().load(rate)))
          d.fail(errors::not_yet(span, "the start of a velocity that shares a kinetic term"));
    result.push_back(p);
  }
  return result;
}

void momenta_at_rest(const Equations& d, StartValues& start) {
  for (const StateField& field : d.fields) {
    if (field.rates_in_lagrangian.empty() || field.link) continue;
    for (const int array : d.conjugate(field)->arrays) {
      Expr p = d.momenta.at(array);
      for (const StateField& other : d.fields)
        for (const int rate : other.rates_in_lagrangian)
          p = algebra::substitute(p, d.arena().load(rate), d.arena().integer(0));
      start[array].value = p;
    }
  }
}

void check_vacuum_of_velocity(const Equations& d, const StateField& momentum,
                              const dsl::ExprPtr& value) {
  bool vacuum = false;
  dsl::for_each(value, [&](const dsl::Expr& e) { vacuum = vacuum || e.text == "vacuum"; });
  if (!vacuum) return;
  const std::vector<int>& own = d.conjugate(momentum)->rates_in_lagrangian;
  for (std::size_t i = 0; i < own.size(); ++i) {
    Expr p = d.momenta.at(momentum.arrays[i]);
    if (d.expanding()) p = algebra::substitute(p, d.scale(), d.arena().integer(1));
    if (p != d.arena().load(own[i]))
      d.fail(errors::not_yet(value->span, "`vacuum` of a velocity that differs from its momentum"));
  }
}

}  // namespace vphi::physics
