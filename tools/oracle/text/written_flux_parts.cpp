// What the text of a flux holds beside values of one cell: derivatives, noise and curls.
#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/oracle/text/written_fluid.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;

bool WrittenFluid::holds_more_than_values(const dsl::Expr& e) const {
  const bool call = e.kind == ExprKind::Call;
  constexpr std::array<std::string_view, 4> kDerivatives{"grad", "div", "curl", "lap"};
  if (call && std::count(kDerivatives.begin(), kDerivatives.end(), e.text) > 0) return true;
  if (call && e.text == "d" && e.args.size() == 2 && axis_of(*e.args[1]) >= 0) return true;
  if (e.kind == ExprKind::Name) {
    if (e.text == "noise") return true;
    const dsl::Symbol* symbol = resolved_.find(e.text);
    const bool definition = symbol && symbol->kind == dsl::SymbolKind::Definition && symbol->value;
    if (definition && holds_more_than_values(*symbol->value)) return true;
  }
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const dsl::ExprPtr& arg) { return holds_more_than_values(*arg); });
}

std::vector<WrittenFluid::Name> WrittenFluid::curls() const {
  std::vector<Name> names;
  for (std::size_t i = 0; i < laws_.size(); ++i)
    for (const dsl::Expr* right : laws_[i].right) {
      const dsl::Expr* e = right;
      while (e->kind == ExprKind::Binary || e->kind == ExprKind::Unary) e = e->args[0].get();
      if (e->kind == ExprKind::Call && e->text == "curl") names.push_back(quantities_[i]);
    }
  return names;
}

bool WrittenFluid::fluxes_hold_derivatives() const {
  const std::function<bool(const dsl::Expr&)> term = [&](const dsl::Expr& e) {
    const bool sum = (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) ||
                     e.kind == ExprKind::Unary;
    if (sum) return std::any_of(e.args.begin(), e.args.end(), [&](auto& a) { return term(*a); });
    const bool flux = e.kind == ExprKind::Call &&
                      (e.text == "div" || e.text == "grad" || e.text == "d" || e.text == "curl");
    return flux && holds_more_than_values(*e.args.at(0));
  };
  return std::any_of(laws_.begin(), laws_.end(), [&](const Law& law) {
    return std::any_of(law.right.begin(), law.right.end(), [&](auto* e) { return term(*e); });
  });
}

/// The flux at the face from `place` to the next cell, made of primitive variables of any place.
Cell WrittenFluid::flux_of_values(const std::function<Cell(const Place&)>& primitives,
                                  const Place& place, int axis) {
  of_sources_ = Written::Given{};
  for (const Name& p : primitives_)
    of_sources_.places[p.name] = [&, p](const Place& there) {
      return together(primitives(there), p.first, p.size);
    };
  for (const Name& q : quantities_) {
    if (q.relaxed || q.beside) continue;
    of_sources_.places[q.name] = [&, q](const Place& there) {
      return together(densities(primitives(there), there), q.first, q.size);
    };
  }
  struct Within {
    WrittenFluid& fluid;
    ~Within() {
      fluid.fluxes_alone_ = false;
      fluid.text_.beyond = {};
    }
  } within{*this};
  fluxes_alone_ = true;
  text_.beyond.at(static_cast<std::size_t>(axis)) = 0.5L;
  std::vector<Cell> out(static_cast<std::size_t>(components(false)),
                        Cell(static_cast<std::size_t>(dims()) + 1));
  for (std::size_t i = 0; i < laws_.size(); ++i)
    for (const dsl::Expr* right : laws_[i].right)
      read_flux(*right, 1, of_sources_, place, static_cast<std::size_t>(quantities_[i].first),
                static_cast<std::size_t>(quantities_[i].size), out);
  Cell result;
  for (const Cell& component : out) result.push_back(component.at(static_cast<std::size_t>(axis)));
  return result;
}

Cell WrittenFluid::through(const std::function<Cell(const Place&)>& primitives, const Place& place,
                           int axis) {
  const auto k = static_cast<std::size_t>(axis);
  // along the axis the values are on a line through both cells, of which the face is in the middle
  const auto on_line = [&](const Place& there, long double steps) {
    Place low = there;
    low[k] = place[k];
    Place high = low;
    ++high[k];
    const Cell a = primitives(low), b = primitives(high);
    Cell value;
    for (std::size_t i = 0; i < a.size(); ++i)
      value.push_back((a[i] + b[i]) / 2 + steps * (b[i] - a[i]));
    return value;
  };
  const Cell all = flux_of_values(
      [&](const Place& there) {
        return on_line(there, static_cast<long double>(there[k] - place[k]));
      },
      place, axis);
  const auto noise = std::exchange(text_.noise, nullptr);
  const Cell still = flux_of_values([&](const Place&) { return on_line(place, 0); }, place, axis);
  text_.noise = noise;
  Cell result;
  for (std::size_t c = 0; c < all.size(); ++c) result.push_back(all[c] - still[c]);
  return result;
}

}  // namespace vphi::tools
