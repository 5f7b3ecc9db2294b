"""What an answer is worth: bounds with their rounding, and the certificate that they make."""

from .record import Certificate, CertifiedPoint, better, certify, joined

__all__ = ["Certificate", "CertifiedPoint", "better", "certify", "joined"]
