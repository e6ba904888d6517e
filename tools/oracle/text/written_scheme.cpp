// The text of a flux scheme, evaluated cell by cell.
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "compiler/physics/fluids/scheme_head.hpp"
#include "dsl/model_function.hpp"
#include "dsl/syntax/parse.hpp"
#include "tools/oracle/text/slope.hpp"
#include "tools/oracle/text/written_fluid.hpp"

namespace vphi::tools {

using dsl::ExprKind;

namespace {

bool is_name(const dsl::Expr& e, const std::string& text) {
  return e.kind == ExprKind::Name && e.text == text;
}

/// Functions of numbers that a scheme may call.
std::optional<long double> applied(const std::string& f, const std::vector<long double>& x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  if (f == "min") return *low;
  if (f == "max") return *high;
  if (f == "minmod") return *low > 0 ? *low : *high < 0 ? *high : 0;
  if (x.size() != 1) return std::nullopt;
  if (f == "abs") return std::fabs(x[0]);
  if (f == "sign") return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
  if (f == "sqrt") return std::sqrt(x[0]);
  if (f == "exp") return std::exp(x[0]);
  if (f == "log") return std::log(x[0]);
  if (f == "tanh") return std::tanh(x[0]);
  return std::nullopt;
}

std::optional<long double> operated(const std::string& op, long double x, long double y) {
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (op == "/") return x / y;
  if (op == "^") return std::pow(x, y);
  if (op == "<") return x < y;
  if (op == ">") return x > y;
  if (op == "<=") return x <= y;
  if (op == ">=") return x >= y;
  if (op == "==") return x == y;
  if (op == "and") return x != 0 && y != 0;
  if (op == "or") return x != 0 || y != 0;
  return std::nullopt;
}

}  // namespace

// ---- one pass along an axis -----------------------------------------------------------------

class WrittenScheme::Pass {
 public:
  /// Arguments of a function of the model, with the names that they see.
  struct Arguments {
    std::map<std::string, const dsl::Expr*> values;
    const Arguments* outer = nullptr;
  };

  Pass(WrittenScheme& scheme, int axis, long double dt, const std::vector<Cell>& quantities,
       const std::vector<Cell>& primitives)
      : s_(scheme), axis_(axis), dt_(dt), quantities_(quantities), primitives_(primitives) {}

  /// Primitive variables of cells beyond an open end after half of the step, which they take too.
  std::function<Cell(const Place&)> beyond;

  /// The value that the text gives to a quantity (or its rate).
  long double result(int component, const Place& p) {
    if (!s_.step() && fluid().in_coordinates()) return by_areas(*s_.last_, component, p);
    return value(*s_.last_, component, p, {});
  }
  /// What this rate has through the face to the next cell: of -(X - X@-k)/dx it is -X/dx.
  long double through_face(int component, const Place& p) {
    return by_faces(*s_.last_, component, p, [&](const dsl::Expr& difference) {
      return value(*difference.args[0], component, p, nullptr);
    });
  }

 private:
  WrittenFluid& fluid() const { return s_.fluid_; }
  const Box& box() const { return s_.fluid_.text().box; }

  Place moved(Place p, int by) const {
    p[static_cast<std::size_t>(axis_)] += by;
    return p;
  }

