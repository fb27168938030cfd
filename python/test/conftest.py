"""How many random cases there are, and which; and what other libraries must not do to the process."""

import os

from cases import no_driver  # noqa: F401 -- a fixture

# JAX would make contexts on all GPUs, and leave the last one current in this thread.
os.environ.setdefault('JAX_PLATFORMS', 'cpu')
