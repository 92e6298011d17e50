"""What pictures with depth say about things: finding, measuring and describing them, without any names."""
