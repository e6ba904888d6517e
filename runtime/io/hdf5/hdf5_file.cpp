// Result files in HDF5, and the XDMF text beside them.
#include "runtime/io/result_groups.hpp"
#include "runtime/io/results.hpp"

#ifdef VPHI_HAVE_HDF5

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "program/hdf5_read.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/io/files/chunks.hpp"
#include "runtime/io/hdf5/hdf5_scales.hpp"
#include "runtime/io/hdf5/hdf5_series.hpp"
#include "runtime/io/hdf5/hdf5_undo.hpp"
#include "runtime/io/xdmf.hpp"

namespace vphi::io {

std::string link_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '|');
  if (name.empty() || name.find_first_not_of('.') == std::string::npos) name += '_';
  return name;
}

namespace {

namespace fs = std::filesystem;
using program::Precision;
using program::Program;

constexpr int kDeflate = 1;               ///< more gains little on fields and costs time
constexpr std::size_t kLongText = 60000;  ///< an attribute holds less than 64 kB

/// A handle that throws where the library could not open the object.
class Handle : public hdf5::Handle {
 public:
  Handle() = default;
  Handle(hid_t id, Close close, const char* doing) : hdf5::Handle(id, close) {
    if (id < 0) throw ResultsError(fmt::format("HDF5 failed: {}", doing));
  }
};

void check(herr_t status, const char* doing) {
  if (status < 0) throw ResultsError(fmt::format("HDF5 failed: {}", doing));
}

Handle space(std::span<const hsize_t> shape, const hsize_t* most = nullptr) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most), H5Sclose,
          "describing a shape"};
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type");
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

void attribute(hid_t where, const char* name, const std::string& text) {
  const Handle type = text_type(), one(H5Screate(H5S_SCALAR), H5Sclose, "describing a text");
  const Handle a(H5Acreate2(where, name, type, one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                 "making an attribute");
  const char* pointer = text.c_str();
  check(H5Awrite(a, type, &pointer), "writing an attribute");
}

template <class T>
void attribute(hid_t where, const char* name, hid_t type, T value) {
  const Handle one(H5Screate(H5S_SCALAR), H5Sclose, "describing a number");
  const Handle a(H5Acreate2(where, name, type, one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                 "making an attribute");
  check(H5Awrite(a, type, &value), "writing an attribute");
}

/// Checks a file left by an earlier process, which may be damaged: a child process opens every
/// object and its attributes first.
void look_through(const std::string& path) {
  const auto look = [&] {
    const hdf5::Handle file = hdf5::open_to_read(path);
    if (file < 0) throw ResultsError(fmt::format("{} cannot be opened as HDF5", path));
    const auto see = [](hid_t where, const char* name, const H5O_info_t* about, void*) -> herr_t {
      const hdf5::Handle object(H5Oopen(where, name, H5P_DEFAULT), H5Oclose);
      if (object < 0) return -1;
      hdf5::text_attribute(object, "name");
      if (about->type == H5O_TYPE_DATASET && !hdf5::shape_of(object)) return -1;
      return 0;
    };
#if H5_VERSION_GE(1, 12, 0)
    const herr_t seen = H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, see, nullptr, H5O_INFO_BASIC);
#else
    const herr_t seen = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, see, nullptr);
#endif
    if (seen < 0) throw ResultsError(fmt::format("{} is damaged", path));
  };
  const ChildOutcome trial = in_child_process(look);
  if (trial.how == ChildOutcome::How::Threw) throw ResultsError(trial.what);
  if (trial.how == ChildOutcome::How::Died)
    throw ResultsError(
        fmt::format("{} is damaged: the HDF5 library does not survive it ({})", path, trial.what));
}

