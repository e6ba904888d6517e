// Surfaces of a sweep: each instance has its own tables, "surface(T), event = 3".
//
// They are those of a run of this instance alone, at its own steps and times: an instance that ends
// between two outputs has its last surface in time up to its end, and after its end no more.
// Nothing waits for other instances, so a sweep in parts writes the same. An instance without a
// value (it has failed, `after` does not hold) has no table. Throws DeviceError, ResultsError.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "runtime/observe/kinds/kind.hpp"
#include "runtime/run/state/swept_fields.hpp"

namespace vphi::runtime {

class SweptSurfaces {
 public:
  /// `results` may be null: nothing is written. `onlooker` may be null; one that attends now is
  /// given each table.
  SweptSurfaces(const program::Program& program, io::Results* results, Onlooker* onlooker);

  /// Adds the surfaces of an output, after its launches. `at_its_step`: it is due, and not only the
  /// last state of the run.
  void add(std::size_t output, const io::Moment& at, bool at_its_step, const SweptPart& part);
  /// Arrays of the moment before, for a checkpoint and back.
  void save(Packer& to) const;
  void restore(Unpacker& from);

 private:
  using Key = std::array<std::int64_t, 3>;  ///< output, field, instance

  void write(const Key& key, const io::Moment& at, const std::vector<double>& scalars,
             const observe::ReadBuffer& read);
  /// The step and the time of instance `i` of the part.
  io::Moment moment_of(std::int64_t i, const io::Moment& at, const SweptPart& part) const;

  const program::Program& program_;
  io::Results* results_;
  Onlooker* onlooker_;  ///< null where it does not attend
  std::map<Key, observe::Arrays> earlier_;
};

}  // namespace vphi::runtime
