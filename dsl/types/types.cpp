#include "dsl/types/types.hpp"

#include <algorithm>

namespace vphi::dsl {

using Base = Type::Base;

Type type_of(Base base, bool per_site) {
  Type type;
  type.base = base;
  type.per_site = per_site;
  return type;
}

Type vector_of(int rows, bool complex) {
  Type type = type_of(Base::Vector);
  type.rows = rows;
  type.complex = complex;
  return type;
}

bool is_unknown(const Type& type) { return type.base == Base::Unknown; }

bool is_scalar(const Type& type) {
  return type.base == Base::Boolean || type.base == Base::Integer || type.base == Base::Real ||
         type.base == Base::Complex || type.base == Base::Angle;
}

bool is_real(const Type& type) { return is_scalar(type) && type.base != Base::Complex; }

bool is_complex(const Type& type) {
  return type.base == Base::Complex || type.complex || type.base == Base::Spinor ||
         type.base == Base::Group;
}

namespace {

Type with_place(Type type, const Type& a, const Type& b) {
  type.per_site = a.per_site || b.per_site;
  return type;
}

Type add_scalars(const Type& a, const Type& b) {
  if (a.base == Base::Complex || b.base == Base::Complex) return type_of(Base::Complex);
  if (a.base == Base::Angle || b.base == Base::Angle) return type_of(Base::Angle);
  if (a.base == Base::Real || b.base == Base::Real) return type_of(Base::Real);
  return type_of(Base::Integer);  // a condition counts 0 or 1
}

bool is_matrix(const Type& type) {
  return type.base == Base::Matrix || type.base == Base::Symmetric || type.base == Base::Group;
}

Type matrix_of(int rows, int columns, bool complex) {
  Type type = type_of(Base::Matrix);
  type.rows = rows;
  type.columns = columns;
  type.complex = complex;
  return type;
}

/// U(1) links act as complex numbers.
bool is_phase(const Type& type) { return type.base == Base::Group && type.rows == 1; }

int columns_of(const Type& type) { return type.base == Base::Matrix ? type.columns : type.rows; }

std::optional<Type> add_shapes(const Type& a, const Type& b) {
  if (is_phase(a) && (is_scalar(b) || is_phase(b))) return type_of(Base::Complex);
  if (is_phase(b) && is_scalar(a)) return type_of(Base::Complex);
  if (is_scalar(a) && is_scalar(b)) return add_scalars(a, b);
  // A number beside a square matrix stands for that multiple of the unit matrix.
  if (is_scalar(a) && b.base == Base::Operator) return b;
  if (is_scalar(b) && a.base == Base::Operator) return a;
  if (is_scalar(a) && b.base == Base::Group) return matrix_of(b.rows, b.rows, true);
  if (is_scalar(b) && a.base == Base::Group) return matrix_of(a.rows, a.rows, true);
  if (a.base == Base::Vector && b.base == Base::Vector && a.rows == b.rows) {
    return vector_of(a.rows, a.complex || b.complex);
  }
  if (a.base == Base::Symmetric && b.base == Base::Symmetric && a.rows == b.rows) return a;
  if (is_matrix(a) && is_matrix(b) && a.rows == b.rows && columns_of(a) == columns_of(b)) {
    return matrix_of(a.rows, columns_of(a), is_complex(a) || is_complex(b));
  }
  if (a.base == b.base && (a.base == Base::Spinor || a.base == Base::Operator)) return a;
  return std::nullopt;
}

Type scaled(const Type& number, const Type& other) {
  Type result = other;
  const bool complex = number.base == Base::Complex || is_phase(number);
  if (other.base == Base::Group) {
    return is_phase(other) ? type_of(Base::Complex) : matrix_of(other.rows, other.rows, true);
  }
  if (is_scalar(other)) {
    if (complex || other.base == Base::Complex) return type_of(Base::Complex);
    if (number.base == Base::Boolean && other.base == Base::Boolean) return type_of(Base::Integer);
    return add_scalars(number, other);
  }
  if (other.base == Base::Vector || other.base == Base::Matrix || other.base == Base::Symmetric) {
    result.complex = result.complex || complex;
    if (complex) result.group.clear();  // no longer hermitian
  }
  return result;
}

std::optional<Type> multiply_shapes(const Type& a, const Type& b, bool outer) {
  if (is_phase(a) && is_phase(b)) return a;
  if (a.base == Base::Determinant || b.base == Base::Determinant)  // a number changes no weight
    return a.base == b.base ? std::optional(a) : std::nullopt;
  if (is_scalar(a) || is_phase(a)) return scaled(a, b);
  if (is_scalar(b) || is_phase(b)) return scaled(b, a);
  if (a.base == Base::Vector && b.base == Base::Vector) {
    if (!outer) return std::nullopt;
    return matrix_of(a.rows, b.rows, a.complex || b.complex);
  }
  if (a.base == Base::Group && b.base == Base::Group && a.rows == b.rows) return a;
  if (is_matrix(a) && is_matrix(b) && columns_of(a) == b.rows) {
    return matrix_of(a.rows, columns_of(b), is_complex(a) || is_complex(b));
  }
  if (is_matrix(a) && b.base == Base::Vector && columns_of(a) == b.rows) {
    return vector_of(a.rows, is_complex(a) || b.complex);
  }
  const bool colours = a.base == Base::Matrix && a.rows == a.columns;  // sums of links
  const bool acts_on_spin = a.base == Base::Operator || a.base == Base::Group || colours;
  if (acts_on_spin && b.base == Base::Spinor) return b;
  const bool colours_behind = b.base == Base::Matrix && b.rows == b.columns;
  const bool behind = b.base == Base::Operator || b.base == Base::Group || colours_behind;
  if (a.base == Base::Operator && behind) return a;
  if (acts_on_spin && b.base == Base::Operator) return b;
  return std::nullopt;
}

}  // namespace

std::optional<Type> add_types(const Type& a, const Type& b) {
  if (is_unknown(a) || is_unknown(b)) return with_place(Type{}, a, b);
  const auto shape = add_shapes(a, b);
  if (!shape) return std::nullopt;
  return with_place(*shape, a, b);
}

std::optional<Type> multiply_types(const Type& a, const Type& b, bool outer) {
  if (is_unknown(a) || is_unknown(b)) return with_place(Type{}, a, b);
  const auto shape = multiply_shapes(a, b, outer);
  if (!shape) return std::nullopt;
  return with_place(*shape, a, b);
}

std::optional<Type> divide_types(const Type& a, const Type& b) {
  if (is_unknown(a) || is_unknown(b)) return with_place(Type{}, a, b);
  if (a.base == Base::Determinant || b.base == Base::Determinant)
    return a.base == b.base ? std::optional(a) : std::nullopt;
  if (!is_scalar(b) && !is_phase(b)) return std::nullopt;
  Type shape = scaled(b, a);
  if (shape.base == Base::Integer || shape.base == Base::Boolean) shape.base = Base::Real;
  return with_place(shape, a, b);
}

std::optional<Type> power_types(const Type& base, const Type& exponent) {
  if (is_unknown(base) || is_unknown(exponent)) return with_place(Type{}, base, exponent);
  if (base.base == Type::Base::Determinant && is_real(exponent) && !exponent.per_site) return base;
  if (!is_scalar(base) || !is_real(exponent)) return std::nullopt;
  Type shape = add_scalars(base, base);
  if (shape.base == Base::Integer && exponent.base != Base::Integer) shape.base = Base::Real;
  if (shape.base == Base::Angle) shape.base = Base::Real;
  return with_place(shape, base, exponent);
}

bool fits(const Type& from, const Type& to) {
  if (is_unknown(from) || is_unknown(to)) return true;
  if (is_scalar(to) || is_phase(to)) {
    if (is_phase(from)) return to.base == Base::Complex || is_phase(to);
    if (!is_scalar(from)) return false;
    if (to.base == Base::Complex || is_phase(to)) return true;
    return from.base != Base::Complex;
  }
  if (to.base == Base::Vector) {
    return from.base == Base::Vector && from.rows == to.rows && (to.complex || !from.complex);
  }
  if (to.base == Base::Matrix) {
    return is_matrix(from) && from.rows == to.rows && columns_of(from) == to.columns;
  }
  return from.base == to.base && from.rows == to.rows;
}

Type rate_type(const Type& type) {
  Type rate = type;
  if (type.base == Base::Angle) rate.base = Base::Real;
  if (type.base == Base::Group) rate = type_of(Base::Unknown, type.per_site);
  return rate;
}

std::string to_string(const Type& type) {
  const std::string n = std::to_string(type.rows);
  switch (type.base) {
    case Base::Unknown:
      return "unknown";
    case Base::Integer:
      return "int";
    case Base::Real:
      return "real";
    case Base::Complex:
      return "complex";
    case Base::Angle:
      return "angle";
    case Base::Boolean:
      return "condition";
    case Base::Vector:
      return "vec(" + n + (type.complex ? ", complex)" : ")");
    case Base::Matrix:
      if (!type.group.empty()) return type.group + "(" + n + ")";
      return "mat(" + n + "," + std::to_string(type.columns) + ")";
    case Base::Symmetric:
      return "sym(" + n + ")";
    case Base::Group:
      return type.group + "(" + (type.group == "Z" ? "n" : n) + ")";
    case Base::Spinor:
      return "spinor";
    case Base::Determinant:
      return "det";
    case Base::Text:
      return "text";
    case Base::Operator:
      return "operator";
  }
  return "unknown";
}

}  // namespace vphi::dsl
