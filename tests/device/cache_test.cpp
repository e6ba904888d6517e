// The code cache: an entry that differs from the one stored is not used, and no fault of the cache
// makes a run fail.
#include "runtime/device/cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/device/native/native.hpp"
#include "runtime/device/self_test.hpp"
#include "runtime/device/sha256.hpp"
#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string key_of(const std::string& text) { return CacheKey().add("source", text).text(); }

TEST(Sha256, AgreesWithThePublishedExamples) {
  // FIPS 180-4 examples, and lengths around the padding's edges (coreutils).
  const std::pair<std::string, std::string> table[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
      {std::string(55, 'a'), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
      {std::string(64, 'a'), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"}};
  for (const auto& [text, digest] : table) EXPECT_EQ(hex(sha256(text)), digest);
}

TEST(CacheKey, PartsDoNotRunTogether) {
  EXPECT_NE(CacheKey().add("a", "bc").text(), CacheKey().add("ab", "c").text());
  EXPECT_NE(CacheKey().add("a", "b").add("c", "d").text(), CacheKey().add("a", "b1:c1:d").text());
  EXPECT_EQ(key_of("x").size(), 64u);
}

TEST(DiskCache, GivesBackWhatWasStored) {
  const TemporaryFolder folder;
  const DiskCache cache(fs::path(folder.path()) / "new" / "folder");
  const std::string bytes("code\0with zeros\n", 16);
  EXPECT_FALSE(cache.load(key_of("a")));
  EXPECT_TRUE(cache.store(key_of("a"), bytes));
  EXPECT_EQ(cache.load(key_of("a")), bytes);
  EXPECT_FALSE(cache.load(key_of("b")));
  EXPECT_TRUE(cache.store(key_of("a"), "other"));
  EXPECT_EQ(cache.load(key_of("a")), "other");
  EXPECT_TRUE(cache.store("copy_" + key_of("a"), "own name"));
  EXPECT_EQ(cache.load("copy_" + key_of("a")), "own name");
  EXPECT_FALSE(cache.store("../escape", "x"));
  EXPECT_EQ(cache.contents().first, 2u);  // no temporary files are left
}

TEST(DiskCache, EveryDamageIsFound) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const std::string key = key_of("a");
  ASSERT_TRUE(cache.store(key, "some code of a kernel"));
  const std::string sound = read(cache.path_of(key));
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = char(damaged[i] ^ 1);
    write(cache.path_of(key), damaged);
    EXPECT_FALSE(cache.load(key)) << "byte " << i;
    write(cache.path_of(key), sound.substr(0, i));
    EXPECT_FALSE(cache.load(key)) << "cut at " << i;
  }
  write(cache.path_of(key), sound + "x");
  EXPECT_FALSE(cache.load(key));
  write(cache.path_of(key), sound);
  EXPECT_TRUE(cache.load(key));
}

TEST(DiskCache, ForeignEntriesAreNotTrusted) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  ASSERT_TRUE(cache.store(key_of("a"), "code of a"));
  fs::copy_file(cache.path_of(key_of("a")), cache.path_of(key_of("b")));
  EXPECT_FALSE(cache.load(key_of("b")));  // a whole entry under another key
  fs::create_symlink(cache.path_of(key_of("a")), cache.path_of(key_of("c")));
  EXPECT_FALSE(cache.load(key_of("c")));
  fs::create_directory(cache.path_of(key_of("d")));
  EXPECT_FALSE(cache.load(key_of("d")));
  EXPECT_FALSE(cache.store(key_of("d"), "code"));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(cache.path_of(key_of("a")).c_str(), 12345, 12345), 0);
    EXPECT_FALSE(cache.load(key_of("a")));
  }
}

TEST(DiskCache, AFolderThatCannotBeWrittenIsNoError) {
  const TemporaryFolder folder;
  write(fs::path(folder.path()) / "file", "");
  for (const DiskCache& cache :
       {DiskCache(fs::path()), DiskCache(fs::path(folder.path()) / "file" / "below"),
        DiskCache("/proc/vphi")}) {
    EXPECT_FALSE(cache.store(key_of("a"), "code"));
    EXPECT_FALSE(cache.load(key_of("a")));
    EXPECT_FALSE(cache.writable());
  }
  EXPECT_TRUE(DiskCache(folder.path()).writable());
}

TEST(DiskCache, ShrinksTheOldestAway) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  for (int i = 0; i < 5; ++i) {
    const std::string key = key_of(std::to_string(i));
    ASSERT_TRUE(cache.store(key, std::string(1000, 'x')));
    fs::last_write_time(cache.path_of(key),
                        fs::file_time_type::clock::now() - std::chrono::hours(i));
  }
  cache.shrink(2500);
  EXPECT_TRUE(cache.load(key_of("0")));
  EXPECT_TRUE(cache.load(key_of("1")));
  EXPECT_FALSE(cache.load(key_of("2")));
  EXPECT_FALSE(cache.load(key_of("4")));
}

