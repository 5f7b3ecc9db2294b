"""What an answer is worth: bounds with their rounding, and the certificate that they make."""

from .estimate import CertifiedPoint, certify, joined
from .record import Certificate

__all__ = ["Certificate", "CertifiedPoint", "certify", "joined"]
