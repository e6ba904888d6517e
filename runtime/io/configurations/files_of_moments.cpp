#include "runtime/io/configurations/files_of_moments.hpp"

#include <fmt/format.h>

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

std::string digits_of(double value) { return fmt::format("{:.17g}", value); }

}  // namespace

FilesOfMoments::FilesOfMoments(const fs::path& path, const program::Program& program,
                               const Keep& keep, std::string kind)
    : stem_(path), ending_(path.extension().string()), kind_(std::move(kind)), program_(program) {
  stem_.replace_extension();
  if (keep.generation) steps_ = moments_kept(stem_, ending_, keep.at.step);
}

void FilesOfMoments::scalars(std::span<const std::string> names, const Moment& at,
                             std::span<const double> values) {
  if (at.step != step_) beside_.clear();
  step_ = at.step;
  for (std::size_t i = 0; i < names.size(); ++i)
    beside_.emplace_back(names[i], digits_of(values[i]));
}

void FilesOfMoments::swept(const Moment&, std::span<const Swept> values) {
  for (const Swept& value : values) leave_out(value.name);
}

void FilesOfMoments::plot(const std::string& name, const std::string&, std::span<const double>,
                          std::span<const double>, std::span<const double>) {
  leave_out(name);
}

std::vector<std::string> FilesOfMoments::notes() const {
  std::vector<std::string> list;
  for (const std::string& name : left_out_)
    list.push_back(fmt::format("{} is {}: not in {}", name, kind_, stem_.string() + ending_));
  return list;
}

std::optional<std::vector<std::string>> FilesOfMoments::files() const {
  std::vector<std::string> list;
  for (const std::int64_t step : steps_) list.push_back(file_of(step).string());
  return list;
}

fs::path FilesOfMoments::file_of(std::int64_t step) const {
  return file_of_moment(stem_, step, ending_);
}

FilesOfMoments::Notes FilesOfMoments::with_values(Notes first, const Moment& at) const {
  for (const auto& [name, value] : program_.parameters) first.emplace_back(name, digits_of(value));
  if (at.step == step_) first.insert(first.end(), beside_.begin(), beside_.end());
  return first;
}

}  // namespace vphi::io
