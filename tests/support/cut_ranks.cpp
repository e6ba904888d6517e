#include "tests/support/cut_ranks.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "program/parts.hpp"
#include "runtime/run/fourier_map.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"

namespace vphi::testing {

using program::Argument;
using program::Cut;
using runtime::BufferHandle;

namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  const std::vector<T> numbers(values.begin(), values.end());
  const auto raw = std::as_bytes(std::span(numbers));
  return {raw.begin(), raw.end()};
}

template <class T>
std::vector<double> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return {numbers.begin(), numbers.end()};
}

}  // namespace

struct CutRanks::Rank {
  program::Program program;
  std::vector<runtime::KernelHandle> kernels;
  std::vector<std::array<BufferHandle, 2>> buffers;  ///< the present copy, the other one
  std::vector<BufferHandle> partials;                ///< of each kernel
  std::vector<BufferHandle> gathered;
  std::vector<BufferHandle> whole;  ///< of each buffer, on the whole lattice
  BufferHandle counter, scalars;
  std::int64_t first = 0, first_line = 0;  ///< own plane and line in the whole lattice

  const program::Buffer& about(int buffer) const {
    return program.buffers[static_cast<std::size_t>(buffer)];
  }
  std::size_t width(int buffer) const {
    return about(buffer).precision == program::Precision::F32 ? 4 : 8;
  }
  std::int64_t planes() const {
    return program.cut.axis < 0 ? 1 : program.extent[static_cast<std::size_t>(program.cut.axis)];
  }
  bool two_axes() const { return program.cut.second.ranks > 1; }
  std::int64_t lines() const {
    return two_axes() ? program.extent[static_cast<std::size_t>(program.cut.axis - 1)] : 1;
  }
  std::int64_t own_planes() const { return program.cut.axis < 0 ? 1 : program.cut.own; }
  std::int64_t own_lines() const { return two_axes() ? program.cut.second.own : 1; }
  std::int64_t whole_planes() const { return program.cut.axis < 0 ? 1 : program.cut.whole; }
  std::int64_t whole_lines() const { return two_axes() ? program.cut.second.whole : 1; }
  /// Scalars that belong to the rank alone.
  std::size_t hidden() const {
    if (program.cut.axis < 0) return 0;
    return program.scalars.size() - static_cast<std::size_t>(program.cut.origin_slot);
  }
  /// Number of a line in memory, from that among the own planes and lines.
  std::size_t in_memory(std::int64_t plane, std::int64_t line) const {
    return static_cast<std::size_t>((plane + program.cut.ghost[0]) * lines() + line +
                                    program.cut.second.ghost[0]);
  }
  std::size_t in_whole(std::int64_t plane, std::int64_t line) const {
    return static_cast<std::size_t>((plane + first) * whole_lines() + line + first_line);
  }
};

CutRanks::CutRanks(std::vector<program::Program> programs, runtime::Device& device,
                   OrderOfParts order)
    : device_(device), order_(order) {
  const auto ranks = static_cast<int>(programs.size());
  for (int r = 0; r < ranks; ++r) {
    auto& rank = *ranks_.emplace_back(std::make_unique<Rank>());
    rank.program = std::move(programs[static_cast<std::size_t>(r)]);
    const program::Program& p = rank.program;
    rank.kernels = device.compile(p.kernels);
    const auto memory = [&](std::int64_t bytes) {
      const BufferHandle handle =
          device.allocate(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 8)));
      device.zero(handle);
      return handle;
    };
    for (std::size_t b = 0; b < p.buffers.size(); ++b) {
      const auto bytes = p.sites() * static_cast<std::int64_t>(rank.width(static_cast<int>(b)));
      rank.buffers.push_back({memory(bytes), memory(bytes)});
      rank.whole.push_back(memory(p.cut.axis < 0 ? 0
                                                 : bytes / rank.planes() * p.cut.whole /
                                                       rank.lines() * rank.whole_lines()));
    }
    for (const program::Kernel& kernel : p.kernels) {
      rank.partials.push_back(memory(8 * kernel.partials));
      std::int64_t gathered = 0;
      for (const Argument& a : kernel.arguments)
        if (a.kind == Argument::Kind::Gathered) gathered = a.bytes;
      rank.gathered.push_back(memory(gathered));
    }
    rank.counter = memory(8);
    rank.scalars = memory(8 * static_cast<std::int64_t>(p.scalars.size()));
    if (p.cut.axis >= 0) rank.first = p.cut.planes(ranks, r).first;
    if (rank.two_axes()) rank.first_line = p.cut.lines(r).first;
  }
  std::vector<double> initial;
  for (const program::Scalar& s : ranks_[0]->program.scalars) initial.push_back(s.initial);
  set_scalars(initial);
  for (auto& rank : ranks_)
    for (std::size_t b = 0; b < rank->buffers.size(); ++b) poison(*rank, static_cast<int>(b));
}

