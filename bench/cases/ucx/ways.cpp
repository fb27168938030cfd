#include "cases/ucx/ways.hpp"

#include <cstring>
#include <stdexcept>
#include <sys/uio.h>

namespace bench {
namespace {

constexpr ucp_tag_t message = 1, acknowledgement = 2;

// With the acknowledgement that all is there.
template <class Once>
Contender acknowledged(std::string name, Link &link, Once once) {
    return {std::move(name), repeated([&link, once] {
                once();
                link.acknowledge();
            })};
}

// Packs everything, sends the packed bytes, and unpacks everything.
Contender in_three_steps(const char *name, Subject &s, Link &link, void (Subject::*move)(bool)) {
    return acknowledged(name, link, [&s, &link, move] {
        if (link.sends()) (s.*move)(true);
        link.transfer(s.bench().packed(), s.bytes(), ucp_dt_make_contig(1));
        if (!link.sends()) (s.*move)(false);
    });
}

Contender prepared(Subject &s, Link &link, const std::string &form) {
    return acknowledged(form == "auto" ? "prepare" : form, link, [&s, &link, form] {
        UcdInfo info("ucd.ucx.form", form);
        if (form == "iov") info.set("ucd.ucx.iov_entries", "1048576");
        void *buf;
        std::size_t count;
        ucp_datatype_t datatype;
        check_ucd_ucx(ucd_ucx_prepare(s.bench().typed(), s.count(), s.type(), info.get(), &buf,
                                      &count, &datatype));
        link.transfer(buf, count, datatype);
        check_ucd_ucx(ucd_ucx_release(buf, datatype));
    });
}

Contender pipelined(Subject &s, Link &link, const PipelineShape &shape) {
    std::string name = shape.direct == "no"    ? "pipeline"
                       : shape.direct == "yes" ? "automatic"
                                               : "direct";
    auto info = std::make_shared<UcdInfo>("ucd.ucx.direct", shape.direct);
    for (const auto &[key, value] :
         {std::pair{"eager", shape.eager}, std::pair{"chunk", shape.chunk},
          std::pair{"depth", shape.depth}, std::pair{"pack", shape.pack}}) {
        if (value.empty()) continue;
        info->set(std::string("ucd.ucx.") + key, value);
        name += std::string(" ") + key + " " + value;
    }
    return acknowledged(name, link, [&s, &link, info] {
        if (link.sends())
            link.peers.send(1, s.bench().typed(), s.count(), s.type(), message, info->get());
        else
            link.peers.receive(0, s.bench().typed(), s.count(), s.type(), message, info->get());
        link.peers.finish();
    });
}

} // namespace

void Link::transfer(void *buf, std::size_t count, ucp_datatype_t datatype) {
    if (sends())
        peers.send_raw(1, buf, count, datatype, message);
    else
        peers.receive_raw(buf, count, datatype, message);
}

void Link::acknowledge() {
    char byte = 0;
    if (sends())
        peers.receive_raw(&byte, 1, ucp_dt_make_contig(1), acknowledgement);
    else
        peers.send_raw(0, &byte, 1, ucp_dt_make_contig(1), acknowledgement);
}

Contender contiguous_way(Subject &s, Link &link) {
    return acknowledged("contiguous", link, [&] {
        link.transfer(s.bench().packed(), s.bytes(), ucp_dt_make_contig(1));
    });
}

std::vector<Contender> attached_ways(Subject &s, Link &link, const CommonMemory &memory) {
    if (s.footprint() > memory.bytes()) throw std::runtime_error("the common memory is too small");
    if (link.sends()) std::memcpy(memory.data(), s.bench().typed() + s.about().low, s.footprint());
    const auto list = [&s](char *at) {
        std::vector<iovec> listed(s.about().segments);
        std::uintptr_t actual;
        check_ucd(ucd_iov(at, s.count(), s.type(), 0, listed.data(), listed.size(), &actual));
        return listed;
    };
    char *const from = memory.data() - s.about().low;
    const auto one = std::make_shared<std::vector<iovec>>(list(from));
    const auto other = std::make_shared<std::vector<iovec>>(list(s.bench().typed()));
    return {acknowledged("memcpy", link,
                         [&link, one, other] {
                             char byte = 0;
                             link.transfer(&byte, 1, ucp_dt_make_contig(1));
                             if (link.sends()) return;
                             for (std::size_t i = 0; i < one->size(); ++i)
                                 std::memcpy((*other)[i].iov_base, (*one)[i].iov_base,
                                             (*one)[i].iov_len);
                         }),
            acknowledged("attached", link, [&s, &link, from] {
                char byte = 0;
                link.transfer(&byte, 1, ucp_dt_make_contig(1));
                if (link.sends()) return;
                UcdInfo info("ucd.gpu", "none");
                std::uintptr_t moved;
                check_ucd(ucd_copy(from, s.count(), s.type(), s.bench().typed(), s.count(),
                                   s.type(), &moved, info.get(), UCD_OP__REPLACE));
            })};
}

Contender mapped_way(Subject &s, Link &link) {
    const auto window = std::make_shared<Peers::Window>(link.peers, s.footprint());
    std::memcpy(window->data(), s.bench().typed() + s.about().low, s.footprint());
    const auto info = std::make_shared<UcdInfo>("ucd.ucx.direct", "yes");
    return acknowledged("mapped", link, [&s, &link, window, info] {
        if (link.sends())
            link.peers.send(1, window->data() - s.about().low, s.count(), s.type(), message,
                            info->get());
        else
            link.peers.receive(0, s.bench().typed(), s.count(), s.type(), message, info->get());
        link.peers.finish();
    });
}

std::vector<Contender> ways_of(Subject &s, Link &link,
                               const std::vector<PipelineShape> &pipelines) {
    std::vector<Contender> ways;
    // Both sides must have the same ways, whatever memory is theirs.
    if (!link.any_gpu && s.has_hand())
        ways.push_back(in_three_steps("hand", s, link, &Subject::move_by_hand));
    else if (link.any_gpu && s.has_rows())
        ways.push_back(in_three_steps("2d", s, link, &Subject::copy_rows));
    ways.push_back(in_three_steps("pack", s, link, &Subject::pack));
    if (!link.any_gpu) {
        ways.push_back(prepared(s, link, "auto"));
        if (s.about().segments <= 65536) ways.push_back(prepared(s, link, "iov"));
    }
    ways.push_back(prepared(s, link, "generic"));
    // On the host, only windows' memory is read where it is (mapped_way).
    for (const PipelineShape &shape : pipelines)
        if (link.any_gpu || shape.direct == "no") ways.push_back(pipelined(s, link, shape));
    return ways;
}

} // namespace bench
