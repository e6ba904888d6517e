// Spectra, histograms, slices and snapshots of a sweep: one table with the axes of the sweep in
// front.
//
// The table of an instance is the one of a run of this instance alone (observe::reduce); the tables
// are stored one after the other in the order of the axes. A histogram `over` axes counts the
// values of all instances with equal places along the other axes together: all sites of a field, or
// one value of a scalar (a first passage, an average over time) for each instance. Where no range
// is given, each of these histograms has the range of its own data; the maps of a sweep have the
// common range of all.
//
// Parts: counts within a given range are added. Where the range must be found, the values are kept
// until the last part has run, so the result does not depend on the division into parts. A part
// that ended before the step of a row enters with its last arrays. Arrays of a buffer are read in
// one copy of all instances, where these are not too large. Instances without a value (NaN: no
// passage yet, `after` does not hold, the instance has failed) are counted separately, as
// `invalid`, and the run's notes say so. Throws RunError where tables of instances have different
// lengths, or where parts would have to keep too much.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/histogram.hpp"

namespace vphi::runtime {

class InstanceBuffers;
class Onlooker;
class Packer;
class Session;
class Unpacker;
struct Table;

/// The instances of the present part of a sweep.
struct SweptPart {
  std::int64_t part = 0;   ///< number of the part
  std::int64_t first = 0;  ///< its first instance
  Session* session = nullptr;
  const Table* scalars = nullptr;  ///< of its instances; NaN where there is no value
  std::vector<bool> none;          ///< instances of the part without a value
};

/// The number of a row of an output, to combine the rows of several parts.
struct RowOrder {
  bool regular = true;  ///< written at its time, not only at the end of the part
  /// For outputs by time: 2k + 1 at multiple k, 2k + 2 after it; otherwise 0.
  std::int64_t order = 0;
  /// Sorting key of the row: its order, or the step.
  std::int64_t place(const io::Moment& at) const { return order > 0 ? order : at.step; }
};

class SweptFields {
 public:
  /// `results` may be null: nothing is written. `onlooker` may be null; one that attends now is
  /// given each table, except snapshots of whole lattices.
  SweptFields(const program::Program& program, io::Results* results, std::int64_t parts,
              Onlooker* onlooker);

  /// Adds the arrays of an output, after its launches.
  void add(std::size_t output, const io::Moment& at, RowOrder order, const SweptPart& part);
  /// Writes pending rows when every part has run.
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
    std::vector<Piece> pieces;  ///< of each field; empty where it is not wanted
    std::int64_t place() const { return order.place(at); }
  };

  /// Whether a field is written or given to the onlooker here; surfaces are elsewhere
  /// (SweptSurfaces).
  bool wanted(const program::Output& output, const program::FieldOutput& field) const;
  bool keeps_values(const program::FieldOutput& field) const;
  Piece piece(const program::FieldOutput& field, const SweptPart& part, InstanceBuffers& buffers);
  std::vector<double> values(const program::FieldOutput& field, std::size_t axis,
                             const SweptPart& part) const;
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
  Onlooker* onlooker_;  ///< null where it does not attend
  std::int64_t parts_;
  std::size_t kept_ = 0;                             ///< bytes of pending data
  std::vector<std::vector<std::vector<Row>>> rows_;  ///< [output][part]
  std::map<std::string, std::string> notes_;         ///< by field
};

}  // namespace vphi::runtime