/// What nobody fills must not be read.
void CutRanks::poison(const Rank& rank, int buffer) {
  const Cut& cut = rank.program.cut;
  if (cut.axis < 0) return;
  const std::size_t bytes = line(buffer);
  const std::vector<double> nan(bytes / rank.width(buffer),
                                std::numeric_limits<double>::quiet_NaN());
  const auto line = rank.width(buffer) == 4 ? bytes_of<float>(nan) : bytes_of<double>(nan);
  for (std::int64_t k = -cut.ghost[0]; k < rank.planes() - cut.ghost[0]; ++k)
    for (std::int64_t l = -cut.second.ghost[0]; l < rank.lines() - cut.second.ghost[0]; ++l) {
      if (k >= 0 && k < cut.own && l >= 0 && l < rank.own_lines()) continue;
      for (const BufferHandle copy : rank.buffers[static_cast<std::size_t>(buffer)])
        device_.upload(copy, rank.in_memory(k, l) * bytes, line);
    }
}

CutRanks::~CutRanks() {
  for (auto& rank : ranks_) {
    for (const auto& copies : rank->buffers)
      for (const BufferHandle copy : copies) device_.free(copy);
    for (const BufferHandle b : rank->partials) device_.free(b);
    for (const BufferHandle b : rank->gathered) device_.free(b);
    for (const BufferHandle b : rank->whole) device_.free(b);
    device_.free(rank->counter);
    device_.free(rank->scalars);
  }
}

std::size_t CutRanks::plane(int buffer) const {
  const Rank& rank = *ranks_[0];
  return static_cast<std::size_t>(rank.program.sites() / rank.planes()) * rank.width(buffer);
}

std::size_t CutRanks::line(int buffer) const {
  return plane(buffer) / static_cast<std::size_t>(ranks_[0]->lines());
}

void CutRanks::write(int buffer, const std::vector<double>& values) {
  const bool single = ranks_[0]->width(buffer) == 4;
  const auto bytes = single ? bytes_of<float>(values) : bytes_of<double>(values);
  const std::size_t line_bytes = line(buffer);
  for (auto& rank : ranks_)
    for (std::int64_t k = 0; k < rank->own_planes(); ++k)
      for (std::int64_t l = 0; l < rank->own_lines(); ++l)
        device_.upload(rank->buffers[static_cast<std::size_t>(buffer)][0],
                       rank->in_memory(k, l) * line_bytes,
                       std::span(bytes).subspan(rank->in_whole(k, l) * line_bytes, line_bytes));
  const Cut& cut = ranks_[0]->program.cut;
  if (cut.axis >= 0) fill(buffer, cut.deepest(), cut.second.ghost);
}

std::vector<double> CutRanks::read(int buffer) {
  const std::size_t line_bytes = line(buffer);
  const Rank& one = *ranks_[0];
  std::vector<std::byte> all(static_cast<std::size_t>(one.whole_planes() * one.whole_lines()) *
                             line_bytes);
  for (auto& rank : ranks_)
    for (std::int64_t k = 0; k < rank->own_planes(); ++k)
      for (std::int64_t l = 0; l < rank->own_lines(); ++l)
        device_.download(std::span(all).subspan(rank->in_whole(k, l) * line_bytes, line_bytes),
                         rank->buffers[static_cast<std::size_t>(buffer)][0],
                         rank->in_memory(k, l) * line_bytes);
  return one.width(buffer) == 4 ? numbers_of<float>(all) : numbers_of<double>(all);
}

