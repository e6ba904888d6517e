// Functions that the text calls.
#include <cmath>
#include <limits>
#include <type_traits>

#include "dsl/functions.hpp"
#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;
using physics::NamedFact;

Numbers Written::call(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const NamedFact* fact = scope.find(e.text) ? nullptr : facts_.find(e.text);
  if (fact && fact->kind == NamedFact::Kind::Function) {
    if (fact->parameters.size() != e.args.size()) throw NotCovered{e.span, "`" + e.text + "`"};
    Scope options;
    options.parent = scope.dynamic_part();
    options.dynamic = true;
    for (const auto& option : e.named) {
      Local local;
      local.text = option.value.get();
      local.scope = &scope;
      options.names.emplace(option.name, std::move(local));
    }
    Scope inner;
    inner.parent = e.named.empty() ? options.parent : &options;
    for (std::size_t i = 0; i < e.args.size(); ++i) {
      Local local;
      local.text = e.args[i].get();
      local.scope = &scope;
      inner.names.emplace(fact->parameters[i], std::move(local));
    }
    return at(*fact->value, inner, place);
  }
  const std::string& f = e.text;
  if (e.args.empty()) throw NotCovered{e.span, "`" + f + "`"};
  if (f == "sum" || f == "prod") return sum(e, scope, place);
  if (f == "mean" || f == "total" || f == "var") return reduction(e, scope);
  if ((f == "min" || f == "max") && e.args.size() == 1) return reduction(e, scope);
  if (f == "d" && e.args.size() == 2) return derivative(e, scope, place);
  if (f == "loop" || f == "path") return loop(e, scope, place);
  if (f == "table") return table(e, scope, place);
  if (f == "inverse" || f == "tabulate" || f == "integral") return of_formula(e, scope, place);
  if (f == "spinor" && e.args.size() == 2) return unit_spinor(e, scope, place);
  if (f == "curl") {
    if (!place) throw NeedsPlace{};
    const auto slope_of = [&](std::size_t component, int axis) {
      return slope(*e.args[0], scope, *place, axis).parts.at(component);
    };
    if (box.dims == 2 && slope(*e.args[0], scope, *place, 0).scalar())
      return Numbers::vector({slope_of(0, 1), -slope_of(0, 0)});
    const Complex z = slope_of(1, 0) - slope_of(0, 1);
    if (box.dims == 2) return Numbers::of(z);
    return Numbers::vector({slope_of(2, 1) - slope_of(1, 2), slope_of(0, 2) - slope_of(2, 0), z});
  }
  if (f == "lap" || f == "grad" || f == "div" || f == "faces" || f == "edges" || f == "corners") {
    if (!place) throw NeedsPlace{};
    if (f == "lap") return laplacian(*e.args[0], scope, *place);
    if (f == "grad") {
      std::vector<Complex> parts;
      for (int k = 0; k < box.dims; ++k)
        parts.push_back(slope(*e.args[0], scope, *place, k).parts[0]);
      return Numbers::vector(std::move(parts));
    }
    if (f == "div") {
      Complex sum = 0;
      for (int k = 0; k < box.dims; ++k)
        sum += slope(*e.args[0], scope, *place, k).parts.at(static_cast<std::size_t>(k));
      return Numbers::of(sum);
    }
    return neighbours(*e.args[0], scope, *place, f == "faces" ? 1 : f == "edges" ? 2 : 3);
  }
  if (f == "index") {
    const auto k = direction(*e.args[0], scope);
    if (!k) throw NotCovered{e.span, "`index` of this"};
    if (!place) throw NeedsPlace{};
    return Numbers::of((*place)[static_cast<std::size_t>(k->value)]);
  }
  if (draw && f == "spectrum")  // its argument is no value but a function of k
    if (const auto v = draw(f, {})) return *v;
  static const std::set<std::string, std::less<>> kDrawn{"normal", "uniform", "waterbag",
                                                         "cauchy", "ball",    "exponential"};
  if (draw && kDrawn.contains(f)) {
    std::vector<long double> x;
    for (const auto& arg : e.args) x.push_back(real(*arg, scope, place));
    if (const auto v = draw(f, x)) return *v;
  }
  if (const auto v = linear_algebra(e, scope, place)) return *v;
  if (const auto v = elementary(e, scope, place)) return *v;
  throw NotCovered{e.span, "`" + f + "`"};
}

namespace {

struct FunctionRow {
  std::size_t arguments;
  long double (*real)(long double, long double, long double);
  Complex (*complex)(const Complex&);  ///< null: of real numbers alone
};

/// A function of complex numbers; null where it has no values there.
template <class Function>
constexpr auto of_complex(Function) -> Complex (*)(const Complex&) {
  if constexpr (std::is_invocable_v<Function, const Complex&>) {
    return [](const Complex& z) -> Complex { return Function{}(z); };
  }
  return nullptr;
}

const std::map<std::string, FunctionRow, std::less<>>& function_rows() {
  using namespace dsl;  // the functions of functions.hpp
  using R = long double;
  static const std::map<std::string, FunctionRow, std::less<>> rows{
      {"sqrt", {1, [](R x, R, R) { return std::sqrt(x); }, std::sqrt<R>}},
      {"atan2", {2, [](R y, R x, R) { return std::atan2(y, x); }, nullptr}},
#define VPHI_FUNCTION(operation, name, value, ...) \
  {name,                                           \
   {1, [](R x, R, R) -> R { return value(x); },    \
    of_complex([](const auto& z) -> decltype(value(z)) { return value(z); })}},
#define VPHI_COMPOSED(name, count, rule, formula, ...)                                   \
  {name,                                                                                 \
   {count, [](R x, [[maybe_unused]] R y, [[maybe_unused]] R z) -> R { return formula; }, \
    nullptr}},
#include "dsl/functions.def"
  };
  return rows;
}

}  // namespace

