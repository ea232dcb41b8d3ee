#include "props/npy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace exactk::props {
namespace {

using fixtures::Error;
using fixtures::Result;

static_assert(std::endian::native == std::endian::little, "elements are used as they lie in files");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kHeaderMax = 65535;  // what version 1.0 can say; a plain array needs about 100
constexpr int64_t kDataAlignment = 64;
constexpr size_t kDimensionsMax = 32;  // as in NumPy

struct TypeName {
  NpyType type;
  std::string_view descr;
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<TypeName, 5> kTypes = {{
    {NpyType::kFloat32, "<f4", "float32", 4},
    {NpyType::kFloat16, "<f2", "float16", 2},
    {NpyType::kUint16, "<u2", "uint16", 2},
    {NpyType::kInt32, "<i4", "int32", 4},
    {NpyType::kInt64, "<i8", "int64", 8},
}};

const TypeName& named(NpyType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [type](const TypeName& t) { return t.type == type; });
}

tl::unexpected<Error> refuse(Error sentence) {
  return tl::unexpected(std::move(sentence));
}

// The text in a message: short, and printable whatever a file holds.
std::string quoted(std::string_view text) {
  constexpr size_t kCharsMax = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, kCharsMax)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > kCharsMax ? "...'" : "'");
}

Result<NpyType> type_of(std::string_view descr) {
  for (const TypeName& t : kTypes) {
    if (t.descr == descr) return t.type;
  }
  if (descr.starts_with('>')) {
    return refuse(
        fmt::format("its type {} is big-endian; save it in the machine's byte order with "
                    "a.astype(a.dtype.newbyteorder('='))",
                    quoted(descr)));
  }
  if (descr.find('O') != std::string_view::npos)
    return refuse("it holds pickled Python objects; save an array of numbers");
  return refuse(
      fmt::format("its type {} is not one of float32 '<f4', float16 '<f2', uint16 '<u2' (the bits "
                  "of bfloat16), int32 '<i4' and int64 '<i8'; convert it before it is saved",
                  quoted(descr)));
}

// The header's dictionary, as numpy.save writes it: the three keys in any order, plain literals.
class DictParser {
 public:
  explicit DictParser(std::string_view text) : rest_(text) {}

  Result<NpyHeader> parse() {
    std::optional<NpyType> type;
    std::optional<std::vector<int64_t>> shape;
    std::optional<bool> fortran;
    if (!take('{')) return unexpected("'{'");
    while (!take('}')) {
      const std::optional<std::string_view> key = string();
      if (!key) return unexpected("a quoted key");
      if (!take(':')) return unexpected("':'");
      Error error;
      if (*key == "descr") {
        error = read(
            type, [this] { return descr(); }, *key);
      } else if (*key == "shape") {
        error = read(
            shape, [this] { return tuple(); }, *key);
      } else if (*key == "fortran_order") {
        error = read(
            fortran, [this] { return boolean(); }, *key);
      } else {
        error = fmt::format("its header has a key {}; only descr, fortran_order and shape are read",
                            quoted(*key));
      }
      if (!error.empty()) return refuse(std::move(error));
      if (!take(',') && peek() != '}') return unexpected("',' or '}'");
    }
    peek();
    if (rest_ != "\n") return unexpected("spaces and one newline to the header's end");
    if (!type || !shape || !fortran)
      return refuse("its header lacks one of descr, fortran_order and shape; save it again");
    if (*fortran) {
      return refuse(
          "its elements are in Fortran order; save it with numpy.ascontiguousarray() around it");
    }
    return NpyHeader{*type, std::move(*shape), 0, 0};
  }

 private:
  template <class T, class Read>
  Error read(std::optional<T>& into, Read value, std::string_view key) {
    if (into) return fmt::format("its header has two keys {}; save it again", quoted(key));
    Result<T> result = value();
    if (!result) return result.error();
    into = std::move(*result);
    return "";
  }

