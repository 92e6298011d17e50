"""A UR5e with gripper and camera: drivers, and emulated devices to rehearse with."""
