#include "runtime/fft/shared_fft.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/comm/messages.hpp"
#include "runtime/parallel.hpp"

namespace vphi::fft {

using comm::Messages;

namespace {

/// Parts of whole groups of columns that are transformed together, which differ by a group at most.
/// So many parts are dealt evenly to most numbers of ranks.
std::vector<SharedTransform::Columns> parts_of(const Box& box) {
  constexpr std::int64_t kParts = 240;
  const std::int64_t columns = columns_of(box);
  const std::int64_t groups = (columns + kColumnsTogether - 1) / kColumnsTogether;
  const std::int64_t parts = std::min(groups, kParts);
  std::vector<SharedTransform::Columns> all;
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t first = groups * p / parts * kColumnsTogether;
    const std::int64_t end = std::min(columns, groups * (p + 1) / parts * kColumnsTogether);
    all.push_back({first, end - first});
  }
  return all;
}

/// Those of a rank.
std::vector<SharedTransform::Columns> dealt_parts(const Box& box, std::int64_t ranks,
                                                  std::int64_t rank) {
  const auto all = parts_of(box);
  const std::int64_t parts = std::ssize(all);
  return {all.begin() + parts * rank / ranks, all.begin() + parts * (rank + 1) / ranks};
}

/// The columns of all ranks.
std::vector<SharedTransform::Columns> dealt(const Box& box, std::int64_t ranks) {
  std::vector<SharedTransform::Columns> all;
  std::int64_t end = 0;
  for (std::int64_t r = 0; r < ranks; ++r) {
    all.push_back({end, 0});
    for (const auto& part : dealt_parts(box, ranks, r)) all.back().count += part.count;
    end += all.back().count;
  }
  return all;
}

}  // namespace

SharedTransform::SharedTransform(const Box& box, int threads)
    : box_(box),
      threads_(threads),
      length_(planes_of(box)),
      planes_{length_},
      columns_{{0, columns_of(box)}},
      parts_(parts_of(box)) {}

SharedTransform::SharedTransform(const Box& box, std::vector<std::int64_t> planes, comm::Comm& comm,
                                 int threads, int beside)
    : box_(box),
      threads_(threads),
      comm_(&comm),
      place_(static_cast<std::size_t>(comm.rank())),
      length_(planes_of(box)),
      beside_(beside),
      planes_(std::move(planes)),
      columns_(dealt(box, comm.size())),
      parts_(dealt_parts(box, comm.size(), comm.rank())) {
  for (std::size_t r = 0; r < planes_.size(); ++r) {
    const std::int64_t shared = planes_[r], place = static_cast<std::int64_t>(r) % beside;
    planes_[r] = shared * (place + 1) / beside - shared * place / beside;
  }
  if (length_ > 1) return;
  for (Columns& all : columns_) all = {0, columns_of(box)};  // sites of a row
  parts_ = parts_of(box);
}

bool SharedTransform::anywhere(bool here) const {
  return comm_ == nullptr ? here : comm_->most(here ? 1 : 0) != 0;
}

std::vector<double> SharedTransform::joined(std::vector<double> own) const {
  if (comm_ == nullptr) return own;
  const auto all = comm_->gather(std::as_bytes(std::span(own)));
  std::vector<double> numbers = place_ == 0 ? std::move(own) : std::vector<double>();
  for (std::size_t r = 1; r < all.size(); ++r) {
    const std::size_t before = numbers.size();
    numbers.resize(before + all[r].size() / sizeof(double));
    std::memcpy(numbers.data() + before, all[r].data(), all[r].size());
  }
  return numbers;
}

void SharedTransform::in_turn(std::vector<double>& numbers,
                              const std::function<void()>& add) const {
  if (place_ == 0) add();
  const std::size_t ranks = planes_.size();
  if (comm_ == nullptr || ranks == 1) return;
  for (std::size_t from = 0; from < ranks; ++from) {
    const std::size_t to = (from + 1) % ranks;
    std::vector<std::span<const std::byte>> given(ranks);
    std::vector<std::span<std::byte>> taken(ranks);
    if (place_ == from) given[to] = std::as_bytes(std::span(numbers));
    if (place_ == to) taken[from] = std::as_writable_bytes(std::span(numbers));
    comm_->each_to_each(given, taken);
    if (place_ == to && to > 0) add();
  }
}

std::vector<double> SharedTransform::planes(std::vector<double> own) {
  return beside_ > 1 ? to_whole_lines(own) : std::move(own);
}

std::int64_t SharedTransform::first_plane() const {
  return std::accumulate(planes_.begin(), planes_.begin() + static_cast<std::ptrdiff_t>(place_),
                         std::int64_t{0});
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
  const auto part = static_cast<std::size_t>(box_.sites() / length_ / beside_);  // of a plane
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
  const auto part = static_cast<std::size_t>(box_.sites() / length_ / beside_);
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
  const std::int64_t first = first_plane();
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
