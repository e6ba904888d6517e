#include "runtime/io/xdmf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

namespace vphi::io {
namespace {

/// Text of a run in XML: quotes and brackets escaped, control characters left out.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

/// Nodes, first node and spacing along each axis, slowest first.
struct Mesh {
  std::vector<std::int64_t> nodes;
  std::vector<double> origin, spacing;
};

/// Empty where the array is not a lattice of one to three dimensions, or not a slice of one.
Mesh mesh_of(const program::Program& p, const XdmfArray& array) {
  Mesh mesh;
  if (p.dims > 3) return {};
  for (int axis = p.dims - 1; axis >= 0; --axis) {
    if (axis == array.axis) continue;
    mesh.nodes.push_back(p.extent[axis]);
    mesh.origin.push_back(-0.5 * static_cast<double>(p.extent[axis] - 1) * p.dx_physical);
    mesh.spacing.push_back(p.dx_physical);
  }
  const bool fits = mesh.nodes.size() <= array.shape.size() &&
                    std::equal(mesh.nodes.begin(), mesh.nodes.end(), array.shape.begin());
  if (mesh.nodes.empty() || !fits) return {};
  if (mesh.nodes.size() == 1) {
    mesh.nodes.insert(mesh.nodes.begin(), 1);
    mesh.origin.insert(mesh.origin.begin(), 0);
    mesh.spacing.insert(mesh.spacing.begin(), p.dx_physical);
  }
  return mesh;
}

std::string grid_head(const Mesh& mesh, const Moment& at) {
  const bool flat = mesh.nodes.size() == 2;
  const auto numbers = [&](const std::vector<double>& values) {
    return fmt::format(
        "<DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" Dimensions=\"{}\">{}"
        "</DataItem>",
        values.size(), fmt::join(values, " "));
  };
  return fmt::format(
      "<Grid Name=\"step {}\" GridType=\"Uniform\"><Time Value=\"{}\"/>\n"
      "<Topology TopologyType=\"{}\" Dimensions=\"{}\"/>\n"
      "<Geometry GeometryType=\"{}\">{}{}</Geometry>\n",
      at.step, at.time, flat ? "2DCoRectMesh" : "3DCoRectMesh", fmt::join(mesh.nodes, " "),
      flat ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ", numbers(mesh.origin), numbers(mesh.spacing));
}

/// Axes of the lattice in the array; the rest are those of a value.
std::size_t nodes_of(const program::Program& p, const XdmfArray& array) {
  return static_cast<std::size_t>(p.dims - (array.axis >= 0 && array.axis < p.dims ? 1 : 0));
}

/// A number at each node, a vector, or each component by itself: a part of the set.
std::string attributes(const XdmfArray& array, std::size_t nodes, const std::string& data) {
  const std::string item = fmt::format(
      "<DataItem Format=\"HDF\" NumberType=\"Float\" Precision=\"{}\" Dimensions=\"{}\">{}:{}"
      "</DataItem>",
      array.bytes, fmt::join(array.shape, " "), data, escaped(array.link));
  const std::span value = std::span(array.shape).subspan(nodes);
  const auto attribute = [&](const std::string& name, const char* type, const std::string& what) {
    return fmt::format(
        "<Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"Node\">{}</Attribute>\n",
        escaped(name), type, what);
  };
  if (value.empty()) return attribute(array.name, "Scalar", item);
  if (value.size() == 1 && value[0] == 3) return attribute(array.name, "Vector", item);
  std::string text;
  std::int64_t number = 0;
  for (const std::string& name : component_names(array.name, value, array.parts)) {
    std::vector<std::int64_t> start(array.shape.size(), 0), stride(array.shape.size(), 1);
    std::vector<std::int64_t> count(array.shape.begin(), array.shape.end());
    std::int64_t rest = number++;
    for (std::size_t a = array.shape.size(); a-- > nodes; rest /= array.shape[a])
      start[a] = rest % array.shape[a], count[a] = 1;
    text += attribute(
        name, "Scalar",
        fmt::format("<DataItem ItemType=\"HyperSlab\" Dimensions=\"{}\"><DataItem Format=\"XML\" "
                    "NumberType=\"Int\" Dimensions=\"3 {}\">{} {} {}</DataItem>{}</DataItem>",
                    fmt::join(std::span(array.shape).first(nodes), " "), array.shape.size(),
                    fmt::join(start, " "), fmt::join(stride, " "), fmt::join(count, " "), item));
  }
  return text;
}

std::string collection_name(const XdmfArray& array) {
  using program::OutputKind;
  if (array.axis < 0) return std::string(program::row_of(OutputKind::Snapshot).group);
  return fmt::format("{} across {} at site {}", program::row_of(OutputKind::Slice).group,
                     "xyz"[array.axis], array.plane);
}

}  // namespace

std::string xdmf_text(const program::Program& program, const std::string& data,
                      std::span<const XdmfArray> arrays) {
  // by (axis, plane), then by step: one grid for the arrays of one moment
  std::map<std::tuple<int, std::int64_t>, std::map<std::int64_t, std::vector<const XdmfArray*>>>
      collections;
  for (const XdmfArray& array : arrays)
    if (!mesh_of(program, array).nodes.empty())
      collections[{array.axis, array.plane}][array.at.step].push_back(&array);
  std::string text =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n";
  for (const auto& [key, moments] : collections) {
    text += fmt::format("<Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
                        collection_name(*moments.begin()->second.front()));
    for (const auto& [step, here] : moments) {
      text += grid_head(mesh_of(program, *here.front()), here.front()->at);
      for (const XdmfArray* array : here)
        text += attributes(*array, nodes_of(program, *array), escaped(data));
      text += "</Grid>\n";
    }
    text += "</Grid>\n";
  }
  return text + "</Domain>\n</Xdmf>\n";
}

void write_xdmf(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path temporary = path.string() + ".new";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, path, error);
  if (!file || error)
    throw ResultsError(fmt::format("{} cannot be written (is the disk full?)", path.string()));
}

}  // namespace vphi::io
