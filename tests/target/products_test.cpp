// The product catalogue: names lead to GPUs with their settings settled, wrong names to an error that helps.
#include "target/product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace Atoll::target {
namespace {

using testing::HasSubstr;

TEST(Products, FindsProductsProcessorsAndTargetIds) {
  const auto target = [](std::string_view name) {
    const auto gpu = find_gpu(name);
    return gpu ? fmt::format("{} {}", gpu->product.name, gpu->target.to_string()) : gpu.error().message;
  };
  EXPECT_EQ(target("mi250x"), "mi250x gfx90a:sramecc+:xnack-");
  EXPECT_EQ(target("MI250X"), "mi250x gfx90a:sramecc+:xnack-");
  EXPECT_EQ(target("GFX90A:XNACK+"), "mi250x gfx90a:sramecc+:xnack+");
  EXPECT_EQ(target("Mi210:Xnack+"), "mi210 gfx90a:sramecc+:xnack+");
  EXPECT_EQ(target("mi210:xnack+"), "mi210 gfx90a:sramecc+:xnack+");
  EXPECT_EQ(target("rx480"), "rx480 gfx803");
  EXPECT_EQ(target("gfx803"), "rx580 gfx803");
  EXPECT_EQ(target("hd7970"), "hd7970 gfx600");
  EXPECT_EQ(target("vega64"), "vega64 gfx900:xnack-");
  EXPECT_EQ(target("radeon-vii"), "radeon-vii gfx906:sramecc-:xnack-");
  EXPECT_EQ(target("gfx906"), "mi50 gfx906:sramecc+:xnack-");
  EXPECT_EQ(target("gfx90a:sramecc-:xnack+"), "mi250x gfx90a:sramecc-:xnack+");
  EXPECT_EQ(target("amdgcn-amd-amdhsa--gfx908"), "mi100 gfx908:sramecc+:xnack-");
}

TEST(Products, WrongNamesAreAnsweredWithWhatThereIs) {
  const auto message = [](std::string_view name) {
    const auto gpu = find_gpu(name);
    return gpu ? std::string() : gpu.error().message;
  };
  EXPECT_THAT(message("voodoo2"), testing::AllOf(HasSubstr("unknown GPU 'voodoo2' ("), HasSubstr("atoll gpus")));
  EXPECT_THAT(message("mi251"), HasSubstr("unknown GPU 'mi251'; did you mean 'mi25'?"));
  EXPECT_THAT(message("MI25OX"), HasSubstr("did you mean 'mi250x'?"));
  EXPECT_THAT(message("gfx90b:xnack+"), HasSubstr("unknown GPU 'gfx90b:xnack+'; did you mean 'gfx900'?"));
  EXPECT_THAT(message("gfx9-4-generic"), HasSubstr("its code runs on gfx942, gfx950"));
  EXPECT_THAT(message("gfx1310"), HasSubstr("unknown GPU 'gfx1310'"));
  EXPECT_THAT(message("vega64:sramecc+"), HasSubstr("gfx900 has no sramecc setting"));
}

TEST(Products, CatalogueIsSound) {
  std::set<std::string_view> names;
  for (const Product& product : products()) {
    SCOPED_TRACE(product.name);
    EXPECT_TRUE(names.insert(product.name).second) << "named twice";
    const Processor* processor = find_processor(product.processor);
    ASSERT_NE(processor, nullptr);
    EXPECT_FALSE(processor->generic);
    EXPECT_TRUE(processor->supports_sramecc || !product.sramecc);
    const auto gpu = find_gpu(product.name);
    ASSERT_TRUE(gpu) << gpu.error().message;
    EXPECT_NE(gpu->target.xnack, Setting::any);
    EXPECT_NE(gpu->target.sramecc, Setting::any);
  }
}

}  // namespace
}  // namespace Atoll::target
