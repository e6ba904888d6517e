#include "embed/failed_recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/model/recovery_equations.hpp"
#include "dsl/types/constant.hpp"
#include "runtime/run/number_text.hpp"

namespace vphi::embed {
namespace {

using algebra::Expr;
using algebra::Op;
using physics::Conservation;
using runtime::number_text;
using Values = std::map<int, double>;

constexpr int kMore = 2000;  ///< iterations that are tried after those of the run

std::string short_number(double value) { return number_text(value, 4); }

/// A line `solve` of the text, and its equation.
struct Equation {
  std::string name;
  bool fixed_point = true;
  std::optional<double> from, to;
  /// x - g(x) of each component, by the array of its x, of quantities and recovered values; empty
  /// where the equation has a closed form.
  std::vector<std::pair<int, Expr>> off;
};

Equation equation_of(const dsl::Resolved& model, const Conservation::Solved& solved) {
  Equation out;
  out.name = solved.name;
  out.off = physics::equations_of(solved);
  for (const dsl::Clause* recover : model.clauses("recover"))
    for (const dsl::Line& line : recover->body) {
      const auto& items = line.clause.items;
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "solve" || items.empty() ||
          !items[0].value || items[0].value->text != solved.name)
        continue;
      for (const auto& [word, method] : items[0].words)
        if (word == "by" && method) out.fixed_point = method->text == "fixed_point";
      for (const dsl::Item& item : items) {
        if (!item.head || !item.value) continue;
        if (item.head->name == "from") out.from = dsl::constant_value(model, *item.value);
        if (item.head->name == "to") out.to = dsl::constant_value(model, *item.value);
      }
    }
  return out;
}

/// Goes on where the iterations of a run have ended.
class Onward {
 public:
  Onward(const std::vector<Equation>& all, const AtSite& at, Values values)
      : all_(all), at_(at), values_(std::move(values)) {}

  const Values& values() const { return values_; }

  /// One iteration of every equation in turn; its largest change.
  double step() {
    double change = 0;
    for (const Equation& equation : all_) {
      std::vector<double> next;
      for (const auto& [array, off] : equation.off)
        next.push_back(equation.fixed_point ? values_.at(array) - at_(off, values_)
                                            : newton(equation));
      for (std::size_t i = 0; i < next.size(); ++i) {
        double& value = values_[equation.off[i].first];
        change = std::fmax(change, std::abs(next[i] - value));
        if (std::isnan(next[i])) change = next[i];
        value = next[i];
      }
    }
    return change;
  }

  double off(const Equation& equation, double u) const {
    Values other = values_;
    other[equation.off[0].first] = u;
    return at_(equation.off[0].second, other);
  }

 private:
  /// An iterate beyond a bound is replaced by the middle between the bound and the one before.
  double newton(const Equation& equation) const {
    const double u = values_.at(equation.off[0].first);
    const double here = off(equation, u), step = std::fmax(std::abs(u), 1e-6) * 1e-6;
    double next = u - here * step / (off(equation, u + step) - here);
    if (equation.from && !(next >= *equation.from)) next = (u + *equation.from) / 2;
    if (equation.to && !(next <= *equation.to)) next = (u + *equation.to) / 2;
    return next;
  }

