"""tunectl: plan, simulate, apply and prove the tuning of Kubernetes nodes."""

__version__ = "0.1.0"
