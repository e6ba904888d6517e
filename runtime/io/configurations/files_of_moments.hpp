// Files of which a run writes a new one for each moment: "name.ildg" makes "name_STEP.ildg". Step,
// seed, parameters and the scalars of the same clause stand in their notes as text.
//
// A run that goes on from a checkpoint removes the files written after it and writes them again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

/// What such files have in common; what a table becomes is that of the format.
class FilesOfMoments : public ResultFile {
 public:
  using Notes = std::vector<std::pair<std::string, std::string>>;

  /// `kind`: what an output that it does not take is, "not a field of links". `program` must
  /// outlive it.
  FilesOfMoments(const std::filesystem::path& path, const program::Program& program,
                 const Keep& keep, std::string kind);

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) final;
  void swept(const Moment& at, std::span<const Swept> values) final;
  void plot(const std::string& name, const std::string& by, std::span<const double> at,
            std::span<const double> values, std::span<const double> errors) final;
  void flush() override {}
  std::string mark(std::int64_t) override { return {}; }  // every file is whole and stays
  std::vector<std::string> notes() const final;
  std::optional<std::vector<std::string>> files() const final;

 protected:
  const program::Program& program() const { return program_; }
  const std::string& ending() const { return ending_; }
  /// An output that these files do not take; the run says so at its end.
  void leave_out(const std::string& name) { left_out_.insert(name); }
  std::filesystem::path file_of(std::int64_t step) const;
  /// The file of this step has been begun.
  void has_file(std::int64_t step) { steps_.insert(step); }
  /// `first`, then the parameters and the scalars of this moment.
  Notes with_values(Notes first, const Moment& at) const;

 private:
  std::filesystem::path stem_;
  std::string ending_, kind_;
  const program::Program& program_;
  std::set<std::int64_t> steps_;
  std::set<std::string> left_out_;
  std::int64_t step_ = -1;  ///< of `beside_`
  Notes beside_;
};

}  // namespace vphi::io
