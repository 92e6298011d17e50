"""Devices that are not there: they speak the real protocols on loopback, so that the drivers do not know."""
