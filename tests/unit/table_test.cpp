// Tables and numbers for people, by hand.
#include "runtime/output/table.h"

#include <limits>

#include "layers/error.h"
#include "tests/catch.h"

using namespace stagger::runtime::output;

TEST_CASE("a table aligns its columns") {
  Table table({{"stage"}, {"layers"}, {"staleness", Table::Align::kRight}});
  table.add_row({"0", "stem \xe2\x80\xa6 layer1.2", "4"});
  table.add_row({"1", "head", "1234567890"});
  CHECK(table.to_string() ==
        "stage  layers            staleness\n"
        "-----  ---------------  ----------\n"
        "0      stem \xe2\x80\xa6 layer1.2           4\n"
        "1      head             1234567890\n");
  CHECK_THROWS_AS(table.add_row({"2"}), stagger::layers::InternalError);
}

TEST_CASE("a table leaves no spaces at the end of a line") {
  Table table({{"a"}, {"b"}});
  table.add_row({"", ""});
  table.add_row({"long", ""});
  CHECK(table.to_string() == "a     b\n----  -\n\nlong\n");
}

TEST_CASE("width of text in UTF-8") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xc3\xa9\xe2\x86\x92\xf0\x9f\x98\x80") == 3);
  CHECK(display_width("\xff\x80g") == 2);  // a lead byte that takes one continuation
  CHECK(display_width("\x80\x80") == 2);   // continuations of nothing
  CHECK(display_width("\xe2\x86") == 1);   // cut off
  CHECK(display_width("\xe2g") == 2);
}

TEST_CASE("bytes for people") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(1024) == "1.0 KiB");
  CHECK(human_bytes(12'900'000) == "12.3 MiB");
  CHECK(human_bytes(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(human_bytes(1024LL * 1023) == "1023.0 KiB");
  CHECK(human_bytes(std::numeric_limits<int64_t>::max()) == "8.0 EiB");
  CHECK_THROWS_AS(human_bytes(-1), stagger::layers::InternalError);
}

TEST_CASE("fixed digits") {
  CHECK(fixed(1.005, 1) == "1.0");
  CHECK(fixed(-0.25, 2) == "-0.25");
  CHECK(fixed(12, 0) == "12");
  CHECK(fixed(std::numeric_limits<double>::quiet_NaN(), 2) == "nan");
  CHECK(fixed(std::numeric_limits<double>::max(), 3).size() == 313);
}
