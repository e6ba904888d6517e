// Averages over a class of the instances: `mean(x, over = event, where = ranked(N, 0.95..1))`, or
// where = condition.
//
// The average is a Statistic of `in_class(member, x)`. A member of a class by rank is told by the
// symbol of another Statistic, of the number N, whose name holds the shares between which the rank
// lies; its mean is of no use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

struct Shares {
  double from = 0, to = 1;
};

/// x where `member` holds, and nothing elsewhere.
Expr in_class(Expr member, Expr x);
struct ClassValue {
  Expr member, value;
};
/// What `in_class` has been made of.
std::optional<ClassValue> class_value(Expr e);

/// The symbol that tells members by the rank of a number among the instances along these axes.
Expr rank_symbol(const Context& d, Expr number, const std::vector<int>& axes, Shares shares,
                 dsl::Span span);
/// The shares of such a symbol; nothing for another one.
std::optional<Shares> shares_of(const std::string& symbol);

}  // namespace vphi::physics
