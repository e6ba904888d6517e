// Gauge configurations of a run: "name.ildg" makes "name_STEP.ildg", one file for each moment, in
// ILDG's format ("name.nersc": NERSC's) and in the precision that the links are stored in; in
// openQCD's, f64, and MILC's, f32.
//
// Step, time, seed, parameters and the scalars of the same clause are written to the file's notes;
// MILC's has room for the model's name and the step, openQCD's for nothing.
#include <fmt/format.h>

#include "runtime/io/configurations/files_of_moments.hpp"
#include "runtime/io/configurations/ildg.hpp"
#include "runtime/io/configurations/milc.hpp"
#include "runtime/io/configurations/nersc.hpp"
#include "runtime/io/configurations/openqcd.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

class ConfigurationFiles : public FilesOfMoments {
 public:
  ConfigurationFiles(const fs::path& path, const program::Program& program, const Keep& keep)
      : FilesOfMoments(path, program, keep, "not a field of links") {}

  void table(Table whole, const Moment& at) override {
    if (whole.row().shape != program::OutputShape::Configuration) return leave_out(whole.name);
    unpack(whole);
    const Configuration links = arranged(whole);
    const Notes notes = with_values({{"trajectory nr", fmt::format("{}", at.step)},
                                     {"model", program().model},
                                     {"field", whole.name},
                                     {"seed", fmt::format("{}", program().seed)}},
                                    at);
    const fs::path path = file_of(at.step);
    if (ending() == ".nersc")
      write_nersc(path, links, whole.precision, notes);
    else if (ending() == ".openqcd")
      write_openqcd(path, links);
    else if (ending() == ".milc")
      write_milc(path, links, fmt::format("step {} of {}", at.step, program().model));
    else
      write_ildg(path, links, whole.precision, notes);
    has_file(at.step);
  }

 private:
  /// The links of a lattice of fewer than four axes, with unit links along the rest.
  Configuration arranged(const Table& whole) const {
    const auto colours = static_cast<int>(whole.shape[whole.shape.size() - 2]);
    Configuration links = unit_configuration(colours, program().extent);
    const auto dims = static_cast<std::size_t>(program().dims), entries = links.entries();
    const double* from = whole.values.data();
    for (std::int64_t site = 0; site < links.sites(); ++site)
      for (std::size_t mu = 0; mu < dims; ++mu)
        for (std::size_t i = 0; i < entries; ++i, from += 2)
          links.link(site, static_cast<int>(mu))[i] = {from[0], from[1]};
    return links;
  }
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
