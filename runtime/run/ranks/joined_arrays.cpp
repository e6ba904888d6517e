#include "runtime/run/ranks/joined_arrays.hpp"

#include <algorithm>

#include "runtime/io/files/real_bytes.hpp"
#include "runtime/io/results.hpp"
#include "runtime/observe/kinds/kind.hpp"
#include "runtime/run/starts/own_field.hpp"

namespace vphi::runtime {

namespace {

using program::FieldOutput;
using program::Program;

bool joined(const Program& p, const std::string& file, const FieldOutput& field, int ranks) {
  if (field.kind == FieldOutput::Kind::Snapshot && observe::takes_all_sites(field) &&
      io::takes_parts(file)) {
    const auto extent = p.whole_extent();
    const std::vector<std::int64_t> sites(extent.rend() - p.dims, extent.rend());
    return io::parts_of_sites(sites).size() == 1;
  }
  if (observe::has_bin_sums(field)) return !transformed_by_ranks(p, ranks);
  return !observe::read_in_parts(field);
}

/// A number of a snapshot has its own precision where nothing is computed of it.
std::int64_t bytes_of_number(const Program& p, const FieldOutput& field) {
  const bool plain = field.kind == FieldOutput::Kind::Snapshot && field.more.empty() &&
                     field.scale == 1 && field.offset == 0;
  const auto& buffer = p.buffers[static_cast<std::size_t>(field.buffer)];
  return plain ? static_cast<std::int64_t>(io::bytes_of(buffer.precision))
               : std::int64_t{sizeof(double)};
}

}  // namespace

JoinedArrays joined_arrays(const Program& of_rank, int ranks) {
  const auto extent = of_rank.whole_extent();
  const std::int64_t sites = extent[0] * extent[1] * extent[2] * extent[3];
  JoinedArrays all;
  const auto add = [&](const std::string& name, std::int64_t bytes) {
    if (std::ranges::find(all.what, name) == all.what.end()) all.what.push_back(name);
    all.bytes = std::max(all.bytes, sites * bytes);
  };
  for (const program::Output& output : of_rank.outputs)
    for (const FieldOutput& field : output.fields)
      if (joined(of_rank, output.file, field, ranks))
        add(field.name, bytes_of_number(of_rank, field));
  for (const program::RandomField& field : of_rank.random)
    if (!drawn_by_ranks(of_rank, field, ranks))
      add("the start of " + of_rank.buffers[static_cast<std::size_t>(field.buffer)].name,
          sizeof(double));
  return all;
}

}  // namespace vphi::runtime
