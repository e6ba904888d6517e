// What `recover` finds for the densities of a cell, and the limits of these.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tools/oracle/text/written_fluid.hpp"

namespace vphi::tools {

namespace {

constexpr long double kNone = std::numeric_limits<long double>::quiet_NaN();

bool finite(const Cell& cell) {
  return std::all_of(cell.begin(), cell.end(), [](long double x) { return std::isfinite(x); });
}

/// Whether an iteration comes no nearer. Its equation may hold derivatives, which are differences
/// and known to 1e-14 at best: steps need not become smaller than what they leave.
bool ended(long double step, long double before) {
  constexpr long double kNear = 1e-12L;
  return step == 0 || (step < kNear && step >= before);
}

}  // namespace

/// Where an iteration starts; a number stands for all components.
Numbers WrittenFluid::started(const WrittenSolve& solve, const Written::Given& names,
                              const Place& place) {
  const auto size = static_cast<std::size_t>(solve.size);
  if (!solve.start) return Numbers::vector(std::vector<Complex>(size));
  const Numbers value = text_.value(*solve.start, names, &place);
  return value.parts.size() == size ? value
                                    : Numbers::vector(std::vector<Complex>(size, value.parts[0]));
}

/// The solution of u = g(u) by fixed-point iteration, and where that does not converge by
/// bisection.
long double WrittenFluid::root(const Written::Given& names, const Place& place) {
  Written::Given own = names;
  const WrittenSolve& solve = solves_.front();
  const dsl::Expr& fact = *facts_.at(solve.name);
  own.formulas.erase(solve.name);
  const auto g = [&](long double u) {
    own.values[solve.name] = Numbers::of(u);
    return text_.value(fact, own, &place).parts[0].real();
  };
  constexpr int kRounds = 2000;
  long double u = started(solve, names, place).parts[0].real();
  long double before = std::numeric_limits<long double>::infinity();
  for (int round = 0; round < kRounds && std::isfinite(u); ++round) {
    const long double next = g(u), step = std::fabs(next - u);
    if (ended(step / std::max(1.0L, std::fabs(u)), before)) return next;
    before = step / std::max(1.0L, std::fabs(u));
    u = next;
  }
  if (!solve.from || !solve.to) return kNone;
  long double low = *solve.from, high = *solve.to;
  const long double below = g(low) - low;
  for (int round = 0; round < 80; ++round) {
    const long double middle = (low + high) / 2;
    ((g(middle) - middle) * below > 0 ? low : high) = middle;
  }
  const long double middle = (low + high) / 2;
  return std::fabs(g(middle) - middle) < 1e-12L * std::max(1.0L, std::fabs(middle)) ? middle
                                                                                    : kNone;
}

/// The solution of v = g(v), all components at once.
Numbers WrittenFluid::vector_root(const Written::Given& names, const Place& place) {
  Written::Given own = names;
  const WrittenSolve& solve = solves_.front();
  own.formulas.erase(solve.name);
  Numbers v = started(solve, names, place);
  constexpr int kRounds = 2000;
  long double before = std::numeric_limits<long double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    own.values[solve.name] = v;
    Numbers next = text_.value(*facts_.at(solve.name), own, &place);
    long double step = 0;
    for (std::size_t i = 0; i < v.parts.size(); ++i)
      step = std::max(step, std::fabs(next.parts.at(i).real() - v.parts[i].real()));
    v = std::move(next);
    if (!std::isfinite(step)) break;
    if (ended(step, before)) return v;
    before = step;
  }
  for (Complex& z : v.parts) z = kNone;
  return v;
}

