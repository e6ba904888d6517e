#include "dsl/types/type_text.hpp"

#include <map>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/types.hpp"

namespace vphi::dsl {

namespace {

using Base = Type::Base;

constexpr std::int64_t kLargestSize = 64;  // rows of a vector or matrix at one site

const std::map<std::string, Base>& plain_types() {
  static const std::map<std::string, Base> kTypes = {
      {"int", Base::Integer}, {"real", Base::Real},     {"complex", Base::Complex},
      {"angle", Base::Angle}, {"spinor", Base::Spinor},
  };
  return kTypes;
}

/// The language's name for a type of other languages.
std::optional<std::string> habit(const std::string& word) {
  static const std::map<std::string, std::string> kHabits = {
      {"float", "real"},    {"double", "real"},   {"scalar", "real"}, {"number", "real"},
      {"cmplx", "complex"}, {"vector", "vec(3)"}, {"integer", "int"}, {"matrix", "mat(3,3)"},
  };
  const auto found = kHabits.find(word);
  return found == kHabits.end() ? std::nullopt : std::optional(found->second);
}

Type fail(Resolved& resolved, const Expr& expr) {
  auto near = habit(expr.text);
  if (!near) {
    std::vector<std::string> known = type_names();
    known.insert(known.end(), {"vec", "mat", "sym", "SU", "Z", "su"});
    near = suggest(expr.text, known);
  }
  resolved.diagnostics.add(errors::unknown_type(expr.span, expr.text, near));
  return {};
}

}  // namespace

std::vector<std::string> type_names() {
  return {"real",   "complex", "angle", "int",  "vec(3)", "vec(2, complex)", "mat(3,3)",
          "sym(3)", "SU(3)",   "U(1)",  "Z(2)", "su(3)",  "spinor"};
}

Type read_type(Resolved& resolved, const Expr& expr) {
  if (expr.kind == ExprKind::Name) {
    const auto found = plain_types().find(expr.text);
    if (found == plain_types().end()) return fail(resolved, expr);
    Type type = type_of(found->second);
    if (type.base == Base::Spinor) type.rows = 4;
    return type;
  }
  if (expr.kind != ExprKind::Call || expr.args.empty()) return fail(resolved, expr);
  // `angle(1)`: with a period of its own, which the compiler works out
  if (expr.text == "angle" && expr.args.size() == 1) return type_of(Base::Angle);
  if (expr.text == "spinor" && expr.args.size() == 1) {
    const auto spins = constant_integer(resolved, *expr.args[0]);
    if (spins == 1 || spins == 2 || spins == 4) {
      Type type = type_of(Base::Spinor);
      type.rows = static_cast<int>(*spins);
      return type;
    }
    resolved.diagnostics.add(errors::bad_type_size(expr.span, expr.text, 1));
    return {};
  }
  Type type;
  if (expr.text == "vec") type.base = Base::Vector;
  if (expr.text == "mat") type.base = Base::Matrix;
  if (expr.text == "sym") type.base = Base::Symmetric;
  if (expr.text == "SU" || expr.text == "U" || expr.text == "Z") type.base = Base::Group;
  const bool algebra = expr.text == "su";  // hermitian matrices without a trace
  if (algebra) type.base = Base::Matrix;
  if (is_unknown(type)) return fail(resolved, expr);
  const auto rows = constant_integer(resolved, *expr.args[0]);
  auto columns = rows;
  if (type.base == Base::Matrix && !algebra && expr.args.size() > 1) {
    columns = constant_integer(resolved, *expr.args[1]);
  }
  const bool roots = expr.text == "Z";  // of unity: one row, as U(1)
  const std::int64_t least = expr.text == "SU" || algebra || roots ? 2 : 1;
  if (!rows || !columns || *rows < least || *columns < 1 || *rows > kLargestSize ||
      *columns > kLargestSize) {
    Diagnostic bad = errors::bad_type_size(expr.span, expr.text, least);
    if (const Expr& size = *expr.args[0];
        size.kind == ExprKind::Name && resolved.find(size.text) == nullptr)
      bad.hint = "declare the size, for instance `param " + size.text + " = 3`";
    resolved.diagnostics.add(std::move(bad));
    return {};
  }
  type.rows = roots ? 1 : static_cast<int>(*rows);
  if (roots) columns = 1;
  type.columns = type.base == Base::Vector ? 1 : static_cast<int>(*columns);
  if (type.base == Base::Group || algebra) type.group = expr.text;
  const Expr& last = *expr.args.back();
  type.complex =
      algebra || (expr.args.size() > 1 && last.kind == ExprKind::Name && last.text == "complex");
  return type;
}

}  // namespace vphi::dsl