  char peek() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool take(char c) {
    if (rest_.empty() || peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  tl::unexpected<Error> unexpected(std::string_view wanted) {
    return refuse(fmt::format("its header has {} where {} must stand; save it with numpy.save",
                              quoted(rest_), wanted));
  }

  std::optional<std::string_view> string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  Result<NpyType> descr() {
    if (peek() == '[') return refuse("it is a structured array; save each field on its own");
    const std::optional<std::string_view> text = string();
    if (!text) return unexpected("a quoted type");
    return type_of(*text);
  }

  Result<bool> boolean() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      peek();
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return unexpected("True or False");
  }

  Result<int64_t> number() {
    constexpr std::string_view kDigits = "0123456789";
    peek();
    const std::string_view digits = rest_.substr(0, rest_.find_first_not_of(kDigits));
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0'))
      return unexpected("a number of at least 0");
    int64_t value = 0;
    for (const char digit : digits) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, digit - '0', &value))
        return refuse(fmt::format("its shape has {}, which does not fit 64 bits", quoted(digits)));
    }
    rest_.remove_prefix(digits.size());
    return value;
  }

  // (), (3,), (3, 4) or (3, 4,); one number without a comma is no tuple.
  Result<std::vector<int64_t>> tuple() {
    std::vector<int64_t> values;
    if (!take('(')) return unexpected("'('");
    bool comma = true;
    while (!take(')')) {
      if (!comma) return unexpected("',' or ')'");
      const Result<int64_t> value = number();
      if (!value) return refuse(value.error());
      values.push_back(*value);
      if (values.size() > kDimensionsMax)
        return refuse(fmt::format("its shape has more than {} dimensions", kDimensionsMax));
      comma = take(',');
    }
    if (values.size() == 1 && !comma) return unexpected("a comma in the tuple of one number");
    return values;
  }

  std::string_view rest_;
};

// Elements of a shape whose bytes fit 64 bits; an empty dimension does not excuse the others.
std::optional<int64_t> elems_of(const NpyHeader& header) {
  int64_t product = size_of(header.type);
  bool empty = false;
  for (const int64_t extent : header.shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : product / size_of(header.type);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string errno_text() {
  return std::strerror(errno);
}

// Maps all of `path`; the caller unmaps.
Result<std::span<const std::byte>> map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refuse(fmt::format("cannot be opened: {}", errno_text()));
  struct stat about {};
  Error error;
  void* map = MAP_FAILED;
  if (::fstat(file, &about) != 0) {
    error = errno_text();
  } else if (!S_ISREG(about.st_mode)) {
    error = "is not a file that can be mapped; give the path of a regular file";
  } else if (about.st_size == 0) {
    error = "is empty; save an array with numpy.save";
  } else {
    map = ::mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) error = fmt::format("cannot be mapped: {}", errno_text());
  }
  ::close(file);
  if (!error.empty()) return refuse(std::move(error));
  return std::span(static_cast<const std::byte*>(map), static_cast<size_t>(about.st_size));
}

}  // namespace

std::string_view name(NpyType type) {
  return named(type).name;
}

int64_t size_of(NpyType type) {
  return named(type).bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t extent : shape) text += fmt::format("{}{}", text == "[" ? "" : ", ", extent);
  return text + "]";
}