  /// The cell at a place, or what lies there beyond a wall: in a mirror a vector's component across
  /// the wall changes its sign.
  FluidCell image(Place p) {
    std::vector<std::size_t> mirrored;
    const Place asked = p;
    bool open = false;
    for (std::size_t k = 0; k < static_cast<std::size_t>(box().dims); ++k) {
      const int n = box().extent[k];
      if (p[k] >= 0 && p[k] < n) continue;
      switch (box().walls.wall[k]) {
        case Wall::Periodic:
          p[k] = ((p[k] % n) + n) % n;
          break;
        case Wall::Outflow:
          p[k] = std::clamp(p[k], 0, n - 1);
          open = true;
          break;
        case Wall::Neumann:
          p[k] = std::clamp(p[k] < 0 ? -1 - p[k] : 2 * n - 1 - p[k], 0, n - 1);
          mirrored.push_back(k);
          break;
        case Wall::Antiperiodic:
        case Wall::Twisted:
        case Wall::Open:
        case Wall::Held:
        case Wall::Fixed:
          throw NotCovered{{}, "this boundary of conservation laws"};
      }
    }
    const auto site = static_cast<std::size_t>(box().site(p));
    FluidCell cell{quantities_[site], primitives_[site]};
    if (open && beyond) {
      auto known = beyond_.find(asked);
      if (known == beyond_.end()) known = beyond_.emplace(asked, beyond(asked)).first;
      cell.primitives = known->second;
    }
    for (const std::size_t k : mirrored) {
      const auto turn = [&](const std::vector<WrittenFluid::Name>& names, Cell& values) {
        for (const auto& name : names)
          if (name.size == box().dims && !name.beside && is_vector(name.name))
            values[static_cast<std::size_t>(name.first) + k] *= -1;
      };
      turn(fluid().quantities(), cell.quantities);
      turn(fluid().primitives(), cell.primitives);
    }
    // a step takes the primitive variables in its middle, where it has values there
    fluid().put_given(cell, asked, s_.step() && s_.half_step_ ? dt_ / 2 : 0);
    return cell;
  }
  bool is_vector(const std::string& name) const {
    const dsl::Symbol* symbol = fluid().resolved().find(name);
    return symbol && symbol->type.base == dsl::Type::Base::Vector;
  }

  // ---- what the head names

  /// v and f of U' = -d(U*v, k) - d(f, k): the slope of a flux by its own quantity where it is a
  /// line of it, and what is left.
  const std::pair<long double, Cell>& carried(const Place& p) {
    if (const auto known = carried_.find(p); known != carried_.end()) return known->second;
    const FluidCell cell = image(p);
    const auto k = static_cast<std::size_t>(axis_);
    auto whole = fluid().fluxes(cell, p);
    const long double by = per_coordinate(p);
    for (Cell& flux : whole) flux[k] *= by;
    long double v = 0;
    for (std::size_t i = 0; i < cell.quantities.size(); ++i) {
      const auto flux = [&](long double own) {
        FluidCell other = cell;
        other.quantities[i] = own;
        return by * fluid().fluxes(other, p)[i][k];
      };
      const long double zero = flux(0), one = flux(1), two = flux(2);
      const bool line =
          std::fabs(two - 2 * one + zero) <= 1e-12L * (std::fabs(two) + std::fabs(one));
      if (line && std::fabs(one - zero) > std::fabs(v)) v = one - zero;
    }
    Cell rest;
    for (std::size_t i = 0; i < cell.quantities.size(); ++i)
      rest.push_back(whole[i][k] - cell.quantities[i] * v);
    return carried_.emplace(p, std::pair(v, rest)).first->second;
  }

  /// A state `X@k`, and a line that is one, belongs to the next cell, whose position counts.
  int away(const dsl::Expr& x) const {
    if (x.kind == ExprKind::Shift)
      return (x.args[1]->kind == ExprKind::Unary ? -1 : 1) + away(*x.args[0]);
    const auto line = x.kind == ExprKind::Name ? s_.lines_.find(x.text) : s_.lines_.end();
    return line == s_.lines_.end() ? 0 : away(*line->second);
  }
  /// The cell whose quantities or primitive variables `x` gives at a place.
  const FluidCell& cell_of(const dsl::Expr& x, const Place& p, const Arguments* names) {
    const auto key = std::pair(&x, p);
    if (const auto known = cells_.find(key); known != cells_.end()) return known->second;
    FluidCell cell;
    if (kind(x, names) == Kind::Primitives) {
      for (int c = 0; c < fluid().components(true); ++c)
        cell.primitives.push_back(value(x, c, p, names));
      cell.quantities = fluid().densities(cell.primitives, moved(p, away(x)));
    } else {
      Cell q;
      for (int c = 0; c < fluid().components(false); ++c) q.push_back(value(x, c, p, names));
      const Place there = moved(p, away(x));
      cell.quantities = fluid().limited(q, there);
      cell.primitives = fluid().recovered(cell.quantities, there);
    }
    return cells_.emplace(key, std::move(cell)).first->second;
  }

