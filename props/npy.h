// Arrays in NumPy's .npy files: read by mapping, written in one pass.
//
// Follows the format's description, numpy.lib.format, versions 1.0, 2.0 and 3.0. What is read is
// what is judged or a clear refusal: no big-endian, Fortran-ordered, structured or pickled arrays,
// and no byte too few or too many behind the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case.h"

namespace exactk::props {

enum class NpyType { kFloat32, kFloat16, kUint16, kInt32, kInt64 };
std::string_view name(NpyType type);  // "float32", ...
int64_t size_of(NpyType type);        // bytes of an element

struct NpyHeader {
  NpyType type{};
  std::vector<int64_t> shape;
  int64_t elems = 0;       // product of the shape; 1 for a scalar
  int64_t data_begin = 0;  // byte of the file; a multiple of the element's size
};

// The header of a whole file. The error is one sentence, without the file's name.
fixtures::Result<NpyHeader> parse_npy(std::span<const std::byte> file);

// "[24, 262145]"
std::string shape_text(std::span<const int64_t> shape);

// A file mapped read-only. Must not shrink while it is mapped: reading what is gone ends the
// process, as it does for everybody who maps files.
class NpyFile {
 public:
  static fixtures::Result<NpyFile> open(const std::filesystem::path& path);
  NpyFile(NpyFile&& other) noexcept;
  NpyFile& operator=(NpyFile&& other) noexcept;
  ~NpyFile();

  const std::filesystem::path& path() const { return path_; }
  const NpyHeader& header() const { return header_; }
  // All elements; T must have the size of the file's type.
  template <class T>
  std::span<const T> elems() const {
    const std::byte* data = map_.data() + header_.data_begin;
    return {reinterpret_cast<const T*>(data), static_cast<size_t>(header_.elems)};
  }

  // Lets go of the memory behind elements [0, end) that a reader going upwards, by at most `stride`
  // elements between calls, has done with; it comes back from the file when it is read again. Does
  // something once every few MiB.
  void done_before(int64_t end, int64_t stride) const;

 private:
  NpyFile() = default;
  std::filesystem::path path_;
  std::span<const std::byte> map_;
  NpyHeader header_;
};

// Writes a file piece by piece.
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, NpyType type, std::span<const int64_t> shape);
  void write(std::span<const std::byte> elems);
  // One sentence if anything could not be written, or the pieces are not the shape's elements.
  fixtures::Error close();

 private:
  std::filesystem::path path_;
  std::ofstream file_;
  int64_t bytes_left_ = 0;
};

}  // namespace exactk::props
