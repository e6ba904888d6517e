// Propagators of a run: "name.scidac" makes "name_STEP.scidac", one file for each moment with all
// spinors that are written then, in their order (scidac.hpp), in the precision that they are stored
// in. Name, step, seed, parameters and the scalars of the same clause stand beside each of them.
#include <fmt/format.h>

#include <memory>

#include "runtime/io/configurations/files_of_moments.hpp"
#include "runtime/io/configurations/scidac.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

class SpinorFiles : public FilesOfMoments {
 public:
  SpinorFiles(const fs::path& path, const program::Program& program, const Keep& keep)
      : FilesOfMoments(path, program, keep, "no snapshot of a spinor") {}

  void table(Table whole, const Moment& at) override {
    if (whole.inner != std::vector<std::string>{"row", "column", "part"})
      return leave_out(whole.name);
    unpack(whole);
    if (!open_ || open_step_ != at.step) begin(at.step);
    const std::size_t axes = whole.shape.size();
    SpinorFormat format{.extent = program().extent, .precision = whole.precision};
    format.spins = static_cast<int>(whole.shape[axes - 3]);
    format.colours = static_cast<int>(whole.shape[axes - 2]);
    open_->add(format, whole.values,
               with_values({{"name", whole.name},
                            {"model", program().model},
                            {"step", fmt::format("{}", at.step)},
                            {"seed", fmt::format("{}", program().seed)}},
                           at));
  }

  void flush() override {
    if (open_) open_->finish();
    open_.reset();
  }
  std::string mark(std::int64_t) override {
    flush();
    return {};  // every file is whole and stays
  }

 private:
  void begin(std::int64_t step) {
    flush();
    open_ = std::make_unique<ScidacWriter>(file_of(step), program().extent);
    open_step_ = step;
    has_file(step);
  }

  std::unique_ptr<ScidacWriter> open_;
  std::int64_t open_step_ = -1;
};

}  // namespace

std::unique_ptr<ResultFile> open_spinors(const fs::path& path, const program::Program& program,
                                         const Keep& keep) {
  return std::make_unique<SpinorFiles>(path, program, keep);
}

}  // namespace vphi::io
