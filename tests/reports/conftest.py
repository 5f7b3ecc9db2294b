"""What the tests of pictures draw on."""

import pytest


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure(figsize=(5, 4), layout="constrained").subplots()