std::vector<double> CutRanks::scalars() {
  std::vector<double> first;
  for (auto& rank : ranks_) {
    std::vector<double> own(rank->program.scalars.size());
    device_.download(std::as_writable_bytes(std::span(own)), rank->scalars, 0);
    own.resize(own.size() - rank->hidden());
    if (first.empty()) first = own;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (std::bit_cast<std::uint64_t>(own[i]) != std::bit_cast<std::uint64_t>(first[i]))
        throw std::runtime_error("ranks differ in " + rank->program.scalars[i].name);
  }
  return first;
}

void CutRanks::set_scalars(const std::vector<double>& values) {
  for (auto& rank : ranks_) {
    std::vector<double> own(values.begin(), values.end());
    own.resize(rank->program.scalars.size());
    if (rank->program.cut.origin_slot >= 0)
      own[static_cast<std::size_t>(rank->program.cut.origin_slot)] =
          static_cast<double>(rank->first);
    if (rank->two_axes())
      own[static_cast<std::size_t>(rank->program.cut.second.origin_slot)] =
          static_cast<double>(rank->first_line);
    device_.upload(rank->scalars, 0, std::as_bytes(std::span(own)));
  }
}

void CutRanks::launch(List list, std::int64_t number) {
  std::vector<const std::vector<program::Launch>*> lists;
  for (auto& rank : ranks_) lists.push_back(&list(rank->program, number));
  run(lists);
}

void CutRanks::run(const std::vector<const std::vector<program::Launch>*>& lists) {
  std::vector<Launches> ends;  // whose rest comes
  for (std::size_t i = 0; i < lists[0]->size(); ++i) {
    Launches launches;
    for (const auto* list : lists) launches.push_back(&(*list)[i]);
    const auto kernel = static_cast<std::size_t>(launches[0]->kernel);
    const program::Part part = part_of(ranks_[0]->program.kernels[kernel]);
    if (order_ != OrderOfParts::Listed && part == program::Part::End) {
      ends.push_back(launches);
      continue;
    }
    if (order_ != OrderOfParts::Listed && part == program::Part::Rest) {
      in_parts(ends, launches);
      ends.clear();
      continue;
    }
    one(launches);
    const int solve = launches[0]->solve;
    if (solve < 0) continue;
    const auto number = static_cast<std::size_t>(solve);
    std::vector<const std::vector<program::Launch>*> iterate, finish;
    for (auto& rank : ranks_) {
      iterate.push_back(&rank->program.solves[number].iterate);
      finish.push_back(&rank->program.solves[number].finish);
    }
    constexpr int kMost = 20;
    for (int k = 0; k < kMost; ++k) run(iterate);
    run(finish);
  }
}

void CutRanks::one(const Launches& launches) {
  compute(launches);
  exchange_copies(launches);
  for (const int number : launches[0]->maps) map(static_cast<std::size_t>(number));
  fill_halos(launches);
}

void CutRanks::in_parts(std::span<const Launches> ends, const Launches& rest) {
  if (order_ == OrderOfParts::RestFirst) {
    for (const Launches& end : ends) exchange_copies(end);
    compute(rest);
    for (const Launches& end : ends) exchange_copies(end);  // back
  }
  for (const Launches& end : ends) compute(end), exchange_copies(end);
  if (order_ == OrderOfParts::GhostsLast) {
    for (const Launches& end : ends)
      for (const program::Halo& halo : end[0]->halos)
        for (auto& rank : ranks_) poison(*rank, halo.buffer);
    compute(rest);
  }
  for (const Launches& end : ends) fill_halos(end);
}

void CutRanks::exchange_copies(const Launches& launches) {
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    for (const int buffer : launches[r]->swap)
      std::swap(ranks_[r]->buffers[static_cast<std::size_t>(buffer)][0],
                ranks_[r]->buffers[static_cast<std::size_t>(buffer)][1]);
}

void CutRanks::fill_halos(const Launches& launches) {
  for (const program::Halo& halo : launches[0]->halos) fill(halo.buffer, halo.depth, halo.beside);
}

