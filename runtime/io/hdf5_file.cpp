// Result files in HDF5, and the XDMF text beside them.
#include "runtime/io/results.hpp"

#ifdef VPHI_HAVE_HDF5

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "program/hdf5_read.hpp"
#include "runtime/device/thread_pool.hpp"
#include "runtime/io/chunks.hpp"
#include "runtime/io/hdf5_sweep.hpp"
#include "runtime/io/hdf5_undo.hpp"
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

constexpr hsize_t kChunkRows = 512;       ///< of a series
constexpr std::size_t kPending = 1024;    ///< points of a series kept back between writes
constexpr hsize_t kLarge = 4096;          ///< numbers from which on an array is packed
constexpr int kDeflate = 1;               ///< more gains little on fields and costs time
constexpr std::size_t kLongText = 60000;  ///< an attribute holds less than 64 kB

/// What the library could not open is thrown.
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

/// A file that an earlier process has left may be damaged: every object and all that is attached to
/// it is looked at in a child first.
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
  const Apart trial = tried_apart(look);
  if (trial.how == Apart::How::Threw) throw ResultsError(trial.what);
  if (trial.how == Apart::How::Died)
    throw ResultsError(
        fmt::format("{} is damaged: the HDF5 library does not survive it ({})", path, trial.what));
}

