"""HashLife in compiled code, on the CPU."""