void CutRanks::compute(const Launches& launches) {
  const auto kernel = static_cast<std::size_t>(launches[0]->kernel);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = *ranks_[r];
    std::vector<BufferHandle> arguments;
    for (const Argument& a : rank.program.kernels[kernel].arguments) {
      const auto index = static_cast<std::size_t>(a.index);
      switch (a.kind) {
        case Argument::Kind::Current:
        case Argument::Kind::Next:
          arguments.push_back(rank.buffers[index][a.kind == Argument::Kind::Next]);
          break;
        case Argument::Kind::Scalars:
          arguments.push_back(rank.scalars);
          break;
        case Argument::Kind::Partials:
          arguments.push_back(rank.partials[kernel]);
          break;
        case Argument::Kind::Counter:
          arguments.push_back(rank.counter);
          break;
        case Argument::Kind::Whole: {
          const std::size_t line_bytes = line(a.index);
          std::size_t at = 0;
          for (auto& other : ranks_) {
            if (!other->two_axes()) break;
            std::vector<std::byte> one(line_bytes);
            for (std::int64_t k = 0; k < other->own_planes(); ++k)
              for (std::int64_t l = 0; l < other->own_lines(); ++l) {
                device_.download(one, other->buffers[index][0],
                                 other->in_memory(k, l) * line_bytes);
                device_.upload(rank.whole[index], other->in_whole(k, l) * line_bytes, one);
                at += line_bytes;
              }
          }
          for (auto& other : ranks_) {
            if (other->two_axes()) break;
            const Cut& cut = other->program.cut;
            std::vector<std::byte> part(static_cast<std::size_t>(cut.own) * plane(a.index));
            device_.download(part, other->buffers[index][0],
                             static_cast<std::size_t>(cut.ghost[0]) * plane(a.index));
            device_.upload(rank.whole[index], at, part);
            at += part.size();
          }
          if (static_cast<std::int64_t>(at) != a.bytes)
            throw std::runtime_error(fmt::format("{} bytes of planes, not {}", at, a.bytes));
          arguments.push_back(rank.whole[index]);
          break;
        }
        case Argument::Kind::Gathered: {
          if (rank.two_axes() && rank.program.kernels[index].totals == 0) {
            gather_in_order(rank, index, kernel);
            arguments.push_back(rank.gathered[kernel]);
            break;
          }
          std::size_t at = 0;
          for (auto& other : ranks_) {
            std::vector<std::byte> part(
                static_cast<std::size_t>(8 * other->program.kernels[index].for_ranks()));
            device_.download(part, other->partials[index], 0);
            device_.upload(rank.gathered[kernel], at, part);
            at += part.size();
          }
          if (static_cast<std::int64_t>(at) != a.bytes)
            throw std::runtime_error(fmt::format("{} bytes of sums, not {}", at, a.bytes));
          arguments.push_back(rank.gathered[kernel]);
          break;
        }
      }
    }
    device_.launch(rank.kernels[kernel], arguments);
  }
}

/// Of each plane the sums of the ranks with lines of it, which follow one another.
void CutRanks::gather_in_order(const Rank& rank, std::size_t sums, std::size_t end) {
  const auto beside = static_cast<std::size_t>(rank.program.cut.second.ranks);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& other = *ranks_[r];
    const auto own = static_cast<std::size_t>(other.own_planes());
    std::vector<std::byte> part(
        static_cast<std::size_t>(8 * other.program.kernels[sums].for_ranks()));
    device_.download(part, other.partials[sums], 0);
    const std::size_t one = part.size() / own;
    for (std::size_t k = 0; k < own; ++k)
      device_.upload(rank.gathered[end],
                     ((static_cast<std::size_t>(other.first) + k) * beside + r % beside) * one,
                     std::span(part).subspan(k * one, one));
  }
}

void CutRanks::map(std::size_t number) {
  const program::Program& of = ranks_[0]->program;
  std::vector<std::vector<double>> from;
  for (const int buffer : of.maps[number].from) from.push_back(read(buffer));
  const auto to = runtime::FourierMaps(of, 1).apply(number, from);
  for (std::size_t r = 0; r < to.size(); ++r) {
    const int buffer = of.maps[number].to[r];
    write(buffer, to[r]);
    if (of.cut.axis < 0) continue;
    for (auto& rank : ranks_) poison(*rank, buffer);
  }
}

