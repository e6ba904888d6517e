#include "runtime/run/starts/device_field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Precision;
using program::RandomField;

namespace {

constexpr std::int64_t kWorthSites = std::int64_t{1}
                                     << 22;  ///< below: loading libraries costs more

fft::SharedTransform shape_of(const program::Program& program, LatticeRanks* ranks) {
  const auto extent = program.whole_extent();
  const fft::Box box{{extent[0], extent[1], extent[2]}};
  if (ranks == nullptr) return {box, 1};
  comm::Comm& comm = ranks->comm();
  return {box, planes_by_rank(program, comm.size()), comm, 1, program.cut.second.ranks};
}

}  // namespace

DeviceFields::DeviceFields(const program::Program& program, Device& device, Transform transform,
                           LatticeRanks* ranks)
    : p_(program),
      device_(device),
      wanted_(transform),
      ranks_(ranks),
      shape_(shape_of(program, ranks)),
      box_(shape_.box()),
      transform_(program, device, ranks, shape_),
      kernels_(device) {}

DeviceFields::~DeviceFields() {
  try {
    release();
  } catch (const DeviceError&) {
    // A device that failed has reported it before.
  }
}

bool DeviceFields::worth_it(const program::Program& p, const DeviceInfo& info) {
  return info.target != program::Target::Native && !info.is_cpu && info.f64 && p.dims <= 3 &&
         p.sites() >= kWorthSites;
}

BufferHandle DeviceFields::take(std::size_t bytes) { return device_.allocate(bytes); }

void DeviceFields::give(BufferHandle& handle) {
  if (handle.id >= 0) device_.free(handle);
  handle = {};
}

void DeviceFields::release() {
  device_.synchronise();
  transform_.release();
  ready_ = false;
  give(modes_), give(sheet_);
}

/// Box, sheet and plan; false where the device of a rank lacks memory or a library.
bool DeviceFields::ready() {
  if (ready_) return true;
  if (!why_.empty()) return false;
  bool made = make();
  if (ranks_ != nullptr && ranks_->comm().most(made ? 0 : 1) != 0) {
    made = false;
    if (why_.empty()) why_ = "another rank cannot";
  }
  if (!made) transform_.release(), give(modes_), give(sheet_);
  return ready_ = made;
}

bool DeviceFields::make() {
  const DeviceInfo info = device_.info();
  // Other buffers are still to be allocated.
  if (!info.f64 || info.memory_free < transform_.mode_bytes() + transform_.bytes_beside()) {
    why_ = info.f64 ? "too little memory is free" : "the device has no f64";
    return false;
  }
  why_ = transform_.refused();
  if (!why_.empty()) return false;
  try {
    if (!transform_.make(wanted_, usable_threads(), &why_)) return false;
    modes_ = take(transform_.mode_bytes());
    if (sheet_.id < 0) sheet_ = take(sizeof(double) * kSheetSize);
  } catch (const DeviceError& error) {
    why_ = error.what();
    return false;
  }
  return true;
}

void DeviceFields::write_sheet(const std::vector<double>& values) {
  if (sheet_.id < 0) sheet_ = take(sizeof(double) * kSheetSize);
  device_.upload(sheet_, 0, std::as_bytes(std::span(values)));
}

std::vector<double> DeviceFields::blank_sheet() const {
  std::vector<double> sheet(kSheetSize);
  for (int axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(box_.n[axis]);
    sheet[kNx + axis] = n;
    sheet[kDkx + axis] = 2 * std::numbers::pi / (n * p_.dx);
  }
  const auto rows = transform_.rows();
  sheet[kRows] = static_cast<double>(rows);
  sheet[kModes] = static_cast<double>(transform_.modes());
  sheet[kColumns] = static_cast<double>(shape_.columns().count);
  if (ranks_ != nullptr) {
    const std::int64_t rows_of_plane = rows / transform_.planes();
    sheet[kRowsBefore] = static_cast<double>(ranks_->first() * rows_of_plane);
    sheet[kColumnFirst] = static_cast<double>(shape_.columns().first);
    sheet[kFirst] = static_cast<double>(p_.cut.ghost[0] * rows_of_plane * box_.n[0]);
  }
  sheet[kSeedLow] = static_cast<double>(p_.seed & 0xFFFFFFFFU);
  sheet[kSeedHigh] = static_cast<double>(p_.seed >> 32);
  return sheet;
}

