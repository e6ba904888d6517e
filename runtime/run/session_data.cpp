// Copies numbers to and from a session's buffers of any precision and order in memory.
#include <algorithm>
#include <limits>

#include "runtime/observe/reduce.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

using program::Precision;

namespace {

template <class T, class Bytes>
std::span<T> as_numbers(std::span<Bytes> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

std::optional<observe::BinSums> Session::bin_sums(std::size_t, std::size_t) { return {}; }

void Session::project(const program::Transform& transform) {
  observe::apply(
      program(), transform, [&](int buffer) { return read(buffer); },
      [&](int buffer, const std::vector<double>& values) { write(buffer, values); }, threads_);
}

std::vector<double> Session::read(int buffer) {
  return read_from(buffer, 0, static_cast<std::size_t>(program_.sites() * program_.instances));
}

std::vector<double> Session::read(int buffer, std::int64_t instance) {
  const auto sites = static_cast<std::size_t>(program_.sites());
  return read_from(buffer, static_cast<std::size_t>(instance) * sites, sites);
}

std::vector<double> Session::read_sites(int buffer, std::size_t first, std::size_t count) {
  return read_from(buffer, first, count);
}

/// `count` numbers from number `first` of this rank's memory on.
std::vector<double> Session::read_from(int buffer, std::size_t first, std::size_t count) {
  const BufferHandle from = now(buffer);
  if (from.id < 0) throw std::logic_error("a scratch array was read after it was given back");
  const bool shared = program_.buffers[buffer].home >= 0;
  std::vector<double> values(count);
  if (program_.buffers[buffer].precision == Precision::F64) {
    if (shared) return gather(buffer, first, std::span(values)), values;
    device_.download(std::as_writable_bytes(std::span(values)), from, first * sizeof(double));
    return values;
  }
  std::vector<float> narrow(count);
  if (shared)
    gather(buffer, first, std::span(narrow));
  else
    device_.download(std::as_writable_bytes(std::span(narrow)), from, first * sizeof(float));
  std::copy(narrow.begin(), narrow.end(), values.begin());
  return values;
}

void Session::write(int buffer, std::span<const double> values) {
  write_from(buffer, 0, values);
  if (lattice_) fill_ghosts(buffer);
  state_given_ = state_given_ || program_.buffers[static_cast<std::size_t>(buffer)].state;
}

void Session::write_from(int buffer, std::size_t first, std::span<const double> values) {
  const BufferHandle to = now(buffer);
  const bool shared = program_.buffers[buffer].home >= 0;
  if (program_.buffers[buffer].precision == Precision::F64) {
    if (shared) return scatter(buffer, first, values);
    device_.upload(to, first * sizeof(double), std::as_bytes(values));
    return;
  }
  std::vector<float> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(),
                 [](double v) { return static_cast<float>(v); });
  if (shared) return scatter(buffer, first, std::span<const float>(narrow));
  device_.upload(to, first * sizeof(float), std::as_bytes(std::span(narrow)));
}

std::shared_ptr<std::byte> Session::read_block(int buffer) {
  auto block = device_.host_block(bytes_of(buffer));
  read_bytes(buffer, {block.get(), bytes_of(buffer)});
  return block;
}

void Session::exchange(int buffer, std::span<const InstancePair> pairs) {
  const BufferHandle memory = now(buffer);
  const std::size_t bytes = memory_of(buffer) / static_cast<std::size_t>(program_.instances);
  std::vector<std::byte> first(bytes), second(bytes);
  for (const auto& [i, j] : pairs) {
    const std::size_t at = bytes * static_cast<std::size_t>(i);
    const std::size_t other = bytes * static_cast<std::size_t>(j);
    device_.download(first, memory, at);
    device_.download(second, memory, other);
    device_.upload(memory, at, second);
    device_.upload(memory, other, first);
  }
}

void Session::read_bytes(int buffer, std::span<std::byte> to) {
  if (program_.buffers[buffer].home < 0) return device_.download(to, now(buffer), 0);
  if (program_.buffers[buffer].precision == Precision::F64)
    return gather(buffer, 0, as_numbers<double>(to));
  gather(buffer, 0, as_numbers<float>(to));
}

void Session::write_bytes(int buffer, std::span<const std::byte> from) {
  if (program_.buffers[buffer].home < 0)
    device_.upload(now(buffer), 0, from);
  else if (program_.buffers[buffer].precision == Precision::F64)
    scatter(buffer, 0, as_numbers<const double>(from));
  else
    scatter(buffer, 0, as_numbers<const float>(from));
  if (lattice_) fill_ghosts(buffer);
}

const std::vector<std::int64_t>& Session::places() {
  if (places_.empty())
    for (std::int64_t site = 0; site < program_.sites(); ++site)
      places_.push_back(program_.order.place(site, program_.extent));
  return places_;
}

namespace {

/// Whole instances that contain some numbers of a buffer with a home, as they lie in memory.
template <class T>
struct Instances {
  Instances(const program::Buffer& b, const std::vector<std::int64_t>& places, std::size_t first,
            std::size_t count)
      : places(places),
        lanes(static_cast<std::size_t>(b.lanes)),
        lane(static_cast<std::size_t>(b.lane)),
        begin(first / places.size() * places.size()),
        numbers(((first + count + places.size() - 1) / places.size() * places.size() - begin) *
                lanes) {}
  std::size_t byte() const { return begin * lanes * sizeof(T); }
  T& of_site(std::size_t site) {
    const std::size_t k = (site - begin) % places.size(), instance = site - begin - k;
    return numbers[(instance + static_cast<std::size_t>(places[k])) * lanes + lane];
  }

