// Gauge configurations of a run: "name.ildg" makes "name_STEP.ildg", one file for each moment, in
// ILDG's format ("name.nersc": NERSC's) and in the precision that the links are stored in; in
// openQCD's, f64, and MILC's, f32.
//
// Step, time, seed, parameters and the scalars of the same clause are written to the file's notes;
// MILC's has room for the model's name and the step, openQCD's for nothing.
// A run that goes on from a checkpoint removes the files written after it and writes them again.
#include <fmt/format.h>

#include <set>

#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/configurations/milc.hpp"
#include "runtime/io/configurations/nersc.hpp"
#include "runtime/io/configurations/openqcd.hpp"
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

class ConfigurationFiles : public ResultFile {
 public:
  ConfigurationFiles(const fs::path& path, const program::Program& program, const Keep& keep)
      : stem_(path), ending_(path.extension().string()), program_(program) {
    stem_.replace_extension();
    if (keep.generation) steps_ = moments_kept(stem_, ending_, keep.at.step);
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    if (at.step != step_) beside_.clear();
    step_ = at.step;
    for (std::size_t i = 0; i < names.size(); ++i)
      beside_.emplace_back(names[i], fmt::format("{:.17g}", values[i]));
  }

  void table(Table whole, const Moment& at) override {
    if (whole.row().shape != program::OutputShape::Configuration) {
      left_out_.insert(whole.name);
      return;
    }
    unpack(whole);
    const Configuration links = arranged(whole);
    std::vector<std::pair<std::string, std::string>> notes{
        {"trajectory nr", fmt::format("{}", at.step)},
        {"model", program_.model},
        {"field", whole.name},
        {"seed", fmt::format("{}", program_.seed)}};
    for (const auto& [name, value] : program_.parameters)
      notes.emplace_back(name, fmt::format("{:.17g}", value));
    if (at.step == step_) notes.insert(notes.end(), beside_.begin(), beside_.end());
    const fs::path path = file_of(at.step);
    if (ending_ == ".nersc")
      write_nersc(path, links, whole.precision, notes);
    else if (ending_ == ".openqcd")
      write_openqcd(path, links);
    else if (ending_ == ".milc")
      write_milc(path, links, fmt::format("step {} of {}", at.step, program_.model));
    else
      write_ildg(path, links, whole.precision, notes);
    steps_.insert(at.step);
  }

  void swept(const Moment&, std::span<const Swept> values) override {
    for (const Swept& value : values) left_out_.insert(value.name);
  }
  void plot(const std::string& name, const std::string&, std::span<const double>,
            std::span<const double>, std::span<const double>) override {
    left_out_.insert(name);
  }
  void flush() override {}
  std::string mark(std::int64_t) override { return {}; }  // every file is whole and stays

  std::vector<std::string> notes() const override {
    std::vector<std::string> list;
    for (const std::string& name : left_out_)
      list.push_back(
          fmt::format("{} is not a field of links: not in {}", name, (stem_.string() + ending_)));
    return list;
  }
  std::optional<std::vector<std::string>> files() const override {
    std::vector<std::string> list;
    for (const std::int64_t step : steps_) list.push_back(file_of(step).string());
    return list;
  }

 private:
  fs::path file_of(std::int64_t step) const { return file_of_moment(stem_, step, ending_); }

  /// The links of a lattice of fewer than four axes, with unit links along the rest.
  Configuration arranged(const Table& whole) const {
    const auto colours = static_cast<int>(whole.shape[whole.shape.size() - 2]);
    Configuration links = unit_configuration(colours, program_.extent);
    const auto dims = static_cast<std::size_t>(program_.dims), entries = links.entries();
    const double* from = whole.values.data();
    for (std::int64_t site = 0; site < links.sites(); ++site)
      for (std::size_t mu = 0; mu < dims; ++mu)
        for (std::size_t i = 0; i < entries; ++i, from += 2)
          links.link(site, static_cast<int>(mu))[i] = {from[0], from[1]};
    return links;
  }

  fs::path stem_;
  std::string ending_;
  const program::Program& program_;
  std::set<std::int64_t> steps_;
  std::set<std::string> left_out_;
  std::int64_t step_ = -1;  ///< of `beside_`
  std::vector<std::pair<std::string, std::string>> beside_;
};

}  // namespace

bool holds_configurations(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".ildg" || ending == ".nersc" || ending == ".openqcd" || ending == ".milc" ||
         ending == ".scidac";
}

std::unique_ptr<ResultFile> open_configurations(const fs::path& path,
                                                const program::Program& program, const Keep& keep) {
  if (path.extension() == ".scidac") return open_spinors(path, program, keep);
  return std::make_unique<ConfigurationFiles>(path, program, keep);
}

}  // namespace vphi::io