std::optional<Numbers> Written::elementary(const dsl::Expr& e, const Scope& scope,
                                           const Place* place) {
  const std::string& f = e.text;
  std::vector<long double> x;
  if (f == "min" || f == "max" || f == "minmod") {
    if (!e.named.empty()) throw NotCovered{e.span, "`" + f + "` with options"};
    for (const auto& arg : e.args) x.push_back(real(*arg, scope, place));
    if (x.size() < 2) return std::nullopt;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    if (f == "min") return Numbers::of(*low);
    if (f == "max") return Numbers::of(*high);
    return Numbers::of(*low > 0 ? *low : *high < 0 ? *high : 0);
  }
  const auto row = function_rows().find(f);
  if (row == function_rows().end() || e.args.size() != row->second.arguments) return std::nullopt;
  const FunctionRow& function = row->second;
  if (function.arguments == 1) {
    const Complex z = number(*e.args[0], scope, place);
    if (z.imag() != 0) {
      if (!function.complex) throw NotCovered{e.span, "`" + f + "` of a complex number"};
      return Numbers::of(function.complex(z));
    }
    x.push_back(z.real());
    if (guarded && (f == "sqrt" || f.starts_with("log"))) guarded(e, z.real());
  } else {
    if (!e.named.empty()) throw NotCovered{e.span, "`" + f + "` with options"};
    for (const auto& arg : e.args) x.push_back(real(*arg, scope, place));
  }
  x.resize(3);
  return Numbers::of(function.real(x[0], x[1], x[2]));
}

std::optional<Numbers> Written::linear_algebra(const dsl::Expr& e, const Scope& scope,
                                               const Place* place) {
  const std::string& f = e.text;
  if ((f == "norm2" || f == "norm") && e.args.size() == 1) {
    const dsl::Expr& inside = *e.args[0];
    // |grad u|^2 of a field belongs to the Laplacian: sum(|grad u|^2) = -sum(u lap u)
    if (f == "norm2" && inside.kind == ExprKind::Call && inside.text == "grad" &&
        inside.args[0]->kind == ExprKind::Name && !scope.find(inside.args[0]->text)) {
      if (const auto field = fields.find(inside.args[0]->text); field != fields.end()) {
        if (!place) throw NeedsPlace{};
        return Numbers::of(gradient_square(field->second, *place));
      }
    }
  }
  static const std::set<std::string, std::less<>> kOwn{
      "re", "im", "arg", "conj", "norm2", "norm", "abs", "dot", "cross", "outer", "tr", "adj"};
  if (!kOwn.contains(f) || (f == "adj" && e.args.size() != 1)) return std::nullopt;
  const Numbers x = at(*e.args[0], scope, place);
  long double square = 0;
  for (const Complex z : x.parts) square += std::norm(z);
  if (f == "re") return each(x, [](Complex z) { return Complex(z.real()); });
  if (f == "im") return each(x, [](Complex z) { return Complex(z.imag()); });
  if (f == "arg") return each(x, [](Complex z) { return Complex(std::arg(z)); });
  if (f == "conj") return each(x, [](Complex z) { return std::conj(z); });
  if (f == "norm2") return Numbers::of(square);
  if (f == "norm" || f == "abs") return Numbers::of(std::sqrt(square));
  if (f == "tr") {
    Complex sum = 0;
    for (int i = 0; i < x.rows; ++i) sum += x.parts[static_cast<std::size_t>(i * x.columns + i)];
    return Numbers::of(sum);
  }
  if (f == "adj") {
    Numbers result{x.columns, x.rows, {}, 0};
    for (int i = 0; i < x.columns; ++i)
      for (int j = 0; j < x.rows; ++j)
        result.parts.push_back(std::conj(x.parts[static_cast<std::size_t>(j * x.columns + i)]));
    return result;
  }
  const Numbers y = at(*e.args[1], scope, place);
  if (f == "dot") {
    Complex sum = 0;
    for (std::size_t i = 0; i < x.parts.size(); ++i) sum += std::conj(x.parts[i]) * y.parts.at(i);
    return Numbers::of(sum);
  }
  if (f == "cross") {
    std::vector<Complex> parts;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      parts.push_back(x.parts.at(j) * y.parts.at(k) - x.parts.at(k) * y.parts.at(j));
    }
    return Numbers::vector(std::move(parts));
  }
  Numbers result{static_cast<int>(x.parts.size()), static_cast<int>(y.parts.size()), {}, 0};
  for (const Complex p : x.parts)
    for (const Complex q : y.parts) result.parts.push_back(p * std::conj(q));
  return result;
}

}  // namespace vphi::tools
