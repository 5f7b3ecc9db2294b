"""What people look at: theorems, plots and pages."""
