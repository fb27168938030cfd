// One-sided operations whose chunks stay in device memory.

#include "support/device_test.hpp"
#include "ucx/ring_pair.hpp"
#include "ucx/rma_pair.hpp"

namespace ring_rma_test {

using namespace ucdtest;

DEVICE_TEST("an operation's info says whether its chunks stay in device memory") {
    for (const char *ring : {"auto", "none"}) {
        RmaPair pair({SMALL_RING});
        const Keys keys({{"ucd.ucx.ring", ring}});
        Case one("rma ring", 0);
        RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
        const Window window(pair.b, ends.out.real_base(), 3000);
        Outcome o;
        start_put(pair.a, {ends.in.real_base(), 1, ends.from.type()},
                  {window.key(), 0, 1, ends.to.type()}, o, keys.get());
        pair.until([&] { return o.done(); });
        require_good(one, o, 1000, "the origin");
        ends.check(one);
        // Those that do not are in the memory that the origin gives.
        CHECK((pair.a.side.memory.most > 0) == (std::string(ring) == "none"));
    }
}

DEVICE_TEST("a window's info says whether chunks to and from it stay in device memory") {
    for (const char *ring : {"auto", "none"})
        for (const bool put : {true, false}) {
            RmaPair pair({SMALL_RING});
            const Keys keys({{"ucd.ucx.ring", ring}});
            Case one("rma ring of a window", 0);
            RingEnds ends(one, RingLayouts(one, 1000), Memory::device0, Memory::device0);
            DeviceBuffer &windowed = put ? ends.out : ends.in;
            const Window window(pair.b, windowed.real_base(), 3000, keys.get());
            Outcome o;
            if (put)
                start_put(pair.a, {ends.in.real_base(), 1, ends.from.type()},
                          {window.key(), 0, 1, ends.to.type()}, o);
            else
                start_get(pair.a, {ends.out.real_base(), 1, ends.to.type()},
                          {window.key(), 0, 1, ends.from.type()}, o);
            pair.until([&] { return o.done(); });
            require_good(one, o, 1000, "the origin");
            ends.check(one);
            const Side &sender = put ? pair.a.side : pair.b.side;
            CHECK((sender.memory.most > 0) == (std::string(ring) == "none"));
        }
}

} // namespace ring_rma_test