  /// A step is taken in coordinates: velocities and fluxes along an axis are divided by its factor.
  long double per_coordinate(const Place& p) {
    const bool divided = s_.step() && fluid().in_coordinates();
    return divided ? 1 / fluid().factor(static_cast<std::size_t>(axis_), p) : 1;
  }

  static bool is_difference(const dsl::Expr& e) {
    return e.kind == ExprKind::Binary && e.text == "-" && e.args[1]->kind == ExprKind::Shift &&
           e.args[1]->args[1]->kind == ExprKind::Unary &&
           dsl::to_text(*e.args[1]->args[0]) == dsl::to_text(*e.args[0]);
  }
  static bool has_difference(const dsl::Expr& e) {
    return is_difference(e) || std::any_of(e.args.begin(), e.args.end(),
                                           [](const auto& arg) { return has_difference(*arg); });
  }
  /// A rate in which `X - X@-k` is what X carries through the faces of a cell.
  long double by_areas(const dsl::Expr& e, int c, const Place& p) {
    return by_faces(e, c, p, [&](const dsl::Expr& difference) {
      const Place back = moved(p, -1);
      const dsl::Expr& face = *difference.args[0];
      return (fluid().area(p, axis_) * value(face, c, p, nullptr) -
              fluid().area(back, axis_) * value(face, c, back, nullptr)) /
             fluid().volume(p);
    });
  }
  /// The value of the last line with `of_difference` in place of `X - X@-k`.
  long double by_faces(const dsl::Expr& e, int c, const Place& p,
                       const std::function<long double(const dsl::Expr&)>& of_difference) {
    const auto part = [&](std::size_t i) { return by_faces(*e.args[i], c, p, of_difference); };
    const auto plain = [&](std::size_t i) { return value(*e.args[i], c, p, nullptr); };
    if (is_difference(e)) return of_difference(e);
    if (e.kind == ExprKind::Unary && e.text == "-") return -part(0);
    if (e.kind == ExprKind::Binary && e.text == "+") return part(0) + part(1);
    if (e.kind == ExprKind::Binary && e.text == "-") return part(0) - part(1);
    if (e.kind == ExprKind::Binary && e.text == "/") return part(0) / plain(1);
    if (e.kind == ExprKind::Binary && e.text == "*")
      return has_difference(*e.args[0]) ? part(0) * plain(1) : plain(0) * part(1);
    throw NotCovered{e.span, "a scheme whose last line has no difference between faces"};
  }

  // ---- expressions

  Kind kind(const dsl::Expr& e, const Arguments* names) {
    if (e.kind == ExprKind::Name) {
      if (names && names->values.contains(e.text))
        return kind(*names->values.at(e.text), names->outer);
      if (e.text == s_.state_ || e.text == s_.rest_) return Kind::Quantities;
      const auto line = s_.lines_.find(e.text);
      return line == s_.lines_.end() ? Kind::One : kind(*line->second, nullptr);
    }
    if (e.kind == ExprKind::Call) {
      if (e.text == "primitives") return Kind::Primitives;
      if (e.text == "conserved" || e.text == s_.flux_) return Kind::Quantities;
      if (s_.options_.contains(e.text)) return Kind::One;
    }
    const std::size_t count = e.kind == ExprKind::Shift ? 1 : e.args.size();
    for (std::size_t i = 0; i < count; ++i)
      if (const Kind k = kind(*e.args[i], names); k != Kind::One) return k;
    return Kind::One;
  }

  long double value(const dsl::Expr& e, int c, const Place& p, const Arguments* names) {
    const auto at = [&](std::size_t i) { return value(*e.args[i], c, p, names); };
    switch (e.kind) {
      case ExprKind::Number:
        return std::strtold(e.text.c_str(), nullptr);
      case ExprKind::Name:
        return name(e, c, p, names);
      case ExprKind::Unary:
        return e.text == "not" ? at(0) == 0 : -at(0);
      case ExprKind::Binary:
        if (const auto v = operated(e.text, at(0), at(1))) return *v;
        break;
      case ExprKind::Select:
        return at(1) != 0 ? at(0) : at(2);
      case ExprKind::Shift: {
        const bool back = e.args[1]->kind == ExprKind::Unary;
        if (!is_name(back ? *e.args[1]->args[0] : *e.args[1], s_.axis_)) break;
        return value(*e.args[0], c, moved(p, back ? -1 : 1), names);
      }
      case ExprKind::Call:
        return call(e, c, p, names);
      case ExprKind::String:
      case ExprKind::Sign:
      case ExprKind::Index:
      case ExprKind::Prime:
      case ExprKind::List:
      case ExprKind::Range:
      case ExprKind::Unit:
        break;
    }
    throw NotCovered{e.span, "this line of a scheme"};
  }

