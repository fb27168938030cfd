// Chooses a UCP datatype for a layout.

#include "datatype/datatype.h"
#include "datatype/options.h"
#include "datatype/typed_buffer.h"

#include <cstddef>
#include <memory>
#include <ucd_ucx.h>
#include <vector>

using namespace ucd_ucx;

namespace {

struct Wanted {
    const void *buf;
    uintptr_t count;
    ucd_type_t type;
    ucd_info_t info;
    ucd_layout_t layout;
};

struct Prepared {
    void *buf;
    std::size_t count;
    ucp_datatype_t datatype;
};

Status fail_form(const char *form, const char *why) {
    return fail(UCD_ERR__NOT_SUPPORTED, "ucd.ucx.form is %s, but %s", form, why);
}

// Looks up the memory of a buffer to be sent or received, unless a hint names it.
Status choose(const Wanted &r, const PrepareOptions &options, DatatypeForm &form) {
    form = options.form;
    if (form != DatatypeForm::automatic) return success;
    form = DatatypeForm::generic;
    std::string sent, received;
    UCD_TRY(read_key(r.info, "ucd.inbuf", sent));
    UCD_TRY(read_key(r.info, "ucd.outbuf", received));
    if (sent.empty() && received.empty()) {
        BufferMemory found;
        UCD_TRY(found.find(r.buf, r.count, r.type, r.info, TransferDirection::send));
        sent = found.text();
    }
    for (const std::string &memory : {sent, received})
        if (!memory.empty() && !host_reaches(memory)) return success;
    ucd_advice_t advice;
    advice.struct_size = offsetof(ucd_advice_t, boxes); // counting boxes takes too long
    UCD_TRY(
        ucd_ok(ucd_get_advice(r.count, r.type, options.iov_segment, options.iov_entries, &advice)));
    if (advice.form == UCD_FORM__CONTIG)
        form = DatatypeForm::contiguous;
    else if (advice.form == UCD_FORM__IOV)
        form = DatatypeForm::iov;
    return success;
}

Status make_contiguous(const Wanted &r, Prepared &made) {
    if (!r.layout.contiguous) return fail_form("contiguous", "the layout has several segments");
    const uintptr_t address =
        reinterpret_cast<uintptr_t>(r.buf) + static_cast<uintptr_t>(r.layout.low);
    made = {reinterpret_cast<void *>(address), r.layout.bytes, ucp_dt_make_contig(1)};
    return success;
}

Status make_iov(const Wanted &r, const PrepareOptions &options, Prepared &made) {
    if (r.layout.segments > options.iov_entries)
        return fail_form("iov", "the layout has more segments than ucd.ucx.iov_entries");
    const auto segments = static_cast<std::size_t>(r.layout.segments);
    // own: the program's type, of which the list is
    std::vector<iovec> found(segments);
    uintptr_t actual;
    UCD_TRY(ucd_ok(ucd_iov(r.buf, r.count, r.type, 0, found.data(), segments, &actual)));
    // own: same
    auto list = std::make_unique<ucp_dt_iov_t[]>(segments);
    for (std::size_t i = 0; i < segments; ++i) list[i] = {found[i].iov_base, found[i].iov_len};
    made = {list.release(), segments, ucp_dt_make_iov()};
    return success;
}

Status make_generic(const Wanted &r, Prepared &made) {
    made = {const_cast<void *>(r.buf), r.count, 0};
    return create_datatype(r.type, r.info, made.datatype);
}

} // namespace

int ucd_ucx_prepare(const void *buf, uintptr_t count, ucd_type_t type, ucd_info_t info,
                    void **ucp_buf, size_t *ucp_count, ucp_datatype_t *ucp_dt) {
    return guard("ucd_ucx_prepare", [&]() -> Status {
        UCD_TRY(require(ucp_buf, "ucp_buf"));
        UCD_TRY(require(ucp_count, "ucp_count"));
        UCD_TRY(require(ucp_dt, "ucp_dt"));
        PrepareOptions options;
        UCD_TRY(read_prepare_options(info, options));
        Wanted r{buf, count, type, info, {}};
        UCD_TRY(layout_of(count, type, r.layout));
        DatatypeForm form;
        UCD_TRY(choose(r, options, form));
        Prepared made;
        UCD_TRY(form == DatatypeForm::contiguous ? make_contiguous(r, made)
                : form == DatatypeForm::iov      ? make_iov(r, options, made)
                                                 : make_generic(r, made));
        *ucp_buf = made.buf;
        *ucp_count = made.count;
        *ucp_dt = made.datatype;
        return success;
    });
}

int ucd_ucx_release(void *ucp_buf, ucp_datatype_t ucp_dt) {
    return guard("ucd_ucx_release", [&]() -> Status {
        if (ucp_dt == ucp_dt_make_iov()) delete[] static_cast<ucp_dt_iov_t *>(ucp_buf);
        return is_generic(ucp_dt) ? destroy_datatype(ucp_dt) : success;
    });
}