namespace {

/// What lies beyond the ends along an axis: an image of what lies inside.
struct Image {
  std::int64_t of = 0;
  bool turned = false, fixed = false;
};

Image image_of(const std::array<Cut::End, 2>& ends, std::int64_t whole, std::int64_t number) {
  if (number >= 0 && number < whole) return {number};
  const bool above = number >= whole;
  const std::int64_t around = (number + whole) % whole;
  switch (ends[above]) {
    case Cut::End::Periodic:
      return {around};
    case Cut::End::Mirror:
      return {above ? 2 * whole - 1 - number : -1 - number};
    case Cut::End::Open:
      return {above ? whole - 1 : 0};
    case Cut::End::Antiperiodic:
      return {around, true, false};
    case Cut::End::Fixed:
      return {around, false, true};
  }
  throw std::logic_error("an end that is not known");
}

}  // namespace

void CutRanks::fill(int buffer, const std::array<int, 2>& depth, const std::array<int, 2>& beside) {
  const Cut& cut = ranks_[0]->program.cut;
  const std::size_t bytes = line(buffer);
  const bool single = ranks_[0]->width(buffer) == 4;
  std::vector<std::byte> one(bytes);
  const auto line_of = [&](std::int64_t plane, std::int64_t line) {  // of the whole lattice
    for (auto& rank : ranks_) {
      const std::int64_t k = plane - rank->first, l = line - rank->first_line;
      if (k < 0 || k >= rank->own_planes() || l < 0 || l >= rank->own_lines()) continue;
      device_.download(one, rank->buffers[static_cast<std::size_t>(buffer)][0],
                       rank->in_memory(k, l) * bytes);
    }
  };
  const auto change = [&](const Image& p, const Image& l) {
    const bool fixed = p.fixed || l.fixed;
    if (!fixed && p.turned == l.turned) return;
    auto values = single ? numbers_of<float>(one) : numbers_of<double>(one);
    for (double& v : values) v = fixed ? cut.fixed_value : -v;
    one = single ? bytes_of<float>(values) : bytes_of<double>(values);
  };
  for (auto& rank : ranks_) {
    const std::int64_t own = rank->own_planes(), above = cut.all ? cut.whole - own : depth[1];
    for (std::int64_t k = -depth[0]; k < own + above; ++k)
      for (std::int64_t l = -beside[0]; l < rank->own_lines() + beside[1]; ++l) {
        if (k >= 0 && k < own && l >= 0 && l < rank->own_lines()) continue;
        const Image p = image_of(cut.ends, cut.whole, rank->first + k);
        const Image q = rank->two_axes()
                            ? image_of(cut.second.ends, cut.second.whole, rank->first_line + l)
                            : Image{};
        line_of(p.of, q.of);
        change(p, q);
        device_.upload(rank->buffers[static_cast<std::size_t>(buffer)][0],
                       rank->in_memory(k, l) * bytes, one);
      }
  }
}

namespace {

constexpr int kSteps = 3;

CompileOptions small(int dims, const std::string& lattice) {
  CompileOptions options;
  options.lattice = !lattice.empty() ? lattice
                    : dims == 4      ? "8 * 8 * 8 * 16"
                    : dims == 3      ? "24^3"
                    : dims == 2      ? "64^2"
                                     : "4096";
  options.steps = kSteps;
  options.batch = 1;
  return options;
}

/// Numbers by name.
using Numbers = std::map<std::string, std::vector<double>>;

/// State, watched scalars and output arrays after the start and some steps.
Numbers results(CutRanks& ranks, const program::Program& p,
                const std::vector<std::pair<int, std::vector<double>>>& start) {
  using List = std::vector<program::Launch>;
  for (const auto& [buffer, values] : start) ranks.write(buffer, values);
  Numbers all;
  const auto keep = [&](const std::string& when, bool scratch) {
    all[when + ": scalars"] = ranks.scalars();
    for (std::size_t b = 0; b < p.buffers.size(); ++b)
      if (!p.buffers[b].scratch || scratch)
        all[when + ": " + p.buffers[b].name] = ranks.read(static_cast<int>(b));
  };
  ranks.launch([](const program::Program& q, std::int64_t) -> const List& { return q.prologue; });
  keep("start", false);
  for (int step = 0; step < kSteps; ++step)
    ranks.launch(
        [](const program::Program& q, std::int64_t n) -> const List& { return q.launches(n); },
        step);
  keep("steps", false);
  ranks.launch([](const program::Program& q, std::int64_t) -> const List& { return q.watch; });
  keep("watch", false);
  for (std::size_t o = 0; o < p.outputs.size(); ++o) {
    if (!p.outputs[o].transforms.empty()) continue;
    ranks.launch(
        [](const program::Program& q, std::int64_t n) -> const List& {
          return q.outputs[static_cast<std::size_t>(n)].launches;
        },
        static_cast<std::int64_t>(o));
    all["output " + std::to_string(o) + ": scalars"] = ranks.scalars();
    for (const program::FieldOutput& field : p.outputs[o].fields)
      all["output " + field.name] = ranks.read(field.buffer);
  }
  return all;
}

/// What a run starts from: the random fields and files, before the prologue.
std::vector<std::pair<int, std::vector<double>>> start_of(const program::Program& whole,
                                                          runtime::Device& device) {
  program::Program fields = whole;
  fields.prologue.clear();
  runtime::Session session(fields, device);
  session.start();
  std::vector<std::pair<int, std::vector<double>>> start;
  for (const program::RandomField& random : whole.random)
    start.emplace_back(random.buffer, session.read(random.buffer));
  return start;
}

bool same(double a, double b, double allowed) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         std::abs(a - b) <= allowed;
}

