#include "runtime/run/starts/random_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>

#include "program/wave_numbers.hpp"
#include "runtime/io/configurations/wilson_loop.hpp"
#include "runtime/io/field_file.hpp"
#include "runtime/io/link_set.hpp"
#include "runtime/io/point_file.hpp"
#include "runtime/parallel.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/points.hpp"
#include "runtime/run/starts/random_parts.hpp"
#include "runtime/run/starts/vacuum_parts.hpp"

namespace vphi::runtime {
namespace {

using program::RandomField;

std::size_t wave_numbers(const program::Program& p) {
  const auto numbers = program::WaveNumbers::of(p.extent);
  return numbers ? numbers->count() : 0;
}

/// Root mean square of each mode of the octant, n_x fastest, from one list of powers.
std::vector<double> spectrum_amplitudes(const program::Program& p, const RandomField& field,
                                        std::size_t list, int threads) {
  const ModeAmplitude amplitude = amplitude_of_powers(p, field, list);
  return on_octant(OctantShape(vacuum_of(p, field).box), threads, amplitude);
}

/// Sets of an HDF5 file have no checksum, so their matrices are checked.
void must_be_links(const std::string& file, const io::Configuration& links) {
  constexpr double kNear = 1e-5;  // of numbers of single precision
  const io::Farthest far = io::farthest_from_group(links);
  if (far.distance < kNear) return;
  std::string site;
  std::int64_t rest = far.site;
  for (const std::int64_t n : links.extent) {
    if (n > 1 || site.empty()) site += fmt::format("{}{}", site.empty() ? "" : ", ", rest % n);
    rest /= n;
  }
  throw io::ConfigurationError(
      io::ConfigurationError::Problem::Group,
      fmt::format("{}: the link along {} at site ({}) is off the group by {:.2g}: U*adj(U) - 1 and "
                  "det(U) - 1 must be below {}",
                  file, "xyzt"[far.mu], site, far.distance, kNear));
}

}  // namespace

const io::Configuration& Configurations::read(const program::Program& p, const RandomField& field) {
  const auto found = files_.find(field.file);
  if (found != files_.end()) return found->second.configuration;
  if (io::names_link_set(field.file)) {
    io::ConfigurationFile file = io::read_link_set(field.file, p.dims, field.colours, p.extent);
    must_be_links(field.file, file.configuration);
    return files_.emplace(field.file, std::move(file)).first->second.configuration;
  }
  const io::ConfigurationWish wish{.extent = p.extent, .colours = field.colours};
  io::ConfigurationFile file = io::read_configuration(field.file, wish);
  // A length alone fits two lattices: f64 on one is f32 on another of twice the sites.
  constexpr double kNear = 1e-3;
  if (!file.facts.shaped && !(io::distance_from_group(file.configuration) < kNear))
    throw io::ConfigurationError(
        io::ConfigurationError::Problem::Extents,
        fmt::format(
            "{} does not say its lattice, and on the model's, {}, its numbers are not links: "
            "write `lattice` as the file was written",
            field.file, io::shown_extents(p.extent)));
  return files_.emplace(field.file, std::move(file)).first->second.configuration;
}

namespace {

/// One of the real numbers of every site's links.
std::vector<double> numbers_of(const io::Configuration& c, const RandomField& field) {
  const std::size_t width = 8 * c.entries();
  const auto* numbers = reinterpret_cast<const double*>(c.links.data());
  std::vector<double> out(static_cast<std::size_t>(c.sites()));
  for (std::size_t site = 0; site < out.size(); ++site)
    out[site] = field.amplitude * numbers[site * width + static_cast<std::size_t>(field.entry)];
  return out;
}

/// Points of each instance from number `first` on. An error in one of them is an error of all.
void draw_points(const program::Program& p, const RandomField& field, std::int64_t first,
                 const std::vector<OfInstance>& own, int threads, std::span<double> out) {
  const auto bodies = static_cast<std::size_t>(p.sites());
  std::vector<std::exception_ptr> failed(own.size());
  parallel_ranges(std::ssize(own), threads, [&](std::int64_t begin, std::int64_t end) {
    PointDraw draw(p, field);
    for (std::int64_t i = begin; i < end; ++i) try {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t instance = std::min(first + i, p.all_instances() - 1);
        std::vector<double> parameters;
        for (const int axis : draw.axes()) {
          const auto k = static_cast<std::size_t>(axis);
          parameters.push_back(p.axes[k].values[static_cast<std::size_t>(p.place(instance, k))]);
        }
        draw(own[at].seed, parameters, out.subspan(at * bodies, bodies));
      } catch (...) {
        failed[static_cast<std::size_t>(i)] = std::current_exception();
      }
  });
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

/// The fields of some members of a stack, on the lattice.
std::vector<std::vector<double>> fields_of_file(const program::Program& p, const RandomField& field,
                                                const std::vector<std::int64_t>& members) {
  const std::vector<std::int64_t> leading(field.leading.begin(), field.leading.end());
  if (field.cutoff > 0)  // points, spread with the width 1/cutoff
    return io::spread_points(field.file, {p.dims, leading, 1 / field.cutoff}, members, p.extent,
                             p.dx_physical);
  const io::FieldPlace place{p.dims, field.components, field.entry, field.as_it_is, leading};
  std::vector<std::vector<double>> values;
  for (io::FieldFile& read : io::read_fields(field.file, place, members)) {
    const bool exact = field.as_it_is || read.sites;
    if (exact && !std::equal(read.cells.begin(), read.cells.end(), p.extent.begin()))
      throw io::ResultsError(
          fmt::format("{} has another number of values than the model", field.file));
    values.push_back(exact ? std::move(read.values)
                           : io::resampled(read, p.extent, p.dx_physical, field.file));
  }
  return values;
}

/// Reads an array from a file: the same for all instances, or a member of a stack for each
/// instance.
void from_file(const program::Program& p, const RandomField& field, std::int64_t first,
               std::int64_t count, std::span<double> out) {
  std::map<std::int64_t, std::size_t> known;  // place in the stack -> in `members`
  std::vector<std::int64_t> members;
  std::vector<std::size_t> of_instance;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t instance = std::min(first + i, p.all_instances() - 1);
    const auto member =
        field.members.empty()
            ? std::int64_t{0}
            : static_cast<std::int64_t>(field.members[static_cast<std::size_t>(instance)]);
    const auto [found, fresh] = known.try_emplace(member, members.size());
    if (fresh) members.push_back(member);
    of_instance.push_back(found->second);
  }
  const auto values = fields_of_file(p, field, members);
  for (std::int64_t i = 0; i < count; ++i)
    std::ranges::transform(values[of_instance[static_cast<std::size_t>(i)]],
                           out.begin() + i * p.sites(),
                           [&](double v) { return field.amplitude * v; });
}

}  // namespace

std::vector<double> random_fields(const program::Program& p, const RandomField& field,
                                  std::int64_t first, std::int64_t count, int threads,
                                  Configurations* configurations,
                                  std::span<const std::int64_t> again) {
  const auto sites = static_cast<std::size_t>(p.sites());
  std::vector<double> out(sites * static_cast<std::size_t>(count));
  std::vector<OfInstance> own;
  const program::EnsembleNumbers ensemble_numbers(p);
  const bool own_powers = field.kind == RandomField::Kind::Spectrum && p.all_instances() > 1 &&
                          field.powers.size() != wave_numbers(p);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t instance = std::min(first + i, p.all_instances() - 1);
    own.push_back(of_instance(p, ensemble_numbers, field, instance));
    if (own_powers) own.back().mass2 = static_cast<double>(instance);
    if (!again.empty())
      own.back().seed = next_seed(own.back().seed, again[static_cast<std::size_t>(i)]);
  }
  if (field.kind == RandomField::Kind::File) {
    from_file(p, field, first, count, out);
    return out;
  }
  if (field.kind == RandomField::Kind::Link) {
    Configurations own_files;
    const auto values =
        numbers_of((configurations ? *configurations : own_files).read(p, field), field);
    for (std::int64_t i = 0; i < count; ++i) std::ranges::copy(values, out.begin() + i * p.sites());
    return out;
  }
  if (field.kind == RandomField::Kind::Points) {
    draw_points(p, field, first, own, threads, out);
    return out;
  }
  const bool waves = by_mode(field);
  // amplitudes belong to a mass or a list; neighbours in an ensemble mostly share it
  std::map<double, std::vector<double>> amplitudes;
  if (waves)
    for (const OfInstance& o : own) amplitudes.try_emplace(o.mass2);
  std::vector<double> masses;
  for (const auto& [mass, none] : amplitudes) masses.push_back(mass);
  // many instances: one thread each; few: all threads at one after the other
  const bool many = count >= 2 * threads;
  const auto each = [&](std::int64_t number, const auto& work) {
    if (!many) {
      for (std::int64_t i = 0; i < number; ++i) work(i, threads);
      return;
    }
    parallel_ranges(number, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) work(i, 1);
    });
  };
  each(static_cast<std::int64_t>(masses.size()), [&](std::int64_t m, int with) {
    OfInstance one;
    one.mass2 = masses[static_cast<std::size_t>(m)];
    amplitudes.at(one.mass2) =
        field.kind == RandomField::Kind::Vacuum
            ? vacuum_amplitudes(vacuum_of(p, field, one), with)
            : spectrum_amplitudes(p, field, static_cast<std::size_t>(one.mass2), with);
  });
  each(count, [&](std::int64_t i, int with) {
    const auto at = static_cast<std::size_t>(i);
    const std::span to(out.data() + at * sites, sites);
    // instances with the same seed and mass are computed once
    if (at > 0 && own[at].seed == own[0].seed && own[at].mass2 == own[0].mass2) return;
    if (waves) {
      const auto made =
          vacuum_field(vacuum_of(p, field, own[at]), amplitudes.at(own[at].mass2), with);
      std::copy(made.begin(), made.end(), to.begin());
    } else {
      draw_sites(field, own[at].seed, with, 0, to);
    }
  });
  for (std::size_t i = 1; i < own.size(); ++i)
    if (own[i].seed == own[0].seed && own[i].mass2 == own[0].mass2)
      std::copy_n(out.begin(), sites, out.begin() + static_cast<std::ptrdiff_t>(i * sites));
  return out;
}

std::vector<double> random_field(const program::Program& p, const RandomField& field, int threads) {
  return random_fields(p, field, 0, 1, threads);
}

}  // namespace vphi::runtime
