#include "runtime/fft/shared_fft.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/comm/messages.hpp"
#include "runtime/parallel.hpp"

namespace vphi::fft {

using comm::Messages;

namespace {

/// Whole groups of columns that are transformed together, in numbers that differ by one at most.
std::vector<SharedTransform::Columns> dealt(std::int64_t columns, std::int64_t ranks) {
  const std::int64_t groups = (columns + kColumnsTogether - 1) / kColumnsTogether;
  std::vector<SharedTransform::Columns> all;
  for (std::int64_t r = 0; r < ranks; ++r) {
    const std::int64_t first = std::min(columns, groups * r / ranks * kColumnsTogether);
    const std::int64_t end = std::min(columns, groups * (r + 1) / ranks * kColumnsTogether);
    all.push_back({first, end - first});
  }
  return all;
}

}  // namespace

SharedTransform::SharedTransform(const Box& box, int threads)
    : box_(box),
      threads_(threads),
      length_(planes_of(box)),
      planes_{length_},
      columns_{{0, columns_of(box)}} {}

SharedTransform::SharedTransform(const Box& box, std::vector<std::int64_t> planes, comm::Comm& comm,
                                 int threads, int beside)
    : box_(box),
      threads_(threads),
      comm_(&comm),
      place_(static_cast<std::size_t>(comm.rank())),
      length_(planes_of(box)),
      beside_(beside),
      planes_(std::move(planes)),
      columns_(dealt(columns_of(box), comm.size())) {
  for (std::size_t r = 0; r < planes_.size(); ++r) {
    const std::int64_t shared = planes_[r], place = static_cast<std::int64_t>(r) % beside;
    planes_[r] = shared * (place + 1) / beside - shared * place / beside;
  }
  if (length_ > 1) return;
  for (Columns& all : columns_) all = {0, columns_of(box)};  // sites of a row
}

bool SharedTransform::anywhere(bool here) const {
  return comm_ == nullptr ? here : comm_->most(here ? 1 : 0) != 0;
}

std::vector<Complex> SharedTransform::forward(std::span<const double> own) {
  if (comm_ != nullptr && length_ == 1) return forward_row(own);
  std::vector<double> whole;
  if (beside_ > 1) whole = to_whole_lines(own), own = whole;
  std::vector<Complex> modes(static_cast<std::size_t>(planes_[place_] * columns_of(box_)));
  forward_planes(box_, planes_[place_], own.data(), modes.data(), threads_);
  if (comm_ != nullptr) modes = to_columns(modes);
  forward_columns(length_, columns().count, modes.data(), threads_);
  return modes;
}

std::vector<double> SharedTransform::inverse(std::vector<Complex> modes) {
  if (comm_ != nullptr && length_ == 1) return inverse_row(std::move(modes));
  inverse_columns(length_, columns().count, modes.data(), threads_);
  if (comm_ != nullptr) modes = to_planes(std::move(modes));
  const std::int64_t plane = box_.sites() / length_;
  std::vector<double> own(static_cast<std::size_t>(planes_[place_] * plane));
  inverse_planes(box_, planes_[place_], modes.data(), own.data(), threads_);
  modes = {};
  return beside_ > 1 ? to_own_lines(own) : own;
}

/// A message has [plane of the receiver][line of the sender].
std::vector<double> SharedTransform::to_whole_lines(std::span<const double> own) {
  const auto part = static_cast<std::size_t>(box_.n[0] * box_.n[1] / beside_);  // of a plane
  const std::size_t beside = static_cast<std::size_t>(beside_), group = place_ / beside * beside,
                    planes = static_cast<std::size_t>(planes_[place_]);
  std::vector<std::int64_t> given(planes_.size()), taken(planes_.size());
  for (std::size_t r = group; r < group + beside; ++r) {
    given[r] = planes_[r] * static_cast<std::int64_t>(part);
    taken[r] = static_cast<std::int64_t>(planes * part);
  }
  Messages<double> to(given), from(taken);
  std::ranges::copy(own, to.data());
  comm_->each_to_each(to.given(), from.taken());
  std::vector<double> whole(planes * part * beside);
  const double* next = from.data();
  for (std::size_t b = 0; b < beside; ++b)
    for (std::size_t plane = 0; plane < planes; ++plane, next += part)
      std::copy_n(next, part, whole.data() + (plane * beside + b) * part);
  return whole;
}

std::vector<double> SharedTransform::to_own_lines(std::span<const double> whole) {
  const auto part = static_cast<std::size_t>(box_.n[0] * box_.n[1] / beside_);
  const std::size_t beside = static_cast<std::size_t>(beside_), group = place_ / beside * beside,
                    planes = static_cast<std::size_t>(planes_[place_]);
  std::vector<std::int64_t> given(planes_.size()), taken(planes_.size());
  for (std::size_t r = group; r < group + beside; ++r) {
    given[r] = static_cast<std::int64_t>(planes * part);
    taken[r] = planes_[r] * static_cast<std::int64_t>(part);
  }
  Messages<double> to(given), from(taken);
  double* next = to.data();
  for (std::size_t b = 0; b < beside; ++b)
    for (std::size_t plane = 0; plane < planes; ++plane)
      next = std::copy_n(whole.data() + (plane * beside + b) * part, part, next);
  comm_->each_to_each(to.given(), from.taken());
  return from.release();
}

std::vector<Complex> SharedTransform::forward_row(std::span<const double> own) {
  std::vector<double> row(static_cast<std::size_t>(box_.sites()));
  comm_->to_all(std::as_bytes(own), std::as_writable_bytes(std::span(row)));
  std::vector<Complex> modes(static_cast<std::size_t>(box_.modes()));
  fft::forward(box_, row.data(), modes.data(), threads_);
  return modes;
}

std::vector<double> SharedTransform::inverse_row(std::vector<Complex> modes) {
  std::vector<double> row(static_cast<std::size_t>(box_.sites()));
  fft::inverse(box_, modes.data(), row.data(), threads_);
  const auto first = std::accumulate(
      planes_.begin(), planes_.begin() + static_cast<std::ptrdiff_t>(place_), std::int64_t{0});
  return {row.begin() + first, row.begin() + first + planes_[place_]};
}

/// A message has [plane of the sender][column of the receiver]: one after the other they are what
/// the receiver wants.
std::vector<Complex> SharedTransform::to_columns(const std::vector<Complex>& of_planes) {
  const std::int64_t own = planes_[place_], all = columns_of(box_);
  std::vector<std::int64_t> given, taken;
  for (const Columns& of : columns_) given.push_back(own * of.count);
  for (const std::int64_t planes : planes_) taken.push_back(planes * columns().count);
  Messages<Complex> to(given), from(taken);
  runtime::parallel_ranges(own, threads_, [&](std::int64_t begin, std::int64_t end) {
    for (const Columns& of : columns_)  // own*of.first numbers lie before its message
      for (std::int64_t plane = begin; plane < end; ++plane)
        std::copy_n(of_planes.data() + plane * all + of.first, of.count,
                    to.data() + own * of.first + plane * of.count);
  });
  comm_->each_to_each(to.given(), from.taken());
  return from.release();
}

/// What each rank wants lies together. Not more than twice the modes are held at a time.
std::vector<Complex> SharedTransform::to_planes(std::vector<Complex> of_columns) {
  const std::int64_t own = planes_[place_], all = columns_of(box_);
  std::vector<std::int64_t> given, taken;
  for (const std::int64_t planes : planes_) given.push_back(planes * columns().count);
  for (const Columns& of : columns_) taken.push_back(own * of.count);
  Messages<Complex> from(taken);
  comm_->each_to_each(comm::given_of(of_columns, given), from.taken());
  of_columns = {};
  std::vector<Complex> of_planes(static_cast<std::size_t>(own * all));
  runtime::parallel_ranges(own, threads_, [&](std::int64_t begin, std::int64_t end) {
    for (const Columns& of : columns_)
      for (std::int64_t plane = begin; plane < end; ++plane)
        std::copy_n(from.data() + own * of.first + plane * of.count, of.count,
                    of_planes.data() + plane * all + of.first);
  });
  return of_planes;
}

}  // namespace vphi::fft
