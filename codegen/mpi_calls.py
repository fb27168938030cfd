#!/usr/bin/env python3
"""Generates the functions by which libucd-mpi-preload interposes MPI's.

    mpi_calls.py OUTPUT_DIRECTORY      writes calls.h and wrappers.cpp
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # write no __pycache__ beside the sources

from output import environment


def arguments(parameters):
    """The names in a list of parameters."""
    return [parameter.split()[-1].lstrip("*") for parameter in parameters.split(", ") if parameter]


def datatypes(parameters):
    """The names of the parameters that are one datatype."""
    return [parameter.split()[-1] for parameter in parameters.split(", ") if parameter.startswith("MPI_Datatype ")
            and "*" not in parameter]


def with_types(parameters, count, displ):
    """Replaces the placeholders in parameters by the types of one form of a function."""
    for name, c_type in (("COUNT", count), ("DISPL", displ)):
        parameters = re.sub(rf"\b{name}\b", c_type, parameters)
    return parameters


class Call(NamedTuple):
    """A function of MPI. In parameters, COUNT and DISPL stand for int; in the form with _c, for MPI_Count and MPI_Aint."""

    name: str  # without MPI_
    function: str  # that implements it, in src/mpi/preload
    parameters: str
    counts: bool = True  # it has a form with _c
    counted: bool = True  # statistics have a line for it
    first: str = ""  # an argument that the function takes before MPI's
    instead: str = ""  # arguments that the function takes instead of MPI's
    since: str = ""  # the version of MPI that introduced it, if later than 3 and if builds with older headers pass it by
    may_lack: bool = False  # every build has it, since only then data and types are right; but MPI may lack it
    completes: bool = False  # its requests are what it is about
    extension: bool = False  # Open MPI 4 has it under a name with MPIX_


_SEND = "const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
_RECEIVE = "void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm"
_MATCHED = "void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *matched"
_REQUEST = "MPI_Request *request"
_AGAIN = f"MPI_Info info, {_REQUEST}"
_REPLACED = ("void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, "
             "MPI_Comm comm")
_BOTH_WAYS = ("const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, "
              "COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm")
_BROADCAST = "void *buffer, COUNT count, MPI_Datatype datatype, int root, MPI_Comm comm"
_LOOKED_AT = "int count, const MPI_Request *requests"
_SOME = "int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses"


def _completion(name, function, parameters, may_lack=False):
    return Call(name, function, parameters, counts=False, counted=False, may_lack=may_lack, completes="MPI_Request" in parameters)


def _one_side(form, way, displ):
    """The parameters of one side, in one of MPI's three forms, with MPI's names for sending or receiving."""
    const = "const " if way == "send" else ""
    displs = "sdispls" if way == "send" else "rdispls"
    if form == "equal":
        return f"{const}void *{way}buf, COUNT {way}count, MPI_Datatype {way}type"
    if form == "counted":
        return f"{const}void *{way}buf, const COUNT *{way}counts, const {displ} *{displs}, MPI_Datatype {way}type"
    return f"{const}void *{way}buf, const COUNT *{way}counts, const {displ} *{displs}, const MPI_Datatype *{way}types"


def _variants(name, parameters, instead):
    """The blocking, nonblocking and persistent variants of a collective function."""
    return [Call(name, "collective", parameters, instead=instead),
            Call(f"I{name.lower()}", "collective", f"{parameters}, {_REQUEST}", instead=f"{instead}, request"),
            Call(f"{name}_init", "collective_init", f"{parameters}, {_AGAIN}", instead=f"{instead}, info, request",
                 since="4", extension=True)]


def _collective(name, pattern, send, receive, displ="DISPL"):
    """Those of a function with two sides."""
    rooted = pattern in ("gather", "scatter")
    sides = [_one_side(send, "send", displ), _one_side(receive, "recv", displ)]
    where = "int root, MPI_Comm comm" if rooted else "MPI_Comm comm"
    instead = ", ".join([f"ucd_mpi::Pattern::{pattern}",
                         *[f"ucd_mpi::blocks({', '.join(arguments(side))})" for side in sides],
                         "ucd_mpi::Rooted{root, comm}" if rooted else "ucd_mpi::Unrooted{comm}"])
    return _variants(name, ", ".join([*sides, where]), instead)


CALLS = [
    Call("Pack", "pack", "const void *inbuf, COUNT incount, MPI_Datatype datatype, void *outbuf, "
                         "COUNT outsize, COUNT *position, MPI_Comm comm"),
    Call("Unpack", "unpack", "const void *inbuf, COUNT insize, COUNT *position, void *outbuf, "
                             "COUNT outcount, MPI_Datatype datatype, MPI_Comm comm"),
    *[Call(f"{mode}send".capitalize(), "blocking_send", _SEND) for mode in ("", "b", "s", "r")],
    *[Call(f"i{mode}send".capitalize(), "nonblocking_send", f"{_SEND}, {_REQUEST}") for mode in ("", "b", "s", "r")],
    *[Call(f"{mode}send_init".capitalize(), "persistent", f"{_SEND}, {_REQUEST}", first="false")
      for mode in ("", "b", "s", "r")],
    Call("Recv", "blocking_receive", f"{_RECEIVE}, MPI_Status *status"),
    Call("Irecv", "nonblocking_receive", f"{_RECEIVE}, {_REQUEST}"),
    Call("Recv_init", "persistent", f"{_RECEIVE}, {_REQUEST}", first="true"),
    Call("Mrecv", "matched_receive", f"{_MATCHED}, MPI_Status *status"),
    Call("Imrecv", "nonblocking_matched_receive", f"{_MATCHED}, {_REQUEST}"),
    Call("Sendrecv_replace", "replace", f"{_REPLACED}, MPI_Status *status"),
    Call("Sendrecv", "send_receive", f"{_BOTH_WAYS}, MPI_Status *status"),
    Call("Isendrecv_replace", "nonblocking_replace", f"{_REPLACED}, {_REQUEST}", since="4"),
    Call("Isendrecv", "nonblocking_send_receive", f"{_BOTH_WAYS}, {_REQUEST}", since="4"),
    *_variants("Bcast", _BROADCAST, "ucd_mpi::Pattern::broadcast, ucd_mpi::blocks(buffer, count, datatype), "
                                    "ucd_mpi::same_blocks(buffer, count, datatype), ucd_mpi::Rooted{root, comm}"),
    *_collective("Gather", "gather", "equal", "equal"),
    *_collective("Gatherv", "gather", "equal", "counted"),
    *_collective("Scatter", "scatter", "equal", "equal"),
    *_collective("Scatterv", "scatter", "counted", "equal"),
    *_collective("Allgather", "allgather", "equal", "equal"),
    *_collective("Allgatherv", "allgather", "equal", "counted"),
    *_collective("Alltoall", "alltoall", "equal", "equal"),
    *_collective("Alltoallv", "alltoall", "counted", "counted"),
    *_collective("Alltoallw", "alltoall", "typed", "typed"),
    *_collective("Neighbor_allgather", "neighbor_allgather", "equal", "equal"),
    *_collective("Neighbor_allgatherv", "neighbor_allgather", "equal", "counted"),
    *_collective("Neighbor_alltoall", "neighbor_alltoall", "equal", "equal"),
    *_collective("Neighbor_alltoallv", "neighbor_alltoall", "counted", "counted"),
    *_collective("Neighbor_alltoallw", "neighbor_alltoall", "typed", "typed", displ="MPI_Aint"),
    _completion("Type_commit", "commit", "MPI_Datatype *datatype"),
    _completion("Type_free", "type_free", "MPI_Datatype *datatype"),
    _completion("Type_dup", "type_dup", "MPI_Datatype oldtype, MPI_Datatype *newtype"),
    _completion("Start", "start", _REQUEST),
    _completion("Startall", "start_all", "int count, MPI_Request *requests"),
    _completion("Wait", "wait", f"{_REQUEST}, MPI_Status *status"),
    _completion("Test", "test", f"{_REQUEST}, int *flag, MPI_Status *status"),
    _completion("Waitall", "wait_all", "int count, MPI_Request *requests, MPI_Status *statuses"),
    _completion("Testall", "test_all", "int count, MPI_Request *requests, int *flag, MPI_Status *statuses"),
    _completion("Waitany", "wait_any", "int count, MPI_Request *requests, int *index, MPI_Status *status"),
    _completion("Testany", "test_any",
                "int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status"),
    _completion("Waitsome", "complete_some", _SOME),
    _completion("Testsome", "complete_some", _SOME),
    _completion("Request_free", "request_free", _REQUEST),
    _completion("Request_get_status", "request_get_status", "MPI_Request request, int *flag, MPI_Status *status"),
    _completion("Request_get_status_all", "request_get_status_all", f"{_LOOKED_AT}, int *flag, MPI_Status *statuses",
                may_lack=True),
    _completion("Request_get_status_any", "request_get_status_any",
                f"{_LOOKED_AT}, int *index, int *flag, MPI_Status *status", may_lack=True),
    _completion("Request_get_status_some", "request_get_status_some",
                f"{_LOOKED_AT}, int *completed, int *indices, MPI_Status *statuses", may_lack=True),
    _completion("Finalize", "finalize", ""),
    _completion("Session_init", "session_init", "MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session",
                may_lack=True),
    _completion("Session_finalize", "session_finalize", "MPI_Session *session", may_lack=True),
]


HEADERS = ["collective", "completion", "fortran", "next", "pack", "point_to_point"]  # of src/mpi/preload


def main():
    output = Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    env = environment()
    env.filters.update(arguments=arguments, datatypes=datatypes, with_types=with_types)
    env.globals.update(calls=CALLS, headers=HEADERS)
    for name in ("calls.h", "wrappers.cpp"):
        (output / name).write_text(env.get_template(f"mpi_{name}.j2").render())


if __name__ == "__main__":
    main()
