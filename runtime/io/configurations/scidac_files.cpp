// Propagators of a run: "name.scidac" makes "name_STEP.scidac", one file for each moment with all
// spinors that are written then, in their order (scidac.hpp), in the precision that they are stored
// in. Name, step, seed, parameters and the scalars of the same clause stand beside each of them.
#include <fmt/format.h>

#include <memory>
#include <set>

#include "runtime/io/configurations/scidac.hpp"
#include "runtime/io/output_files.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

class SpinorFiles : public ResultFile {
 public:
  SpinorFiles(const fs::path& path, const program::Program& program, const Keep& keep)
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
    if (whole.inner != std::vector<std::string>{"row", "column", "part"}) {
      left_out_.insert(whole.name);
      return;
    }
    unpack(whole);
    if (!open_ || open_step_ != at.step) begin(at.step);
    const std::size_t axes = whole.shape.size();
    SpinorFormat format{.extent = program_.extent, .precision = whole.precision};
    format.spins = static_cast<int>(whole.shape[axes - 3]);
    format.colours = static_cast<int>(whole.shape[axes - 2]);
    std::vector<std::pair<std::string, std::string>> notes{
        {"name", whole.name},
        {"model", program_.model},
        {"step", fmt::format("{}", at.step)},
        {"seed", fmt::format("{}", program_.seed)}};
    for (const auto& [name, value] : program_.parameters)
      notes.emplace_back(name, fmt::format("{:.17g}", value));
    if (at.step == step_) notes.insert(notes.end(), beside_.begin(), beside_.end());
    open_->add(format, whole.values, notes);
  }

  void swept(const Moment&, std::span<const Swept> values) override {
    for (const Swept& value : values) left_out_.insert(value.name);
  }
  void plot(const std::string& name, const std::string&, std::span<const double>,
            std::span<const double>, std::span<const double>) override {
    left_out_.insert(name);
  }
  void flush() override {
    if (open_) open_->finish();
    open_.reset();
  }
  std::string mark(std::int64_t) override {
    flush();
    return {};  // every file is whole and stays
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> list;
    for (const std::string& name : left_out_)
      list.push_back(
          fmt::format("{} is no snapshot of a spinor: not in {}", name, stem_.string() + ending_));
    return list;
  }
  std::optional<std::vector<std::string>> files() const override {
    std::vector<std::string> list;
    for (const std::int64_t step : steps_)
      list.push_back(file_of_moment(stem_, step, ending_).string());
    return list;
  }

 private:
  void begin(std::int64_t step) {
    flush();
    open_ = std::make_unique<ScidacWriter>(file_of_moment(stem_, step, ending_), program_.extent);
    open_step_ = step;
    steps_.insert(step);
  }

  fs::path stem_;
  std::string ending_;
  const program::Program& program_;
  std::unique_ptr<ScidacWriter> open_;
  std::int64_t open_step_ = -1;
  std::set<std::int64_t> steps_;
  std::set<std::string> left_out_;
  std::int64_t step_ = -1;  ///< of `beside_`
  std::vector<std::pair<std::string, std::string>> beside_;
};

}  // namespace

std::unique_ptr<ResultFile> open_spinors(const fs::path& path, const program::Program& program,
                                         const Keep& keep) {
  return std::make_unique<SpinorFiles>(path, program, keep);
}

}  // namespace vphi::io
