// Random subarray, darray and ndarray recipes on an old type of which there is room for `room`
// copies. May return nothing when the dice are bad; the caller throws them again.
#pragma once

#include "support/random/pool.hpp"

namespace ucdtest {

RecipePtr random_subarray(Rng &rng, Pool &pool, const RecipePtr &old, std::size_t room);
RecipePtr random_darray(Rng &rng, Pool &pool, const RecipePtr &old, std::size_t room);
// Orderly: strides of some dense or padded array, its dimensions in any order and direction.
RecipePtr random_ndarray(Rng &rng, Pool &pool, const RecipePtr &old, const TypeMap &old_map,
                         std::size_t room, bool orderly);

} // namespace ucdtest