  long double name(const dsl::Expr& e, int c, const Place& p, const Arguments* names) {
    if (names && names->values.contains(e.text))
      return value(*names->values.at(e.text), c, p, names->outer);
    if (const auto line = s_.lines_.find(e.text); line != s_.lines_.end()) {
      const int part = kind(*line->second, nullptr) == Kind::One ? -1 : c;
      const auto key = std::tuple(line->second, part, p);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
      const long double v = value(*line->second, c, p, nullptr);
      known_.emplace(key, v);
      return v;
    }
    if (e.text == s_.state_) return image(p).quantities.at(static_cast<std::size_t>(c));
    if (!s_.velocity_.empty() && e.text == s_.velocity_) return carried(p).first;
    if (!s_.rest_.empty() && e.text == s_.rest_)
      return carried(p).second.at(static_cast<std::size_t>(c));
    if (e.text == "dt") return dt_;
    if (e.text == "dx") return box().dx;
    if (e.text == "pi") return std::acos(-1.0L);
    if (const auto option = s_.options_.find(e.text); option != s_.options_.end()) {
      if (is_name(*option->second, "on") || is_name(*option->second, "off"))
        return option->second->text == "on";
      return fluid().text().value(*option->second, nullptr).parts.at(0).real();
    }
    throw NotCovered{e.span, "`" + e.text + "` in a scheme"};
  }

  long double call(const dsl::Expr& e, int c, const Place& p, const Arguments* names) {
    const auto part = static_cast<std::size_t>(c);
    if (!s_.flux_.empty() && e.text == s_.flux_) {
      const auto key = std::pair(&e, p);
      auto known = fluxes_.find(key);
      if (known == fluxes_.end())
        known = fluxes_
                    .emplace(key, fluid().fluxes(cell_of(*e.args.at(0), p, names),
                                                 moved(p, away(*e.args.at(0)))))
                    .first;
      return known->second.at(part)[static_cast<std::size_t>(axis_)] * per_coordinate(p);
    }
    if (e.text == "primitives" || e.text == "conserved") {
      const bool wants = e.text == "primitives";
      const dsl::Expr& x = *e.args.at(0);
      if ((kind(x, names) == Kind::Primitives) == wants) return value(x, c, p, names);
      const FluidCell& cell = cell_of(x, p, names);
      return (wants ? cell.primitives : cell.quantities).at(part);
    }
    if (const auto option = s_.options_.find(e.text); option != s_.options_.end()) {
      const auto key = std::tuple(&e, -1, p);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
      const FluidCell& cell = cell_of(*e.args.at(0), p, names);
      const long double v =
          fluid().of_cell(*option->second, s_.axis_, axis_, cell, moved(p, away(*e.args.at(0)))) *
          per_coordinate(p);
      known_.emplace(key, v);
      return v;
    }
    if (const dsl::Symbol* own = dsl::model_function(fluid().resolved(), e.text);
        own && s_.body_->keyword_span.file == 0) {
      Arguments inner;
      inner.outer = names;
      for (std::size_t i = 0; i < e.args.size(); ++i)
        inner.values[own->parameters.at(i)] = e.args[i].get();
      return value(*own->value, c, p, &inner);
    }
    std::vector<long double> x;
    for (const auto& arg : e.args) x.push_back(value(*arg, c, p, names));
    if (const auto v = applied(e.text, x)) return *v;
    throw NotCovered{e.span, "`" + e.text + "` in a scheme"};
  }

