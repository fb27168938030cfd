"""Messages over UCX between processes, by pipelines of libucd-ucx. Cannot be imported where ucd was built without UCX."""

from ucd._ucx import UcxWorker as Worker

__all__ = ['Worker']
