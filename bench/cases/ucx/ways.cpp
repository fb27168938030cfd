#include "cases/ucx/ways.hpp"

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
    auto info = std::make_shared<UcdInfo>("ucd.engine", "auto");
    if (!s.on_gpu()) info->set("ucd.gpu", "none");
    info->set("ucd.ucx.direct", shape.direct);
    for (const auto &[key, value] :
         {std::pair{"eager", shape.eager}, std::pair{"chunk", shape.chunk},
          std::pair{"depth", shape.depth}}) {
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

Contender attached_way(Subject &s, Link &link) {
    // This memory has the size of the typed data, and is never moved.
    auto other = std::make_shared<std::vector<char>>(link.sends() ? 0 : s.footprint(), char{1});
    return acknowledged("attached", link, [&s, &link, other] {
        char byte = 0;
        link.transfer(&byte, 1, ucp_dt_make_contig(1));
        if (link.sends()) return;
        UcdInfo info("ucd.gpu", "none");
        std::uintptr_t moved;
        check_ucd(ucd_copy(other->data() - s.about().low, s.count(), s.type(), s.bench().typed(),
                           s.count(), s.type(), &moved, info.get(), UCD_OP__REPLACE));
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
    for (const PipelineShape &shape : pipelines) ways.push_back(pipelined(s, link, shape));
    return ways;
}

} // namespace bench
