// Spectra, histograms, slices and snapshots of a sweep: one table with the axes of the sweep in
// front.
//
// Every instance gives the table that it would give alone (observe::reduce); the tables lie one
// after the other in the order of the axes. A histogram `over` axes counts the values of all
// instances that agree on the others together: of a field all its sites, of a scalar (a first
// passage, an average over time) one value each. Each of these histograms has the range of its own
// data where none was given; the maps of a sweep have one range, that of all.
//
// Parts: counts within a given range add up. Where the range has to be found, the values themselves
// are kept until the last part has run, so the result does not depend on the division into parts.
// A part that ended before the step of a row enters with its last arrays.
// Arrays of a buffer are read in one copy of all instances, where these are not too large.
// Instances without a value (NaN: no passage yet, `after` does not hold, the instance has failed)
// are counted separately, as `invalid`, and the run's notes say so. Throws RunError where tables of
// instances have different lengths, or where parts would have to keep too much.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/histogram.hpp"

namespace vphi::runtime {

class Packer;
class Session;
class Unpacker;
struct Table;

/// Instances of the sweep that are at hand.
struct SweptPart {
  std::int64_t part = 0;   ///< number of the part
  std::int64_t first = 0;  ///< its first instance
  Session* session = nullptr;
  const Table* scalars = nullptr;  ///< of its instances; NaN where there is no value
  std::vector<bool> none;          ///< instances of the part without a value
};

/// Which row of its output this is, to put the rows of several parts together.
struct RowOrder {
  bool regular = true;     ///< at its time, not only because the part has come to its end
  std::int64_t order = 0;  ///< of outputs by time: 2k + 1 at multiple k, 2k + 2 after it; else 0
  /// The place of the row among those of several parts: its order, or the step.
  std::int64_t place(const io::Moment& at) const { return order > 0 ? order : at.step; }
};

class SweptFields {
 public:
  /// `results` may be null: nothing is written.
  SweptFields(const program::Program& program, io::Results* results, std::int64_t parts);

  /// The arrays of an output as its launches have left them.
  void add(std::size_t output, const io::Moment& at, RowOrder order, const SweptPart& part);
  /// Every part has run: pending rows are written.
  void finish();
  std::vector<std::string> notes() const;
  /// Pending rows, for a checkpoint and back (parts_state.cpp).
  void save(Packer& to) const;
  void restore(Unpacker& from);

 private:
  /// One field at one moment in one part.
  struct Piece {
    std::vector<std::vector<double>> values;  ///< of each axis of a histogram, [instance][site]
    std::map<std::int64_t, observe::Histogram> counts;  ///< by cell
    std::vector<io::Table> tables;                      ///< by instance
  };
  struct Row {
    io::Moment at;
    RowOrder order;
    std::vector<Piece> pieces;  ///< of each field
    std::int64_t place() const { return order.place(at); }
  };

  bool keeps_values(const program::FieldOutput& field) const;
  Piece piece(const program::FieldOutput& field, const SweptPart& part);
  std::vector<double> values(const program::FieldOutput& field, std::size_t axis,
                             const SweptPart& part) const;
  std::vector<double> instance(int buffer, std::int64_t i, const SweptPart& part);
  std::map<std::int64_t, observe::Histogram> counted(const program::FieldOutput& field,
                                                     const std::vector<std::vector<double>>& values,
                                                     std::int64_t first) const;
  void write(const program::Output& output, const io::Moment& at,
             const std::vector<const Row*>& parts);
  io::Table joined(const program::FieldOutput& field, const std::vector<const Piece*>& parts);
  io::Table histograms(const program::FieldOutput& field,
                       std::map<std::int64_t, observe::Histogram> cells);
  void lead(io::Table& table, const std::vector<int>& axes) const;

  const program::Program& program_;
  io::Results* results_;
  std::int64_t parts_;
  std::size_t kept_ = 0;                             ///< bytes that wait
  std::vector<std::vector<std::vector<Row>>> rows_;  ///< [output][part]
  std::map<int, std::vector<double>> whole_;         ///< buffers of this moment, all instances
  std::map<std::string, std::string> notes_;         ///< by field
};

}  // namespace vphi::runtime
