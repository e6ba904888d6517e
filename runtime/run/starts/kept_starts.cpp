#include "runtime/run/starts/kept_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>

#include "runtime/parallel.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::RandomField;

namespace {

constexpr std::int64_t kMostStarts = 10000;

}  // namespace

void KeptStarts::make_all() {
  Configurations configurations;
  for (const RandomField& field : program_.random)
    fields_.push_back(random_fields(program_, field, first_, program_.instances, threads_,
                                    &configurations, again_));
}

/// The arrays of instance `i` of the batch, drawn once more.
void KeptStarts::draw_one(std::size_t i, int threads) {
  const auto sites = static_cast<std::size_t>(program_.sites());
  const auto instance =
      std::min(first_ + static_cast<std::int64_t>(i), program_.all_instances() - 1);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const RandomField& field = program_.random[f];
    if (field.kind == RandomField::Kind::File || field.kind == RandomField::Kind::Link) continue;
    const auto own = random_fields(program_, field, instance, 1, threads, nullptr,
                                   std::span(again_).subspan(i, 1));
    std::ranges::copy(own, fields_[f].begin() + static_cast<std::ptrdiff_t>(i * sites));
  }
}

bool KeptStarts::draw_again(const std::vector<double>& kept) {
  again_.resize(kept.size());
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] == 0) wanted.push_back(i);
  if (wanted.empty()) return false;
  if (fields_.empty()) make_all();
  for (const std::size_t i : wanted) {
    const auto instance =
        std::min(first_ + static_cast<std::int64_t>(i), program_.all_instances() - 1);
    if (++again_[i] >= kMostStarts)
      throw RunError("E0879",
                     fmt::format("the condition of `keep` holds in none of {} draws{}", kMostStarts,
                                 program_.axes.empty() ? "" : " of " + program_.where(instance)),
                     "a condition that a start can meet");
  }
  // many: one thread each; few: all threads at one after the other
  const bool many = std::ssize(wanted) >= 2 * threads_;
  std::vector<std::exception_ptr> failed(wanted.size());
  parallel_ranges(
      std::ssize(wanted), many ? threads_ : 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) try {
            draw_one(wanted[k], many ? 1 : threads_);
          } catch (...) {
            failed[k] = std::current_exception();
          }
      });
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
  return true;
}

std::vector<std::future<std::vector<double>>> KeptStarts::fields() const {
  std::vector<std::future<std::vector<double>>> result;
  for (const auto& field : fields_) {
    std::promise<std::vector<double>> made;
    made.set_value(field);
    result.push_back(made.get_future());
  }
  return result;
}

std::vector<double> KeptStarts::draws() const {
  std::vector<double> result;
  for (const std::int64_t again : again_) result.push_back(1 + static_cast<double>(again));
  return result;
}

}  // namespace vphi::runtime