class Hdf5File : public ResultFile {
 public:
  Hdf5File(const fs::path& path, const Program& program, const Keep& keep)
      : path_(path), program_(program), backing_{UndoFile(path, keep.logs, !keep.generation), {}} {
    hdf5::quiet();
    const Handle access(undo_access(backing_), H5Pclose, "choosing the file driver");
    if (keep.generation) {
      backing_.file.go_back(*keep.generation);
      look_through(path.string());
      file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose,
                     fmt::format("opening {} again", path.string()).c_str());
      take_stock(keep.at);
    } else {
      file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
                     fmt::format("making {}", path.string()).c_str());
      describe();
    }
  }

  ~Hdf5File() override {
    hdf5::quiet();                    // the setting belongs to a thread
    if (!backing_.trouble.empty()) {  // the disk is full, and that has been said
      backing_.given_up = true;
      return;
    }
    try {
      flush();
    } catch (const std::exception&) {
      // The run has ended by another error, or the disk is full, which `flush` said before.
      backing_.given_up = true;
    }
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    for (std::size_t i = 0; i < names.size(); ++i) {
      Series& series = series_[names[i]];
      if (series.last_step == at.step) continue;  // two clauses write the same name
      series.last_step = at.step;
      series.pending.insert(series.pending.end(), {at.time, values[i]});
      if (series.pending.size() >= 2 * kPending) append(names[i], series);
    }
  }

  void spectrum(const std::string& name, const Moment& at,
                std::span<const SpectrumBin> bins) override {
    std::vector<double> table;
    for (const auto& bin : bins)
      table.insert(table.end(), {bin.k, bin.power, bin.delta, static_cast<double>(bin.modes)});
    const Handle set =
        dataset("spectra", name, at, std::array<hsize_t, 2>{bins.size(), 4}, H5T_IEEE_F64LE, false);
    if (!table.empty())
      check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, table.data()),
            "writing a spectrum");
    attribute(set, "columns", "k, P, Delta, modes");
  }

  void array(const std::string& group, const std::string& name, const Moment& at,
             std::span<const std::int64_t> shape, std::span<const double> values,
             Precision precision) override {
    Table whole;
    whole.group = group, whole.name = name, whole.precision = precision;
    whole.shape.assign(shape.begin(), shape.end());
    whole.values.assign(values.begin(), values.end());
    table(std::move(whole), at);
  }

  void table(Table table, const Moment& at) override {
    const bool narrow = table.precision == Precision::F32;
    const std::vector<hsize_t> sizes(table.shape.begin(), table.shape.end());
    hsize_t count = 1;
    for (auto edge : sizes) count *= edge;
    const bool large = count >= kLarge;
    const Handle set = dataset(table.group, table.name, at, sizes,
                               narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, large);
    if (large)
      write_packed(set, table, sizes);
    else if (count > 0)
      write_plain(set, table);
    if (!table.leading.empty())
      attribute(set, "sweep", fmt::format("{}", fmt::join(table.leading, ", ")));
    if (!table.columns.empty())
      attribute(set, "columns", fmt::format("{}", fmt::join(table.columns, ", ")));
    for (const auto& [name, value] : table.numbers)
      attribute(set, name.c_str(), H5T_NATIVE_DOUBLE, value);
    write_edges(set, table, at);
    if (!table.leading.empty()) return;
    if (table.group == "snapshots") lay_on_lattice(set, table, at, -1, 0);
    if (table.group == "slices" && number_of(table, "axis"))
      lay_on_lattice(set, table, at, static_cast<int>(*number_of(table, "axis")),
                     std::llround(number_of(table, "plane").value_or(0)));
  }

  void swept(const Moment& at, std::span<const Swept> values) override {
    if (!sweep_) sweep_ = std::make_unique<Hdf5Sweep>(file_, program_);
    sweep_->add(at, values);
  }

  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error) override {
    if (!sweep_) sweep_ = std::make_unique<Hdf5Sweep>(file_, program_);
    sweep_->plot(name, against, x, y, error);
  }

  void flush() override {
    for (auto& [name, series] : series_) append(name, series);
    if (described_ < arrays_.size()) {
      fs::path beside = path_;
      write_xdmf(beside.replace_extension(".xdmf"),
                 xdmf_text(program_, path_.filename().string(), arrays_));
      described_ = arrays_.size();
    }
    // A dataset that was closed has told nobody that its chunks could not be written.
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
  struct Series {
    Handle set;
    hsize_t rows = 0;
    std::int64_t last_step = -1;
    std::vector<double> pending;  ///< t, value, t, value, ...
  };

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

  /// Chunk by chunk, packed by several threads (chunks.hpp).
  void write_packed(hid_t set, const Table& table, const std::vector<hsize_t>& sizes) {
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
    const bool busy = program_.target == program::Target::Native;  // the run has half of them then
    const int threads = std::max(1, runtime::usable_threads() / (busy ? 2 : 1));
    pack_chunks({from, bytes}, narrow ? 4 : 8, {sizes.begin(), sizes.end()}, chunk_of(sizes),
                threads, [&](const PackedChunk& chunk) {
                  const std::vector<hsize_t> at(chunk.start.begin(), chunk.start.end());
                  if (H5Dwrite_chunk(set, H5P_DEFAULT, 0, at.data(), chunk.bytes.size(),
                                     chunk.bytes.data()) < 0)
                    fail("writing an array (is the disk full?)");
                });
  }

  static std::vector<std::uint64_t> chunk_of(std::span<const hsize_t> shape) {
    std::vector<std::uint64_t> chunk;
    for (auto edge : shape) chunk.push_back(std::min<hsize_t>(edge, shape.size() > 2 ? 64 : 256));
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
      const std::string path =
          fmt::format("/axes/{}/{}/{:08}/{}", table.group, link_name(table.name), at.step, name);
      axes += (axes.empty() ? "" : ", ") + path;
      write_numbers(path, values);
    }
    if (!axes.empty()) attribute(set, "axes", axes);
  }

  /// Coordinates of the sites along an axis, written once: a dimension scale.
  std::string coordinates(int axis) {
    const std::string name(1, "xyzw"[axis]), path = "/axes/" + name;
    if (links_.contains(path)) return path;
    std::vector<double> values;
    for (std::int64_t i = 0; i < program_.extent[axis]; ++i)
      values.push_back(
          (static_cast<double>(i) - static_cast<double>(program_.extent[axis] - 1) / 2) *
          program_.dx_physical);
    write_numbers(path, values);
    const Handle set(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose, "opening an axis");
    plain_text(set, "CLASS", "DIMENSION_SCALE");
    plain_text(set, "NAME", name);
    return path;
  }

  /// What netCDF and the HDF5 tools look for has a fixed length.
  static void plain_text(hid_t where, const char* name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type");
    H5Tset_size(type, text.size() + 1);
    const Handle one(H5Screate(H5S_SCALAR), H5Sclose, "describing a text");
    const Handle a(H5Acreate2(where, name, type, one, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                   "making an attribute");
    check(H5Awrite(a, type, text.c_str()), "writing an attribute");
  }

  /// Says where the array lies: names of its axes, their coordinates as dimension scales, and a
  /// line for the XDMF. The scales' list of users, which other writers keep, would be rewritten for
  /// every array and is left out; readers do without.
  void lay_on_lattice(hid_t set, const Table& table, const Moment& at, int cut,
                      std::int64_t plane) {
    std::vector<int> axes;
    std::vector<std::int64_t> shape;
    for (int axis = program_.dims - 1; axis >= 0; --axis)
      if (axis != cut) axes.push_back(axis), shape.push_back(program_.extent[axis]);
    if (axes.empty() || shape != table.shape) return;
    std::vector<hobj_ref_t> references;
    std::string names;
    for (int axis : axes) {
      const std::string path = coordinates(axis);
      hobj_ref_t reference{};
      check(H5Rcreate(&reference, file_, path.c_str(), H5R_OBJECT, -1), "pointing at an axis");
      references.push_back(reference);
      names += (names.empty() ? "" : ", ") + path;
    }
    std::vector<hvl_t> list;
    for (auto& reference : references) list.push_back({1, &reference});
    const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose, "making a list type");
    const Handle shape_of_list = space(std::array<hsize_t, 1>{list.size()});
    const Handle a(H5Acreate2(set, "DIMENSION_LIST", type, shape_of_list, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose, "making an attribute");
    check(H5Awrite(a, type, list.data()), "writing an attribute");
    attribute(set, "axes", names);
    arrays_.push_back({table.name, link_of(table.group, table.name, at), at,
                       table.precision == Precision::F32 ? 4 : 8, table.shape, cut, plane});
  }

  static std::string link_of(const std::string& group, const std::string& name, const Moment& at) {
    return fmt::format("/{}/{}/{:08}", group, link_name(name), at.step);
  }

  void describe() {
    const Program& p = program_;
    attribute(file_, "model", p.model);
    attribute(file_, "title", p.title);
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
      attribute(file_, "model_text", p.model_text);
    } else {
      const Handle type = text_type(), one(H5Screate(H5S_SCALAR), H5Sclose, "describing a text");
      const Handle set(
          H5Dcreate2(file_, "model_text", type, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          H5Dclose, "making the model's text");
      const char* pointer = p.model_text.c_str();
      check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer), "writing the text");
    }
    const Handle parameters(H5Gcreate2(file_, "parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                            H5Gclose, "making a group");
    for (const auto& [name, value] : p.parameters)
      if (H5Aexists(parameters, name.c_str()) == 0)
        attribute(parameters, name.c_str(), H5T_NATIVE_DOUBLE, value);
  }

  /// What a file that was opened again holds: the ends of its series, its arrays.
  void take_stock(const Moment& at) {
    if (!program_.axes.empty()) return;  // Hdf5Sweep finds its own
    for (const auto& [name, link] : members("/series")) {
      Series& series = series_[name];
      series.set = Handle(H5Dopen2(file_, link.c_str(), H5P_DEFAULT), H5Dclose, "opening a series");
      const Handle shape(H5Dget_space(series.set), H5Sclose, "reading a shape");
      hsize_t size[2] = {0, 0};
      if (H5Sget_simple_extent_ndims(shape) != 2) throw ResultsError(link + " is no series");
      check(H5Sget_simple_extent_dims(shape, size, nullptr), "reading a shape");
      series.rows = size[0];
      if (series.rows == 0) continue;
      const hsize_t start[2] = {series.rows - 1, 0}, count[2] = {1, 1};
      check(H5Sselect_hyperslab(shape, H5S_SELECT_SET, start, nullptr, count, nullptr),
            "choosing a row");
      double time = 0;
      check(H5Dread(series.set, H5T_NATIVE_DOUBLE, space(count), shape, H5P_DEFAULT, &time),
            "reading a series");
      if (time == at.time) series.last_step = at.step;
    }
    for (const auto& [group, folder] : members("/")) {
      if (group == "axes") {
        note_axes(folder);
        continue;
      }
      if (Hdf5Sweep::owns(group)) continue;
      if (group == "series" || group == "parameters" || group == "model_text") continue;
      for (const auto& [name, link] : members(folder))
        for (const auto& [step, set] : members(link)) {
          links_[set] = true;
          const bool placed =
              H5Aexists_by_name(file_, set.c_str(), "DIMENSION_LIST", H5P_DEFAULT) > 0;
          if (placed) arrays_.push_back(array_of(set));
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

  void append(const std::string& name, Series& series) {
    if (series.pending.empty()) return;
    const hsize_t rows = series.pending.size() / 2;
    if (series.set < 0) {
      const hsize_t none[2] = {0, 2}, endless[2] = {H5S_UNLIMITED, 2}, chunk[2] = {kChunkRows, 2};
      const Handle create(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "making a property list");
      H5Pset_create_intermediate_group(create, 1);
      const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "making a property list");
      H5Pset_chunk(layout, 2, chunk);
      H5Pset_fletcher32(layout);
      series.set = Handle(H5Dcreate2(file_, ("/series/" + link_name(name)).c_str(), H5T_IEEE_F64LE,
                                     space(none, endless), create, layout, H5P_DEFAULT),
                          H5Dclose, "making a series");
      attribute(series.set, "columns", "t, value");
      attribute(series.set, "name", name);
    }
    const hsize_t size[2] = {series.rows + rows, 2}, start[2] = {series.rows, 0};
    const hsize_t count[2] = {rows, 2};
    check(H5Dset_extent(series.set, size), "growing a series");
    const Handle target(H5Dget_space(series.set), H5Sclose, "reading a shape");
    H5Sselect_hyperslab(target, H5S_SELECT_SET, start, nullptr, count, nullptr);
    if (H5Dwrite(series.set, H5T_NATIVE_DOUBLE, space(count), target, H5P_DEFAULT,
                 series.pending.data()) < 0)
      fail("writing a series (is the disk full?)");
    series.rows += rows;
    series.pending.clear();
  }

  fs::path path_;
  const Program& program_;
  Hdf5Backing backing_;  // before the file, which writes to it when it closes
  Handle file_;          // before the datasets, which close first
  std::map<std::string, Series> series_;
  std::unique_ptr<Hdf5Sweep> sweep_;
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
