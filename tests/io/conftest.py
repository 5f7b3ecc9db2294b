"""Files of MATLAB."""

import pytest

from matlab_files import Version5, Version73


@pytest.fixture(params=[Version5, Version73], ids=["v5", "v7.3"])
def saved(request, tmp_path):
    """Write variables to a file of either version; return its path."""

    def save(**variables):
        request.param.write(tmp_path / "problem.mat", variables)
        return tmp_path / "problem.mat"

    return save
