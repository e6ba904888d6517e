// Types of results: the type of a sum, product or comparison from the types of its operands.
//
// Pure functions. `Base::Unknown` fits everywhere and makes the result Unknown: it is the type
// where an error has been reported already, or where a library text leaves a type open. The result
// is nothing where the operation has no meaning; the caller reports this.
#pragma once

#include <optional>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

Type type_of(Type::Base base, bool per_site = false);
Type vector_of(int rows, bool complex = false);

bool is_scalar(const Type& type);   ///< Boolean, Integer, Real, Complex, Angle
bool is_real(const Type& type);     ///< a scalar that is not complex
bool is_complex(const Type& type);  ///< has complex components
bool is_unknown(const Type& type);

/// Sum, difference and the two branches of a select.
std::optional<Type> add_types(const Type& a, const Type& b);
/// `outer`: allows the outer product of two vectors (inside div).
std::optional<Type> multiply_types(const Type& a, const Type& b, bool outer = false);
std::optional<Type> divide_types(const Type& a, const Type& b);
std::optional<Type> power_types(const Type& base, const Type& exponent);

/// Whether a value of type `from` can be stored in a variable of type `to`.
bool fits(const Type& from, const Type& to);

/// Type of the time derivative of a variable.
Type rate_type(const Type& type);

}  // namespace vphi::dsl
