#!/usr/bin/env python3
"""Generates the functions that libucd-mpi-preload puts in front of MPI's.

    mpi_calls.py OUTPUT_DIRECTORY      writes calls.h and wrappers.cpp
"""

import sys
from pathlib import Path
from typing import NamedTuple

import jinja2

sys.dont_write_bytecode = True  # nothing is written beside the sources

TEMPLATES = Path(__file__).resolve().parent / "templates"


class Call(NamedTuple):
    """A function of MPI. In parameters, COUNT is int and ADDRESS is MPI_Aint; both are MPI_Count in the form with _c."""

    name: str  # without MPI_
    function: str  # in src/mpi/preload
    parameters: str
    counts: bool = True  # it has a form with _c
    counted: bool = True  # the statistics have a line for it
    first: str = ""  # an argument that the function takes before MPI's


_SEND = "const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm"
_RECEIVE = "void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm"
_MATCHED = "void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *matched"
_REQUEST = "MPI_Request *request"
_SOME = "int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses"


def _completion(name, function, parameters):
    return Call(name, function, parameters, counts=False, counted=False)


CALLS = [
    Call("Pack", "pack", "const void *inbuf, COUNT incount, MPI_Datatype datatype, void *outbuf, "
                         "COUNT outsize, COUNT *position, MPI_Comm comm"),
    Call("Unpack", "unpack", "const void *inbuf, COUNT insize, COUNT *position, void *outbuf, "
                             "COUNT outcount, MPI_Datatype datatype, MPI_Comm comm"),
    Call("Pack_external", "pack_external", "const char *datarep, const void *inbuf, COUNT incount, "
                                           "MPI_Datatype datatype, void *outbuf, ADDRESS outsize, ADDRESS *position"),
    Call("Unpack_external", "unpack_external", "const char *datarep, const void *inbuf, ADDRESS insize, "
                                               "ADDRESS *position, void *outbuf, COUNT outcount, MPI_Datatype datatype"),
    *[Call(f"{mode}send".capitalize(), "blocking_send", _SEND) for mode in ("", "b", "s", "r")],
    *[Call(f"i{mode}send".capitalize(), "nonblocking_send", f"{_SEND}, {_REQUEST}") for mode in ("", "b", "s", "r")],
    *[Call(f"{mode}send_init".capitalize(), "persistent", f"{_SEND}, {_REQUEST}", first="false")
      for mode in ("", "b", "s", "r")],
    Call("Recv", "blocking_receive", f"{_RECEIVE}, MPI_Status *status"),
    Call("Irecv", "nonblocking_receive", f"{_RECEIVE}, {_REQUEST}"),
    Call("Recv_init", "persistent", f"{_RECEIVE}, {_REQUEST}", first="true"),
    Call("Mrecv", "matched_receive", f"{_MATCHED}, MPI_Status *status"),
    Call("Imrecv", "nonblocking_matched_receive", f"{_MATCHED}, {_REQUEST}"),
    Call("Sendrecv_replace", "replace", "void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, "
                                        "int source, int recvtag, MPI_Comm comm, MPI_Status *status"),
    Call("Sendrecv", "send_receive", "const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, "
                                     "int sendtag, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, "
                                     "int source, int recvtag, MPI_Comm comm, MPI_Status *status"),
    _completion("Type_commit", "commit", "MPI_Datatype *datatype"),
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
    _completion("Finalize", "finalize", ""),
]


HEADERS = ["completion", "fortran", "next", "pack", "point_to_point"]  # of src/mpi/preload


def arguments(parameters):
    """The names of parameters."""
    return [parameter.split()[-1].lstrip("*") for parameter in parameters.split(", ") if parameter]


def main():
    output = Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters.update(arguments=arguments)
    env.globals.update(calls=CALLS, headers=HEADERS)
    for name in ("calls.h", "wrappers.cpp"):
        (output / name).write_text(env.get_template(f"mpi_{name}.j2").render())


if __name__ == "__main__":
    main()
