# vphi for Spack 1.0 and later, from the clone that holds this file:
#
#   spack repo add packaging/spack/spack_repo/vphi
#   spack install vphi
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Vphi(CMakePackage):
    """A declarative language and compiler for lattice and particle physics: the command, its plug-ins
    and its models, with kernels for CUDA, OpenCL and processors."""

    # The commits of this clone's branch main.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("native", default=True, description="Compile native kernels in the process, by clang")
    variant("fftw", default=False, description="Transforms by FFTW, which is under the GPL")
    variant("mpi", default=False, description="Ranks by MPI")
    variant("library", default=True, description="libvphi.so and its header for C++ programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("hdf5~mpi")
    depends_on("zlib-api")
    depends_on("llvm@16:19+clang+llvm_dylib", when="+native")
    depends_on("fftw-api@3", when="+fftw")
    depends_on("mpi", when="+mpi")

    conflicts("%gcc@:10", msg="C++20 needs GCC 11 or later")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("VPHI_TESTS", False),
            self.define("VPHI_UNITY", True),
            self.define("VPHI_NATIVE", "ON" if self.spec.satisfies("+native") else "OFF"),
            self.define_from_variant("VPHI_FFTW", "fftw"),
            self.define_from_variant("VPHI_LIBRARY", "library"),
            self.define("VPHI_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def runs_a_model(self):
        vphi = Executable(self.prefix.bin.vphi)
        vphi("run", "wave", "--device", "native", "--quiet", "--out", "wave")
