// Machines with several GPUs: lists of names, and where each GPU is.
#include "target/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace Atoll::target {
namespace {

using testing::HasSubstr;

std::string found(std::string_view names, unsigned count = 0) {
  const auto gpus = find_gpus(names, count);
  return gpus ? names_of(*gpus) : gpus.error().message;
}

TEST(Topology, ListsNameGpusInOrder) {
  EXPECT_EQ(found("mi250x"), "mi250x:sramecc+:xnack-");
  EXPECT_EQ(found("rx7900xtx,gfx90a:xnack+"), "rx7900xtx,mi250x:sramecc+:xnack+");
  EXPECT_EQ(found("vega64", 3), "vega64:xnack-,vega64:xnack-,vega64:xnack-");
  EXPECT_EQ(found("vega64,rx7900xtx", 2), "vega64:xnack-,rx7900xtx");
}

TEST(Topology, ListsThatMakeNoSenseAreAnsweredWithWhatIsWrong) {
  EXPECT_THAT(found("vega64,voodoo2"), HasSubstr("'voodoo2'"));
  EXPECT_THAT(found("vega64,"), HasSubstr("unknown GPU ''"));
  EXPECT_THAT(found("vega64,mi100", 4), HasSubstr("a list of 2 GPUs, and 4"));
  EXPECT_THAT(found("vega64", max_gpus + 1), HasSubstr("too many"));
  std::string names = "mi100";
  for (unsigned i = 0; i < max_gpus; ++i) names += ",mi100";
  EXPECT_THAT(found(names), HasSubstr("too many"));
}

TEST(Topology, EveryGpuHasAPlaceAndANumberOfItsOwn) {
  const Product& product = products()[0];
  std::set<uint64_t> ids;
  std::set<uint32_t> nodes, places;
  for (unsigned gpu = 0; gpu < max_gpus; ++gpu) {
    ids.insert(unique_id_of(product, gpu));
    nodes.insert(node_of(gpu));
    places.insert(pci_location_of(gpu));
  }
  EXPECT_EQ(ids.size(), max_gpus);
  EXPECT_EQ(nodes.size(), max_gpus);
  EXPECT_EQ(places.size(), max_gpus);
  EXPECT_FALSE(nodes.contains(0)) << "the host's";
  EXPECT_LE(*places.rbegin(), 0xFFFFU) << "bus, device and function are 16 bits";
}

TEST(Topology, InstinctsOfAKindAreLinkedDirectly) {
  const auto product = [](std::string_view name) { return find_gpu(name)->product; };
  EXPECT_EQ(link_between(product("mi250x"), product("mi250x")).kind, Link::Kind::xgmi);
  EXPECT_EQ(link_between(product("mi250x"), product("mi250x")).hops, 1U);
  EXPECT_EQ(link_between(product("mi250x"), product("mi100")).kind, Link::Kind::pcie);
  EXPECT_EQ(link_between(product("rx7900xtx"), product("rx7900xtx")).hops, 2U) << "by way of the host";
}

}  // namespace
}  // namespace Atoll::target
