"""How many random cases there are, and which."""

from cases import no_driver  # noqa: F401 -- a fixture