  WrittenScheme& s_;
  int axis_;
  long double dt_;
  const std::vector<Cell>& quantities_;
  const std::vector<Cell>& primitives_;
  std::map<Place, Cell> beyond_;
  std::map<Place, std::pair<long double, Cell>> carried_;
  std::map<std::pair<const dsl::Expr*, Place>, FluidCell> cells_;
  std::map<std::pair<const dsl::Expr*, Place>, std::vector<Cell>> fluxes_;
  std::map<std::tuple<const dsl::Expr*, int, Place>, long double> known_;
};

// ---- the scheme -----------------------------------------------------------------------------

WrittenScheme::WrittenScheme(WrittenFluid& fluid) : fluid_(fluid) {
  for (const dsl::Clause* clause : fluid.resolved().clauses("scheme"))
    if (!clause->has_body) use_ = clause;
  if (!use_) throw NotCovered{{}, "conservation laws without a scheme"};
  name_ = physics::scheme_name(*use_);
  body_ = physics::scheme_text(fluid.resolved(), name_);
  if (!body_) throw NotCovered{use_->keyword_span, "the scheme `" + name_ + "`"};
  read_head();
  read_options();
  for (const dsl::Line& line : body_->body) {
    const dsl::Head& head = line.definition.head;
    if (head.name == state_) {
      last_ = line.definition.value.get();
      step_ = head.primes == 0;
    } else {
      lines_[head.name] = line.definition.value.get();
    }
  }
}

/// `name(U' = -d(U*v, k) - d(f, k), option = value, option)`
void WrittenScheme::read_head() {
  const dsl::Expr& head = *body_->items.front().value;
  const std::function<void(const dsl::Expr&)> part = [&](const dsl::Expr& e) {
    if (e.kind != ExprKind::Call) {
      for (const auto& arg : e.args) part(*arg);
      return;
    }
    axis_ = e.args.at(1)->text;
    const dsl::Expr& of = *e.args[0];
    if (of.kind == ExprKind::Call) {
      flux_ = of.text;
    } else if (of.kind == ExprKind::Name) {
      rest_ = of.text;
    } else {
      velocity_ = of.args.at(is_name(*of.args.at(0), state_) ? 1 : 0)->text;
    }
  };
  for (const dsl::NamedArgument& argument : head.named) {
    if (!argument.name.ends_with("'")) {
      options_[argument.name] = argument.value.get();
      continue;
    }
    state_ = argument.name.substr(0, argument.name.size() - 1);
    part(*argument.value);
  }
  for (const auto& bare : head.args) options_[bare->text] = nullptr;
}

void WrittenScheme::read_options() {
  for (auto& [name, value] : options_) {
    if (const dsl::ExprPtr given = dsl::option(*use_, name)) value = given.get();
    if (!value) throw NotCovered{use_->keyword_span, "a scheme without its `" + name + "`"};
  }
  const auto half = options_.find("half_step");
  half_step_ = half != options_.end() && is_name(*half->second, "on");
}

/// Of the first word of `split`; an axis that is named twice shares the step, one after the other
/// it runs as one.
std::vector<WrittenScheme::Share> WrittenScheme::order() const {
  std::string word = std::string("xyz").substr(0, static_cast<std::size_t>(fluid_.dims()));
  if (const dsl::Clause* split = fluid_.resolved().clause("split")) {
    const dsl::Expr& list = *dsl::positional(*split).at(0)->value;
    word = list.kind == ExprKind::List ? list.args.at(0)->text : list.text;
  }
  std::vector<Share> shares;
  for (const char letter : word) {
    const auto weight = 1 / static_cast<long double>(std::count(word.begin(), word.end(), letter));
    if (!shares.empty() && shares.back().axis == letter - 'x')
      shares.back().weight += weight;
    else
      shares.push_back({letter - 'x', weight});
  }
  return shares;
}

std::vector<Cell> WrittenScheme::recovered(const std::vector<Cell>& cells) {
  std::vector<Cell> result;
  for (std::size_t s = 0; s < cells.size(); ++s)
    result.push_back(fluid_.recovered(cells[s], fluid_.text().box.place(static_cast<int>(s))));
  return result;
}

void WrittenScheme::limit(std::vector<Cell>& cells) {
  for (std::size_t s = 0; s < cells.size(); ++s)
    cells[s] = fluid_.limited(cells[s], fluid_.text().box.place(static_cast<int>(s)));
}

std::vector<Cell> WrittenScheme::along(const std::vector<Cell>& cells, int axis, long double dt) {
  const Box& box = fluid_.text().box;
  const auto run = [&](Pass& pass) {
    std::vector<Cell> result = cells;
    for (std::size_t s = 0; s < cells.size(); ++s)
      for (std::size_t c = 0; c < cells[s].size(); ++c)
        result[s][c] = pass.result(static_cast<int>(c), box.place(static_cast<int>(s)));
    return result;
  };
  const std::vector<Cell> before = recovered(cells);
  if (!half_step_) {
    Pass pass(*this, axis, dt, cells, before);
    return run(pass);
  }
  Pass half(*this, axis, dt / 2, cells, before);
  std::vector<Cell> middle = run(half);
  limit(middle);
  middle = recovered(middle);
  Pass whole(*this, axis, dt, cells, middle);
  whole.beyond = [&](const Place& p) {
    Cell there;
    for (int c = 0; c < fluid_.components(false); ++c) there.push_back(half.result(c, p));
    return fluid_.recovered(fluid_.limited(there, p), p);
  };
  return run(whole);
}

/// U' = source by Heun's method, with the time that passes.
void WrittenScheme::run_sources(std::vector<Cell>& cells, long double dt) {
  const auto axes = static_cast<std::size_t>(fluid_.dims());
  const auto rates = [&](const std::vector<Cell>& of) {
    const std::vector<Cell> primitives = recovered(of);
    std::vector<Cell> result = of;
    for (std::size_t s = 0; s < of.size(); ++s) {
      const Place p = fluid_.text().box.place(static_cast<int>(s));
      const auto flux = fluid_.fluxes({of[s], primitives[s]}, p);
      for (std::size_t c = 0; c < of[s].size(); ++c) result[s][c] = flux[c][axes];
    }
    return result;
  };
  const std::vector<Cell> first = rates(cells);
  fluid_.text().advance(dt);
  const auto moved = [&](const std::vector<Cell>& by, long double h,
                         const std::vector<Cell>& from) {
    std::vector<Cell> result = from;
    for (std::size_t s = 0; s < from.size(); ++s)
      for (std::size_t c = 0; c < from[s].size(); ++c) result[s][c] += h * by[s][c];
    return result;
  };
  const std::vector<Cell> second = rates(moved(first, dt, cells));
  const bool none = std::all_of(first.begin(), first.end(), [](const Cell& cell) {
    return std::all_of(cell.begin(), cell.end(), [](long double x) { return x == 0; });
  });
  if (none) return;
  cells = moved(second, dt / 2, moved(first, dt / 2, cells));
  limit(cells);
}

std::vector<Cell> WrittenScheme::advanced(std::vector<Cell> cells, long double dt) {
  const long double start = fluid_.text().t;
  lost_.assign(cells.front().size(), 0);
  run_sources(cells, dt / 2);
  for (const Share& share : order()) {
    // the fluxes know the time at which the step begins
    const long double now = fluid_.text().t;
    fluid_.text().set_time(start);
    const std::vector<Cell> before = cells;
    cells = along(cells, share.axis, share.weight * dt);
    for (std::size_t s = 0; s < cells.size(); ++s)
      for (std::size_t c = 0; c < lost_.size(); ++c) lost_[c] += before[s][c] - cells[s][c];
    limit(cells);
    fluid_.text().set_time(now);
  }
  run_sources(cells, dt / 2);
  fluid_.text().set_time(start);
  return cells;
}

/// p' of (dU/dp - dS/dp') p' = -div(F) + S(p, 0) - dU/dt, by elimination.
Cell WrittenScheme::derivatives(const FluidCell& cell, const Cell& of_fluxes,
                                const Sources& sources, const Place& p) {
  const std::size_t n = cell.primitives.size();
  const auto slope = [&](long double h, const std::function<Cell(long double)>& f) {
    const Cell a = f(h), b = f(-h), c = f(2 * h), d = f(-2 * h);
    Cell result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = slope_of_four(d[i], b[i], a[i], c[i], h);
    return result;
  };
  const Cell none(n), still = sources(none);
  Written& text = fluid_.text();
  const Cell by_time = slope(1e-3L, [&](long double h) {
    return text.later(h, [&] { return fluid_.densities(cell.primitives, p); });
  });
  std::vector<Cell> matrix(n, Cell(n + 1));
  for (std::size_t i = 0; i < n; ++i) matrix[i][n] = of_fluxes.at(i) + still[i] - by_time[i];
  for (std::size_t j = 0; j < n; ++j) {
    const long double size = std::max(1e-3L, std::fabs(cell.primitives[j]));
    const Cell density = slope(1e-4L * size, [&](long double h) {
      Cell moved = cell.primitives;
      moved[j] += h;
      return fluid_.densities(moved, p);
    });
    Cell unit(n);
    unit[j] = 1;
    const Cell source = sources(unit);
    for (std::size_t i = 0; i < n; ++i) matrix[i][j] = density[i] - (source[i] - still[i]);
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::fabs(matrix[r][c]) > std::fabs(matrix[pivot][c])) pivot = r;
    std::swap(matrix[c], matrix[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c) continue;
      const long double by = matrix[r][c] / matrix[c][c];
      for (std::size_t k = c; k <= n; ++k) matrix[r][k] -= by * matrix[c][k];
    }
  }
  Cell result(n);
  for (std::size_t c = 0; c < n; ++c) result[c] = matrix[c][n] / matrix[c][c];
  return result;
}