class Hdf5File : public ResultFile {
 public:
  Hdf5File(const fs::path& path, const Program& program, const Keep& keep)
      : path_(path), program_(program), backing_{UndoFile(path, keep.logs, !keep.generation), {}} {
    hdf5::quiet();
    const std::string name = keep.name.empty() ? path.filename().string() : keep.name;
    const Handle access(undo_access(backing_), H5Pclose, "choosing the file driver");
    if (keep.generation) {
      backing_.file.go_back(*keep.generation);
      look_through(path.string());
      file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose,
                     fmt::format("opening {} again", path.string()).c_str());
      take_stock();
    } else {
      file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                     fmt::format("making {}", path.string()).c_str());
      describe();
    }
    series_ = std::make_unique<Hdf5Series>(file_, program_, name);
  }

  ~Hdf5File() override {
    hdf5::quiet();                    // the setting belongs to a thread
    if (!backing_.trouble.empty()) {  // the disk is full, which has been reported
      backing_.given_up = true;
      return;
    }
    try {
      flush();
    } catch (const std::exception&) {
      // The run has ended by another error, or the disk is full, which `flush` has reported.
      backing_.given_up = true;
    }
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    std::vector<Swept> rows;
    for (std::size_t i = 0; i < names.size(); ++i) rows.push_back({names[i], {}, {values[i]}, {}});
    with_reason([&] { series_->add(at, rows); });
  }

  void changes(const std::string& lines) override {
    with_reason([&] {
      if (H5Aexists(file_, "changes") > 0)
        check(H5Adelete(file_, "changes"), "a changed attribute");
      attribute(file_, "changes", lines);
    });
  }

  void table(Table table, const Moment& at) override {
    const bool narrow = table.precision == Precision::F32;
    const std::vector<hsize_t> sizes(table.shape.begin(), table.shape.end());
    hsize_t count = 1;
    for (auto edge : sizes) count *= edge;
    const bool large = count >= kLargeTable;
    if (table.part.first > 0) return write_next_part(table, at, sizes);
    const Handle set = dataset(table.group(), table.name, at, sizes,
                               narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, large);
    if (large)
      write_packed(set, table, sizes);
    else if (count > 0)
      write_plain(set, table);
    if (!table.leading.empty())
      attribute(set, "sweep", fmt::format("{}", fmt::join(table.leading, ", ")));
    if (!table.columns.empty())
      attribute(set, "columns", fmt::format("{}", fmt::join(table.columns, ", ")));
    attribute(set, "units", program_.unit_of(table.name));
    for (const auto& [name, value] : table.numbers)
      attribute(set, name.c_str(), H5T_NATIVE_DOUBLE, value);
    write_edges(set, table, at);
    const bool placed = table.row().shape == program::OutputShape::Sites;
    if (placed && table.leading.empty())
      lay_on_lattice(set, table, at, static_cast<int>(number_of(table, "axis").value_or(-1)),
                     std::llround(number_of(table, "plane").value_or(0)));
    else
      give_dimensions(set, table);
  }

  bool takes_parts() const override { return true; }

  void swept(const Moment& at, std::span<const Swept> values) override {
    with_reason([&] { series_->add(at, values); });
  }

  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error) override {
    series_->plot(name, against, x, y, error);
  }

  void flush() override {
    with_reason([&] { series_->flush(); });
    if (described_ < arrays_.size()) {
      fs::path beside = path_;
      write_xdmf(beside.replace_extension(".xdmf"),
                 xdmf_text(program_, path_.filename().string(), arrays_));
      described_ = arrays_.size();
    }
    // Closing a dataset does not report chunks that could not be written.
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || !backing_.trouble.empty())
      throw ResultsError(backing_.trouble.empty()
                             ? fmt::format("{} cannot be flushed", path_.string())
                             : backing_.trouble);
  }

  std::string mark(std::int64_t generation) override {
    flush();
    backing_.file.mark(generation);
    return {};
  }

  void forget_before(std::int64_t generation) override { backing_.file.forget_before(generation); }

 private:
  /// Makes a call of the library. If it fails because the file could not be written, that is the
  /// error thrown.
  template <class Call>
  void with_reason(const Call& call) const {
    try {
      call();
    } catch (const ResultsError&) {
      if (backing_.trouble.empty()) throw;
      throw ResultsError(backing_.trouble);
    }
  }

  [[noreturn]] void fail(const char* doing) const {
    throw ResultsError(backing_.trouble.empty() ? fmt::format("HDF5 failed: {}", doing)
                                                : backing_.trouble);
  }

  static std::optional<double> number_of(const Table& table, std::string_view name) {
    for (const auto& [key, value] : table.numbers)
      if (key == name) return value;
    return std::nullopt;
  }

  void write_plain(hid_t set, Table& table) {
    unpack(table);
    if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table.values.data()) < 0)
      fail("writing an array (is the disk full?)");
  }

  void write_next_part(const Table& table, const Moment& at, const std::vector<hsize_t>& sizes) {
    const std::string link = link_of(table.group(), table.name, at);
    const Handle set(H5Dopen2(file_, link.c_str(), H5P_DEFAULT), H5Dclose, "opening an array");
    write_packed(set, table, sizes);
  }

  /// Chunk by chunk, packed by several threads (chunks.hpp).
  void write_packed(hid_t set, const Table& table, std::vector<hsize_t> sizes) {
    const std::vector<std::uint64_t> chunk = chunk_of(sizes);
    if (table.part.count > 0) sizes.front() = static_cast<hsize_t>(table.part.count);
    const bool narrow = table.precision == Precision::F32;
    std::vector<float> numbers;
    const std::byte* from = table.raw.get();
    if (from == nullptr && narrow) {
      numbers.assign(table.values.begin(), table.values.end());
      from = reinterpret_cast<const std::byte*>(numbers.data());
    } else if (from == nullptr) {
      from = reinterpret_cast<const std::byte*>(table.values.data());
    }
    std::size_t bytes = narrow ? 4 : 8;
    for (auto edge : sizes) bytes *= edge;
    const bool busy =
        program_.target == program::Target::Native;  // the run itself uses half of the threads then
    const int threads = std::max(1, runtime::usable_threads() / (busy ? 2 : 1));
    pack_chunks({from, bytes}, narrow ? 4 : 8, {sizes.begin(), sizes.end()}, chunk, threads,
                [&](const PackedChunk& packed) {
                  std::vector<hsize_t> at(packed.start.begin(), packed.start.end());
                  at.front() += static_cast<hsize_t>(table.part.first);
                  if (H5Dwrite_chunk(set, H5P_DEFAULT, 0, at.data(), packed.bytes.size(),
                                     packed.bytes.data()) < 0)
                    fail("writing an array (is the disk full?)");
                });
  }

  static std::vector<std::uint64_t> chunk_of(std::span<const hsize_t> shape) {
    std::vector<std::uint64_t> chunk;
    for (auto edge : shape)
      chunk.push_back(std::min<hsize_t>(edge, shape.size() > 2 ? kChunkOfSites : kChunkOfPlanes));
    return chunk;
  }

  void write_numbers(const std::string& path, const std::vector<double>& values) {
    const Handle create(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "making a property list");
    H5Pset_create_intermediate_group(create, 1);
    if (links_.contains(path)) H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
    const Handle set(
        H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE,
                   space(std::array<hsize_t, 1>{values.size()}), create, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose, "making an axis");
    links_[path] = true;
    if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      fail("writing an axis (is the disk full?)");
  }

  /// Bin edges of a map.
  void write_edges(hid_t set, const Table& table, const Moment& at) {
    std::string axes;
    for (const auto& [name, values] : table.axes) {
      const std::string path = fmt::format("/{}/{}/{}/{:08}/{}", kAxesGroup, table.group(),
                                           link_name(table.name), at.step, name);
      axes += (axes.empty() ? "" : ", ") + path;
      write_numbers(path, values);
    }
    if (!axes.empty()) attribute(set, kAxesAttribute, axes);
  }

  /// Coordinates of the sites along an axis, written once: a dimension scale.
  std::string coordinates(int axis) {
    const std::string name(1, "xyzw"[axis]), path = fmt::format("/{}/{}", kAxesGroup, name);
    if (links_.contains(path)) return path;
    std::vector<double> values;
    for (std::int64_t i = 0; i < program_.extent[axis]; ++i)
      values.push_back(
          (static_cast<double>(i) - static_cast<double>(program_.extent[axis] - 1) / 2) *
          program_.dx_physical);
    write_numbers(path, values);
    const Handle set(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, "opening an axis");
    make_scale(set, name);
    attribute(set, "units", program_.counted ? "1" : program_.length_unit);
    return path;
  }

  /// Writes the place of an array on the lattice: names of its axes, their coordinates as dimension
  /// scales, and an entry for the XDMF.
  void lay_on_lattice(hid_t set, const Table& table, const Moment& at, int cut,
                      std::int64_t plane) {
    std::vector<std::int64_t> shape;
    std::vector<std::string> scales, labels;
    for (int axis = program_.dims - 1; axis >= 0; --axis)
      if (axis != cut) {
        shape.push_back(program_.extent[axis]);
        scales.push_back(coordinates(axis));
        labels.emplace_back(1, "xyzw"[axis]);
      }
    const std::string names = fmt::format("{}", fmt::join(scales, ", "));
    for (std::size_t a = table.shape.size() - table.inner.size(); a < table.shape.size(); ++a)
      shape.push_back(table.shape[a]);
    if (scales.empty() || shape != table.shape) return give_dimensions(set, table);
    value_dimensions(table, scales, labels);
    attach(set, table, scales, labels);
    attribute(set, kAxesAttribute, names);
    arrays_.push_back({table.name, link_of(table.group(), table.name, at), at,
                       table.precision == Precision::F32 ? 4 : 8, table.shape, cut, plane,
                       !table.inner.empty() && table.inner.back() == "part"});
  }

  static std::string folder_of(const std::string& group, const std::string& name) {
    return "/" + group + "/" + link_name(name);
  }

  void attach(hid_t set, const Table& table, const std::vector<std::string>& scales,
              const std::vector<std::string>& labels) {
    for (const std::string& scale : scales)
      link_scale(file_, scale, folder_of(table.group(), table.name));
    attach_scales(file_, set, scales, labels);
  }

  /// Dimensions of the value at a site, behind those of the lattice.
  void value_dimensions(const Table& table, std::vector<std::string>& scales,
                        std::vector<std::string>& labels) {
    const std::string folder = folder_of(table.group(), table.name);
    const std::size_t first = table.shape.size() - table.inner.size();
    for (std::size_t a = 0; a < table.inner.size(); ++a) {
      const bool parts = table.inner[a] == "part";
      labels.push_back(
          number_scale(folder, table.inner[a], static_cast<hsize_t>(table.shape[first + a]),
                       parts ? std::vector<std::string>{"re", "im"} : std::vector<std::string>{}));
      scales.push_back(folder + "/" + labels.back());
    }
  }

  /// Dimensions of an array that does not lie on the lattice: axes of the sweep, then rows and
  /// columns. Arrays of one name that differ in their number of rows have row_N besides.
  void give_dimensions(hid_t set, const Table& table) {
    std::vector<std::string> scales, labels;
    for (const std::string& leading : table.leading)
      for (std::size_t k = 0; k < program_.axes.size(); ++k)
        if (program_.axes[k].name == leading)
          scales.push_back(series_->axis(k)), labels.push_back(leading);
    const std::size_t front = scales.size();
    const std::size_t own = table.shape.size() - front - table.inner.size();
    for (std::size_t d = 0; d < own; ++d) {
      const bool last = d + 1 == own && own > 1 && table.inner.empty();
      const std::string base = !table.inner.empty() ? fmt::format("site{}", d)
                               : last               ? "column"
                               : own < 3            ? "row"
                                                    : fmt::format("row{}", d);
      const auto size = static_cast<hsize_t>(table.shape[front + d]);
      labels.push_back(number_scale(folder_of(table.group(), table.name), base, size,
                                    last ? table.columns : std::vector<std::string>{}));
      scales.push_back(folder_of(table.group(), table.name) + "/" + labels.back());
    }
    value_dimensions(table, scales, labels);
    if (!scales.empty()) attach(set, table, scales, labels);
  }

  /// A scale of 0, 1, ..., or of texts; its name.
  std::string number_scale(const std::string& folder, const std::string& base, hsize_t size,
                           const std::vector<std::string>& texts) {
    std::string name = base;
    for (; there_is(file_, folder + "/" + name); name = fmt::format("{}_{}", base, size)) {
      const Handle set(H5Dopen2(file_, (folder + "/" + name).c_str(), H5P_DEFAULT), H5Dclose,
                       "opening an axis");
      const Handle shape(H5Dget_space(set), H5Sclose, "reading a shape");
      if (static_cast<hsize_t>(H5Sget_simple_extent_npoints(shape)) == size) return name;
      if (name != base) throw ResultsError(folder + "/" + name + " has another size");
    }
    const bool words = texts.size() == size;
    const Handle type = words ? text_type() : Handle(H5Tcopy(H5T_STD_I64LE), H5Tclose, "a type");
    const Handle shape = space(std::array<hsize_t, 1>{size});
    const Handle set(H5Dcreate2(file_, (folder + "/" + name).c_str(), type, shape, H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT),
                     H5Dclose, "making an axis");
    make_scale(set, name);
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    std::vector<std::int64_t> numbers(size);
    for (hsize_t i = 0; i < size; ++i) numbers[i] = static_cast<std::int64_t>(i);
    const herr_t status =
        words ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data())
              : H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
    if (size > 0) check(status, "writing an axis");
    return name;
  }

  static std::string link_of(const std::string& group, const std::string& name, const Moment& at) {
    return fmt::format("/{}/{}/{:08}", group, link_name(name), at.step);
  }

  void describe() {
    const Program& p = program_;
    attribute(file_, "model", p.model);
    attribute(file_, "title", p.title);
    if (!p.base_unit.empty()) attribute(file_, "base_unit", p.base_unit);
    attribute(file_, "vphi_version", VPHI_VERSION);
    attribute(file_, "compiler_version", p.compiler_version);
    attribute(file_, "seed", H5T_NATIVE_UINT64, p.seed);
    attribute(file_, "dx", H5T_NATIVE_DOUBLE, p.dx_physical);
    attribute(file_, "dt", H5T_NATIVE_DOUBLE, p.dt_physical);
    attribute(file_, "dx_program", H5T_NATIVE_DOUBLE, p.dx);
    attribute(file_, "dt_program", H5T_NATIVE_DOUBLE, p.dt);
    const Handle extent_space = space(std::array<hsize_t, 1>{static_cast<hsize_t>(p.dims)});
    const Handle extent(
        H5Acreate2(file_, "lattice", H5T_STD_I64LE, extent_space, H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, "making an attribute");
    check(H5Awrite(extent, H5T_NATIVE_INT64, p.extent.data()), "writing an attribute");
    if (p.model_text.size() < kLongText) {
      attribute(file_, kModelText, p.model_text);
    } else {
      const Handle type = text_type(), one(H5Screate(H5S_SCALAR), H5Sclose, "describing a text");
      const Handle set(
          H5Dcreate2(file_, kModelText, type, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
          "making the model's text");
      const char* pointer = p.model_text.c_str();
      check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer), "writing the text");
    }
    const Handle parameters(
        H5Gcreate2(file_, kParametersGroup, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
        "making a group");
    for (const auto& [name, value] : p.parameters)
      if (H5Aexists(parameters, name.c_str()) == 0)
        attribute(parameters, name.c_str(), H5T_NATIVE_DOUBLE, value);
  }

  /// Finds the arrays of a file that was opened again; Hdf5Series finds its series.
  void take_stock() {
    for (const auto& [group, folder] : members("/")) {
      if (group == kAxesGroup) {
        note_axes(folder);
        continue;
      }
      if (Hdf5Series::owns(group) || group == kParametersGroup || group == kModelText) continue;
      const program::OutputRow* row = program::output_of_group(group);
      const bool at_sites = row != nullptr && row->shape == program::OutputShape::Sites;
      for (const auto& [name, link] : members(folder))
        for (const auto& [step, set] : members(link)) {
          links_[set] = true;
          if (at_sites && H5Aexists_by_name(file_, set.c_str(), kAxesAttribute, H5P_DEFAULT) > 0)
            arrays_.push_back(array_of(set));
        }
    }
    std::stable_sort(arrays_.begin(), arrays_.end(),
                     [](const auto& a, const auto& b) { return a.at.step < b.at.step; });
  }

  /// Every dataset below /axes.
  void note_axes(const std::string& group) {
    for (const auto& [name, link] : members(group)) {
      H5O_info_t about;
#if H5_VERSION_GE(1, 12, 0)
      const herr_t known =
          H5Oget_info_by_name3(file_, link.c_str(), &about, H5O_INFO_BASIC, H5P_DEFAULT);
#else
      const herr_t known = H5Oget_info_by_name(file_, link.c_str(), &about, H5P_DEFAULT);
#endif
      check(known, "looking at an axis");
      if (about.type == H5O_TYPE_DATASET)
        links_[link] = true;
      else
        note_axes(link);
    }
  }

  /// Name (the attribute where there is one) and path of each member of a group.
  std::vector<std::pair<std::string, std::string>> members(const std::string& group) const {
    std::vector<std::pair<std::string, std::string>> list;
    if (group != "/" && H5Lexists(file_, group.c_str(), H5P_DEFAULT) <= 0) return list;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
      static_cast<decltype(list)*>(to)->emplace_back(name, name);
      return 0;
    };
    const Handle folder(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose, "opening a group");
    check(H5Literate(folder, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &list), "listing a group");
    for (auto& [name, link] : list) {
      link = (group == "/" ? "/" : group + "/") + link;
      if (H5Aexists_by_name(file_, link.c_str(), "name", H5P_DEFAULT) > 0) name = text_of(link);
    }
    return list;
  }

  /// The attribute "name" of an object.
  std::string text_of(const std::string& link) const {
    const Handle object(H5Oopen(file_, link.c_str(), H5P_DEFAULT), H5Oclose, "opening an object");
    return hdf5::text_attribute(object, "name");
  }

  XdmfArray array_of(const std::string& link) const {
    const auto read = [&](const char* name, hid_t type, void* to) {
      const Handle a(H5Aopen_by_name(file_, link.c_str(), name, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                     "opening an attribute");
      check(H5Aread(a, type, to), "reading an attribute");
    };
    XdmfArray found;
    found.name = text_of(link), found.link = link;
    read("t", H5T_NATIVE_DOUBLE, &found.at.time);
    read("step", H5T_NATIVE_INT64, &found.at.step);
    if (H5Aexists_by_name(file_, link.c_str(), "axis", H5P_DEFAULT) > 0) {
      read("axis", H5T_NATIVE_INT, &found.axis);
      read("plane", H5T_NATIVE_INT64, &found.plane);
    }
    const Handle set(H5Dopen2(file_, link.c_str(), H5P_DEFAULT), H5Dclose, "opening a dataset");
    const Handle type(H5Dget_type(set), H5Tclose, "reading a type");
    found.bytes = static_cast<int>(H5Tget_size(type));
    const Handle shape(H5Dget_space(set), H5Sclose, "reading a shape");
    std::vector<hsize_t> sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(shape)));
    check(H5Sget_simple_extent_dims(shape, sizes.data(), nullptr), "reading a shape");
    found.shape.assign(sizes.begin(), sizes.end());
    const auto labels = hdf5::texts_attribute(set, "DIMENSION_LABELS");
    found.parts = !labels.empty() && labels.back() == "part";
    return found;
  }

  /// A new dataset /group/name/step with its moment; one that is there already is replaced.
  Handle dataset(const std::string& group, const std::string& name, const Moment& at,
                 std::span<const hsize_t> shape, hid_t type, bool compressed) {
    const std::string folder = "/" + group + "/" + link_name(name);
    const std::string path = fmt::format("{}/{:08}", folder, at.step);
    const Handle create(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "making a property list");
    H5Pset_create_intermediate_group(create, 1);
    const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "making a property list");
    if (compressed) {
      const auto edges = chunk_of(shape);
      const std::vector<hsize_t> chunk(edges.begin(), edges.end());
      H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_shuffle(layout);
      H5Pset_deflate(layout, kDeflate);
      H5Pset_fletcher32(layout);
    }
    if (links_.contains(path)) {
      H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
      std::erase_if(arrays_, [&](const auto& array) { return array.link == path; });
    }
    Handle set(H5Dcreate2(file_, path.c_str(), type, space(shape), create, layout, H5P_DEFAULT),
               H5Dclose, "making a dataset");
    links_[path] = true;
    attribute(set, "t", H5T_NATIVE_DOUBLE, at.time);
    attribute(set, "step", H5T_NATIVE_INT64, at.step);
    attribute(set, "name", name);
    return set;
  }

  fs::path path_;
  const Program& program_;
  Hdf5Backing backing_;  // before the file, which writes to it when it closes
  Handle file_;          // before the datasets, which close first
  std::unique_ptr<Hdf5Series> series_;
  std::map<std::string, bool> links_;
  std::vector<XdmfArray> arrays_;  ///< slices and snapshots
  std::size_t described_ = 0;      ///< how many of them the XDMF text has
};

}  // namespace

bool have_hdf5() { return true; }

std::unique_ptr<ResultFile> open_hdf5(const fs::path& path, const Program& program,
                                      const Keep& keep) {
  return std::make_unique<Hdf5File>(path, program, keep);
}

}  // namespace vphi::io

#else

namespace vphi::io {

bool have_hdf5() { return false; }

std::unique_ptr<ResultFile> open_hdf5(const std::filesystem::path& path,
                                      const program::Program& program, const Keep& keep) {
  return open_csv(path, program, keep);
}

}  // namespace vphi::io

#endif