Result<NpyHeader> parse_npy(std::span<const std::byte> file) {
  constexpr size_t kVersionEnd = 8;
  if (!text_of(file).starts_with(kMagic) || file.size() < kVersionEnd)
    return refuse("is not a .npy file; save an array with numpy.save");
  const int major = static_cast<int>(file[6]);
  const int minor = static_cast<int>(file[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return refuse(
        fmt::format("is of .npy version {}.{}; versions 1.0, 2.0 and 3.0 are read", major, minor));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t text_begin = kVersionEnd + length_bytes;
  if (file.size() < text_begin) return refuse("ends inside its header; copy it again");
  int64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<int64_t>(file[kVersionEnd + i]) << (8 * i);
  if (length > kHeaderMax) {
    return refuse(fmt::format("has a header of {} bytes; a plain array's has at most {}", length,
                              kHeaderMax));
  }
  if (length > static_cast<int64_t>(file.size() - text_begin))
    return refuse("ends inside its header; copy it again");
  Result<NpyHeader> header =
      DictParser(text_of(file.subspan(text_begin, static_cast<size_t>(length)))).parse();
  if (!header) return header;
  const std::optional<int64_t> elems = elems_of(*header);
  if (!elems) {
    return refuse(fmt::format("has a shape of {}, whose bytes do not fit 64 bits",
                              shape_text(header->shape)));
  }
  header->elems = *elems;
  header->data_begin = static_cast<int64_t>(text_begin) + length;
  const int64_t want = header->elems * size_of(header->type);
  const int64_t got = static_cast<int64_t>(file.size()) - header->data_begin;
  if (want != got) {
    return refuse(
        fmt::format("holds {} bytes of data, and its shape {} of {} needs {}; copy it "
                    "again",
                    got, shape_text(header->shape), name(header->type), want));
  }
  if (header->data_begin % size_of(header->type) != 0) {
    return refuse(
        fmt::format("has its data at byte {}, not at a multiple of {}; save it again "
                    "with numpy.save",
                    header->data_begin, size_of(header->type)));
  }
  return header;
}

Result<NpyFile> NpyFile::open(const std::filesystem::path& path) {
  const auto named_error = [&path](const Error& error) {
    return refuse(fmt::format("{}: {}", path.string(), error));
  };
  Result<std::span<const std::byte>> map = map_file(path);
  if (!map) return named_error(map.error());
  NpyFile file;
  file.path_ = path;
  file.map_ = *map;
  Result<NpyHeader> header = parse_npy(*map);
  if (!header) return named_error(header.error());
  file.header_ = std::move(*header);
  // Advice only: rows are read upwards.
  (void)::madvise(const_cast<std::byte*>(map->data()), map->size(), MADV_SEQUENTIAL);
  return file;
}

NpyFile::NpyFile(NpyFile&& other) noexcept
    : path_(std::move(other.path_)),
      map_(std::exchange(other.map_, {})),
      header_(std::move(other.header_)) {}

NpyFile& NpyFile::operator=(NpyFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(map_, other.map_);
  std::swap(header_, other.header_);
  return *this;
}

NpyFile::~NpyFile() {
  if (!map_.empty()) (void)::munmap(const_cast<std::byte*>(map_.data()), map_.size());
}

void NpyFile::done_before(int64_t end, int64_t stride) const {
  constexpr int64_t kPiece = int64_t{8} << 20;  // a multiple of every page size
  const int64_t bytes = size_of(header_.type);
  const int64_t to = (header_.data_begin + end * bytes) / kPiece * kPiece;
  const int64_t from =
      (header_.data_begin + std::max<int64_t>(0, end - stride) * bytes) / kPiece * kPiece;
  if (from == to) return;
  (void)::madvise(const_cast<std::byte*>(map_.data()) + from, static_cast<size_t>(to - from),
                  MADV_DONTNEED);
}

NpyWriter::NpyWriter(const std::filesystem::path& path, NpyType type,
                     std::span<const int64_t> shape)
    : path_(path), file_(path, std::ios::binary | std::ios::trunc), bytes_left_(size_of(type)) {
  std::string tuple = "(";
  for (const int64_t extent : shape) {
    tuple += fmt::format("{},", extent);
    bytes_left_ *= extent;
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}), }}",
                                   named(type).descr, tuple);
  constexpr size_t kPrefix = 10;  // magic, version, length
  while ((kPrefix + header.size() + 1) % kDataAlignment != 0) header += ' ';
  header += '\n';
  file_ << kMagic << '\1' << '\0' << static_cast<char>(header.size() & 0xff)
        << static_cast<char>(header.size() >> 8) << header;
}

void NpyWriter::write(std::span<const std::byte> elems) {
  bytes_left_ -= static_cast<int64_t>(elems.size());
  file_.write(reinterpret_cast<const char*>(elems.data()),
              static_cast<std::streamsize>(elems.size()));
}

Error NpyWriter::close() {
  file_.close();
  if (!file_) return fmt::format("{} cannot be written; is there room?", path_.string());
  if (bytes_left_ == 0) return "";
  return fmt::format("{}: {} bytes of data are missing", path_.string(), bytes_left_);
}

}  // namespace exactk::props
