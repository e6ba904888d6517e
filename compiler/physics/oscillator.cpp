#include "compiler/physics/oscillator.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>

namespace vphi::physics {

namespace {

using dsl::Clause;
using dsl::Expr;
using dsl::ExprKind;
using dsl::ExprPtr;

struct Unknown {};

/// A number, or the pair (x, v) of a first-order system.
struct Quantity {
  double a = 0, b = 0;
  bool pair = false;
};

Quantity combine(Quantity p, Quantity q, double sign) {
  if (p.pair != q.pair) throw Unknown{};
  return {p.a + sign * q.a, p.b + sign * q.b, p.pair};
}

Quantity scaled(double factor, Quantity q) { return {factor * q.a, factor * q.b, q.pair}; }

class Run {
 public:
  Run(const std::map<std::string, const Clause*>& integrators, double theta, double rate = 0)
      : integrators_(integrators), w2_(theta * theta), rate_(rate) {}

  /// One step of length dt from (x, v).
  void step(const Clause& clause, double dt, double& x, double& v, int depth = 0) {
    if (depth > 16 || clause.items.empty()) throw Unknown{};
    const dsl::Item& item = clause.items.front();
    if (item.head && item.value && item.value->kind == ExprKind::Call &&
        item.value->text == "compose") {
      compose(clause, *item.value, dt, x, v, depth);
      return;
    }
    const Expr* head = item.value.get();
    if (!head || head->kind != ExprKind::Call) throw Unknown{};
    Run body(integrators_, std::sqrt(w2_), rate_);
    body.read_head(*head, x, v);
    body.names_["dt"] = {dt};
    body.names_["t"] = {0};
    for (const dsl::Line& line : clause.body) {
      if (line.kind != dsl::Line::Kind::Definition) throw Unknown{};
      body.names_[line.definition.head.name] = body.value(*line.definition.value);
    }
    if (body.second_.empty()) {
      x = body.names_.at(body.first_).a;
      v = body.names_.at(body.first_).b;
    } else {
      x = body.names_.at(body.first_).a;
      v = body.names_.at(body.second_).a;
    }
  }

 private:
  /// `x' = V(v), v' = F(x)` or `x' = f(x, t)`; options are numbers.
  void read_head(const Expr& head, double x, double v) {
    std::vector<const dsl::NamedArgument*> equations;
    for (const dsl::NamedArgument& argument : head.named) {
      if (argument.name.ends_with("'")) {
        equations.push_back(&argument);
      } else {
        names_[argument.name] = value(*argument.value);
      }
    }
    const auto variable = [](const dsl::NamedArgument& e) {
      return e.name.substr(0, e.name.size() - 1);
    };
    if (equations.size() == 1) {
      first_ = variable(*equations[0]);
      names_[first_] = {x, v, true};
      hole(*equations[0]->value, Hole::System);
    } else if (equations.size() == 2) {
      first_ = variable(*equations[0]);
      second_ = variable(*equations[1]);
      names_[first_] = {x};
      names_[second_] = {v};
      hole(*equations[0]->value, Hole::Velocity);
      hole(*equations[1]->value, Hole::Force);
    } else {
      throw Unknown{};
    }
  }

  enum class Hole { System, Velocity, Force };

  void hole(const Expr& e, Hole what) {
    if (e.kind == ExprKind::Call) {
      holes_[e.text] = what;
    } else if (e.kind != ExprKind::Name || what != Hole::Velocity) {
      throw Unknown{};
    }
  }

  void compose(const Clause& clause, const Expr& call, double dt, double& x, double& v, int depth) {
    if (call.args.size() < 2) throw Unknown{};
    const auto inner = integrators_.find(call.args[0]->text);
    if (inner == integrators_.end()) throw Unknown{};
    Run weights(integrators_, 0);
    for (const dsl::Definition& fact : clause.where) weights.facts_[fact.head.name] = fact.value;
    for (std::size_t i = 1; i < call.args.size(); ++i) {
      const Quantity w = weights.value(*call.args[i]);
      if (w.pair) throw Unknown{};
      step(*inner->second, w.a * dt, x, v, depth + 1);
    }
  }

