#include "compiler/physics/clauses/averaged_class.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr const char* kNothing = "no value";

}  // namespace

Expr in_class(Expr member, Expr x) {
  algebra::Arena& arena = *x->arena;
  return arena.make(Op::Select, {member, x, arena.symbol(kNothing)});
}

std::optional<ClassValue> class_value(Expr e) {
  if (!e.is(Op::Select) || !e.arg(2).is(Op::Symbol) || e.arg(2)->name != kNothing)
    return std::nullopt;
  return ClassValue{e.arg(0), e.arg(1)};
}

Expr rank_symbol(const Context& d, Expr number, const std::vector<int>& axes, Shares shares,
                 dsl::Span span) {
  const std::string ending = fmt::format("_from_{:.17g}_to_{:.17g}", shares.from, shares.to);
  for (const Statistic& other : d.collected.statistics)
    if (other.value == number && other.axes == axes && other.symbol.ends_with(ending))
      return d.arena().symbol(other.symbol, span);
  Statistic s;
  s.symbol = fmt::format("rank_{}{}", d.collected.statistics.size() + 1, ending);
  s.error = "error_of_" + s.symbol;
  s.value = number;
  s.axes = axes;
  s.span = span;
  d.collected.statistics.push_back(s);
  return d.arena().symbol(s.symbol, span);
}

std::optional<Shares> shares_of(const std::string& symbol) {
  Shares shares;
  int number = 0;
  if (std::sscanf(symbol.c_str(), "rank_%d_from_%lf_to_%lf", &number, &shares.from, &shares.to) !=
      3)
    return std::nullopt;
  return shares;
}

}  // namespace vphi::physics
