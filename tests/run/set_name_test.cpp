// Names of sets in HDF5 files.
#include "runtime/io/files/set_name.hpp"

#include <gtest/gtest.h>

namespace vphi::io {
namespace {

TEST(SetName, EndsThePathAtTheFile) {
  const struct {
    const char *name, *path, *set;
  } rows[] = {
      {"a.h5:u", "a.h5", "u"},
      {"out/a.hdf5:/group/u", "out/a.hdf5", "/group/u"},
      {"out/a.h5:/snapshots/u:v", "out/a.h5", "/snapshots/u:v"},
      {"a.h5:b/c.h5:u", "a.h5:b/c.h5", "u"},
  };
  for (const auto& row : rows) {
    const auto found = set_name(row.name);
    ASSERT_TRUE(found) << row.name;
    EXPECT_EQ(found->path, row.path);
    EXPECT_EQ(found->set, row.set);
  }
  for (const char* other : {"a.h5", "a.txt:3", "h5:u", ""}) EXPECT_FALSE(set_name(other)) << other;
}

}  // namespace
}  // namespace vphi::io