/// Primitive variables of a place, which may lie beyond a wall.
Cell WrittenScheme::primitives_at(const std::vector<Cell>& primitives, Place p) const {
  const Place asked = p;
  const Box& box = fluid_.text().box;
  std::vector<std::size_t> mirrored;
  for (std::size_t k = 0; k < static_cast<std::size_t>(box.dims); ++k) {
    const int n = box.extent[k];
    if (p[k] >= 0 && p[k] < n) continue;
    if (box.walls.wall[k] == Wall::Periodic) {
      p[k] = (p[k] % n + n) % n;
    } else if (box.walls.wall[k] == Wall::Neumann) {
      p[k] = p[k] < 0 ? -1 - p[k] : 2 * n - 1 - p[k];
      mirrored.push_back(k);
    } else {
      p[k] = std::clamp(p[k], 0, n - 1);
    }
  }
  Cell cell = primitives[static_cast<std::size_t>(box.site(p))];
  cell.resize(static_cast<std::size_t>(fluid_.components(true)));
  for (const WrittenFluid::Name& name : fluid_.primitives()) {
    const dsl::Symbol* symbol = fluid_.resolved().find(name.name);
    if (!symbol || symbol->type.base != dsl::Type::Base::Vector || name.size != box.dims) continue;
    for (const std::size_t k : mirrored) {
      long double& component = cell[static_cast<std::size_t>(name.first) + k];
      component = -component;
    }
  }
  FluidCell there{fluid_.densities(cell, asked), cell};
  fluid_.put_given(there, asked, 0);
  return there.primitives;
}