TEST(DiskCache, AnEntryBeingReadStays) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  for (const char* key : {"a", "b"}) ASSERT_TRUE(cache.store(key_of(key), std::string(1000, 'x')));
  int ready[2], over[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(over), 0);
  const pid_t reader = fork();
  if (reader == 0) {  // holds the lock that load() takes
    const int file = open(cache.path_of(key_of("a")).c_str(), O_RDONLY);
    char byte = 0;
    const bool fine = flock(file, LOCK_SH) == 0 && ::write(ready[1], "x", 1) == 1 &&
                      ::read(over[0], &byte, 1) == 1;
    _exit(fine ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  cache.shrink(0);
  EXPECT_TRUE(cache.load(key_of("a")));
  EXPECT_FALSE(cache.load(key_of("b")));
  ASSERT_EQ(::write(over[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  EXPECT_EQ(status, 0);
  cache.shrink(0);
  EXPECT_FALSE(cache.load(key_of("a")));
}

TEST(DiskCache, KeepsItselfBelowTheLimit) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  setenv("VPHI_CACHE_MB", "0.02", 1);
  EXPECT_EQ(DiskCache::limit(), 20000U);
  const auto hours_ago = [](int n) {
    return fs::file_time_type::clock::now() - std::chrono::hours(n);
  };
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(cache.store(key_of(std::to_string(i)), std::string(1000, 'x')));
    fs::last_write_time(cache.path_of(key_of(std::to_string(i))), hours_ago(30 - i));
  }
  const fs::path left_behind = cache.path_of(key_of("z")).string() + ".new.1.0";
  write(left_behind, "half");
  fs::last_write_time(left_behind, hours_ago(2));
  EXPECT_EQ(cache.contents().first, 31U);  // looked at when the first entry came, not since
  fs::last_write_time(fs::path(folder.path()) / "tidied", hours_ago(1));
  ASSERT_TRUE(cache.store(key_of("new"), std::string(1000, 'x')));
  EXPECT_LE(cache.contents().second, 20000U);
  EXPECT_TRUE(cache.load(key_of("new")));
  EXPECT_TRUE(cache.load(key_of("29")));
  EXPECT_FALSE(cache.load(key_of("0")));
  EXPECT_FALSE(fs::exists(left_behind));
  setenv("VPHI_CACHE_MB", "none", 1);
  EXPECT_EQ(DiskCache::limit(), 512'000'000U);
  unsetenv("VPHI_CACHE_MB");
}

TEST(DiskCache, ManyWritersAndReadersSeeWholeEntriesOnly) {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const auto content = [](int i) {
    return std::string(20000 + std::size_t(i % 7) * 1000, char('a' + i % 7));
  };
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      int bad = 0;
      for (int i = 0; i < 60; ++i) {
        const std::string key = key_of(std::to_string(i % 3));
        cache.store(key, content(i + child));
        if (const auto got = cache.load(key))
          bad += got->size() < 20000 || got->find_first_not_of(got->front()) != std::string::npos;
        else
          ++bad;
      }
      _exit(bad);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_EQ(cache.contents().first, 3u);
}

TEST(CachedKernels, ADamagedEntryIsBuiltAnew) {
  const ScratchCache scratch;
  const auto device = open_native();
  ASSERT_TRUE(self_test(*device).ok);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    if (entry.path().filename() == "tidied") continue;
    std::string text = read(entry.path());
    text[text.size() / 2] = char(text[text.size() / 2] ^ 0x40);
    write(entry.path(), text);
    ++damaged;
  }
  ASSERT_EQ(damaged, 1);
  const SelfTestResult again = self_test(*device);
  EXPECT_TRUE(again.ok) << again.message;
  EXPECT_FALSE(again.kernel.from_cache);
  EXPECT_TRUE(self_test(*device).kernel.from_cache);
}

TEST(CachedKernels, SoundBytesThatAreNoCodeAreBuiltAnew) {
  const ScratchCache scratch;
  const auto device = open_native();
  ASSERT_TRUE(self_test(*device).ok);
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    ASSERT_TRUE(DiskCache(scratch.path()).store(entry.path().filename(), "no machine code"));
  const SelfTestResult again = self_test(*device);
  EXPECT_TRUE(again.ok) << again.message << again.log;
  EXPECT_FALSE(again.kernel.from_cache);
}

}  // namespace
}  // namespace vphi::runtime