/// The solutions of several equations: each in turn is replaced by g(u), or where that need not
/// converge by a step of Newton's method with the slope of a difference, until none changes.
std::vector<Numbers> WrittenFluid::joint_roots(const Written::Given& names, const Place& place) {
  Written::Given own = names;
  for (const WrittenSolve& solve : solves_) {
    own.formulas.erase(solve.name);
    own.values[solve.name] = started(solve, names, place);
  }
  const auto g = [&](const WrittenSolve& solve) {
    return text_.value(*facts_.at(solve.name), own, &place);
  };
  const auto next = [&](const WrittenSolve& solve) {
    Numbers then = g(solve);
    if (solve.iterates || solve.size > 1) return then;
    const Numbers here = own.values.at(solve.name);
    const long double u = here.parts[0].real(), value = then.parts[0].real();
    const long double h = 1e-7L * std::max(1e-3L, std::fabs(u));
    own.values[solve.name] = Numbers::of(u + h);
    const long double slope = (g(solve).parts[0].real() - value) / h;
    own.values[solve.name] = here;
    long double stepped = u + (value - u) / (1 - slope);
    if (solve.from) stepped = std::max(stepped, *solve.from);
    if (solve.to) stepped = std::min(stepped, *solve.to);
    return Numbers::of(stepped);
  };
  constexpr int kRounds = 2000;
  long double before = std::numeric_limits<long double>::infinity();
  bool found = false;
  for (int round = 0; round < kRounds && !found; ++round) {
    long double step = 0;
    for (const WrittenSolve& solve : solves_) {
      const Numbers then = next(solve);
      const Numbers& now = own.values.at(solve.name);
      for (std::size_t i = 0; i < now.parts.size(); ++i) {
        const long double to = then.parts.at(i).real();
        const long double apart = std::fabs(to - now.parts[i].real());
        step = std::max(step, std::isnan(apart) ? before : apart / std::max(1.0L, std::fabs(to)));
        if (!std::isfinite(to)) step = std::numeric_limits<long double>::infinity();
      }
      own.values[solve.name] = then;
    }
    if (!std::isfinite(step)) break;
    found = ended(step, before);
    before = step;
  }
  std::vector<Numbers> roots;
  for (const WrittenSolve& solve : solves_) {
    Numbers& root = roots.emplace_back(own.values.at(solve.name));
    if (!found)
      for (Complex& z : root.parts) z = kNone;
  }
  return roots;
}

long double WrittenFluid::left(const Cell& quantities, std::size_t which,
                               const std::vector<std::vector<long double>>& solutions,
                               const Place& place) {
  Written::Given names = given(&quantities, nullptr);
  names.formulas = facts_;
  for (std::size_t k = 0; k < solves_.size(); ++k) {
    names.formulas.erase(solves_[k].name);
    std::vector<Complex> parts(solutions.at(k).begin(), solutions.at(k).end());
    names.values[solves_[k].name] = Numbers::vector(std::move(parts));
  }
  return solutions.at(which).at(0) -
         text_.value(*facts_.at(solves_[which].name), names, &place).parts[0].real();
}

Cell WrittenFluid::recovered(const Cell& quantities, const Place& place) {
  // NaN has no order, who watches denominators wants to see them, and fields may have changed
  if (text_.guarded || !finite(quantities) || !text_.fields.empty())
    return found(quantities, place);
  const std::tuple key(text_.t, place, quantities);
  if (const auto known = recovered_.find(key); known != recovered_.end()) return known->second;
  return recovered_.emplace(key, found(quantities, place)).first->second;
}

Cell WrittenFluid::found(const Cell& quantities, const Place& place) {
  Written::Given names = given(&quantities, nullptr);
  names.formulas = facts_;
  std::vector<Numbers> roots;
  if (solves_.size() > 1) {
    roots = joint_roots(names, place);
  } else if (!solves_.empty() && solves_[0].size > 1) {
    roots.push_back(vector_root(names, place));
  } else if (!solves_.empty()) {
    roots.push_back(Numbers::of(finite(quantities) ? root(names, place) : kNone));
  }
  for (std::size_t k = 0; k < roots.size(); ++k) {
    names.formulas.erase(solves_[k].name);
    names.values[solves_[k].name] = roots[k];
  }
  Cell cell;
  for (const Name& p : primitives_) {
    const auto fact = facts_.find(p.name);
    const bool solved = std::any_of(solves_.begin(), solves_.end(),
                                    [&](const WrittenSolve& s) { return s.name == p.name; });
    if (!p.relaxed && !p.beside && fact == facts_.end())
      throw NotCovered{{}, "`" + p.name + "`, which no fact gives"};
    Numbers v = p.relaxed || p.beside || solved ? names.values.at(p.name)
                                                : text_.value(*fact->second, names, &place);
    if (v.scalar()) v.parts.resize(static_cast<std::size_t>(p.size), v.parts[0]);
    for (const Complex z : v.parts) cell.push_back(z.real());
  }
  for (std::size_t k = 0; k < roots.size(); ++k)
    if (solves_[k].size == 1) cell.push_back(roots[k].parts[0].real());
  return cell;
}

Cell WrittenFluid::limited(const Cell& quantities, const Place& place) {
  Cell cell = quantities;
  for (const dsl::Clause* clause : resolved_.clauses("limit")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      const auto name = std::find_if(quantities_.begin(), quantities_.end(),
                                     [&](const Name& q) { return q.name == item.head->name; });
      if (name == quantities_.end()) throw NotCovered{item.span, "a limit of this"};
      Numbers v = text_.value(*item.value, given(&cell, nullptr), &place);
      if (v.scalar()) v.parts.resize(static_cast<std::size_t>(name->size), v.parts[0]);
      for (int i = 0; i < name->size; ++i)
        cell[static_cast<std::size_t>(name->first + i)] =
            v.parts.at(static_cast<std::size_t>(i)).real();
    }
  }
  return cell;
}

}  // namespace vphi::tools
