#include "props/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/props/temp_folder.h"

namespace exactk::tests {
namespace {

using props::NpyType;

constexpr const char* kPlain = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";

// A file of the version, with the header text padded as NumPy pads it, and `data_bytes` zeros.
std::string npy(std::string header, size_t data_bytes, char version = 1) {
  const size_t length_bytes = version == 1 ? 2 : 4;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (size_t i = 0; i < length_bytes; ++i)
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + std::string(data_bytes, '\0');
}

fixtures::Result<props::NpyHeader> parse(const std::string& file) {
  return props::parse_npy(std::as_bytes(std::span(file)));
}

std::string refusal(const std::string& file) {
  const auto header = parse(file);
  return header ? "taken" : header.error();
}

std::string with_shape(const std::string& shape) {
  return "{'descr': '<i4', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string with_type(const std::string& descr) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (2, 3), }";
}

#define EXPECT_REFUSED(words, file) \
  EXPECT_NE(std::string::npos, refusal(file).find(words)) << refusal(file)

TEST(Npy, ReadsEveryVersion) {
  for (const char version : {'\1', '\2', '\3'}) {
    const auto header = parse(npy(kPlain, 24, version));
    ASSERT_TRUE(header.has_value()) << header.error();
    EXPECT_EQ(NpyType::kInt32, header->type);
    EXPECT_EQ((std::vector<int64_t>{2, 3}), header->shape);
    EXPECT_EQ(6, header->elems);
    EXPECT_EQ(0, header->data_begin % 64);
  }
}

TEST(Npy, ReadsEveryType) {
  const std::array<std::pair<const char*, NpyType>, 5> types = {{{"'<f4'", NpyType::kFloat32},
                                                                 {"'<f2'", NpyType::kFloat16},
                                                                 {"'<u2'", NpyType::kUint16},
                                                                 {"'<i4'", NpyType::kInt32},
                                                                 {"\"<i8\"", NpyType::kInt64}}};
  for (const auto& [descr, type] : types) {
    const auto header = parse(npy(with_type(descr), static_cast<size_t>(6 * size_of(type))));
    ASSERT_TRUE(header.has_value()) << header.error();
    EXPECT_EQ(type, header->type);
  }
}

TEST(Npy, ReadsTheKeysInAnyOrderAndWithoutTheLastComma) {
  const auto header = parse(npy("{ 'shape':(2,3),'fortran_order' : False, 'descr':'<i4'}", 24));
  ASSERT_TRUE(header.has_value()) << header.error();
  EXPECT_EQ(6, header->elems);
}

TEST(Npy, ReadsShapesOfAnyDimensions) {
  EXPECT_EQ(1, parse(npy(with_shape("()"), 4))->elems);
  EXPECT_EQ(7, parse(npy(with_shape("(7,)"), 28))->elems);
  EXPECT_EQ(24, parse(npy(with_shape("(2, 3, 4,)"), 96))->elems);
  EXPECT_EQ(0, parse(npy(with_shape("(0, 9223372036854775807)"), 0)).has_value() ? 1 : 0)
      << "0 elements do not excuse a dimension whose bytes do not fit";
  EXPECT_EQ(0, parse(npy(with_shape("(0, 5)"), 0))->elems);
}

TEST(Npy, RefusesWhatIsNoNpyFile) {
  EXPECT_REFUSED("is not a .npy file", "");
  EXPECT_REFUSED("is not a .npy file", "\x93NUMPY\1");
  EXPECT_REFUSED("is not a .npy file", "PK\3\4 an .npz file");
  std::string file = npy(kPlain, 24);
  file[1] = 'n';
  EXPECT_REFUSED("is not a .npy file", file);
}

TEST(Npy, RefusesOtherVersions) {
  std::string file = npy(kPlain, 24);
  file[6] = 4;
  EXPECT_REFUSED("version 4.0", file);
  file[6] = 0;
  EXPECT_REFUSED("version 0.0", file);
  file[6] = 1;
  file[7] = 1;
  EXPECT_REFUSED("version 1.1", file);
}

TEST(Npy, RefusesAFileCutAtAnyByte) {
  const std::string file = npy(kPlain, 24);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE("taken", refusal(file.substr(0, size))) << size;
  EXPECT_EQ("taken", refusal(file));
  EXPECT_REFUSED("holds 23 bytes of data, and its shape [2, 3] of int32 needs 24",
                 file.substr(0, file.size() - 1));
  EXPECT_REFUSED("ends inside its header", file.substr(0, 60));
}

TEST(Npy, RefusesBytesBehindTheData) {
  EXPECT_REFUSED("holds 25 bytes of data", npy(kPlain, 25));
}

TEST(Npy, RefusesAHeaderThatNoPlainArrayHas) {
  EXPECT_REFUSED("a plain array's has at most 65535", npy(kPlain + std::string(65500, ' '), 24, 2));
}

TEST(Npy, RefusesTypesItDoesNotJudgeAndSaysWhatToDo) {
  EXPECT_REFUSED("big-endian", npy(with_type("'>f4'"), 24));
  EXPECT_REFUSED("pickled", npy(with_type("'|O'"), 48));
  EXPECT_REFUSED("structured", npy(with_type("[('a', '<i4')]"), 24));
  for (const char* type : {"'<f8'", "'|b1'", "'<u4'", "'<V2'", "'i4'", "''"})
    EXPECT_REFUSED("convert it before it is saved", npy(with_type(type), 24));
  EXPECT_REFUSED("a quoted type", npy(with_type("4"), 24));
}

TEST(Npy, RefusesFortranOrder) {
  EXPECT_REFUSED("Fortran order",
                 npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", 24));
}

TEST(Npy, RefusesMissingDoubleAndUnknownKeys) {
  EXPECT_REFUSED("lacks one of", npy("{'descr': '<i4', 'shape': (2, 3), }", 24));
  EXPECT_REFUSED("lacks one of", npy("{}", 24));
  EXPECT_REFUSED("two keys 'shape'", npy("{'shape': (6,), 'shape': (2, 3), }", 24));
  EXPECT_REFUSED("a key 'order'", npy("{'order': 'C'}", 24));
}

TEST(Npy, RefusesWhatIsNoPlainDictionary) {
  for (const char* header :
       {"", "{", "{'descr'", "{'descr: '<i4'}", "{'descr' '<i4'}", "{descr: '<i4'}",
        "{'fortran_order': false}", "{'fortran_order': Falsehood}", "{'fortran_order': 0}", "[]",
        "{'descr': '<i4' 'shape': (2, 3)}", "{,}"}) {
    EXPECT_REFUSED("must stand", npy(header, 24)) << header;
  }
  EXPECT_REFUSED("to the header's end", npy(std::string(kPlain) + " # comment", 24));
  EXPECT_REFUSED("to the header's end", npy(std::string(kPlain) + "{}", 24));
}

TEST(Npy, RefusesShapesThatAreNoTuplesOfCounts) {
  for (const char* shape : {"6", "[6]", "(6)", "(-6,)", "(2 3)", "(2,,3)", "(,)", "(2.0, 3)",
                            "(0x6,)", "(06,)", "(6L,)", "(+6,)", "(2, 3", "('6',)"}) {
    EXPECT_REFUSED("must stand", npy(with_shape(shape), 24)) << shape;
  }
}

TEST(Npy, RefusesAShapeWhoseBytesDoNotFit64Bits) {
  EXPECT_REFUSED("does not fit 64 bits", npy(with_shape("(9223372036854775808,)"), 0));
  EXPECT_REFUSED("do not fit 64 bits", npy(with_shape("(9223372036854775807,)"), 0));
  EXPECT_REFUSED("do not fit 64 bits", npy(with_shape("(4294967296, 4294967296)"), 0));
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  EXPECT_REFUSED("more than 32 dimensions", npy(with_shape(many + ")"), 4));
}

TEST(Npy, RefusesDataThatLieAskew) {
  std::string file = npy(kPlain, 24);
  file.insert(file.find('\n'), 1, ' ');
  ++file[8];
  EXPECT_REFUSED("not at a multiple of 4", file);
}

TEST(Npy, ShowsNothingUnprintableOfAFile) {
  const std::string text = refusal(npy("{'\x01\xff\n': 1}", 24));
  EXPECT_NE(std::string::npos, text.find("a key '?")) << text;
}

class NpyFiles : public testing::Test {
 protected:
  TempFolder folder;
};

TEST_F(NpyFiles, GiveBackWhatWasWritten) {
  const std::vector<int32_t> values{1, -1, INT32_MAX, INT32_MIN, 0, 7};
  const std::array<int64_t, 2> shape{3, 2};
  props::NpyWriter writer(folder / "a.npy", NpyType::kInt32, shape);
  writer.write(std::as_bytes(std::span(values).first(2)));
  writer.write(std::as_bytes(std::span(values).subspan(2)));
  ASSERT_EQ("", writer.close());
  const auto file = props::NpyFile::open(folder / "a.npy");
  ASSERT_TRUE(file.has_value()) << file.error();
  EXPECT_EQ((std::vector<int64_t>{3, 2}), file->header().shape);
  const auto read = file->elems<int32_t>();
  EXPECT_EQ(values, std::vector<int32_t>(read.begin(), read.end()));
}

TEST_F(NpyFiles, AreNotWrittenWithAnElementTooFew) {
  const std::array<int64_t, 1> shape{3};
  props::NpyWriter writer(folder / "a.npy", NpyType::kInt32, shape);
  const std::vector<int32_t> values{1, 2};
  writer.write(std::as_bytes(std::span(values)));
  EXPECT_NE(std::string::npos, writer.close().find("4 bytes of data are missing"));
}

TEST_F(NpyFiles, SayThatTheyCannotBeWritten) {
  const std::array<int64_t, 1> shape{0};
  props::NpyWriter writer(folder / "no" / "a.npy", NpyType::kInt32, shape);
  EXPECT_NE(std::string::npos, writer.close().find("cannot be written"));
}

TEST_F(NpyFiles, AreRefusedByNameWhereTheyAreNoRegularFiles) {
  EXPECT_NE(std::string::npos, props::NpyFile::open(folder / "no.npy").error().find("no.npy: "));
  EXPECT_NE(std::string::npos, props::NpyFile::open(folder.path()).error().find("regular file"));
  std::ofstream(folder / "empty.npy").close();
  EXPECT_NE(std::string::npos, props::NpyFile::open(folder / "empty.npy").error().find("is empty"));
}

TEST_F(NpyFiles, HoldTheSameElementsAfterTheirMemoryWasLetGo) {
  std::vector<int32_t> values(size_t{6} << 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  const std::array<int64_t, 1> shape{std::ssize(values)};
  props::NpyWriter writer(folder / "a.npy", NpyType::kInt32, shape);
  writer.write(std::as_bytes(std::span(values)));
  ASSERT_EQ("", writer.close());
  const auto file = props::NpyFile::open(folder / "a.npy");
  ASSERT_TRUE(file.has_value()) << file.error();
  const auto elems = file->elems<int32_t>();
  for (int64_t i = 0; i < shape[0]; i += 4096) {
    file->done_before(i, 4096);
    ASSERT_EQ(i, elems[static_cast<size_t>(i)]);
  }
  EXPECT_TRUE(std::equal(values.begin(), values.end(), elems.begin()));
}

}  // namespace
}  // namespace exactk::tests
