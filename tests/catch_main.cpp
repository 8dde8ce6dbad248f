// Catch2 2 is one header; its implementation is compiled here, once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
