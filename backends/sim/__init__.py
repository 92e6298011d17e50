"""LIBERO and robosuite as robot cells: suites, worlds, the device for programs, and truth for judges."""
