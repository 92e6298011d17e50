"""An emulated UR controller: RTDE (30004), script (30003) and Dashboard (29999) on a loopback address."""
