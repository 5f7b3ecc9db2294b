"""Files: read as data, never as code; written whole or not at all."""