std::string differences(const Numbers& one, const Numbers& many, double relative) {
  std::string text;
  for (const auto& [name, values] : one) {
    const auto& others = many.at(name);
    double largest = 0;
    for (const double v : values)
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    std::size_t differ = 0, at = 0;
    // one device may count the steps of a launch, in a scalar behind the others
    const std::size_t count = std::min(values.size(), others.size());
    if (count < values.size() && !name.ends_with("scalars"))
      text += fmt::format("{}: {} and {} numbers\n", name, values.size(), others.size());
    for (std::size_t i = 0; i < count; ++i)
      if (!same(values[i], others[i], relative * largest) && differ++ == 0) at = i;
    if (differ > 0)
      text += fmt::format("{}: {} of {}, the first number {}: {} and {}\n", name, differ,
                          values.size(), at, values[at], others[at]);
  }
  return text;
}

int divided_launches(const program::Program& p) {
  int count = 0;
  for (int step = 0; step < kSteps; ++step)
    for (const program::Launch& launch : p.launches(step))
      count += part_of(p.kernels[static_cast<std::size_t>(launch.kernel)]) == program::Part::Rest;
  return count;
}

std::string rendered(const Compilation& c) {
  std::string text;
  for (const dsl::Diagnostic& d : c.diagnostics.all()) text += d.code + ": " + d.message + "; ";
  return text;
}

}  // namespace

CutResult cut_and_compare(const std::string& path, int ranks, const CutSetup& setup) {
  runtime::Device& device = *testing::device(setup.device);
  emit::TargetInfo target = tools::target_of(device.info());
  if (setup.as_gpu) target.is_cpu = false, target.local_bytes = 48 * 1024;
  if (setup.units >= 0) target.compute_units = setup.units;
  CompileOptions options;
  options.batch = 1;
  const Compilation derived = derive_model(path, options);
  if (!derived.system) return {.refused = rendered(derived), .differs = {}, .divided = 0};
  if (derived.resolved.clause("lattice"))
    options = small(derived.system->lattice.dims, setup.lattice);
  else if (setup.bodies > 0 && derived.system->lattice.sites() > setup.bodies)
    options.set = {{"N", std::to_string(setup.bodies)}};
  options.precision = setup.precision;
  const Compilation whole = compile_model(path, options, target);
  if (!whole.program) return {.refused = rendered(whole), .differs = {}, .divided = 0};
  std::vector<program::Program> programs;
  options.ranks = ranks, options.ranks_beside = setup.beside;
  for (options.rank = 0; options.rank < ranks; ++options.rank) {
    Compilation c = compile_model(path, options, target);
    if (!c.program) return {.refused = rendered(c), .differs = {}, .divided = 0};
    programs.push_back(*std::move(c.program));
  }
  const auto start = start_of(*whole.program, device);
  CutRanks alone({*whole.program}, device);
  const Numbers one = results(alone, *whole.program, start);
  const int divided = divided_launches(programs[0]);
  CutRanks team(std::move(programs), device, setup.order);
  return {.refused = {},
          .differs = differences(one, results(team, *whole.program, start), setup.relative),
          .divided = divided};
}

}  // namespace vphi::testing