  const std::vector<std::int64_t>& places;
  std::size_t lanes, lane;
  std::size_t begin;  ///< number of the first site
  std::vector<T> numbers;
};

/// Sites that follow one another, of one instance of such a buffer: of each class of sites
/// (program::SiteOrder) what lies between the first and the last of them in memory.
template <class T>
struct PartOfInstance {
  struct Run {
    std::size_t begin = std::numeric_limits<std::size_t>::max(), end = 0;  ///< places of sites
    std::vector<T> numbers;
  };
  PartOfInstance(const std::vector<std::int64_t>& of_sites, std::span<const std::int64_t> wanted,
                 std::size_t modulus, std::size_t lanes)
      : places(wanted), of_class(of_sites.size() / modulus), runs(modulus) {
    for (const std::int64_t at : places) {
      const auto place = static_cast<std::size_t>(at);
      Run& run = runs[place / of_class];
      run.begin = std::min(run.begin, place), run.end = std::max(run.end, place + 1);
    }
    for (Run& run : runs)
      if (run.end > 0) run.numbers.resize((run.end - run.begin) * lanes);
  }
  T number(std::size_t k, std::size_t lanes, std::size_t lane) const {
    const auto place = static_cast<std::size_t>(places[k]);
    const Run& run = runs[place / of_class];
    return run.numbers[(place - run.begin) * lanes + lane];
  }

  std::span<const std::int64_t> places;
  std::size_t of_class;
  std::vector<Run> runs;
};

/// Copies them from the device, and no others.
template <class T>
void gather_part(Device& device, BufferHandle from, const program::Buffer& b,
                 PartOfInstance<T> part, std::span<T> to) {
  const auto lanes = static_cast<std::size_t>(b.lanes), lane = static_cast<std::size_t>(b.lane);
  for (auto& run : part.runs)
    if (!run.numbers.empty())
      device.download(std::as_writable_bytes(std::span(run.numbers)), from,
                      run.begin * lanes * sizeof(T));
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = part.number(k, lanes, lane);
}

}  // namespace

template <class T>
void Session::gather(int buffer, std::size_t first, std::span<T> to) {
  if (to.empty()) return;
  const program::Buffer& b = program_.buffers[buffer];
  if (program_.instances == 1 && to.size() < places().size())
    return gather_part(device_, now(buffer), b,
                       PartOfInstance<T>(places(), std::span(places()).subspan(first, to.size()),
                                         static_cast<std::size_t>(program_.order.modulus),
                                         static_cast<std::size_t>(b.lanes)),
                       to);
  Instances<T> memory(b, places(), first, to.size());
  device_.download(std::as_writable_bytes(std::span(memory.numbers)), now(buffer), memory.byte());
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = memory.of_site(first + k);
}

template <class T>
void Session::scatter(int buffer, std::size_t first, std::span<const T> from) {
  if (from.empty()) return;
  Instances<T> memory(program_.buffers[buffer], places(), first, from.size());
  device_.download(std::as_writable_bytes(std::span(memory.numbers)), now(buffer), memory.byte());
  for (std::size_t k = 0; k < from.size(); ++k) memory.of_site(first + k) = from[k];
  device_.upload(now(buffer), memory.byte(), std::as_bytes(std::span(memory.numbers)));
}

}  // namespace vphi::runtime