  Quantity call(const Expr& e) {
    if (const auto hole = holes_.find(e.text); hole != holes_.end()) {
      if (e.args.empty()) throw Unknown{};
      const Quantity q = value(*e.args[0]);
      switch (hole->second) {
        case Hole::System:
          if (!q.pair) throw Unknown{};
          if (rate_ > 0) return scaled(-rate_, q);
          return {q.b, -w2_ * q.a, true};
        case Hole::Velocity:
          return q;
        case Hole::Force:
          return scaled(-w2_, q);
      }
    }
    if (e.args.size() != 1) throw Unknown{};
    const Quantity q = value(*e.args[0]);
    if (q.pair) throw Unknown{};
    if (e.text == "sqrt") return {std::sqrt(q.a)};
    if (e.text == "cbrt") return {std::cbrt(q.a)};
    if (e.text == "exp") return {std::exp(q.a)};
    throw Unknown{};
  }

  Quantity value(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Number:
        return {std::strtod(e.text.c_str(), nullptr)};
      case ExprKind::Name: {
        if (const auto it = names_.find(e.text); it != names_.end()) return it->second;
        const auto fact = facts_.find(e.text);
        if (fact == facts_.end() || ++nested_ > 64) throw Unknown{};
        const Quantity q = value(*fact->second);
        --nested_;
        return q;
      }
      case ExprKind::Unary:
        if (e.text != "-") throw Unknown{};
        return scaled(-1, value(*e.args[0]));
      case ExprKind::Call:
        return call(e);
      case ExprKind::Binary: {
        const Quantity p = value(*e.args[0]), q = value(*e.args[1]);
        if (e.text == "+") return combine(p, q, 1);
        if (e.text == "-") return combine(p, q, -1);
        if (e.text == "*" && !p.pair) return scaled(p.a, q);
        if (e.text == "*" && !q.pair) return scaled(q.a, p);
        if (e.text == "/" && !q.pair) return scaled(1 / q.a, p);
        if (e.text == "^" && !p.pair && !q.pair) return {std::pow(p.a, q.a)};
        throw Unknown{};
      }
      default:
        throw Unknown{};
    }
  }

  const std::map<std::string, const Clause*>& integrators_;
  double w2_ = 0;
  double rate_ = 0;  ///< not 0: x' = -rate x, of both members of the pair
  std::string first_, second_;
  std::map<std::string, Quantity> names_;
  std::map<std::string, Hole> holes_;
  std::map<std::string, ExprPtr> facts_;
  int nested_ = 0;
};

/// Largest modulus of an eigenvalue.
double spectral_radius(const StepMatrix& m) {
  const double half_trace = (m[0] + m[3]) / 2;
  const double determinant = m[0] * m[3] - m[1] * m[2];
  const double discriminant = half_trace * half_trace - determinant;
  if (discriminant <= 0) return std::sqrt(determinant);
  return std::fabs(half_trace) + std::sqrt(discriminant);
}

}  // namespace

std::optional<StepMatrix> oscillator_step(const Clause& integrator,
                                          const std::map<std::string, const Clause*>& integrators,
                                          double theta) {
  try {
    Run run(integrators, theta);
    StepMatrix m{};
    for (int column = 0; column < 2; ++column) {
      double x = column == 0, v = column == 1;
      run.step(integrator, 1, x, v);
      m[column] = x;
      m[2 + column] = v;
    }
    return m;
  } catch (const Unknown&) {
    return std::nullopt;
  }
}

namespace {

/// The end of the interval from 0 on where a step is stable, in steps of 1/256 at first.
std::optional<double> end_of_stability(const std::function<bool(double)>& stable) {
  constexpr double kStep = 1.0 / 256;
  try {
    double low = 0, high = 0;
    for (int i = 1; i <= 4096 && high == 0; ++i) {
      if (!stable(i * kStep))
        high = i * kStep;
      else
        low = i * kStep;
    }
    if (high == 0 || low < 0.1) return std::nullopt;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (stable(middle) ? low : high) = middle;
    }
    return low;
  } catch (const Unknown&) {
    return std::nullopt;
  }
}

// rounding at a double eigenvalue costs the root of the arithmetic's precision
constexpr double kMargin = 1e-6;

}  // namespace

std::optional<double> stability_limit(const Clause& integrator,
                                      const std::map<std::string, const Clause*>& integrators) {
  return end_of_stability([&](double theta) {
    const auto m = oscillator_step(integrator, integrators, theta);
    if (!m) throw Unknown{};
    return spectral_radius(*m) <= 1 + kMargin;
  });
}

std::optional<double> decay_limit(const Clause& integrator,
                                  const std::map<std::string, const Clause*>& integrators) {
  return end_of_stability([&](double rate) {
    double x = 1, v = 0;
    Run(integrators, 0, rate).step(integrator, 1, x, v);
    return std::fabs(x) <= 1 + kMargin;
  });
}

}  // namespace vphi::physics