bool DeviceFields::random(const RandomField& field, BufferHandle to, Precision precision) {
  if (field.kind == RandomField::Kind::File || field.kind == RandomField::Kind::Link ||
      field.kind == RandomField::Kind::Spectrum || field.kind == RandomField::Kind::Points)
    return false;  // made by the host
  if (field.kind != RandomField::Kind::Vacuum) {
    by_site(field, to, precision);
    return true;
  }
  if (!ready()) return false;
  vacuum(field, to, precision);
  return true;
}

void DeviceFields::by_site(const RandomField& field, BufferHandle to, Precision precision) {
  auto sheet = blank_sheet();
  std::int64_t sites = box_.sites(), run = sites;
  if (ranks_ != nullptr) {
    const auto runs = own_sites_among(p_, ranks_->comm().size(), ranks_->comm().rank(), 0,
                                      static_cast<std::size_t>(sites));
    run = static_cast<std::int64_t>(runs[0].count), sites = run * std::ssize(runs);
    sheet[kFirst] = static_cast<double>(runs[0].in_memory);
    sheet[kSiteFirst] = static_cast<double>(runs[0].in_whole);
    if (runs.size() > 1) {
      sheet[kRunInMemory] = static_cast<double>(runs[1].in_memory - runs[0].in_memory);
      sheet[kRunInLattice] = static_cast<double>(runs[1].in_whole - runs[0].in_whole);
    }
  }
  sheet[kSites] = static_cast<double>(sites), sheet[kRun] = static_cast<double>(run);
  sheet[kStream] = static_cast<std::uint32_t>(field.stream);
  sheet[kScale] = field.amplitude;
  sheet[kLow] = field.low, sheet[kHigh] = field.high;
  write_sheet(sheet);
  kernels_.launch(
      field.kind == RandomField::Kind::Normal ? FieldKernel::Normal : FieldKernel::Uniform,
      precision, sites, {to, sheet_});
}

void DeviceFields::vacuum(const RandomField& field, BufferHandle to, Precision precision) {
  Vacuum v = vacuum_of(p_, field);
  v.box = box_;  // of the whole lattice
  const VacuumRecipe recipe = vacuum_recipe(v);
  auto sheet = blank_sheet();
  sheet[kStream] = v.stream;
  sheet[kMass2] = std::max(v.mass2, 0.0);
  sheet[kVelocity] = v.velocity ? 1 : 0;
  sheet[kCut] = recipe.cut;
  sheet[kSmooth] = recipe.smooth ? 1 : 0;
  sheet[kLaid] = recipe.correlator.empty() ? 0 : 1;
  sheet[kScale] = recipe.scale;
  write_sheet(sheet);
  const BufferHandle at_sites = transform_.sites_of(modes_);
  BufferHandle correlator;
  if (!recipe.correlator.empty()) {
    correlator = take(sizeof(double) * recipe.correlator.size());
    device_.upload(correlator, 0, std::as_bytes(std::span(recipe.correlator)));
    kernels_.prepare(FieldKernel::LayCorrelator, Precision::F64, transform_.sites());
  }
  kernels_.prepare(FieldKernel::ColourModes, Precision::F64, transform_.modes());
  kernels_.prepare(FieldKernel::Unpad, precision, transform_.sites());
  if (ranks_ != nullptr) ranks_->meet();  // nobody compiles or allocates from here on
  if (correlator.id >= 0) {
    kernels_.launch(FieldKernel::LayCorrelator, Precision::F64, transform_.sites(),
                    {at_sites, correlator, sheet_});
    transform_.forward(modes_);
  }
  kernels_.launch(FieldKernel::ColourModes, Precision::F64, transform_.modes(), {modes_, sheet_});
  transform_.inverse(modes_);
  kernels_.launch(FieldKernel::Unpad, precision, transform_.sites(), {to, at_sites, sheet_});
  if (correlator.id >= 0 || ranks_ != nullptr) device_.synchronise();
  give(correlator);
}

}  // namespace vphi::runtime
