// Initial values of fields and bodies from arrays, in place of those in the model's text.
//
// The arrays are written to an HDF5 file in a temporary folder, and the text is changed so that
// `init` reads this file (docs/starts.md). Everything that the start computes from the fields is
// therefore computed from the given values: averages, the expanding background, momenta at half
// steps. Throws Error: kind Usage where a name, a shape or a number is not valid.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "embed/model.hpp"

namespace vphi::embed {

/// Values of one variable in physical units, as `init` has them.
struct InitialValues {
  std::string name;  ///< "phi", "phi'"
  /// Axes of the lattice or of the bodies, slowest first, then those of a value: 3 of a vector, 2
  /// of complex numbers. In front of them may stand the axes of the sweep in the order of the text,
  /// without those of one value: then each instance has values of its own. Empty: the same number
  /// everywhere.
  std::vector<std::int64_t> shape;
  std::span<const double> values;  ///< the last axis fastest
  bool complex = false;            ///< whether the last axis is that of complex numbers
};

/// A text that reads its initial values from files in a folder.
struct TextWithFiles {
  std::string text;
  std::shared_ptr<const void> folder;  ///< removed with its last owner
};

TextWithFiles with_initial_values(const Model& model, std::span<const InitialValues> initial);

}  // namespace vphi::embed
