// Functions of a model, which bodies of integrators and schemes may call.
#pragma once

#include <string>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// `name(arguments) = expression` of the model; null where there is none.
const Symbol* model_function(const Resolved& resolved, const std::string& name);

}  // namespace vphi::dsl
