"""LIBERO and robosuite as robot cells: suites, worlds, the device that programs reach, and truth for judges."""