/// The rates of a law with a curl, by central differences of E. In a cell that is the mean of its
/// values at four faces.
void WrittenScheme::put_curl(const WrittenFluid::Name& name, const std::vector<Cell>& cells,
                             const std::vector<Cell>& primitives, const std::vector<Place>& places,
                             std::vector<Cell>& result) {
  const long double dx = fluid_.text().box.dx;
  std::vector<Pass> passes;
  for (int axis = 0; axis < fluid_.dims(); ++axis)
    passes.emplace_back(*this, axis, 0, cells, primitives);
  const auto everywhere = [&](const Place& there) { return primitives_at(primitives, there); };
  const auto shifted = [](Place p, int axis, int by) {
    p[static_cast<std::size_t>(axis)] += by;
    return p;
  };
  const bool derivatives = fluid_.fluxes_hold_derivatives();
  const auto face = [&](int axis, int component, const Place& p) {
    const int c = name.first + component;
    long double value = passes[static_cast<std::size_t>(axis)].through_face(c, p);
    if (derivatives)
      value -= fluid_.through(everywhere, p, axis).at(static_cast<std::size_t>(c)) / dx;
    return value;
  };
  for (Cell& cell : result) std::fill_n(cell.begin() + name.first, name.size, 0.0L);
  for (int i = 0; i < name.size; ++i)
    for (int j = i + 1; j < name.size; ++j) {
      const auto field = [&](const Place& p) {
        return (face(i, j, p) + face(i, j, shifted(p, i, -1)) - face(j, i, p) -
                face(j, i, shifted(p, j, -1))) /
               4;
      };
      for (std::size_t s = 0; s < places.size(); ++s) {
        const Place& p = places[s];
        // through_face is per length; of the others all lengths are a
        const long double across =
            fluid_.in_coordinates() ? fluid_.area(p, i) / fluid_.volume(p) : 1;
        result[s][static_cast<std::size_t>(name.first + j)] +=
            across * (field(shifted(p, i, 1)) - field(shifted(p, i, -1))) / 2;
        result[s][static_cast<std::size_t>(name.first + i)] -=
            across * (field(shifted(p, j, 1)) - field(shifted(p, j, -1))) / 2;
      }
    }
}

