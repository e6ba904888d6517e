// The two tables that the stages of a schedule fill: scalars (slots) and arrays (buffers).
//
// Names are plain ASCII and unique without regard to case; the number of a slot or of a buffer is
// its index in the program. Nothing here can fail.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "program/program.hpp"

namespace vphi::schedule {

class Slots {
 public:
  /// Adds a slot of exactly this name, unless it exists.
  void add(const std::string& name, double initial = 0);
  /// A new slot named after the hint: "c_phi", "c_phi_2", ...
  std::string fresh(const std::string& hint);
  /// Changes the initial value of an existing slot.
  void set(const std::string& name, double initial);
  bool has(const std::string& name) const { return index_.contains(name); }
  int index(const std::string& name) const { return index_.at(name); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<double>& initial() const { return initial_; }

 private:
  std::vector<std::string> names_;
  std::vector<double> initial_;
  std::unordered_map<std::string, int> index_;
  std::set<std::string> taken_;         ///< names in lower case
  std::map<std::string, int> numbers_;  ///< hint -> the first number that may be free
};

/// Arrays by number. State comes first, then what the schedule adds.
class Storage {
 public:
  explicit Storage(int first_free) : next_(first_free) {}

  /// A new array number without memory (yet): an intermediate value of a step.
  int number() { return next_++; }
  int count() const { return next_; }
  /// Allocates memory for array `array`.
  void allocate(int array, program::Buffer buffer);
  int allocate_new(program::Buffer buffer);
  bool allocated(int array) const;
  program::Buffer& of(int array) { return buffers_.at(buffer_index(array)); }
  const program::Buffer& of(int array) const { return buffers_.at(buffer_index(array)); }
  std::size_t buffer_index(int array) const;

  const std::vector<program::Buffer>& buffers() const { return buffers_; }
  std::vector<int> buffer_of() const;  ///< array number -> buffer, -1 where there is none

 private:
  int next_;
  std::vector<program::Buffer> buffers_;
  std::unordered_map<int, int> buffer_of_;
  std::set<std::string> taken_;
  std::map<std::string, int> numbers_;
};

/// Both tables. `allocate` (compiler/schedule/layout.hpp) makes them; every later stage adds to
/// them.
struct Tables {
  Slots slots;
  Storage storage;
};

}  // namespace vphi::schedule
