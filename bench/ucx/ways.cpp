#include "ucx/ways.hpp"

#include <stdexcept>

namespace bench {
namespace {

void check_ucd_ucx(int rc) {
    if (rc != UCD_SUCCESS) throw std::runtime_error(ucd_ucx_last_error());
}

// Packs everything, sends the packed bytes, and unpacks everything.
template <class Pack, class Unpack>
Way in_three_steps(const char *name, Subject &s, Link &link, Pack pack, Unpack unpack) {
    return {name, [&s, &link, pack, unpack] {
                if (link.sends()) {
                    (s.*pack)();
                    link.send(s.packed(), s.bytes(), ucp_dt_make_contig(1));
                } else {
                    link.receive(s.packed(), s.bytes(), ucp_dt_make_contig(1));
                    (s.*unpack)();
                }
            }};
}

Way prepared(Subject &s, Link &link, const std::string &form) {
    return {form == "auto" ? "prepare" : form, [&, form] {
                const UcdInfo info("ucd.ucx.form", form.c_str());
                if (form == "iov")
                    check_ucd(ucd_info_set(info.get(), "ucd.ucx.iov_entries", "1048576"));
                void *buf;
                std::size_t count;
                ucp_datatype_t datatype;
                check_ucd_ucx(ucd_ucx_prepare(s.laid_out(), s.count(), s.type(), info.get(), &buf,
                                              &count, &datatype));
                if (link.sends())
                    link.send(buf, count, datatype);
                else
                    link.receive(buf, count, datatype);
                check_ucd_ucx(ucd_ucx_release(buf, datatype));
            }};
}

Way pipelined(Subject &s, Link &link, const std::string &name, const PipelineShape &shape) {
    auto info = std::make_shared<UcdInfo>("ucd.engine", "auto");
    const auto set = [&](const char *key, const std::string &value) {
        check_ucd(ucd_info_set(info->get(), key, value.c_str()));
    };
    if (!s.on_device()) set("ucd.gpu", "none");
    if (!shape.eager.empty()) set("ucd.ucx.eager", shape.eager);
    if (!shape.chunk.empty()) set("ucd.ucx.chunk", shape.chunk);
    if (!shape.depth.empty()) set("ucd.ucx.depth", shape.depth);
    return {name, [&, info] {
                ucd_ucx_param_t param = {};
                param.struct_size = sizeof param;
                param.info = info->get();
                ucd_ucx_request_t request;
                check_ucd_ucx(
                    link.sends()
                        ? ucd_ucx_send_nbx(link.pipeline(), link.ep(), s.laid_out(), s.count(),
                                           s.type(), Link::tag, &param, &request)
                        : ucd_ucx_recv_nbx(link.pipeline(), s.laid_out(), s.count(), s.type(),
                                           Link::tag, UINT64_MAX, &param, &request));
                link.wait(request);
            }};
}

} // namespace

Way contiguous_way(Subject &s, Link &link) {
    return {"contiguous", [&] {
                if (link.sends())
                    link.send(s.packed(), s.bytes(), ucp_dt_make_contig(1));
                else
                    link.receive(s.packed(), s.bytes(), ucp_dt_make_contig(1));
            }};
}

std::vector<Way> ways_of(Subject &s, Link &link, const std::vector<PipelineShape> &pipelines) {
    std::vector<Way> ways;
    // Both sides must have the same ways, whatever memory is theirs.
    if (!link.any_device())
        ways.push_back(
            in_three_steps("hand", s, link, &Subject::pack_by_hand, &Subject::unpack_by_hand));
    else if (s.has_rows())
        ways.push_back(in_three_steps("2d", s, link, &Subject::pack_rows, &Subject::unpack_rows));
    ways.push_back(in_three_steps("pack", s, link, &Subject::pack, &Subject::unpack));
    if (!link.any_device()) {
        ways.push_back(prepared(s, link, "auto"));
        if (s.about().segments <= 65536) ways.push_back(prepared(s, link, "iov"));
    }
    ways.push_back(prepared(s, link, "generic"));
    for (const PipelineShape &p : pipelines) {
        std::string name = "pipeline";
        if (!p.eager.empty()) name += " eager " + p.eager;
        if (!p.chunk.empty()) name += " chunk " + p.chunk;
        if (!p.depth.empty()) name += " depth " + p.depth;
        ways.push_back(pipelined(s, link, name, p));
    }
    return ways;
}

} // namespace bench
