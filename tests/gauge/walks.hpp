// Walks over random links as dense matrices, and words read from text.
#pragma once

#include <array>
#include <map>
#include <sstream>
#include <string>

#include "compiler/gauge/link_paths.hpp"
#include "tests/gauge/numbers.hpp"

namespace vphi::gauge::testing {

/// "+0 -1" goes a step along axis 0 and one back along axis 1.
inline Word word(const std::string& text) {
  Word result;
  std::istringstream in(text);
  for (std::string step; in >> step;) result.push_back({step[1] - '0', step[0] == '-'});
  return result;
}

/// A random group element for each link that is requested; with `extent`, wrapped around a box.
class Field {
 public:
  Field(Numbers& numbers, int n, std::array<int, 4> extent = {})
      : numbers_(numbers), n_(n), extent_(extent) {}

  struct Link {
    Dense value;
    Matrix matrix;
  };
  Link& at(int axis, Offset at) {
    const auto key = wrapped(axis, at);
    const auto found = links_.find(key);
    if (found != links_.end()) return found->second;
    Link link{numbers_.element(n_), {}};
    link.matrix = numbers_.matrix(link.value);
    return links_.emplace(key, std::move(link)).first->second;
  }
  /// Changes a link's value under its expressions.
  void set(int axis, Offset o, const Dense& value) {
    Link& link = at(axis, o);
    link.value = value;
    for (std::size_t i = 0; i < value.v.size(); ++i) {
      numbers_.set(link.matrix.parts[i].re, value.v[i].real());
      numbers_.set(link.matrix.parts[i].im, value.v[i].imag());
    }
  }
  LinkOf expressions() {
    return [this](int axis, Offset o) { return at(axis, o).matrix; };
  }
  Dense along(const std::string& steps, Offset o) {
    Dense product = one(n_);
    std::istringstream in(steps);
    for (std::string step; in >> step;) {
      const int axis = step[1] - '0';
      if (step[0] == '-') {
        --o.d[axis];
        product = product * dagger(at(axis, o).value);
      } else {
        product = product * at(axis, o).value;
        ++o.d[axis];
      }
    }
    return product;
  }

 private:
  std::array<int, 5> wrapped(int axis, Offset o) const {
    std::array<int, 5> key{axis, o.d[0], o.d[1], o.d[2], o.d[3]};
    for (std::size_t i = 0; i < 4; ++i)
      if (extent_[i] > 0) key[i + 1] = (key[i + 1] % extent_[i] + extent_[i]) % extent_[i];
    return key;
  }

  Numbers& numbers_;
  int n_;
  std::array<int, 4> extent_;
  std::map<std::array<int, 5>, Link> links_;
};

}  // namespace vphi::gauge::testing
