"""Every solver of ours against the optimum of every formulation it fits."""
