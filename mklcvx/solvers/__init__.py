"""How it is solved: the driver's loop, conic solvers, the interior-point engine and the published algorithms."""