std::vector<Cell> WrittenScheme::rates(const std::vector<Cell>& cells,
                                       const std::vector<Place>& places,
                                       std::vector<Cell>* of_fluxes) {
  const std::vector<Cell> primitives = recovered(cells);
  const Box& box = fluid_.text().box;
  std::vector<Cell> result;
  for (const Place& p : places)
    result.emplace_back(cells[static_cast<std::size_t>(box.site(p))].size());
  const auto noise = std::exchange(fluid_.text().noise, nullptr);  // of no state in a cell
  for (int axis = 0; axis < fluid_.dims(); ++axis) {
    Pass pass(*this, axis, 0, cells, primitives);
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t c = 0; c < result[i].size(); ++c)
        result[i][c] += pass.result(static_cast<int>(c), places[i]);
  }
  fluid_.text().noise = noise;
  const auto everywhere = [&](const Place& there) { return primitives_at(primitives, there); };
  const bool derivatives_in_fluxes = fluid_.fluxes_hold_derivatives();
  for (std::size_t i = 0; derivatives_in_fluxes && i < places.size(); ++i) {
    for (int axis = 0; axis < fluid_.dims(); ++axis) {
      const Place& p = places[i];
      Place back = p;
      --back[static_cast<std::size_t>(axis)];
      const long double right = fluid_.in_coordinates() ? fluid_.area(p, axis) : 1,
                        left = fluid_.in_coordinates() ? fluid_.area(back, axis) : 1,
                        inside = box.dx * (fluid_.in_coordinates() ? fluid_.volume(p) : 1);
      const Cell out = fluid_.through(everywhere, p, axis),
                 in = fluid_.through(everywhere, back, axis);
      for (std::size_t c = 0; c < result[i].size(); ++c)
        result[i][c] -= (right * out[c] - left * in[c]) / inside;
    }
  }
  fluid_.text().noise = nullptr;
  for (const WrittenFluid::Name& name : fluid_.curls())
    put_curl(name, cells, primitives, places, result);
  fluid_.text().noise = noise;
  if (of_fluxes) *of_fluxes = result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& p = places[i];
    std::map<Place, Cell> known;
    const auto near = [&](const Place& there) {
      const auto found = known.find(there);
      if (found != known.end()) return found->second;
      return known.emplace(there, primitives_at(primitives, there)).first->second;
    };
    const FluidCell cell{cells[static_cast<std::size_t>(box.site(p))], near(p)};
    const Sources sources = [&](const Cell& derivatives) {
      return fluid_.sources(cell, near, derivatives, p);
    };
    Cell source = sources(Cell(cell.primitives.size()));
    if (fluid_.held_derivatives()) {
      if (fluid_.components_beside() > 0)
        throw NotCovered{{}, "derivatives in time of primitive variables beside fields"};
      source = sources(derivatives(cell, result[i], sources, p));
    }
    for (std::size_t c = 0; c < source.size(); ++c) result[i][c] += source[c];
  }
  return result;
}

}  // namespace vphi::tools
