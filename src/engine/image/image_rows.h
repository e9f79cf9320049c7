// engine: image loads and samples of a whole wave at once.
//
// What most programs ask of an image is plain: elements or filtered values of one level, at coordinates of 32 bits,
// without reference values, gradients or offsets. The functions here do that with rows of lanes, in the instructions of
// the host's level, and leave the rest to image.h's, lane by lane. Both give the same results, bit for bit, except
// for which of several NaNs a filter yields.
#pragma once

#include "engine/image/image.h"

namespace Atoll::engine {

ATOLL_HOST_ISA_BEGIN
/// image_load into `rows`. False: it is not plain, and nothing is done.
bool load_image_rows(const ImageAccess& access, uint64_t lanes, const Row* vgprs, Row* rows);
/// image_sample likewise.
bool sample_image_rows(const ImageAccess& access, const semantics::ImageSampler& sampler, uint64_t lanes,
                       const Row* vgprs, Row* rows);
ATOLL_HOST_ISA_END

}  // namespace Atoll::engine