  const std::vector<Equation>& all_;
  const AtSite& at_;
  Values values_;
};

/// Whether u - g(u) has one sign at many places between the bounds, by factors where it can.
bool one_sign_between_bounds(const Equation& equation, const Onward& onward) {
  if (!equation.from || !equation.to || equation.off.size() != 1) return false;
  constexpr int kPlaces = 400;
  const double from = *equation.from, to = *equation.to;
  const bool factors = from > 0 && to > 2 * from;
  const double first = onward.off(equation, from);
  if (!std::isfinite(first)) return false;
  for (int i = 1; i <= kPlaces; ++i) {
    const double share = static_cast<double>(i) / kPlaces;
    const double u = factors ? from * std::pow(to / from, share) : from + share * (to - from);
    if (!(onward.off(equation, u) * first > 0)) return false;
  }
  return true;
}

std::string bound_met(const Equation& equation, double u) {
  const auto meets = [&](const std::optional<double>& bound) {
    return bound && std::abs(u - *bound) <= 1e-3 * std::abs(*bound);
  };
  if (meets(equation.to))
    return fmt::format("it stands at its bound `to`, {}", short_number(*equation.to));
  if (meets(equation.from))
    return fmt::format("it stands at its bound `from`, {}", short_number(*equation.from));
  return {};
}

/// Whether a state of the model follows from what is solved for.
bool gives_state(const Conservation& laws, const std::vector<Equation>& all, const AtSite& at,
                 Expr sound, Values values) {
  for (const physics::Derived& value : laws.recovered) {
    const bool solved = std::ranges::any_of(all, [&](const Equation& equation) {
      return std::ranges::any_of(equation.off,
                                 [&](const auto& part) { return part.first == value.array; });
    });
    if (!solved) values[value.array] = at(value.value, values);
  }
  return at(sound, values) != 0;
}

/// Why an equation is not solved.
std::string limit_of(const Equation& equation, const Conservation& laws,
                     const std::vector<Equation>& all, const AtSite& at, Expr sound, Expr holds,
                     const Values& recovered) {
  Onward onward(all, at, recovered);
  if (one_sign_between_bounds(equation, onward))
    return fmt::format("no value from its bound `from`, {}, to its bound `to`, {}, solves it",
                       short_number(*equation.from), short_number(*equation.to));
  const std::string bound = bound_met(equation, recovered.at(equation.off[0].first));
  double before = 0, change = 0;
  for (int i = 1; i <= kMore; ++i) {
    before = std::exchange(change, onward.step());
    if (!std::isfinite(change)) break;
    if (at(holds, onward.values()) == 0) continue;
    std::string found;
    for (const auto& [array, off] : equation.off)
      found += (found.empty() ? "" : ", ") + short_number(onward.values().at(array));
    const bool fine = gives_state(laws, all, at, sound, onward.values());
    return fmt::format(
        "{}{} iterations more bring it to {}{}", bound.empty() ? "" : bound + ", and ", i, found,
        fine ? ": take a smaller `tol` and a larger `max`, or a `start` that is nearer"
             : ", from which no state of the model follows");
  }
  if (!bound.empty()) return bound + ", and more iterations do not lead away from it";
  return fmt::format("{} iterations more do not solve it either: {}", kMore,
                     !std::isfinite(change)
                         ? "they leave the numbers that the formulas have values for"
                         : fmt::format("the last changes it by {}, {} times the change before",
                                       short_number(change), short_number(change / before)));
}

/// "`u` is solved in 40 iterations, ...": what the compiler has said of it.
std::string how_solved(const physics::System& system, const std::string& name) {
  const std::string quoted = fmt::format("`{}`", name);
  for (const std::string& remark : system.remarks) {
    const auto solved = remark.find(" solved ");
    if (solved != std::string::npos && remark.find(quoted) < solved) return remark;
  }
  return {};
}

}  // namespace

std::string failed_recovery(const dsl::Resolved& model, const physics::System& system,
                            const AtSite& at, Expr sound, const std::vector<Expr>& holds,
                            const Values& recovered) {
  const Conservation& laws = *system.conservation;
  std::vector<Equation> all;
  for (const Conservation::Solved& solved : laws.solved) all.push_back(equation_of(model, solved));
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (at(holds[i], recovered) != 0) continue;
    out += fmt::format("\n   = the equation of `{}` is not solved: it is off by {}", all[i].name,
                       number_text(at(laws.solved[i].residual, recovered), 3));
    const std::string how = how_solved(system, all[i].name);
    if (!how.empty()) out += "\n   = in a run " + how;
    if (!all[i].off.empty())
      out += "\n   = " + limit_of(all[i], laws, all, at, sound, holds[i], recovered);
  }
  if (!out.empty()) return out;
  for (const physics::Derived& value : laws.recovered)
    if (!std::isfinite(recovered.at(value.array)))
      return fmt::format("\n   = the formula of `{}` has no value for these", value.name);
  for (const Equation& equation : all) {
    const std::string bound =
        equation.off.empty() ? "" : bound_met(equation, recovered.at(equation.off[0].first));
    if (!bound.empty()) out += fmt::format("\n   = of `{}`: {}", equation.name, bound);
  }
  return out + "\n   = these do not give the conserved values back";
}

}  // namespace vphi::embed
